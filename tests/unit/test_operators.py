"""Operators: how they are typed, called, written and counted. Their meanings have tests of their own."""

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cometfuzz.catalogue import LAYERS, OPERATORS
from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.operators import axes_of, broadcast, reduced
from cometfuzz.catalogue.validate import assemble, check
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import full_space, ops_space, paper_space
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Node, Params, is_operator, is_utility
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.run import run
from cometfuzz.routes.calls import FORMS, SIGNS, OperatorForm, call_operator
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.scripts.keras_code import operation
from cometfuzz.triage.scripts.keras_program import keras_program


def graph_of(layer: str, params: dict[str, Any], *shapes: tuple[int, ...], dtype: str = "float32") -> Graph:
    """A graph of one operator, and of a ReLU that reads it."""
    given = {"dtype": dtype, "high": 5 if dtype == "int32" else None}
    drafts = [Draft(f"x{index}", INPUT, {**given, "shape": shape}, ()) for index, shape in enumerate(shapes)]
    drafts.append(Draft("n", layer, params, tuple(Edge(draft.id) for draft in drafts)))
    return assemble(drafts, [Edge("n")])


def node_of(layer: str, params: dict[str, Any], inputs: int = 1) -> Node:
    edges = tuple(Edge(f"x{index}") for index in range(inputs))
    return Node("n", layer, Params(params), edges, (TensorType("float32", (1,)),))


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((2, 3), (3,)), (2, 3)),
        (((2, 1), (1, 3)), (2, 3)),
        (((0, 3), (1, 3)), (0, 3)),
        (((2,), (3,)), None),
        (((2, 0), (2, 3)), None),
        (((), (3,)), (3,)),
    ],
)
def test_shapes_are_broadcast_as_numpy_does(shapes: tuple[tuple[int, ...], ...], expected: tuple[int, ...]) -> None:
    assert broadcast(*shapes) == expected
    if expected is not None:
        assert np.broadcast_shapes(*shapes) == expected


def test_axes_are_counted_from_either_end() -> None:
    assert axes_of(None, 3) == (0, 1, 2)
    assert axes_of((-1, 0), 3) == (2, 0)
    assert reduced((2, 3, 4), (0, -1), keepdims=False) == (3,)
    assert reduced((2, 3, 4), (0, -1), keepdims=True) == (1, 3, 1)


def test_an_operator_is_neither_a_layer_nor_a_utility() -> None:
    assert is_operator("ops.add")
    assert not is_utility("ops.add")
    assert is_utility("cast")
    assert not is_operator("Add")
    assert not set(OPERATORS) & set(LAYERS)
    assert all(is_operator(name) for name in OPERATORS)


def test_a_mask_does_not_reach_an_operator() -> None:
    drafts = [Draft("x", INPUT, {"shape": (2, 3, 4), "zero_steps": True}, ()), Draft("m", "Masking", {}, (Edge("x"),))]
    drafts.append(Draft("n", "ops.exp", {}, (Edge("m"),)))
    _, violations = check(drafts, [Edge("n")])
    assert [violation.rule for violation in violations] == ["no mask arrives"]


def test_integers_are_computed_with_while_they_are_small() -> None:
    assert graph_of("ops.add", {}, (2, 3), (3,), dtype="int32").type_of(Edge("n")).high == 9
    assert graph_of("ops.multiply", {}, (2, 3), (3,), dtype="int32").type_of(Edge("n")).high == 17
    assert graph_of("ops.subtract", {}, (2, 3), (3,), dtype="int32").type_of(Edge("n")).high is None
    drafts = [Draft("x", INPUT, {"dtype": "int32", "high": 5, "shape": (2,)}, ())]
    drafts.append(Draft("s", "ops.subtract", {}, (Edge("x"), Edge("x"))))
    drafts.append(Draft("n", "ops.add", {}, (Edge("s"), Edge("x"))))
    _, violations = check(drafts, [Edge("n")])
    assert [violation.rule for violation in violations] == ["integers are small"]


def test_a_formula_is_the_meaning() -> None:
    graph = graph_of("ops.clip", {"x_min": -0.5, "x_max": 0.25}, (4, 5))
    data = draw_data(Case(graph, 3))
    found = run(graph, data).values[Edge("n")]
    np.testing.assert_array_equal(found, np.clip(data.inputs["x0"].astype(float), -0.5, 0.25))


