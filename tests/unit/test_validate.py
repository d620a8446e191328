"""`validate` is the only judge: it lists every violation by the rule's name."""

from dataclasses import replace

import pytest
from naming import about

from cometfuzz.catalogue import CATALOGUE, COUNTED, FAMILIES, LAYERS
from cometfuzz.catalogue.validate import assemble, check, validate
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Draft, Edge, Graph
from cometfuzz.ir.types import TensorType


def source(*shape: int, dtype: str = "float32") -> Draft:
    return Draft("x", "input", {"dtype": dtype, "shape": shape}, ())


def rules_broken(*drafts: Draft) -> set[str]:
    return {violation.rule for violation in check(drafts, [Edge(drafts[-1].id)])[1]}


def test_a_valid_graph_has_no_violation() -> None:
    graph = assemble(
        [source(2, 8, 8, 3), Draft("c", "Conv2D", {"filters": 4, "kernel_size": 3}, (Edge("x"),))], [Edge("c")]
    )
    assert validate(graph) == []
    assert graph.type_of(Edge("c")) == TensorType("float32", (2, 6, 6, 4))


def test_all_violations_are_listed_not_only_the_first() -> None:
    broken = rules_broken(
        source(2, 8, 8, 3),
        Draft("a", "Conv2D", {"kernel_size": 99}, (Edge("x"),)),
        Draft("b", "Conv1D", {}, (Edge("x"),)),
        Draft("c", "Dense", {"units": "many", "colour": 3}, (Edge("x"),)),
        Draft("d", "Nothing", {}, (Edge("x"),)),
    )
    assert broken >= {"rank", "value of units", "parameter exists", "layer is in the catalogue"}
    assert len(broken) >= 5


def test_a_lie_about_types_is_found() -> None:
    graph = assemble([source(2, 3), Draft("r", "ReLU", {}, (Edge("x"),))], [Edge("r")])
    lying = replace(graph.nodes[1], outputs=(TensorType("float16", (2, 3)),))
    rules = [violation.rule for violation in validate(Graph((graph.nodes[0], lying), graph.outputs))]
    assert rules == ["types are as the catalogue predicts"]


def test_nodes_below_a_broken_one_are_not_blamed_for_it() -> None:
    bad = Draft("a", "Dense", {"units": -1}, (Edge("x"),))
    _, violations = check([source(2, 3), bad, Draft("b", "ReLU", {}, (Edge("a"),))], [Edge("b")])
    assert [violation.node for violation in violations] == ["a"]


def test_assemble_raises_one_error_with_every_violation() -> None:
    with pytest.raises(InvalidCase) as caught:
        assemble(
            [source(2, 3), Draft("a", "Conv2D", {}, (Edge("x"),)), Draft("b", "Conv3D", {}, (Edge("x"),))], [Edge("b")]
        )
    assert "'a'" in str(caught.value)
    assert "'b'" in str(caught.value)


def test_true_is_not_a_number_and_one_is_not_true() -> None:
    assert rules_broken(source(2, 3), Draft("a", "Dense", {"units": True}, (Edge("x"),))) == {"value of units"}
    assert rules_broken(source(2, 3), Draft("a", "Dense", {"use_bias": 1}, (Edge("x"),))) == {"value of use_bias"}


def test_zero_size_dimensions_are_legal_where_libraries_take_them() -> None:
    graph = assemble([source(2, 0), Draft("r", "ReLU", {}, (Edge("x"),))], [Edge("r")])
    assert graph.type_of(Edge("r")).elements == 0


def test_no_cast_rounds_twice() -> None:
    assert "no double rounding" in rules_broken(
        source(2, 3, dtype="float64"), Draft("c", "cast", {"dtype": "float16"}, (Edge("x"),))
    )


def test_several_outputs_are_edges_of_their_own() -> None:
    lstm = Draft("l", "LSTM", {"units": 4, "return_state": True, "return_sequences": True}, (Edge("x"),))
    graph = assemble([source(2, 5, 3), lstm, Draft("r", "ReLU", {}, (Edge("l", 2),))], [Edge("l"), Edge("r")])
    assert [kind.shape for kind in graph.by_id["l"].outputs] == [(2, 5, 4), (2, 4), (2, 4)]
    assert graph.type_of(Edge("r")).shape == (2, 4)


def test_a_mask_travels_as_far_as_keras_lets_it() -> None:
    drafts = [
        source(2, 5, 3),
        Draft("m", "Masking", {}, (Edge("x"),)),
        Draft("d", "Dropout", {}, (Edge("m"),)),
        Draft("f", "Flatten", {}, (Edge("d"),)),
        Draft("c", "cast", {"dtype": "float64"}, (Edge("d"),)),
    ]
    graph = assemble(drafts, [Edge("f"), Edge("c")])
    assert [graph.type_of(Edge(node)).masked for node in "xmdfc"] == [False, True, True, False, False]


def test_the_catalogue_has_every_layer_of_the_full_space() -> None:
    assert sum(spec.family in FAMILIES for spec in LAYERS.values()) == 129  # ours
    assert sum(spec.identity for spec in LAYERS.values() if spec.family in FAMILIES) == 33
    utilities = {"cast", "pad", "crop", "expand", "squeeze", "reshape", "special", "scale", "input"}
    assert utilities <= set(CATALOGUE) - set(LAYERS)
    assert all(spec.doc and spec.family for spec in CATALOGUE.values())


def test_simplest_values_belong_to_their_spaces() -> None:
    for name, spec in COUNTED.items():
        for parameter, space in spec.params.items():
            with about(f"{name}, {parameter}"):
                assert space.problem(space.canonical(space.simplest)) is None
                assert space.describe()
