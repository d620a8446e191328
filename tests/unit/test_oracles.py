"""Oracles: each finds what it is there for, in camps, and says nothing of a clean trial."""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace

import numpy as np
import pytest
from trials import Fault, Routes, answer, chain, completed, raised, right, wire

from cometfuzz import errors
from cometfuzz.campaign.judging import of_base
from cometfuzz.catalogue.data import Array, to_tensor
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome, StageTime, Trial, readable
from cometfuzz.execution.versions import usual_view, view_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.matching import Rule, View
from cometfuzz.oracles import judging
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.d_mad import d_mad, inconsistency, mean_magnitude
from cometfuzz.oracles.finding import Finding, severity_of, template
from cometfuzz.oracles.judging import ORACLES, examine
from cometfuzz.oracles.local import MARGIN, margin_of, symptom_of
from cometfuzz.reference.bound import Expected
from cometfuzz.routes.registry import ROUTES as REGISTERED
from cometfuzz.routes.registry import moved

CASE = chain((2, 6), ("Dense", {"units": 5}), ("ReLU", {}), ("Dense", {"units": 3}), ("Softmax", {}))
ROUTES = ("keras-tf", "keras-torch", "onnxruntime")


def findings(case: Case, *outcomes: Outcome, rerun: Routes | None = None, again: Trial | None = None) -> list[Finding]:
    trial = Trial(case, {outcome.route: outcome for outcome in outcomes})
    return list(examine(Bench(trial, rerun or Routes(), again)))


def judged(case: Case, **faults: Fault) -> list[Finding]:
    routes = Routes(**faults)
    return list(examine(Bench(routes(case, ROUTES), routes)))


def test_a_clean_trial_has_no_findings() -> None:
    assert judged(CASE) == []
    half = chain((2, 6), ("Dense", {"units": 5}), ("Softmax", {}), dtype="float16")
    assert judged(half) == []


def off(layer: str, by: float) -> Fault:
    return lambda name, value: value * np.asarray(1 + by, value.dtype) if name == layer else value


def test_a_wrong_value_is_found_at_its_node_and_in_one_camp() -> None:
    (found,) = judged(CASE, keras_torch=off("ReLU", 1e-3))
    assert (found.symptom, found.node, found.layer, found.data_kind) == ("value", "n1", "ReLU", "ordinary")
    assert [camp.routes for camp in found.camps] == [("keras-torch",), ("keras-tf", "onnxruntime")]
    assert "expected" in found.detail
    assert found.counts


def test_two_readers_of_a_file_that_give_the_same_wrong_answer_are_one_finding() -> None:
    routes = Routes(onnxruntime=off("ReLU", 1e-3), openvino=off("ReLU", 1e-3))
    (found,) = examine(Bench(routes(CASE, ["keras-tf", "onnxruntime", "openvino"]), routes))
    assert found.camps[0].routes == ("onnxruntime", "openvino")


def test_readers_that_give_different_answers_are_two_findings() -> None:
    routes = Routes(onnxruntime=off("ReLU", 1e-3), openvino=off("ReLU", 5e-3))
    found = list(examine(Bench(routes(CASE, ["keras-tf", "onnxruntime", "openvino"]), routes)))
    assert [each.camps[0].routes for each in found] == [("onnxruntime",), ("openvino",)]


def test_libraries_with_nothing_in_common_are_two_findings() -> None:
    found = judged(CASE, keras_torch=off("ReLU", 1e-3), onnxruntime=off("ReLU", 1e-3))
    assert [each.camps[0].routes for each in found] == [("keras-torch",), ("onnxruntime",)]


def test_a_reader_beside_one_that_reads_the_file_right_answers_for_itself() -> None:
    """Then it is not the file; two readers that are wrong are two bugs, even if they are so in the same way."""
    routes = Routes(onnxruntime=off("ReLU", 1e-3), openvino=off("ReLU", 1e-3))
    trial = routes(CASE, ["keras-tf", "onnxruntime", "openvino", "onnx-reference"])
    assert [each.camps[0].routes for each in examine(Bench(trial, routes))] == [("onnxruntime",), ("openvino",)]


