"""Sequences of three: how they are counted, and that `directed` extends chains when those of two are done."""

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.chains import ChainCoverage, chain_space, chains_of
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.mutation.repair import Editor
from cometfuzz.search.directed import Directed
from cometfuzz.search.extending import extension
from cometfuzz.search.strategies import Feedback, Options
from cometfuzz.seeds.small import SMALL


def chain(*layers: str) -> Graph:
    drafts = [Draft("x", INPUT, {"shape": (2, 6)}, ())]
    for index, layer in enumerate(layers):
        drafts.append(Draft(f"n{index}", layer, {}, (Edge(drafts[-1].id),)))
    return assemble(drafts, [Edge(drafts[-1].id)])


def test_the_space_of_families_says_why_some_cannot_be() -> None:
    plain = chain_space().as_plain()
    assert plain["total"] == len(chain_space().families) ** 3
    assert plain["total"] - plain["reachable"] == len(plain["unreachable"]) > 0
    assert all(len(each["families"]) == 3 and each["reason"] for each in plain["unreachable"])


def test_sequences_of_three_layers_are_counted_once_each() -> None:
    coverage = ChainCoverage()
    assert not len(chains_of(chain("ReLU", "Softmax")).layers)
    for _ in range(2):
        coverage.learn(Case(chain("ReLU", "Softmax", "Dropout", "ReLU"), 1), executed=True)
    assert coverage.summary()["distinct"] == coverage.summary()["covered"] == 2
    coverage.learn(Case(chain("ReLU", "ReLU", "Dropout"), 1), executed=True)
    assert coverage.summary()["distinct"] == 3
    assert coverage.summary()["covered"] == 2, "families that have been seen"


def test_what_fails_twice_is_given_up() -> None:
    coverage = ChainCoverage()
    before = coverage.summary()["reachable"]
    for _ in range(2):
        assert coverage.wants("ReLU", "Softmax", "Dropout")
        coverage.learn(Case(chain("ReLU", "Softmax", "Dropout"), 1), executed=False)
    assert not coverage.wants("ReLU", "Softmax", "Dropout")
    assert coverage.summary()["reachable"] == before - 1


def test_a_chain_is_extended_by_a_family_that_has_not_followed_the_two() -> None:
    coverage, limits = ChainCoverage(), ModelLimits(dialect=usual_dialects().modern)
    coverage.learn(Case(chain("ReLU", "Softmax", "Dropout"), 1), executed=True)
    editor = Editor(chain("ReLU", "Softmax"), Draw("extend"), limits)
    found = extension(editor, coverage, LAYERS, lambda before, after: True)
    assert found is not None
    node, names = found
    assert node.layer == "Softmax"
    families = {LAYERS[name].family for name in names}
    assert LAYERS["Dropout"].family not in families
    assert LAYERS["Dense"].family in families
    assert extension(editor, coverage, LAYERS, lambda before, after: False) is None


def test_directed_extends_chains_when_nothing_else_is_left() -> None:
    strategy = Directed(Options(1, [next(iter(SMALL.values()))()]))
    strategy.goals.items.clear()
    assert strategy.is_nearly_done
    for coverage in strategy.coverages:
        coverage.add(item for item in coverage.space.items["sequences"])  # type: ignore[misc]
    limits = ModelLimits(dialect=strategy.dialects.modern)
    editor = Editor(chain("ReLU", "Softmax"), Draw("walk"), limits)
    for _ in range(3):
        strategy._walk(editor)
    made = Case(editor.finish(), 1)
    assert len(chains_of(made.graph).layers) >= 2
    strategy.propose()
    strategy.learn(strategy.flights[0].case, Feedback(executed=True))
    assert strategy.chains.summary()["distinct"] > 0
