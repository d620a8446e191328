"""Refusals: who should have said no, from the declared rule to the script."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trials import Routes, raised, wire

from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.validate import assemble_breaking
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.policy import assign_breaking
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.routes.registry import ROUTES
from cometfuzz.search.refuse import ONE_IN, beside
from cometfuzz.search.strategies import SEED
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.reproducer import make_script
from cometfuzz.triage.triage import Triage


def broken(layer: str, rule: str, shape: Sequence[int], high: int | None = None, **params: Any) -> Case:
    dtype = "float32" if high is None else "int32"
    given = Draft("x", INPUT, {"shape": tuple(shape), "dtype": dtype, "high": high}, ())
    drafts = [given, Draft("layer", layer, params, (Edge("x"),))]
    return Case(assemble_breaking(drafts, [Edge("layer")], rule), 1, breaks=rule)


WINDOW = broken("Conv1D", "kernel fits", (1, 2, 3), kernel_size=3)


def taken(route: str, shape: Sequence[int] = (1, 2)) -> Outcome:
    return Outcome(route, "completed", "run", "library", (wire(np.zeros(shape, np.float32)),))


def refused(route: str, message: str = "negative dimension size") -> Outcome:
    return raised(route, "ValueError", message)


def findings(case: Case, *outcomes: Outcome) -> list[Finding]:
    return list(examine(Bench(Trial(case, {outcome.route: outcome for outcome in outcomes}), Routes())))


def test_who_takes_what_two_others_refuse_is_found_by_layer_rule_and_library() -> None:
    (found,) = findings(WINDOW, taken("keras-tf"), refused("keras-torch"), refused("keras-jax"))
    assert (found.symptom, found.library, found.layer) == ("refusal", "tensorflow", "Conv1D")
    assert (found.failure, found.data_kind, found.severity) == ("takes it: kernel fits", "invalid", "low")
    assert [camp.routes for camp in found.camps] == [("keras-tf",), ("keras-torch",), ("keras-jax",)]
    assert found.counts
    longer = broken("Conv1D", "kernel fits", (2, 3, 3), kernel_size=5)
    (again,) = findings(longer, taken("keras-tf", (3, 4)), refused("keras-torch", "no"), refused("keras-jax", "never"))
    assert again.key == found.key


def test_one_that_refuses_is_not_enough_and_all_that_refuse_are_right() -> None:
    assert findings(WINDOW, taken("keras-tf"), taken("keras-jax"), refused("keras-torch")) == []
    assert findings(WINDOW, refused("keras-tf"), refused("keras-jax"), refused("keras-torch")) == []


def test_routes_that_compute_with_one_library_have_one_vote() -> None:
    assert findings(WINDOW, refused("keras-tf"), refused("tf-graph"), taken("keras-torch")) == []


def test_what_is_unsupported_or_not_converted_is_no_refusal() -> None:
    lacking = refused("keras-jax", "this is not supported")
    assert findings(WINDOW, taken("keras-tf"), lacking, refused("keras-torch")) == []
    unconverted = raised("onnxruntime", "ValueError", "no", stage="tf2onnx", library="tf2onnx")
    assert findings(WINDOW, taken("keras-tf"), unconverted, refused("keras-torch")) == []
    reader = raised("onnxruntime", "ValueError", "no", stage="load", library="onnxruntime")
    assert len(findings(WINDOW, taken("keras-tf"), reader, refused("keras-torch"))) == 1


def test_an_empty_result_misleads_nobody() -> None:
    assert findings(WINDOW, taken("keras-tf", (1, 0)), refused("keras-torch"), refused("keras-jax")) == []


def test_a_library_behind_a_front_end_answers_only_for_what_that_refused() -> None:
    others = refused("keras-torch"), refused("keras-jax")
    assert [each.library for each in findings(WINDOW, taken("keras-tf"), taken("openvino"), *others)] == ["tensorflow"]
    assert [each.library for each in findings(WINDOW, refused("keras-tf"), taken("openvino"), *others)] == ["openvino"]


def test_who_waives_a_rule_may_take_what_breaks_it() -> None:
    beyond = broken("Embedding", "tokens are below input_dim", (1, 2), high=9, input_dim=3)
    assert findings(beyond, taken("keras-jax"), refused("keras-tf"), refused("keras-torch")) == []
    (found,) = findings(beyond, taken("keras-tf"), refused("keras-jax"), refused("keras-torch"))
    assert found.library == "tensorflow"


def test_a_death_stays_a_death() -> None:
    dead = Outcome("keras-tf", "signal", "run", "tensorflow", detail="SIGSEGV")
    (found,) = findings(WINDOW, dead, refused("keras-torch"))
    assert (found.symptom, found.library, found.data_kind) == ("death", "tensorflow", "invalid")


OTHER_SHAPE = "Conv1D: it says [(1, 4)], and computes [(1, 2)]"


def test_a_symbolic_shape_that_is_not_the_computed_one_is_found_by_itself() -> None:
    said = raised("keras-tf", "StaticTypeMismatch", OTHER_SHAPE, stage="run", library="tensorflow")
    (found,) = findings(WINDOW, said, taken("openvino"), refused("keras-torch"), refused("keras-jax"))
    assert (found.symptom, found.library, found.stage) == ("refusal", "keras", "build")
    assert found.camps[0].routes == ("keras-tf",)


class Acting:
    """An executor in name: routes do as they are told with any case."""

    pause_after = 0

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = {outcome.route: outcome for outcome in outcomes}
        self.routes, self.view = {name: ROUTES[name] for name in self.outcomes}, usual_view()

    def renew(self, group: str) -> None: ...

    def run(self, case: Case, routes: Sequence[str] = (), intermediates: bool = False) -> Trial:
        return Trial(case, {name: self.outcomes[name] for name in routes or self.outcomes})


def bug_of(case: Case, *outcomes: Outcome) -> Bug:
    (found,) = findings(case, *outcomes)
    bug = Triage(Acting(*outcomes)).triage(found, case).bug  # type: ignore[arg-type]
    assert bug is not None
    return bug


def test_triage_signs_it_by_its_rule_and_fails_no_campaign_that_fails_on_new_bugs() -> None:
    outcomes = taken("keras-tf"), refused("keras-torch"), refused("keras-jax")
    bug = bug_of(WINDOW, *outcomes)
    assert (bug.shown, bug.minimal, bug.signature.condition) == (3, WINDOW, "")
    assert bug.signature.failure == "takes it: kernel fits"
    assert bug.blame.role == "Keras, tensorflow backend"
    assert (bug.is_new, bug.is_urgent) == (True, False)
    wider = broken("Conv2D", "kernel fits", (1, 2, 9, 3), kernel_size=(3, 3), filters=4)
    assert bug_of(wider, *outcomes).signature.failure == bug.signature.failure


def test_the_script_makes_the_call_and_says_what_came_back() -> None:
    text = make_script(bug_of(WINDOW, taken("keras-tf"), refused("keras-torch"), refused("keras-jax")))
    assert "keras.layers.Conv1D(filters=1, kernel_size=3)" in text
    assert 'print("expected: an exception, because the call breaks: kernel fits")' in text
    assert text.endswith("sys.exit(1)\n")
    said = raised("keras-tf", "StaticTypeMismatch", OTHER_SHAPE, stage="run", library="tensorflow")
    bug = bug_of(WINDOW, said, refused("keras-torch"))
    assert bug.blame.role == "Keras"
    assert make_script(bug).endswith("sys.exit(0 if shape == tuple(y.shape) else 1)\n")


def test_the_script_of_a_death_takes_an_exception_for_a_mended_library() -> None:
    dead = Outcome("keras-tf", "signal", "run", "tensorflow", detail="SIGFPE")
    *_, end, last = make_script(bug_of(WINDOW, dead, refused("keras-torch"))).splitlines()
    assert end.startswith("except Exception as error:")
    assert last.startswith('    print(f"refused: ')


def test_a_file_breaks_what_it_declares_or_is_refused() -> None:
    plain = json.loads(encode(WINDOW))

    def read(**changes: Any) -> None:
        decode(json.dumps({**plain, **changes}).encode(), breaking=True)

    read()
    with pytest.raises(InvalidCase, match="expected the last node to break 'groups divide filters' and nothing else"):
        read(breaks="groups divide filters")
    nodes = plain["graph"]["nodes"]
    valid = [nodes[0], {**nodes[1], "params": {**nodes[1]["params"], "kernel_size": [1]}}]
    with pytest.raises(InvalidCase, match="received none"):
        read(graph={**plain["graph"], "nodes": valid})
    huge = [nodes[0], {**nodes[1], "params": {**nodes[1]["params"], "filters": 2**40}}]
    with pytest.raises(InvalidCase, match="expected 0 or -1 as filters"):
        read(graph={**plain["graph"], "nodes": huge}, breaks="value of filters")
    more = [*nodes, {"id": "after", "layer": "ReLU", "inputs": [["layer", 0]]}]
    with pytest.raises(InvalidCase, match="kernel fits"):
        read(graph={"nodes": more, "outputs": [["after", 0]]})


def test_an_id_says_whether_something_is_broken_and_is_as_it_was_if_not() -> None:
    assert b"breaks" in encode(WINDOW)
    assert b"breaks" not in encode(replace(WINDOW, breaks=""))


def test_one_case_in_fifty_has_one_beside_it_the_same_for_the_same_seed() -> None:
    found = [beside(3, index, "IL") for index in range(4 * ONE_IN)]
    assert sum(case is not None for case in found) == 4
    assert found == [beside(3, index, "IL") for index in range(4 * ONE_IN)]
    assert all(case is None or case.breaks for case in found)
    assert not any(beside(3, index, SEED) for index in range(ONE_IN))


def test_it_goes_to_every_library_that_speaks_the_dialect() -> None:
    routes = assign_breaking(usual_view(), WINDOW).routes
    assert {"keras-tf", "keras-jax", "keras-torch", "openvino"} <= set(routes)
    assert not {"reference", "keras2-tf", "keras-mxnet"} & set(routes)