def test_a_file_that_its_evaluator_reads_like_another_reader_is_not_right_because_one_computes_in_more_digits() -> None:
    wrong = off("ReLU", 1e-3)
    routes = Routes(onnxruntime=wrong, onnx_reference=wrong, onnx2torch=wrong)
    trial = routes(CASE, ["keras-tf", "onnxruntime", "onnx-reference", "onnx2torch", "openvino"])
    (found,) = examine(Bench(trial, routes))
    assert found.camps[0].routes == ("onnxruntime", "onnx-reference", "onnx2torch")


def test_all_libraries_against_the_reference_is_said_as_that() -> None:
    wrong = off("ReLU", 1e-3)
    (found,) = judged(CASE, keras_tf=wrong, keras_torch=wrong, onnxruntime=wrong)
    assert len(found.camps) == 1
    assert found.evidence["against"] == "the reference"


def test_a_wrong_shape_within_the_model_is_found_at_its_node() -> None:
    case = chain((1, 4, 2), ("ReLU", {}), ("GlobalMaxPooling1D", {}), ("ReLU", {}))

    class Short(Routes):
        """Goes on with what it has, as a library does."""

        def __call__(
            self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
        ) -> Trial:
            trial = super().__call__(case, routes, intermediates)
            wrong = trial.outcomes["keras-tf"]
            nodes = {
                edge: wire(array_of(one)[:, :1]) if edge.node == "n0" else one for edge, one in wrong.nodes.items()
            }
            outputs = [wire(np.full((1, 2), -5.0, np.float32))]
            return Trial(case, {**trial.outcomes, "keras-tf": replace(wrong, outputs=outputs, nodes=nodes)})

    routes = Short()
    (found,) = examine(Bench(routes(case, ["keras-tf"]), routes))
    assert (found.symptom, found.node, found.oracle) == ("shape", "n0", "value")


def test_an_oracle_that_fails_is_told_of_and_the_others_judge_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(bench: Bench) -> Iterator[Finding]:
        yield from ()
        raise ValueError("expected more")

    monkeypatch.setattr(judging, "ORACLES", {"broken": broken, **ORACLES})
    routes, told = Routes(keras_torch=off("ReLU", 0.5)), list[str]()
    bench = Bench(routes(CASE, ROUTES), routes)
    with pytest.raises(ValueError, match="expected more"):
        list(examine(bench, told.append))
    monkeypatch.setattr(errors, "BORNE", (Exception,))
    with pytest.raises(ValueError, match="expected more"):
        list(examine(bench))
    assert [found.symptom for found in examine(bench, told.append)] == ["value"]
    place = r"a mistake in cometfuzz or a plug-in: oracle broken: ValueError expected more \(test_oracles.py:\d+\)"
    assert re.fullmatch(place, *told)


def test_what_is_meant_to_end_the_work_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(bench: Bench) -> Iterator[Finding]:
        yield from ()
        raise CancelledError

    monkeypatch.setattr(judging, "ORACLES", {"given up": given_up})
    monkeypatch.setattr(errors, "BORNE", (Exception,))
    with pytest.raises(CancelledError):
        list(examine(Bench(Routes()(CASE, ROUTES), Routes()), lambda mistake: None))


def test_rounding_is_no_finding() -> None:
    assert judged(CASE, keras_torch=off("ReLU", 5e-8)) == []


def test_nan_on_one_route() -> None:
    def nan(layer: str, value: Array) -> Array:
        return np.full_like(value, np.nan) if layer == "Softmax" else value

    (found,) = judged(CASE, keras_tf=nan)
    assert (found.symptom, found.layer, found.oracle) == ("nonfinite", "Softmax", "nonfinite")


def test_nan_that_everybody_has_is_no_finding_and_one_that_is_swallowed_is_special() -> None:
    given = np.full((2, 6), 1.0, np.float32)
    given[0, 0] = np.nan
    case = replace(chain((2, 6), ("Rescaling", {})), data={"x": to_tensor(given)})
    assert judged(case) == []
    (found,) = judged(case, keras_tf=lambda layer, value: np.nan_to_num(value))
    assert (found.symptom, found.data_kind) == ("nonfinite", "special")
    (found,) = judged(case, keras_tf=lambda layer, value: np.where(np.isnan(value), np.inf, value).astype(np.float32))
    assert found.symptom == "nonfinite"


