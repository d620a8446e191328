"""Each kind of fault once in a child that holds a real library, and routes that share a real model."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from killing import living
from small_disk import mounts, python_on_a_small_disk

from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution import children
from cometfuzz.execution.comparing import array_of, compare
from cometfuzz.execution.configuring import lacking, on_demand
from cometfuzz.execution.executor import Executor, python_of
from cometfuzz.execution.measuring_direct import measure_direct
from cometfuzz.execution.outcome import Trial
from cometfuzz.execution.scratch import scratch_folder
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import versions_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes import Library, Route, Stage, Step
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.telling import read, telling

pytestmark = pytest.mark.library

DRILLS = {
    "keras-tf": {
        "segfault": "signal",
        "stop": "timeout",
        "garbage": "protocol",
        "exit": "exited",
        "raise": "exception",
        "disk": "exception",
    },
    "keras-torch": {
        "kill": "signal",
        "abort": "signal",
        "divide": "signal",
        "loop": "timeout",
        "stream": "timeout",
        "print garbage": "exception",
        "half a reply": "exited",
        "system exit": "exited",
    },
}
LIMITS = WorkerLimits(stage_s=20, memory_bytes=3 * 2**30)
PATIENT = WorkerLimits(stage_s=300, memory_bytes=2 * 2**30)
"""For what ends at the limit of memory: on a machine that has to find that memory first, 20 s may not be enough."""


@pytest.fixture(autouse=True)
def _no_orphans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    token = f"drill-of-{os.getpid()}"
    monkeypatch.setenv("TOKEN", token)
    yield
    assert not living(f"TOKEN={token}")


def case_of(batch: int) -> Case:
    drafts = [Draft("x", "input", {"shape": (batch, 4)}, ()), Draft("d", "Dense", {"units": 3}, (Edge("x"),))]
    return Case(assemble([*drafts, Draft("r", "ReLU", {}, (Edge("d"),))], [Edge("r")]), 1)


def drilled(base: Route, drill: str) -> Route:
    """The model of a real route, and then the fault in the same child."""
    group = base.steps[0].group
    step = Step(f"drill-{drill}", group, "drills", "run", (Stage("run", Library("drill")),), {"drill": drill})
    return Route(f"drill-{drill}", "tests", "keras3", (base.steps[0], step))


@pytest.mark.parametrize("base", DRILLS)
def test_faults_beside_a_real_library(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with scratch_folder("first"):  # it and the guardian of children stay open for good, once somebody needs them
        children.end(children.start([sys.executable, "-c", ""]))
    before = len(os.listdir("/proc/self/fd"))
    drills = [drilled(ROUTES[base], drill) for drill in DRILLS[base]]
    with Executor([*drills, ROUTES[base]], limits=LIMITS) as executor:
        for route, (drill, status) in zip(drills, DRILLS[base].items(), strict=True):
            outcomes = executor.run(case_of(1), [route.name, base]).outcomes
            assert outcomes[route.name].status == status, drill
            assert (outcomes[route.name].stage, outcomes[route.name].library) == ("run", "drill")
            assert outcomes[base].status == "completed", drill
        assert executor.run(case_of(2)).outcomes[base].status == "completed"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_library_that_takes_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    base = ROUTES["keras-tf"]
    hoarding = drilled(base, "hoard")
    with Executor([hoarding, base], limits=PATIENT) as executor:
        outcomes = executor.run(case_of(1)).outcomes
        assert (outcomes[hoarding.name].status, outcomes[hoarding.name].library) == ("memory", "drill")
        assert outcomes[base.name].status == "completed"


def test_libraries_that_write_to_a_full_temp_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder fills up beside Keras on TensorFlow, which then cannot save; what writes no file is not disturbed."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    base = ROUTES["keras-tf"]
    python, before = python_on_a_small_disk(python_of(base.steps[0].group), tmp_path), mounts()
    routes = [drilled(base, "full"), base, ROUTES["keras-saved"], ROUTES["tf-saved"]]
    with Executor(routes, limits=LIMITS, find_python=lambda group: python) as executor:
        full, keras, keras_saved, tf_saved = executor.run(case_of(1)).outcomes.values()
        assert (full.status, full.library) == ("exception", "drill")
        assert keras.status == "completed"
        assert (keras_saved.status, keras_saved.stage, keras_saved.library) == ("exception", "save", "keras")
        assert (tf_saved.status, tf_saved.stage, tf_saved.library) == ("exception", "export", "keras")
        for outcome in (full, keras_saved, tf_saved):
            assert outcome.failure is not None
            assert "No space left on device" in outcome.failure.message
        assert {outcome.status for outcome in executor.run(case_of(2)).outcomes.values()} == {"completed"}
        assert [worker.starts for worker in executor.workers] == [2]
    assert mounts() == before


def test_every_route_agrees_on_a_small_model_and_gives_its_nodes() -> None:
    routes = [route for route in ROUTES.values() if not on_demand(route)]
    with Executor(routes) as executor:
        trial = executor.run(case_of(2), intermediates=True)
    names = [route.name for route in routes]
    assert {name: outcome.status for name, outcome in trial.outcomes.items()} == dict.fromkeys(names, "completed")
    assert all(difference.ok for difference in compare(trial).values())
    reference = trial.outcomes["reference"].nodes
    for outcome in trial.outcomes.values():
        assert set(outcome.nodes) == {Edge("d"), Edge("r")}
        for edge, tensor in outcome.nodes.items():
            np.testing.assert_allclose(array_of(tensor), array_of(reference[edge]), rtol=1e-5, atol=1e-6)
        assert outcome.versions


def test_a_stateful_layer_begins_with_zeros_when_it_is_frozen() -> None:
    """Tracing runs the model; what that leaves in its states must not be among the constants."""
    drafts = [
        Draft("x", "input", {"shape": (2, 4, 3)}, ()),
        Draft("g", "GRU", {"units": 5, "stateful": True}, (Edge("x"),)),
    ]
    case, names = Case(assemble(drafts, [Edge("g")]), 1), ["torch-traced", "reference"]
    with Executor([ROUTES[name] for name in names]) as executor:
        for _ in range(2):
            assert compare(executor.run(case))["torch-traced"].ok


def test_a_stateful_layer_begins_with_zeros_whoever_has_run_the_same_exported_program() -> None:
    """Steps share the program of torch.export, whose states each run changes; torch.compile runs it to compile it."""
    drafts = [
        Draft("x", "input", {"shape": (2, 4, 3)}, ()),
        Draft("g", "GRU", {"units": 5, "stateful": True}, (Edge("x"),)),
    ]
    case, names = Case(assemble(drafts, [Edge("g")]), 1), ["torch-export", "torch-export-saved", "torch-aot-eager"]
    with Executor([ROUTES[name] for name in (*names, "reference")]) as executor:
        told = compare(executor.run(case))
    assert {name: told[name].ok for name in names} == dict.fromkeys(names, True)


def test_libraries_tell_which_kernels_they_chose() -> None:
    drafts = [Draft("x", "input", {"shape": (4, 17, 17, 3)}, ())]
    drafts.append(Draft("c", "Conv2D", {"filters": 16, "kernel_size": (3, 3)}, (Edge("x"),)))
    case = Case(assemble([*drafts, Draft("r", "ReLU", {}, (Edge("c"),))], [Edge("r")]), 1)
    names = ("keras-torch", "direct-onnxruntime", "direct-openvino")
    with Executor([telling(ROUTES[name]) for name in names], listens=True) as executor:
        told = {name: read(each.printed) for name, each in executor.run(case).outcomes.items()}
        again = {name: read(each.printed) for name, each in executor.run(case).outcomes.items()}
    assert told == again
    libraries = {name: {each.library for each in found} for name, found in told.items()}
    assert libraries["direct-onnxruntime"] == {"ONNX Runtime"}
    assert libraries["direct-openvino"] == {"OpenVINO"}
    assert any(each.name.startswith("Convolution ") for each in told["direct-openvino"])
    assert any(each.name.startswith("convolution ") for each in told["keras-torch"])


@pytest.mark.parametrize("name", ["opencv", "tract", "onnxsim", "iree", "tvm"])
def test_a_reader_in_an_environment_on_demand_gives_what_keras_gives(name: str) -> None:
    """Two inputs, of which the file takes one as it is and one through a reshaping, and two outputs."""
    if missing := lacking(ROUTES[name]):
        pytest.skip(f"`cometfuzz env create {missing[0]}` builds what {name} needs")
    drafts = [
        Draft("x", "input", {"shape": (2, 3, 4)}, ()),
        Draft("y", "input", {"shape": (2, 12)}, ()),
        Draft("f", "Flatten", {}, (Edge("x"),)),
        Draft("s", "Subtract", {}, (Edge("y"), Edge("f"))),
        Draft("d", "Dense", {"units": 2}, (Edge("s"),)),
    ]
    with Executor([ROUTES["keras-tf"], ROUTES[name]]) as executor:
        trial = executor.run(Case(assemble(drafts, [Edge("d"), Edge("s")]), 1))
    outcome = trial.outcomes[name]
    assert outcome.status == "completed", str(outcome)
    for seen, expected in zip(outcome.outputs, trial.outcomes["keras-tf"].outputs, strict=True):
        np.testing.assert_allclose(array_of(seen), array_of(expected), rtol=1e-5, atol=1e-6)
    library = ROUTES[name].steps[2].stages[0].library
    assert outcome.versions[library] == versions_of(ROUTES[name])[library]


def test_a_failure_of_the_converter_is_the_converters() -> None:
    drafts = [
        Draft("x", "input", {"dtype": "float32", "shape": (2, 4)}, ()),
        Draft("a", "Activation", {"activation": "gelu"}, (Edge("x"),)),
    ]
    names = ["keras-tf", "onnxruntime", "openvino"]
    with Executor([ROUTES[name] for name in names]) as executor:
        keras, first, second = executor.run(Case(assemble(drafts, [Edge("a")]), 1)).outcomes.values()
    assert keras.status == "completed"
    assert (first.status, first.stage, first.library) == ("exception", "tf2onnx", "tf2onnx")
    assert (second.status, second.stage, second.cause) == ("not reached", "tf2onnx", "exception")


def test_bench_direct_counts_drawing_and_judging_besides_the_run() -> None:
    judged: list[Trial] = []
    result = measure_direct(ROUTES["direct-onnxruntime"], 3, 4, lambda trial, executor: judged.append(trial))
    assert result["completed"] == 3
    assert {len(trial.case.graph.nodes) for trial in judged} == {4}
    stages, run, whole = (result[f"models_per_cpu_s{what}"] for what in ("", "_with_transport", "_end_to_end"))
    assert stages > run > whole > 0
