"""Synthesis: small, valid, and with everything that the original covers; or it says what is missing."""

import math

import pytest

from cometfuzz.catalogue.cost import weights_of
from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import CRITERIA, paper_space
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.seeds.published import PAPER, layer_count, original, synthesised
from cometfuzz.synthesis.synthesise import synthesise
from cometfuzz.synthesis.wanted import wanted_of

MOST_LAYERS = {"InceptionResNetV2": 41}
each_model = pytest.mark.parametrize("name", PAPER)


@each_model
def test_the_shipped_seeds_cover_all_that_their_originals_cover(name: str) -> None:
    small, large = synthesised(name), original(name)
    assert validate(small) == []
    assert wanted_of(large).without(small).missing() == []
    assert layer_count(small) <= min(layer_count(large), MOST_LAYERS.get(name, 40))
    assert weights_of(small) < min(weights_of(large), 10_400)


def test_all_shipped_seeds_are_smaller_than_the_published_ones() -> None:
    assert sum(layer_count(synthesised(name)) for name in PAPER) <= 318
    assert sum(weights_of(synthesised(name)) for name in PAPER) <= 104_000


@each_model
def test_by_the_paper_s_own_count_nothing_is_lost(name: str) -> None:
    """The same through other code: coverage of the paper's space, as reports count it."""
    before, after = Coverage(paper_space()), Coverage(paper_space())
    before.cover(original(name))
    after.cover(synthesised(name))
    assert all(after.covered(criterion) >= before.covered(criterion) for criterion in CRITERIA)


@pytest.mark.parametrize("name", ["LeNet", "ResNet50", "LSTM (SineWave)"])
def test_the_shipped_seeds_are_what_the_command_makes(name: str) -> None:
    assert synthesise(original(name), seed=1).graph == synthesised(name)


def test_another_seed_gives_another_model() -> None:
    assert synthesise(original("LeNet"), seed=1).graph != synthesise(original("LeNet"), seed=2).graph


@pytest.mark.parametrize("budget", [1, 2, 5, 12])
def test_when_the_budget_ends_the_best_so_far_says_what_is_missing(budget: int) -> None:
    result = synthesise(original("ResNet50"), budget=budget)
    assert validate(result.graph) == []
    assert result.steps <= budget
    assert 0 < layer_count(result.graph) <= budget
    assert list(result.missing) == wanted_of(original("ResNet50")).without(result.graph).missing()
    assert result.missing
    assert min(result.kept.values()) < 1


def test_more_budget_never_keeps_less() -> None:
    kept = [len(synthesise(original("LeNet"), budget=budget).missing) for budget in (1, 3, 6, 400)]
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] == 0


@pytest.mark.parametrize("index", range(12))
def test_any_graph_of_the_catalogue_can_be_synthesised(index: int) -> None:
    """Wrappers, attention, embeddings, several dtypes: what seeds do not have, users have."""
    large = draw_graph(Draw("synthesis-test", index), 20)
    result = synthesise(large, index)
    assert validate(result.graph) == []
    assert result.missing == ()


def chain(shape: tuple[int, ...], *calls: Draft) -> Graph:
    drafts = [Draft("x", INPUT, {"shape": shape}, ()), *calls]
    return assemble(drafts, [Edge(drafts[-1].id)])


def test_sizes_shrink_and_stay_different() -> None:
    large = chain(
        (32, 500, 640),
        Draft("a", "Dense", {"units": 512}, (Edge("x"),)),
        Draft("b", "Dense", {"units": 256}, (Edge("a"),)),
        Draft("c", "Dense", {"units": 3}, (Edge("b"),)),
    )
    small = synthesise(large).graph
    units = [node.params.units for node in small.nodes if node.layer == "Dense"]
    assert len(set(units)) == 3
    assert 3 in units
    assert max(units) <= 9
    assert all(math.prod(kind.shape) <= 8192 for node in small.nodes for kind in node.outputs)


def test_another_dtype_needs_a_cast() -> None:
    large = chain(
        (1, 4),
        Draft("a", "ReLU", {}, (Edge("x"),)),
        Draft("half", "cast", {"dtype": "float16"}, (Edge("a"),)),
        Draft("b", "ELU", {}, (Edge("half"),)),
    )
    result = synthesise(large)
    assert result.missing == ()
    assert "cast" in [node.layer for node in result.graph.nodes]


def test_a_graph_without_layers_needs_nothing() -> None:
    nothing = assemble([Draft("x", INPUT, {"shape": (1, 4)}, ())], [Edge("x")])
    assert synthesise(nothing).missing == ()
