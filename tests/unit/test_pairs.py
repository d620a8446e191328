"""Pairs of values: what counts as one, how models for them are made, and that they are made within what is known."""

from itertools import pairwise

import numpy as np
import pytest

from cometfuzz.catalogue.data import to_tensor
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.regimes import REGIMES, regime_of
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.coverage.factors import class_of
from cometfuzz.coverage.pairs import PairCoverage, pair_space
from cometfuzz.coverage.triples import TripleCoverage
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.search.pairs import CALLS, Pairs

LIMITS = ModelLimits(dialect=usual_dialects().modern)


def model(layer: str, **params: object) -> Graph:
    drafts = [Draft("x", INPUT, {"shape": (2, 6, 6, 3)}, ()), Draft("n", layer, params, (Edge("x"),))]
    return assemble(drafts, [Edge("n")])


def named(case: Case) -> set[tuple[str, str]]:
    """The values that the pairs of a case's only call are made of."""
    found = set()
    for node, ids in pair_space().of_case(case):
        for number in ids:
            found |= set(pair_space().named(case.graph.by_id[node].layer, int(number)).items())
    return found


def test_there_are_pairs_enough() -> None:
    space = pair_space()
    assert space.total >= 55_000
    tables = list(space.tables.values())
    assert [table.start for table in tables[1:]] == [table.stop for table in tables[:-1]]


def test_every_number_stands_for_a_pair_of_its_own() -> None:
    table = pair_space().tables["Conv2D"]
    pairs = [tuple(pair_space().named("Conv2D", number).items()) for number in range(table.start, table.stop)]
    assert len(set(pairs)) == len(pairs)
    assert all(len(pair) == 2 for pair in pairs)


def test_a_call_is_what_it_says() -> None:
    case = Case(model("Conv2D", filters=3, kernel_size=(2, 4), strides=(1, 1), padding="same"), 1)
    seen = named(case)
    assert {("dtype", "float32"), ("shape", "odd"), ("data", "ordinary"), ("padding", '"same"')} <= seen
    assert {("kernel_size", "different"), ("strides", "1"), ("filters", "odd")} <= seen
    assert {("window to size", "smaller"), ("stride to window", "smaller")} <= seen


@pytest.mark.parametrize(
    ("value", "name"),
    [(0, "0"), (7, "odd"), (8, "even"), (-1, "negative"), ((3, 3), "odd"), ((3, 2), "different"), (0.3, "below 1")],
)
def test_numbers_count_by_class(value: object, name: str) -> None:
    assert class_of(value) == name


@pytest.mark.parametrize(
    ("values", "regime"),
    [
        ([1.0, 2.0], "ordinary"),
        ([1.0, np.nan], "special"),
        ([1e6, 1.0], "large"),
        ([1e-6, 1e-7], "small"),
        ([2.0, 2.0], "constant"),
        ([1.0, 1e-8], "spread"),
        ([], "ordinary"),
    ],
)
def test_data_has_a_regime(values: list[float], regime: str) -> None:
    tensor = to_tensor(np.array(values, np.float32))
    assert regime_of(tensor) == regime
    assert regime in REGIMES
    case = Case(
        model("ReLU"), 1, {"x": to_tensor(np.resize(np.array(values or [1.0]), (2, 6, 6, 3)).astype("float32"))}
    )
    assert ("data", regime) in named(case) or not values


def test_what_was_covered_is_not_gone_for_again_and_what_cannot_be_is_given_up() -> None:
    coverage = PairCoverage()
    case = Case(model("ReLU"), 1)
    ids = next(ids for _, ids in pair_space().of_case(case))
    assert coverage.gain(ids) == len(ids) == len(set(ids.tolist()))
    coverage.learn(case, executed=True)
    assert coverage.gain(ids) == 0
    assert not set(ids.tolist()) & set(coverage.missing("ReLU").tolist())
    before = coverage.summary()
    other = Case(model("Softmax"), 1)
    for _ in range(5):
        coverage.learn(other, executed=False)
    lost = sum(len(ids) for _, ids in pair_space().of_case(other))
    assert coverage.summary() == {**before, "reachable": before["reachable"] - lost}
    assert not any(coverage.wants(ids) for _, ids in pair_space().of_case(other))


def test_models_for_pairs_are_valid_keep_clear_of_what_is_known_and_cover_many_at_once() -> None:
    coverage = PairCoverage()
    pairs = Pairs(coverage, TripleCoverage(), LIMITS)
    dialects, counts, layers = usual_dialects(), [0], []
    for index in range(12):
        made = pairs.make(Draw("pairs", index))
        assert made is not None
        graph, data = made
        assert not validate(graph)
        assert dialects.is_clear(graph)
        called = [node.layer for node in graph.nodes if node.layer != INPUT]
        assert len(called) <= CALLS
        layers += called
        coverage.learn(Case(graph, 1, data), executed=True)
        counts.append(coverage.summary()["covered"])
    assert all(later > earlier for earlier, later in pairwise(counts))
    drawn = PairCoverage()
    for index, layer in enumerate(layers):
        drawn.learn(draw_layer(layer, 1, index).case, executed=True)
    assert counts[-1] > drawn.summary()["covered"], "more than as many calls by chance"


def test_the_same_draw_makes_the_same_model() -> None:
    one, two = (Pairs(PairCoverage(), TripleCoverage(), LIMITS).make(Draw("same")) for _ in range(2))
    assert one == two


def test_the_policy_of_a_layer_is_no_factor() -> None:
    graph = model("ReLU", policy="mixed_float16")
    ids = pair_space().of_call("ReLU", graph.by_id["n"].params, graph.input_types(graph.by_id["n"]), None)
    assert len(ids)


def test_what_a_model_was_made_for_and_does_not_have_is_given_up() -> None:
    """Integers are never NaN: a model for that executes, and would be made without end."""
    coverage = PairCoverage()
    pairs = Pairs(coverage, TripleCoverage(), LIMITS, layers=["CategoryEncoding"])
    for index in range(2000):
        made = pairs.make(Draw("vain", index))
        if made is not None:
            pairs.learn(Case(made[0], 1, made[1]), executed=True)
        if not pairs.layers:
            break
    assert not len(coverage.missing("CategoryEncoding"))
    assert coverage.summary()["reachable"] < coverage.summary()["total"]