def test_a_sum_strays_with_its_terms() -> None:
    """What is lost in a long sum depends on all of its terms, not on what is left of them."""
    from cometfuzz.reference.bound import expect

    graph = graph_of("ops.sum", {"axis": 0}, (4000,))
    data = draw_data(Case(graph, 3))
    terms = np.abs(data.inputs["x0"].astype(float)).sum()
    bound = expect(graph, data)[Edge("n")].bound
    assert bound is not None
    assert 2.0**-24 * terms < float(bound) < 2.0**-24 * terms * 4000


class Recorder:
    """Stands for keras.ops: says how it was called."""

    def __getattr__(self, name: str) -> Any:
        if name == "image":
            return self
        return lambda *given, **named: (name, given, named)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (OperatorForm(), (("x", "y"), {"axis": 1})),
        (OperatorForm(listed=1), ((["x", "y"],), {"axis": 1})),
        (OperatorForm(leading=("axis",)), ((1, "x", "y"), {})),
        (OperatorForm(names=("scale",)), (("x",), {"axis": 1, "scale": "y"})),
    ],
)
def test_an_operator_is_called_and_written_in_its_form(
    form: OperatorForm, expected: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMS, "ops.image.toy", form)
    node = node_of("ops.image.toy", {"axis": 1}, 2)
    assert call_operator(Recorder(), node, ["x", "y"]) == ("toy", *expected)
    names = {"keras": SimpleNamespace(ops=SimpleNamespace(image=Recorder())), "x": "x", "y": "y"}
    written = ast.parse(operation(node, ["x", "y"]), mode="eval")
    assert eval(compile(written, "script", "eval"), names) == ("toy", *expected)  # our own text


def test_slices_are_written_as_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMS, "ops.toy", OperatorForm(slices="key"))
    node = node_of("ops.toy", {"key": ((0, None, 2), (None, -1, None))})
    _, _, named = call_operator(Recorder(), node, ["x"])
    assert named == {"key": (slice(0, None, 2), slice(None, -1, None))}
    assert operation(node, ["x"]) == "keras.ops.toy(x, key=(slice(0, None, 2), slice(None, -1, None),))"


@pytest.mark.parametrize("name", sorted(name for name, spec in OPERATORS.items() if "notation" in spec.params))
def test_a_sign_is_the_same_as_the_function(name: str) -> None:
    assert name in SIGNS
    params = {**OPERATORS[name].complete({}), "notation": "sign"}
    arrays = [np.array([[1.5, -2.0], [3.0, 0.5]])] * OPERATORS[name].arity[0]
    node = node_of(name, params, len(arrays))
    formula = OPERATORS[name].formula
    signed = call_operator(Recorder(), node, arrays)
    written = eval(operation(node, ["x", "y"][: len(arrays)]), {"x": arrays[0], "y": arrays[-1]})  # our own text
    np.testing.assert_array_equal(signed, written)
    if formula is not None:
        np.testing.assert_allclose(signed, formula(*arrays, **params))


def test_a_model_of_operators_is_a_program() -> None:
    case = draw_layer("ops.matmul", 1, 0).case
    program = keras_program(case.graph, draw_data(case), ROUTES["keras-tf"])
    lines = [line for _, piece in program.engine.pieces for line in piece]
    assert any("keras.ops.matmul(" in line or " @ " in line for line in lines)


def test_operators_have_a_space_of_their_own() -> None:
    spaces = (paper_space(), full_space(), ops_space())
    counted = [{item.layer for item in space.items["inputs"]} for space in spaces]
    assert [names <= set(OPERATORS) for names in counted] == [False, False, True]
    drafts = [Draft("x", INPUT, {"shape": (2, 3)}, ()), Draft("a", "ops.exp", {}, (Edge("x"),))]
    drafts += [Draft("b", "ops.abs", {}, (Edge("a"),)), Draft("c", "ReLU", {}, (Edge("b"),))]
    graph = assemble(drafts, [Edge("c")])
    gains = [{(fact.layer, fact.name, fact.value) for fact in Coverage(space).gain(graph).facts} for space in spaces]
    assert ("ops.exp", "before", "ops.abs") in gains[2]
    assert {layer for layer, _, _ in gains[2]} == {"ops.exp", "ops.abs"}
    assert {layer for layer, _, _ in gains[1]} == {"ReLU"}
