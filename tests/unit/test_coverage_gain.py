"""What graphs cover, what one more adds, and that it does not matter who counted it."""

import json
from typing import Any

import pytest

from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.gain import Coverage, Fact, facts_of, merged, summary_of
from cometfuzz.coverage.layers import CRITERIA, Item, full_space, paper_space
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Draft, Edge, Graph


def chain(shape: tuple[int, ...], *layers: tuple[str, dict[str, Any]]) -> Graph:
    drafts = [Draft("x", "input", {"shape": shape}, ())]
    for index, (layer, params) in enumerate(layers):
        drafts.append(Draft(f"n{index}", layer, params, (Edge(drafts[-1].id),)))
    return assemble(drafts, [Edge(drafts[-1].id)])


CONV_CAST_RELU = (("Conv2D", {"filters": 2, "kernel_size": 3}), ("cast", {"dtype": "float64"}), ("ReLU", {}))
SPECIAL = (("Conv2D", {"filters": 2}), ("special", {"value": "nan"}), ("ReLU", {}))


def sequences(graph: Graph, space: Any) -> set[tuple[str, str]]:
    return {(fact.layer, fact.value) for fact in facts_of(graph, space) if fact.criterion == "sequences"} & {
        (item.layer, item.value) for item in space.items["sequences"]
    }


def test_the_paper_space_looks_through_utilities_but_not_through_special_values() -> None:
    assert sequences(chain((1, 8, 8, 1), *CONV_CAST_RELU), paper_space()) == {("Conv2D", "ReLU")}
    assert sequences(chain((1, 8, 8, 1), *SPECIAL), paper_space()) == set()


def test_the_full_space_knows_direct_edges_only() -> None:
    assert sequences(chain((1, 8, 8, 1), *CONV_CAST_RELU), full_space()) == set()
    direct = chain((1, 8, 8, 1), ("Conv2D", {}), ("ReLU", {}))
    assert sequences(direct, full_space()) == {("Conv2D", "ReLU")}


def test_sequences_are_counted_in_two_ways() -> None:
    coverages = [Coverage(paper_space()), Coverage(full_space())]
    for layers in (CONV_CAST_RELU, (("Conv2D", {}), ("ReLU", {})), (("ReLU", {}), ("cast", {}), ("Conv2D", {}))):
        for coverage in coverages:
            coverage.cover(chain((1, 8, 8, 1), *layers))
    counts = summary_of(coverages)
    assert (counts["paper"]["sequences"]["covered"], counts["paper"]["sequences"]["direct"]) == (2, 1)
    assert "direct" not in counts["full"]["sequences"]


def test_the_first_graph_adds_and_the_same_again_does_not() -> None:
    graph = chain((2, 6), ("ReLU", {"threshold": 0.5}))
    coverage = Coverage(paper_space())
    gain = coverage.cover(graph)
    assert {fact[2:] for fact in gain.facts} == {
        ("dtype", "float32"),
        ("rank", "2"),
        ("shape", "(2, 6)"),
        ("threshold", "0.5"),
        ("negative_slope", "0.0"),
    }
    assert not coverage.cover(graph)
    assert coverage.covered("inputs") == 3
    assert coverage.covered("parameters") == 2


def test_shapes_and_numbers_count_up_to_their_cap() -> None:
    coverage = Coverage(paper_space())
    for size in range(1, 9):
        coverage.cover(chain((1, size), ("ELU", {"alpha": size / 4})))
    missing = coverage.missing()
    assert coverage.covered("inputs") == 1 + 1 + 5
    assert coverage.covered("parameters") == 5
    assert Item("inputs", "ELU", "shape", "#5") not in missing
    assert missing[Item("inputs", "ELU", "dtype", "half")] == "a second name of float16"
    assert missing[Item("inputs", "ELU", "dtype", "float16")] is None


def test_one_graph_cannot_gain_more_than_the_cap() -> None:
    graph = chain((1, 9), *((("Dense", {"units": units}) if units % 2 else ("ReLU", {})) for units in range(1, 18)))
    coverage = Coverage(full_space())
    gain = coverage.gain(graph)
    assert sum(fact.name == "units" for fact in gain.facts) == 5
    assert gain == coverage.cover(graph)
    assert gain.count("parameters") == coverage.covered("parameters")


def test_an_initialiser_without_its_weight_covers_nothing() -> None:
    without = chain((1, 6, 6, 1), ("Conv2D", {"use_bias": False, "bias_initializer": "he_normal"}))
    with_bias = chain((1, 6, 6, 1), ("Conv2D", {"bias_initializer": "he_normal"}))
    wanted = Fact("parameters", "Conv2D", "bias_initializer", '"he_normal"')
    assert wanted not in set(facts_of(without, paper_space()))
    assert wanted in set(facts_of(with_bias, paper_space()))


def test_names_of_today_count_as_the_paper_named_them() -> None:
    facts = set(facts_of(chain((1, 3), ("LeakyReLU", {"negative_slope": 0.25})), paper_space()))
    assert Fact("parameters", "LeakyReLU", "alpha", "0.25") in facts
    pool = chain((1, 6, 1), ("MaxPooling1D", {"pool_size": 2, "strides": 2}))
    assert Fact("parameters", "MaxPooling1D", "strides", "numeric") in set(facts_of(pool, paper_space()))


@pytest.mark.parametrize("space", [paper_space(), full_space()], ids=lambda space: space.name)
def test_covered_and_missing_add_up_and_survive_json(space: Any) -> None:
    coverage = Coverage(space)
    for seed in range(12):
        coverage.cover(draw_graph(Draw(seed), 20))
    missing = coverage.missing()
    for criterion in CRITERIA:
        left = sum(item.criterion == criterion for item in missing)
        assert coverage.covered(criterion) + left == space.total(criterion)
        assert coverage.summary()[criterion]["covered"] <= space.reachable(criterion)
    again = Coverage(space)
    again.add(Fact(*fact) for fact in json.loads(json.dumps(coverage.as_plain())))
    assert again.missing() == missing


def test_merging_is_the_same_as_counting_in_one_place() -> None:
    graphs = [draw_graph(Draw(seed), 20) for seed in range(10)]
    parts = [Coverage(full_space()) for _ in range(3)]
    whole = Coverage(full_space())
    for index, graph in enumerate(graphs):
        parts[index % 3].cover(graph)
        whole.cover(graph)
    together = merged(parts)["full"]
    assert {criterion: together.covered(criterion) for criterion in CRITERIA} == {
        criterion: whole.covered(criterion) for criterion in CRITERIA
    }