def test_numbers_that_leave_the_range_within_a_window_are_no_finding() -> None:
    """100 times 1000 is Inf in float16, and stays so behind a cast to float32."""
    case = chain((1, 2), ("Rescaling", {"scale": 1000.0}), ("cast", {"dtype": "float32"}), dtype="float16")
    case = replace(case, data={"x": to_tensor(np.full((1, 2), 100.0, np.float16))})
    assert np.isinf(array_of(answer(case)[0])).all()
    assert judged(case) == []


class Fusing(Routes):
    """Wrong where nobody looks between the nodes."""

    def __call__(
        self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        if intermediates or len(case.graph.nodes) < 3:
            return Routes()(case, routes, intermediates)
        return super().__call__(case, routes)


@pytest.mark.parametrize(("base", "judged"), [("onnxruntime", True), ("onnxruntime-noopt", False)])
def test_a_window_is_judged_where_nodes_are_fused_in_any_environment(base: str, judged: bool) -> None:
    copy = moved(REGISTERED[base], "copy", "elsewhere")
    routes = Fusing(copy=off("Softmax", 1e-2))
    bench = Bench(routes(CASE, ["copy"]), routes, view=view_of({"copy": copy}))
    assert [suspect.route for suspect in bench.suspects] == ["copy"]
    windows = [[node.layer for node in wrong.window] for wrong in bench.wrong_nodes]
    assert windows == ([["Dense", "Softmax"]] if judged else [])


def test_no_window_runs_where_it_makes_no_difference_that_nodes_are_fused() -> None:
    """A layer magnifies what the one before it has rounded: beyond the gate, and right by its own inputs."""
    case = chain((1, 2), ("Rescaling", {"offset": 4096.0}), ("Rescaling", {"scale": 256.0, "offset": -4096.0 * 256.0}))
    case = replace(case, data={"x": to_tensor(np.full((1, 2), 0.3 * 2.0**-11, np.float32))})
    asked: list[int] = []

    class Counting(Routes):
        def __call__(
            self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
        ) -> Trial:
            asked.append(len(case.graph.nodes))
            return super().__call__(case, routes, intermediates, other_memory)

    routes = Counting()
    bench = Bench(routes(case, ["onnxruntime"]), routes)
    assert [suspect.route for suspect in bench.suspects] == ["onnxruntime"]
    assert bench.wrong_nodes == []
    assert asked == [3, 3]  # once as it is, once with all that its nodes give


def test_another_shape_and_another_dtype() -> None:
    good = answer(CASE)
    (found,) = findings(
        CASE, completed("keras-tf", good), completed("keras-torch", [wire(np.zeros((2, 4), np.float32))])
    )
    assert (found.symptom, found.camps[0].routes) == ("shape", ("keras-torch",))
    assert found.detail == "expected float32[2, 3]; received float32[2, 4]"
    (found,) = findings(CASE, completed("keras-tf", good), completed("keras-torch", [wire(np.zeros((2, 3)))]))
    assert (found.symptom, found.layer) == ("dtype", "Softmax")


def test_a_crash_on_one_route_has_two_camps() -> None:
    outcomes = [completed("keras-tf", answer(CASE)), raised("keras-torch", "RuntimeError", "size 5 at node n3 is bad")]
    (found,) = findings(CASE, *outcomes)
    assert (found.symptom, found.library, found.stage) == ("crash", "keras", "build")
    assert found.failure == "RuntimeError: size # at node # is bad"
    assert [camp.routes for camp in found.camps] == [("keras-torch",), ("keras-tf",)]


def test_a_full_disk_is_nobodys_bug() -> None:
    full = raised("keras-torch", "OSError", "[Errno 28] No space left on device: 'model.keras'")
    assert findings(CASE, completed("keras-tf", answer(CASE)), full) == []


def test_a_route_that_was_not_reached_is_in_the_camp_of_what_failed() -> None:
    first = raised("onnxruntime", "ValueError", "no", stage="convert", library="tf2onnx")
    behind = replace(first, route="openvino", status="not reached", cause="exception")
    (found,) = findings(CASE, completed("keras-tf", answer(CASE)), first, behind)
    assert found.camps[0].routes == ("onnxruntime", "openvino")
    assert found.library == "tf2onnx"


@pytest.mark.parametrize(
    ("kind", "message", "frame", "symptom"),
    [
        ("NotImplementedError", "", "keras/src/ops/nn.py:1 f", "unsupported"),
        ("RuntimeError", "Op X is not supported on CPU", "x.py:1 f", "unsupported"),
        ("InvalidArgumentError", "Input 1 to node x must be a compile-time constant.", "x.py:1 f", "unsupported"),
        ("InvalidArgumentError", "Only ranks up to 8 supported: [1,2]", "x.py:1 f", "unsupported"),
        ("AssertionError", "all data must have the same batch size: 2", "mxnet/x.py:1 f", "unsupported"),
        ("TypeError", "unsupported operand type(s) for *: 'generator' and 'int'", "x.py:1 f", "crash"),
        ("ConverterError", "error: 'tf.Slice' op is neither a custom op nor a flex op", "x.py:1 f", "unsupported"),
        ("ValidationError", "No Op registered for ScaleAndTranslate with domain_version", "x.py:1 f", "unsupported"),
        ("ValueError", "Invalid data-type for array", "ai_edge_litert/interpreter.py:1 __call__", "unsupported"),
        ("ValueError", "`units` must be positive", "/lib/keras/src/layers/core/dense.py:9 __init__", "refused"),
        ("ValueError", "`units` must be positive", "/lib/keras/src/backend/torch/nn.py:9 f", "crash"),
        ("TypeError", "no", "/lib/keras/src/layers/core/dense.py:9 __init__", "crash"),
    ],
)
def test_what_fails_on_every_route_is_told_apart(kind: str, message: str, frame: str, symptom: str) -> None:
    outcomes = [raised(name, kind, message, frame) for name in ("keras-tf", "keras-torch")]
    (found,) = findings(CASE, *outcomes)
    assert found.symptom == symptom
    assert found.evidence["against"] == "the reference"
    assert found.counts == (symptom == "crash")


def test_a_limit_that_names_no_layer_covers_utilities_too() -> None:
    """OpenVINO computes float64 in float32, whatever the node; the dtype is all that matters."""
    case = chain((1, 2), ("crop", {"crops": ((0, 0), (0, 1))}), dtype="float64")
    trial = Trial(case, {"openvino": completed("openvino", answer(case))})
    assert any("float64" in rule.text for rule in Bench(trial, lambda *given: trial).rules("openvino"))
    plain = Trial(chain((1, 2), ("crop", {"crops": ((0, 0), (0, 1))})), {})
    assert not list(Bench(plain, lambda *given: plain).rules("openvino"))


def test_what_a_converter_says_of_a_model_that_does_not_run_is_no_finding_of_its_own() -> None:
    base = raised("keras-tf", "ValueError", "the mask does not fit")
    behind = raised("litert", "TypeError", "'NoneType' object is not callable")
    (found,) = findings(CASE, base, behind)
    assert found.camps[0].routes == ("keras-tf",)
    (found,) = findings(CASE, completed("keras-tf", answer(CASE)), behind)
    assert found.camps[0].routes == ("litert",)
    (found,) = findings(CASE, raised("keras-torch", "ValueError", "no"), behind)[1:]
    assert found.camps[0].routes == ("litert",)


def test_the_death_of_a_process() -> None:
    dead = Outcome("keras-tf", "signal", "run", "tensorflow", detail="SIGSEGV")
    (found,) = findings(CASE, dead, completed("keras-torch", answer(CASE)))
    assert (found.symptom, found.failure) == ("death", "signal SIGSEGV")


def test_a_hang_needs_others_that_are_quick() -> None:
    stuck = Outcome("keras-tf", "timeout", "run", "keras", times=(StageTime("run", "keras", 10.0, 1.0),))
    (found,) = findings(CASE, stuck, completed("keras-torch", answer(CASE)))
    assert found.symptom == "hang"
    assert findings(CASE, stuck, completed("keras-torch", answer(CASE), wall_s=9.0)) == []


def test_other_bits_in_a_second_run() -> None:
    first = completed("keras-tf", answer(CASE))
    again = Routes(keras_tf=off("Softmax", 1e-6))(CASE, ["keras-tf"])
    (found,) = findings(CASE, first, again=again)
    assert (found.symptom, found.layer) == ("nondeterminism", "Softmax")
    assert findings(CASE, first, again=Routes()(CASE, ["keras-tf"])) == []


def test_findings_go_to_json_and_back() -> None:
    (found,) = judged(CASE, keras_torch=off("ReLU", 1e-3))
    assert Finding.from_plain(found.as_plain()) == found


def test_templates_do_not_depend_on_where_a_long_message_is_cut() -> None:
    """Of PyTorch's, the quoted node fills more than a line; of MLIR's, places come first and nest."""
    node = "Failed to export a node '%{} : Long() = onnx::Gather[axis=0](%{}), scope: {}' (in list node) because"
    assert template(node.format(9, 8, "a/" * 199)) == template(node.format(105, 102, "a/" * 201))
    place = 'loc(fused[callsite(fused["AddV2:", "n30_1/add"] at callsite(fused["Call:"]))]): '
    assert readable(f"<unknown>:0: error: {place * 9}'tfl.prelu' op failed") == "error: 'tfl.prelu' op failed"
    assert readable("loc(") == ""
    assert readable("no places (here)") == "no places (here)"


def test_templates_forget_what_differs() -> None:
    one = template("Layer 'conv_1' got shape (1, 2, 3) at 0x7f3a, n12")
    assert one == template("Layer 'dense' got shape (None, 7) at 0x1, n3")
    assert one != template("Layer 'dense' has shape (None, 7) at 0x1, n3")


def test_d_mad_is_of_each_instance_and_of_distances_from_one() -> None:
    outputs = [wire(np.array([[1.0, -1.0]], np.float32)), wire(np.array([2.0], np.float32))]
    assert mean_magnitude(outputs) == 2.0
    assert mean_magnitude([]) is None
    one, two = completed("a", [wire(np.array([2.0]))]), completed("b", [wire(np.array([4.0]))])
    assert d_mad({"a": one, "b": two}) == 0.5
    assert d_mad({"a": one}) is None
    both, other = np.array([[2.0, 0.0], [4.0, 4.0]]), np.array([[2.0, 0.0], [2.0, 2.0]])
    assert d_mad({"a": completed("a", [wire(both)]), "b": completed("b", [wire(other)])}) == 0.5, "the second alone"
    far = completed("b", [wire(np.array([[2.0, 0.0], [np.nan, 1.0]]))])
    assert d_mad({"a": completed("a", [wire(both)]), "b": far}) == 0.0, "what is not finite has no distance"
    assert d_mad({"a": completed("a", [wire(both), wire(np.array(1.0))]), "b": one}) is not None


def test_what_strategies_learn_of_base_routes() -> None:
    """D_MAD is added up over instances and pairs; a route that raised beside one that did not has failed."""
    outcomes = [
        completed("a", [wire(np.array([[2.0], [3.0]]))]),
        completed("b", [wire(np.array([[4.0], [3.0]]))]),
        completed("c", [wire(np.array([[4.0], [-7.0]])), wire(np.array([np.inf, np.nan]))]),
    ]
    assert inconsistency({each.route: each for each in outcomes[:2]}) == 0.5
    assert of_base(outcomes[:2]) == {"inconsistency": 0.5, "failed": False, "magnitude": 4.0}
    two = [outcomes[0], completed("c", [wire(np.array([[4.0], [-7.0]]))]), outcomes[1]]
    assert of_base(two)["inconsistency"] == pytest.approx((0.5 + 0.6) + (0.5 + 0.0) + (0.0 + 0.6))
    assert of_base(outcomes)["magnitude"] == 7.0
    assert of_base([outcomes[0], raised("b", "ValueError", "no")])["failed"]
    assert of_base([outcomes[0]]) == {"inconsistency": 0.0, "failed": False, "magnitude": 3.0}
    assert of_base([raised("b", "ValueError", "no")]) == {"inconsistency": None, "failed": False, "magnitude": None}
    idle = Outcome("b", "unavailable", "start", "b")
    assert not of_base([outcomes[0], idle])["failed"]


def test_a_gap_of_the_builder_covers_what_is_behind_it() -> None:
    """LayerNormalization over an axis that is not the last fails on PyTorch, and so it does in its exporter."""
    case = chain((1, 2, 3), ("LayerNormalization", {"axis": 1}))
    bench = Bench(Trial(case, {}), lambda *given, **more: Trial(case, {}))
    assert any(rule.defect.kind == "bug" for rule in bench.rules("keras-torch"))
    behind = list(bench.rules("torch-onnx"))
    assert any(rule.symptom == "any" and rule.routes == ("keras-torch",) for rule in behind)
    assert not list(bench.rules("tf-graph"))


@pytest.mark.parametrize(("params", "route"), [({}, "keras_torch"), ({"reverse_dtype": "float32"}, "keras_tf")])
def test_another_dtype_within_a_model_shows_as_values_and_is_the_same_gap(params: dict[str, str], route: str) -> None:
    """The next layer casts back, so that what is seen is a lower precision."""
    layer = "ReversibleEmbedding"
    case = chain(
        (1, 4),
        (layer, {"reverse": True, "output_dim": 4, "dtype": "float64", **params}),
        ("ReLU", {}),
        dtype="float64",
    )
    (found,) = judged(case, **{route: off(layer, 1e-3)})
    assert (found.symptom, found.layer) == ("value", layer)
    assert found.defect


def test_the_margin_grows_with_what_is_summed() -> None:
    assert margin_of([np.zeros(64)]) == MARGIN
    assert margin_of([np.zeros(4), np.zeros((64, 64))]) == 8 * MARGIN


@pytest.mark.parametrize(("tied", "symptom"), [(True, "value"), (False, "nonfinite")])
def test_a_nan_that_is_no_evidence_makes_no_other_symptom(tied: bool, symptom: str) -> None:
    """Else a difference that rounding explains would be reported without its margin."""
    expected = Expected("float32", np.array([np.nan, 1.0]), np.full(2, 1e-6), tied=np.array([tied, False]))
    assert symptom_of(expected, np.array([0.0, 1.0 + 2e-6], np.float32)) == symptom


def test_severity_is_that_of_the_symptom_and_lower_where_data_are_rare() -> None:
    assert [severity_of(symptom, "ordinary") for symptom in ("value", "crash", "unsupported")] == [
        *("high", "medium", "low")
    ]
    assert [severity_of(symptom, "special") for symptom in ("value", "crash", "unsupported")] == [
        *("medium", "low", "low")
    ]


ASTRAY = chain((1, 2, 3), ("LayerNormalization", {"axis": 1}))
"""A call for which the ledger has something against keras-tf, see `declared`."""


def declared(bench: Bench, route: str, symptom: str) -> Bench:
    """A bench whose ledger has one rule: against LayerNormalization on a route, or on a step."""

    class Stated(View):
        def rules_of(self, name: str, layer: str, base: bool = False) -> tuple[Rule, ...]:
            rule = Rule(Defect("", "", "keras", id="it"), (route,), (), lambda x, p: True, symptom)  # type: ignore[arg-type]
            names = self._names(name, base)
            return (rule,) if layer == "LayerNormalization" and route in names else ()

    view = usual_view()
    return replace(bench, view=Stated(view.routes, view.versions))


def stated(route: str, symptom: str, names: Sequence[str], **faults: Fault) -> list[tuple[tuple[str, ...], str]]:
    routes = Routes(**faults)
    found = examine(declared(Bench(routes(ASTRAY, names), routes), route, symptom))
    return [(each.camps[0].routes, each.defect) for each in found]


WRONG, OTHERWISE = off("LayerNormalization", 1e-2), off("LayerNormalization", 3e-2)
FILES = ("keras-tf", "onnxruntime", "openvino")


def test_a_defect_of_the_front_end_explains_only_its_own_answer() -> None:
    inherited = stated("keras-tf", "value", FILES, keras_tf=WRONG, onnxruntime=WRONG, openvino=OTHERWISE)
    assert inherited == [(("keras-tf", "onnxruntime"), "it"), (("openvino",), "")]
    assert stated("keras-tf", "value", FILES, openvino=WRONG) == [(("openvino",), "")], "the front end is right"


def test_the_front_end_is_asked_where_the_trial_lacks_it() -> None:
    assert stated("keras-tf", "value", ["openvino"], openvino=WRONG) == [(("openvino",), "")]
    assert stated("keras-tf", "value", ["openvino"], openvino=WRONG, keras_tf=WRONG) == [(("openvino",), "it")]


def test_a_defect_of_a_converter_explains_only_what_other_readers_of_its_file_see_too() -> None:
    assert stated("tf2onnx", "value", FILES, onnxruntime=WRONG, openvino=WRONG) == [(("onnxruntime", "openvino"), "it")]
    assert stated("tf2onnx", "value", FILES, openvino=WRONG) == [(("openvino",), "")]
    assert stated("openvino", "value", FILES, openvino=WRONG) == [(("openvino",), "it")], "its own"


def test_a_crash_behind_a_front_end_that_computes_something_wrong_counts() -> None:
    routes = Routes(keras_tf=WRONG)
    trial = routes(ASTRAY, ["keras-tf"])
    crash = raised("onnxruntime", "Fail", "cannot load", stage="load", library="onnxruntime")
    trial = Trial(ASTRAY, {**trial.outcomes, "onnxruntime": crash})
    found = list(examine(declared(Bench(trial, routes), "keras-tf", "value")))
    assert [(each.symptom, each.defect) for each in found] == [("crash", ""), ("value", "it")]
    dead = replace(trial.outcomes["keras-tf"], status="signal", outputs=())
    found = list(
        examine(declared(Bench(Trial(ASTRAY, {**trial.outcomes, "keras-tf": dead}), routes), "keras-tf", "death"))
    )
    assert [each.defect for each in found] == ["it", "it"]


def small_beside_large(*layers: tuple[str, dict[str, object]]) -> Case:
    given = np.array([[1e-6, -2e-6, 3.0, 5.0]], np.float32)
    return replace(chain((1, 4), *layers), data={"x": to_tensor(given)})


def naively(layer: str, value: Array) -> Array:
    """exp(x) - 1 with exp(x) rounded to float32: an element of 1e-6 keeps one digit."""
    one = np.float32(1)
    return ((value + one) - one) if layer == "Activation" else value


def test_digits_that_are_lost_beside_large_neighbours_are_a_class_of_their_own() -> None:
    case = small_beside_large(("Activation", {"activation": "elu"}))
    (found,) = judged(case, keras_torch=naively)
    assert (found.symptom, found.layer, found.severity) == ("accuracy", "Activation", "low")
    assert found.camps[0].routes == ("keras-torch",)
    assert judged(case, keras_torch=naively, keras_tf=naively, onnxruntime=naively) == [], "nobody does better"


def test_what_is_wrong_at_another_layer_takes_nobodys_word_away() -> None:
    """keras-tf, which keeps the digits, is wrong behind them; that it keeps them counts all the same."""
    case = small_beside_large(("Activation", {"activation": "elu"}), ("LayerNormalization", {"axis": 1}))
    case = replace(case, graph=assemble(case.graph.drafts, [Edge("n0"), Edge("n1")]))
    found = judged(case, keras_torch=naively, keras_tf=WRONG, onnxruntime=WRONG)
    (digits,) = [each for each in found if each.symptom == "accuracy"]
    assert [camp.routes for camp in digits.camps] == [("keras-torch",), ("keras-tf", "onnxruntime")]


def test_digits_that_nobody_keeps_raise_no_suspicion() -> None:
    case = small_beside_large(("Activation", {"activation": "elu"}))
    everybody = Routes(keras_torch=naively, keras_tf=naively, onnxruntime=naively)
    assert Bench(everybody(case, ROUTES), everybody).suspects == []
    one = Routes(keras_torch=naively)
    assert [each.route for each in Bench(one(case, ROUTES), one).suspects] == ["keras-torch"]


def test_digits_that_the_inputs_do_not_determine_are_no_finding() -> None:
    """1e-5 is what is left of 3.0 - 2.99999: any library may have another remainder."""
    case = chain((1, 4), ("Dense", {"units": 1, "use_bias": False}))
    given = np.array([[3.0, 2.99999, 5.0, 5.0]], np.float32)
    kernel = np.array([[1.0], [-1.0], [1.0], [-1.0]], np.float32)
    case = replace(case, data={"x": to_tensor(given), "n0/kernel": to_tensor(kernel)})
    assert judged(case, keras_torch=off("Dense", 1e-2)) == []


FIVE = ("keras-tf", "keras-torch", "keras-jax", "onnxruntime", "openvino")


def lonely(*dissenting: str, asked: Sequence[str] = FIVE, thorough: bool = False) -> list[Finding]:
    """Inf in a mean, where a library may add Inf - Inf by the order of its sum: some give NaN."""

    def nan(layer: str, value: Array) -> Array:
        return np.where(np.isinf(value), np.nan, value).astype(value.dtype) if "Pooling" in layer else value

    given = np.array([[[np.inf], [1.0], [2.0]]], np.float32)
    case = replace(chain((1, 3, 1), ("GlobalAveragePooling1D", {}), ("ReLU", {})), data={"x": to_tensor(given)})
    routes = Routes(**{name.replace("-", "_"): nan for name in dissenting})
    return list(examine(Bench(routes(case, asked), routes, thorough=thorough)))


def test_one_library_alone_with_what_it_makes_of_an_inf_is_a_finding() -> None:
    (found,) = lonely("openvino")
    assert (found.symptom, found.layer, found.camps[0].routes) == ("special", "GlobalAveragePooling1D", ("openvino",))
    assert found.detail == "1 of 1 elements, the first at [0, 0]: expected Inf; received NaN"
    assert found.evidence["implementations"] == ["jax", "onnxruntime", "openvino", "tensorflow", "torch"]


def test_every_node_that_differs_is_voted_on_not_only_the_first() -> None:
    """At the first one two libraries of five differ, which says nothing; at the second one stands alone."""

    def nan(*layers: str) -> Fault:
        return lambda layer, value: np.where(np.isinf(value) & (layer in layers), np.nan, value).astype(value.dtype)

    drafts = [
        Draft("x", INPUT, {"shape": (1, 3, 1)}, ()),
        Draft("y", INPUT, {"shape": (1, 2)}, ()),
        Draft("mean", "GlobalAveragePooling1D", {}, (Edge("x"),)),
        Draft("both", "Average", {}, (Edge("y"), Edge("y"))),
    ]
    given = {"x": np.array([[[np.inf], [1.0], [2.0]]], np.float32), "y": np.array([[np.inf, 1.0]], np.float32)}
    graph = assemble(drafts, [Edge("mean"), Edge("both")])
    case = Case(graph, 0, {name: to_tensor(array) for name, array in given.items()})
    routes = Routes(openvino=nan("GlobalAveragePooling1D", "Average"), keras_torch=nan("GlobalAveragePooling1D"))
    found = list(examine(Bench(routes(case, FIVE), routes, thorough=False)))
    assert [(each.symptom, each.layer, each.camps[0].routes) for each in found] == [
        ("special", "Average", ("openvino",))
    ]


def test_where_libraries_split_or_are_too_few_nobody_is_accused() -> None:
    assert lonely("openvino", "keras-torch") == []
    assert lonely("openvino", asked=FIVE[2:]) == []
    assert lonely("openvino", asked=["openvino"]) == []
    (found,) = lonely("openvino", asked=["openvino"], thorough=True)
    assert len(found.evidence["implementations"]) >= 4, "others were asked"


def test_a_library_that_was_right_by_luck_does_not_accuse_others() -> None:
    """The first answer of keras-tf has all digits; on other inputs it loses them like everybody."""
    case = small_beside_large(("Activation", {"activation": "elu"}))

    class Lucky(Routes):
        def __call__(
            self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
        ) -> Trial:
            self.faults["keras-tf"] = naively if trials else right
            trials.append(case)
            return super().__call__(case, routes, intermediates)

    trials: list[Case] = []
    routes = Lucky(keras_torch=naively, onnxruntime=naively)
    assert list(examine(Bench(routes(case, ROUTES), routes))) == []
    assert len(trials) > 1


def test_a_front_end_that_is_wrong_before_the_node_is_asked_on_the_same_inputs() -> None:
    """Its own answer at the node was not judged, since it stands on a wrong one."""
    case = chain((1, 2, 3), ("Rescaling", {"scale": 2.0}), ("LayerNormalization", {"axis": 1}))

    def twice_wrong(layer: str, value: Array) -> Array:
        return off("Rescaling", 1e-2)(layer, WRONG(layer, value))

    routes = Routes(keras_tf=twice_wrong, onnxruntime=WRONG, openvino=OTHERWISE)
    found = examine(declared(Bench(routes(case, FILES), routes), "keras-tf", "value"))
    seen = {each.camps[0].routes: each.defect for each in found}
    assert seen == {("keras-tf",): "", ("onnxruntime",): "it", ("openvino",): ""}


def test_half_of_the_digits_and_not_much_more_is_no_finding() -> None:
    """Libraries that are good to a few bits of what they subtract are on either side of any line."""
    case = small_beside_large(("Activation", {"activation": "elu"}))

    def off_where_small(by: float) -> Fault:
        return lambda layer, value: np.where(np.abs(value) < 1e-3, value * (1 + by), value).astype(value.dtype)

    assert judged(case, keras_torch=off_where_small(1e-3)) == []
    assert [each.symptom for each in judged(case, keras_torch=off_where_small(1e-2))] == ["accuracy"]
