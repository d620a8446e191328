"""Relations: each is asked where the reference obeys it, and a route that contradicts itself is found."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import cast

import ml_dtypes
import numpy as np
import pytest
from bugs import bug, finding
from naming import about, by_family
from triaging import Acting
from trials import Routes, chain, raised

from cometfuzz.catalogue import COUNTED
from cometfuzz.catalogue.data import Array, draw_data, to_tensor
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.validate import assemble
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidRoute
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.contradiction import Answers, contradiction
from cometfuzz.oracles.crash import STATIC
from cometfuzz.oracles.finding import Finding, template
from cometfuzz.oracles.quantisation import FLOAT8, INT8
from cometfuzz.oracles.relations import (
    AGAIN,
    ALL,
    GRAPH,
    LAST_ROW,
    MISMATCH,
    NARROWED,
    OTHER_LAST_AXIS,
    OTHER_OPERANDS,
    OTHER_ROWS,
    OTHER_SECOND_AXIS,
    PREDICT,
    QUANTISED,
    RELATIONS,
    SAMPLE,
    TYPES,
    UNCHECKED,
    Relation,
    case_of,
    drawn_piece,
    holds,
    relations,
)
from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Work
from cometfuzz.routes.forms import form_of
from cometfuzz.routes.keras import Built, KerasAdapter
from cometfuzz.routes.keras_types import ComputedTypeMismatch
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.reproducer import make_script
from cometfuzz.triage.scripts.relating import allowed
from cometfuzz.triage.triage import Triage

NAMES = ("keras-tf", "onnxruntime")
POOLED = chain((3, 8, 4), ("MaxPooling1D", {"pool_size": 2}))


EMBEDDED = Case(
    assemble(
        [
            Draft("x", INPUT, {"shape": (2, 4), "dtype": "int32", "high": 3}, ()),
            Draft("n0", "Embedding", {"input_dim": 3, "output_dim": 2}, (Edge("x"),)),
        ],
        [Edge("n0")],
    ),
    3,
)


def merged(layer: str, dtype: str = "float32") -> Case:
    drafts = [Draft(name, INPUT, {"shape": (2, 4), "dtype": dtype}, ()) for name in ("a", "b")]
    drafts.append(Draft("n", layer, {}, (Edge("a"), Edge("b"))))
    return Case(assemble(drafts, [Edge("n")]), 3)


def asked(case: Case, routes: Routes, about: str = ALL) -> list[Finding]:
    names = list(NAMES)
    return list(relations(Bench(routes(case, names), routes, relations=about)))


def last_row_off(layer: str, value: Array) -> Array:
    """What a kernel does that forgets the tail of the batch."""
    value = value.copy()
    value[2:] = 0
    return value


@pytest.mark.parametrize(
    ("relation", "case", "expected"),
    [
        (OTHER_ROWS, POOLED, True),
        (OTHER_ROWS, chain((1, 8, 4), ("ReLU", {})), False),
        (LAST_ROW, POOLED, True),
        (LAST_ROW, chain((2, 3), ("reshape", {"shape": (3, 2)})), False),
        (OTHER_LAST_AXIS, POOLED, True),
        (OTHER_LAST_AXIS, chain((2, 4), ("Dense", {"units": 4})), False),
        (OTHER_LAST_AXIS, chain((2, 5, 4), ("LayerNormalization", {})), True),
        (OTHER_LAST_AXIS, chain((2, 5, 5, 4), ("DepthwiseConv2D", {"kernel_size": (2, 2)})), True),
        (OTHER_SECOND_AXIS, POOLED, False),
        (OTHER_SECOND_AXIS, chain((2, 4, 6), ("MaxPooling1D", {"data_format": "channels_first"})), True),
        (OTHER_OPERANDS, merged("Add"), True),
        (OTHER_OPERANDS, merged("Maximum"), True),
        (OTHER_OPERANDS, merged("Subtract"), False),
        (OTHER_OPERANDS, merged("Concatenate"), False),
        (PREDICT, POOLED, True),
        (PREDICT, chain((3, 8, 4), ("ReLU", {}), dtype="float16"), False),
        (PREDICT, chain((3, 8, 4), ("LSTM", {"units": 2, "stateful": True})), False),
        (TYPES, POOLED, True),
        (QUANTISED, chain((2, 4), ("Dense", {"units": 3, "activation": "tanh"})), True),
        (QUANTISED, chain((2, 4), ("Dense", {"units": 3, "activation": "exponential"})), False),
        (QUANTISED, chain((2, 4), ("Dense", {"units": 3}), dtype="float16"), False),
        (QUANTISED, POOLED, False),
        (QUANTISED, EMBEDDED, True),
        (NARROWED, chain((2, 4), ("Dense", {"units": 3})), True),
        (NARROWED, EMBEDDED, False),
    ],
)
def test_a_relation_holds_where_the_reference_obeys_it(relation: Relation, case: Case, expected: bool) -> None:
    assert holds(relation, case) is expected


FAMILIES = by_family(COUNTED)


@pytest.mark.parametrize("layers", FAMILIES.values(), ids=FAMILIES)
def test_whether_a_relation_holds_can_be_asked_of_every_layer(layers: list[str]) -> None:
    """With weights that are given, as those of a piece are."""
    for layer, index in product(layers, range(3)):
        case = draw_layer(layer, 5, index).case
        data = draw_data(case)
        weights = {f"{node}/{name}": array for node, each in data.weights.items() for name, array in each.items()}
        given = {name: to_tensor(array) for name, array in {**data.inputs, **weights}.items()}
        with about(layer):
            for relation in RELATIONS.values():
                holds(relation, replace(case, data=given))


def test_operands_that_take_other_weights_in_another_order_are_not_asked() -> None:
    drafts = [Draft(name, INPUT, {"shape": (2, 3, size)}, ()) for name, size in (("a", 6), ("b", 2))]
    drafts.append(Draft("n", "MultiHeadAttention", {"num_heads": 2, "key_dim": 2}, (Edge("a"), Edge("b"))))
    case = Case(assemble(drafts, [Edge("n")]), 3)
    weights = {f"n/{name}": to_tensor(array) for name, array in draw_data(case).weights["n"].items()}
    assert not holds(OTHER_OPERANDS, replace(case, data=weights))


def test_right_routes_contradict_nothing() -> None:
    for case in (POOLED, merged("Add"), merged("Multiply", "float16"), chain((3, 6), ("Dense", {"units": 5}))):
        assert asked(case, Routes()) == []


def test_a_result_that_depends_on_the_place_in_the_batch_is_found() -> None:
    found = asked(POOLED, Routes(onnxruntime=last_row_off))
    assert {each.failure for each in found} == {OTHER_ROWS.name, LAST_ROW.name}
    assert {each.camps[0].routes for each in found} == {("onnxruntime",)}
    assert {each.camps[1].routes for each in found} == {("keras-tf",)}
    assert {(each.symptom, each.layer, each.counts) for each in found} == {("relation", "MaxPooling1D", True)}


def test_only_what_is_asked_is_answered() -> None:
    routes = Routes(onnxruntime=last_row_off)
    assert [each.failure for each in asked(POOLED, routes, LAST_ROW.name)] == [LAST_ROW.name]
    assert asked(POOLED, routes, "") == []


def test_a_kind_that_depends_on_a_lane_is_wrong_whatever_the_rule_for_special_values() -> None:
    """Whether a maximum hands on NaN is left to libraries; not so whether it does in some lanes only."""
    values = np.ones((3, 8, 4), np.float32)
    values[0, 0, 0] = values[1, 1, 3] = np.nan
    case = replace(POOLED, data={"x": to_tensor(values)})

    def lost(layer: str, value: Array) -> Array:
        return np.nan_to_num(value)

    def lost_in_one_lane(layer: str, value: Array) -> Array:
        value = value.copy()
        value[..., 0] = np.nan_to_num(value[..., 0])
        return value

    assert asked(case, Routes(onnxruntime=lost)) == []
    (found,) = asked(case, Routes(onnxruntime=lost_in_one_lane), OTHER_LAST_AXIS.name)
    assert "expected nan" in found.detail or "received nan" in found.detail
    assert found.data_kind == "special"


def test_rounding_contradicts_nothing() -> None:
    case = chain((3, 64), ("Dense", {"units": 5}))

    def off(size: float) -> Routes:
        def fault(layer: str, value: Array) -> Array:
            return (value * (1 + size * np.arange(len(value)).reshape(-1, 1))).astype(np.float32)

        return Routes(onnxruntime=fault)

    assert asked(case, off(2e-7)) == []
    assert asked(case, off(1e-3), OTHER_ROWS.name) != []


def test_where_numbers_leave_the_range_no_kind_is_evidence() -> None:
    values = np.full((2, 4), 4e4, np.float16)
    case = replace(chain((2, 4), ("Dense", {"units": 3}), dtype="float16"), data={"x": to_tensor(values)})
    one, two = np.full((2, 3), np.inf, np.float16), np.full((2, 3), np.nan, np.float16)
    assert contradiction(Answers(case), Edge("n0"), ..., one, two) == ""
    small = replace(case, data={})
    assert contradiction(Answers(small), Edge("n0"), ..., one, two) != ""


class Formed(Routes):
    """Routes of which one form answers otherwise."""

    def __init__(self, form: str, outcome: Outcome | None = None) -> None:
        super().__init__()
        self.form, self.outcome, self.asked = form, outcome, list[str]()

    def __call__(
        self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        self.asked += routes
        self.faults = {name: (lambda layer, value: -value) for name in routes if name == self.form}
        trial = super().__call__(case, routes, intermediates)
        changed = {self.form: self.outcome} if self.outcome is not None and self.form in routes else {}
        return Trial(case, {**trial.outcomes, **changed})


@pytest.mark.parametrize("relation", [AGAIN, GRAPH, PREDICT])
def test_a_form_that_answers_otherwise_is_found(relation: Relation) -> None:
    routes = Formed(f"keras-tf/{relation.form}")
    found = asked(POOLED, routes)
    assert [each.failure for each in found] == [relation.name]
    assert not any(name.startswith("onnxruntime/") for name in routes.asked)


def test_a_predict_that_raises_is_found_but_not_where_the_graph_fails_already() -> None:
    error = raised("keras-tf/predict", "ValueError", "no", stage="run")
    (found,) = asked(POOLED, Formed("keras-tf/predict", error))
    assert found.evidence["raises"]
    assert "ValueError" in found.detail
    assert asked(POOLED, Formed("keras-tf/graph", raised("keras-tf/graph", "ValueError", "no"))) == []


def test_computed_types_are_held_against_symbolic_ones_though_neither_is_as_predicted() -> None:
    message = "MaxPooling1D: expected float32[3, 4, 5], as its symbolic output says; received float32[3, 4, 4]"
    routes = Formed("keras-tf/unchecked", raised("keras-tf/unchecked", MISMATCH, message))
    trial = Trial(POOLED, {"keras-tf": raised("keras-tf", STATIC, "MaxPooling1D: expected ...; received ...")})
    (found,) = relations(Bench(trial, routes, relations=SAMPLE))
    assert (found.failure, found.layer) == (UNCHECKED.name, "MaxPooling1D")
    assert not list(relations(Bench(trial, Routes(), relations=SAMPLE)))


def test_a_piece_is_one_layer_on_the_values_that_it_has_in_the_model() -> None:
    case = chain((2, 6), ("Dense", {"units": 5}), ("ReLU", {}), ("Dense", {"units": 3}), ("Softmax", {}))
    bench = Bench(Routes()(case, NAMES), Routes())
    pieces = [drawn_piece(bench, Draw("piece", number)) for number in range(20)]
    assert {len(piece.graph.nodes) for piece in pieces if piece is not None} == {2}
    assert len({str(piece) for piece in pieces}) > 8, "expected several layers, with and without special values"
    assert str(drawn_piece(bench, Draw("piece", 0))) == str(pieces[0])


def test_a_piece_with_one_row_gets_more() -> None:
    case = chain((1, 6), ("Dense", {"units": 5}))
    piece = drawn_piece(Bench(Routes()(case, NAMES), Routes()), Draw("piece"))
    assert piece is not None
    assert piece.graph.type_of(Edge("n0")).shape == (3, 5)
    flat = chain((1, 6), ("reshape", {"shape": (3, 2)}), ("ReLU", {}))
    kept = drawn_piece(Bench(Routes()(flat, NAMES), Routes()), Draw("piece"))
    assert kept is not None
    assert kept.graph.type_of(Edge("n1")).shape == (3, 2)


def test_a_finding_brings_the_small_case_along() -> None:
    found = asked(POOLED, Routes(onnxruntime=last_row_off))[0]
    brought = case_of(found, merged("Add"))
    assert brought.graph == POOLED.graph
    assert case_of(replace(found, evidence={}), POOLED) is POOLED


def test_forms_are_those_of_keras_alone_and_an_executor_knows_them() -> None:
    for name, route in ROUTES.items():
        plain = name in ("keras-tf", "keras-torch", "keras-jax", "keras-openvino", "keras-numpy")
        assert (form_of(route, "again") is not None) is plain
        assert (form_of(route, "graph") is not None) is (name == "keras-tf")
    with Executor([ROUTES["keras-torch"]]) as executor, pytest.raises(InvalidRoute, match="received form='graph'"):
        executor.run(POOLED, ["keras-torch/graph"])


class Turning(Acting):
    """An executor of which one route forgets the tail of the batch."""

    def __init__(self) -> None:
        super().__init__({}, NAMES)

    def run(
        self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        return Routes(onnxruntime=last_row_off)(case, routes or NAMES, intermediates)


def test_triage_confirms_and_reduces_on_the_small_case() -> None:
    whole = chain((3, 8, 4), ("ReLU", {}), ("MaxPooling1D", {"pool_size": 2}), ("Softmax", {}))
    found = asked(POOLED, Routes(onnxruntime=last_row_off), OTHER_ROWS.name)[0]
    triage = Triage(cast(Executor, Turning()), effort=Effort(steps=300))
    result = triage.triage(found, whole).bug
    assert result is not None
    assert (result.shown, result.finding.failure) == (3, OTHER_ROWS.name)
    assert [node.layer for node in result.minimal.graph.nodes if node.layer != INPUT] != ["ReLU", "MaxPooling1D"]
    assert result.minimal.graph.inputs[0].outputs[0].elements < 96
    assert triage.seen_before(found, whole) == result


def test_what_contradicts_itself_is_to_blame_though_no_other_route_was_asked() -> None:
    class Compiling(Acting):
        def run(
            self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
        ) -> Trial:
            return Formed("keras-tf/graph")(case, routes or NAMES, intermediates)

    (found,) = asked(POOLED, Formed("keras-tf/graph"))
    result = Triage(cast(Executor, Compiling({}, NAMES)), effort=Effort(steps=50)).triage(found, POOLED).bug
    assert result is not None
    assert (result.shown, result.blame.role) == (3, "keras-tf")


def test_a_script_does_not_excuse_a_lost_nan() -> None:
    case = chain((1, 2), ("Dense", {"units": 2, "activation": "relu"}))
    case = replace(case, data={"x": to_tensor(np.asarray([[np.nan, np.inf]], np.float32))})
    assert np.isinf(Answers(case).bound(Edge("n0"))).all(), "expected a case of which the bound says nothing"
    (expected,) = allowed(GRAPH, case)
    assert expected.tied is not None
    assert not expected.tied.any()


@pytest.mark.parametrize("name", RELATIONS)
def test_a_script_asks_both_questions(name: str) -> None:
    first = chain((2, 4, 6), ("MaxPooling1D", {"data_format": "channels_first"}))
    dense = chain((3, 4), ("Dense", {"units": 2}))
    others = {OTHER_OPERANDS.name: merged("Add"), OTHER_SECOND_AXIS.name: first, QUANTISED.name: dense}
    others[NARROWED.name] = dense
    case = others.get(name, POOLED)
    found = replace(finding("keras-tf", "relation", "run", "tensorflow"), failure=name)
    text = make_script(bug(case, found))
    compile(text, name, "exec")
    assert "expected" in text
    assert "seen" in text
    assert text.count("keras.Model(") == (2 if name in (LAST_ROW.name, OTHER_OPERANDS.name) else 1)
    if RELATIONS[name].text:
        assert f"first{RELATIONS[name].text}" in text


def in_int8(array: Array, axes: int | tuple[int, ...]) -> Array:
    """Whole multiples of a step, as the library keeps them: the steps of some axes in common."""
    step = (np.max(np.abs(array), axis=axes, keepdims=True) + 1e-7) / 127
    return np.round(array / step) * step


@pytest.mark.parametrize("index", range(8))
def test_a_layer_in_int8_is_as_far_from_itself_as_its_steps_explain(index: int) -> None:
    """A quantised product lies within the slack; one with a step of another axis, or twice as large, does not."""
    case = chain((3, 6), ("Dense", {"units": 5, "activation": "tanh"}))
    case = replace(case, rng_seed=index)
    data = draw_data(case)
    x, weights = data.inputs["x"].astype(float), {name: each.astype(float) for name, each in data.weights["n0"].items()}
    exact = np.tanh(x @ weights["kernel"] + weights["bias"])
    (allowance,) = INT8.slack(case).values()
    right = np.tanh(in_int8(x, -1) @ in_int8(weights["kernel"], 0) + weights["bias"])
    assert (np.abs(right - exact) <= allowance).all()
    assert allowance.max() < 0.1, "expected a bound that means something"
    wrong = np.tanh(in_int8(x, -1) @ (1.05 * in_int8(weights["kernel"], 0)) + weights["bias"])
    assert (np.abs(wrong - exact) > allowance).any()


@pytest.mark.parametrize("index", range(8))
def test_a_layer_in_float8_is_as_far_from_itself_as_its_digits_explain(index: int) -> None:
    case = replace(chain((3, 6), ("Dense", {"units": 5})), rng_seed=index)
    data = draw_data(case)
    x, weights = data.inputs["x"], data.weights["n0"]
    exact = x.astype(float) @ weights["kernel"].astype(float) + weights["bias"]
    narrow = [array.astype(ml_dtypes.float8_e4m3fn).astype(float) for array in (x, weights["kernel"])]
    (allowance,) = FLOAT8.slack(case).values()
    assert (np.abs(narrow[0] @ narrow[1] + weights["bias"] - exact) <= allowance).all()
    assert (np.abs(narrow[0] @ (1.4 * narrow[1]) + weights["bias"] - exact) > allowance).any()


@pytest.mark.parametrize("layer", ["EinsumDense", "Embedding"])
def test_the_steps_of_other_layers_have_the_shape_of_their_output(layer: str) -> None:
    cases = [draw_layer(layer, 9, index).case for index in range(40)]
    for case in filter(None, map(QUANTISED.ask, cases)):
        (edge,) = case.graph.outputs
        assert INT8.slack(case)[edge].shape == case.graph.type_of(edge).shape
        assert (INT8.slack(case)[edge] >= 0).all()


@pytest.mark.parametrize("name", RELATIONS)
def test_a_name_is_the_same_to_triage(name: str) -> None:
    """It asks for the relation by the failure of a finding, from which numbers are taken out."""
    assert template(name) == name


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e12])
def test_what_no_step_fits_is_not_quantised(value: float) -> None:
    case = chain((1, 2), ("Dense", {"units": 2}))
    given = to_tensor(np.asarray([[value, 1.0]], np.float32))
    assert QUANTISED.ask(replace(case, data={"x": given})) is None


class Answering(KerasAdapter):
    """Keras, if a run gave one float32 of shape [3, 4]."""

    def __init__(self) -> None:
        self.ops = None

    def run(self, work: Work, built: Built) -> list[WireTensor]:
        return [WireTensor("float32", (3, 4), bytes(48))]


@pytest.mark.parametrize(
    ("dtype", "shape", "right"),
    [
        ("float32", (None, 4), True),
        ("float32", (3, 4), True),
        ("float32", (3, 5), False),
        ("float32", (None, 4, 1), False),
        ("float16", (3, 4), False),
    ],
)
def test_a_result_is_held_against_its_symbolic_type(dtype: str, shape: tuple[int | None, ...], right: bool) -> None:
    work = cast(Work, SimpleNamespace(graph=POOLED.graph))
    built = Built({}, SimpleNamespace(outputs=[SimpleNamespace(dtype=dtype, shape=shape)]))
    if right:
        assert Answering().run_typed(work, built)
    else:
        with pytest.raises(ComputedTypeMismatch, match="MaxPooling1D: expected"):
            Answering().run_typed(work, built)
