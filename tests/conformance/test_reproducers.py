"""A script shows a known bug in a clean process, and says that all is well where there is none."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from known_bugs import bug_of, first_bug

from cometfuzz.catalogue import CATALOGUE
from cometfuzz.catalogue.drawing import draw_layer, layer_case
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution import environments
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.versions import general_view, usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.ir.types import TensorType
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.places import Place
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.collection import Collected
from cometfuzz.triage.reproducer import make_script, reproduce, shows
from cometfuzz.triage.running import Ran, run_script
from cometfuzz.triage.scripts.dialects import REQUIRED, REQUIRED_IN, dialect_of

pytestmark = pytest.mark.library

KNOWN = (
    ("keras-tf", "AdaptiveMaxPooling1D", "death"),
    ("keras-tf", "Conv3D", "value"),
    ("keras-torch", "AveragePooling1D", "value"),
    ("keras-torch", "GRU", "exception"),
    ("keras-torch", "Maximum", "result"),
    ("keras-jax", "RNN", "value"),
    ("keras-jax", "EinsumDense", "exception"),
    ("keras2-tf", "ReLU", "value"),
    ("keras-mxnet", "MaxPooling1D", "result"),
    ("onnx-reference", "GlobalMaxPooling1D", "any"),
    ("onnxruntime", "Conv1DTranspose", "exception"),
    ("onnx2pytorch", "Resizing", "value"),
    ("onnx2pytorch", "SimpleRNN", "exception"),
    ("openvino", "Resizing", "exception"),
    ("litert", "AdaptiveAveragePooling1D", "exception"),
    ("torch-onnx", "LeakyReLU", "value"),
    ("torch-onnx", "LSTM", "death"),
)
"""Routes, and layers with a declared bug there that shows in a way."""


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor([ROUTES[name] for name in dict.fromkeys(route for route, _, _ in KNOWN)], pause_after=0) as made:
        yield made


@pytest.mark.parametrize(("route", "layer", "symptom"), KNOWN)
def test_a_known_bug_shows_by_itself(executor: Executor, route: str, layer: str, symptom: str) -> None:
    known, elsewhere = (
        [
            rule
            for rule in view.rules_of(route, layer)
            if (rule.defect.kind, rule.symptom, rule.by_chance) == ("bug", symptom, False)
        ]
        for view in (usual_view(), general_view())
    )
    if elsewhere and not known:
        pytest.skip(f"{elsewhere[0].id} does not show on this kind of CPU")
    known.sort(key=lambda rule: route not in rule.routes)  # the converter's come after the reader's own
    bug = next(filter(None, (first_bug(executor, rule, route, layer) for rule in known)), None)
    assert bug is not None, "expected a draw under one of the known that shows it"
    script = reproduce(bug, executor=executor)
    assert script is not None
    assert script.shown, f"{bug.finding}\n{script.output}\n{script.text}"
    assert script.exit_code == 1
    assert "seen:" in script.output
    assert "versions:" in script.output
    assert "cometfuzz" not in script.text
    if bug.blame.library in ("onnx", "openvino", "onnx2pytorch"):
        assert "tensorflow" not in script.text
        assert "onnx.checker.check_model" in script.text


@pytest.mark.parametrize(
    ("name", "operators"),
    [("onnx2torch-lstm-unroll-true-crash", ["Split", "Squeeze"]), ("onnx-lstm-shape", ["Loop"])],
)
def test_a_script_on_an_onnx_file_has_only_what_the_bug_needs(name: str, operators: list[str]) -> None:
    """A converter makes dozens of operators of these layers, and orders them otherwise every time."""
    bug = Collected.read(Place(Path(__file__).parents[2] / "bugs") / name).bug
    script = reproduce(bug)
    assert script is not None
    assert script.shown, script.output
    assert re.findall(r'make_node\("(\w+)"', script.text) == operators
    assert len(script.text.splitlines()) <= 46, "the header names the CPU too"
    assert bug.script is not None
    assert _code(script.text) == _code(bug.script.text), "the same every time"


def _code(text: str) -> list[str]:
    """A script without its comments: the title in the first of them is the entry's, and may be worded anew."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def dense() -> Case:
    """A layer that every library computes right."""
    return layer_case(spec_of("Dense"), [TensorType("float32", (2, 3))], spec_of("Dense").complete({"units": 2}), 5)


CLEAN = (
    *(("keras-tf", "run", "tensorflow", "value"), ("keras-torch", "run", "torch", "crash")),
    *(("keras-jax", "run", "jax", "dtype"), ("keras2-tf", "run", "tensorflow", "nondeterminism")),
    *(("keras-mxnet", "run", "mxnet", "value"), ("tf-saved", "load", "tensorflow", "value")),
    *(("onnxruntime", "tf2onnx", "tf2onnx", "value"), ("onnxruntime", "run", "onnxruntime", "value")),
    *(("openvino", "run", "openvino", "death"), ("onnx2torch", "onnx2torch", "onnx2torch", "value")),
    *(("litert", "run", "litert", "value"), ("torch-onnx", "torch.onnx", "torch", "value")),
)
"""Route, blamed stage and library, and what is claimed without reason."""


@pytest.mark.parametrize(("route", "stage", "library", "symptom"), CLEAN)
def test_without_the_bug_a_script_says_so(
    executor: Executor, route: str, stage: str, library: str, symptom: str
) -> None:
    finding = Finding("none", symptom, "ordinary", (Camp((route,), "claimed"),), stage, library, "claimed")  # type: ignore[arg-type]
    ran = run_claimed(executor, dense(), finding)
    assert ran.exit_code == 0, ran.output


def run_claimed(executor: Executor, case: Case, finding: Finding) -> Ran:
    bug = bug_of(case, finding)
    text = make_script(bug, executor=executor)
    environment = ROUTES[finding.camps[0].routes[0]].steps[-1].group.environment
    ran = run_script(text, environments.find(environment).python)
    assert not shows(bug, ran), text
    return ran


EVERY_UTILITY: list[tuple[str, dict[str, Any]]] = [
    ("crop", {"crops": ((0, 1), (1, 0), (0, 0))}),
    ("pad", {"paddings": ((0, 1), (2, 0), (1, 1)), "value": -1.25}),
    ("special", {"value": "inf", "elements": "first"}),
    ("expand", {"axis": 3}),
    ("squeeze", {"axis": 3}),
    ("reshape", {"shape": (6, 5)}),
    ("cast", {"dtype": "int32", "high": 3}),
    ("cast", {"dtype": "float32"}),
    ("Dense", {"units": 2}),
    ("scale", {"value": "zero"}),
]


@pytest.mark.parametrize(
    ("route", "library"), [("keras-torch", "torch"), ("keras2-tf", "tensorflow"), ("keras-mxnet", "mxnet")]
)
@pytest.mark.parametrize("last", [[], [("special", {"value": "nan", "elements": "all"})]])
def test_every_utility_runs_as_written(executor: Executor, route: str, library: str, last: list[Any]) -> None:
    drafts = [Draft("x", INPUT, {"shape": (2, 2, 3), "dtype": "float32"}, ())]
    for number, (layer, params) in enumerate([*EVERY_UTILITY, *last]):
        drafts.append(Draft(f"n{number}", layer, params, (Edge(drafts[-1].id),)))
    case = Case(assemble(drafts, [Edge(drafts[-1].id)]), 7)
    finding = Finding("none", "value", "ordinary", (Camp((route,), "claimed"),), "run", library, "claimed")
    ran = run_claimed(executor, case, finding)
    assert ran.exit_code == 0, ran.output


def test_masked_and_multiple_outputs_run_as_written(executor: Executor) -> None:
    case = next(
        drawn.case
        for drawn in (draw_layer("LSTM", 11, index) for index in range(500))
        if drawn.params.return_state
        and drawn.case.graph.inputs[0].outputs[0].dtype == "float32"
        and drawn.x.elements
        and not drawn.params.go_backwards
    )
    finding = Finding("none", "value", "ordinary", (Camp(("keras-torch",), "claimed"),), "run", "torch", "claimed")
    ran = run_claimed(executor, case, finding)
    assert ran.exit_code == 0, ran.output


SIGNATURES = """
import inspect, json, sys
if sys.argv[1] == "keras-mxnet":
    import collections, collections.abc
    for name in collections.abc.__all__:
        setattr(collections, name, getattr(collections.abc, name))
if sys.argv[1] == "keras2-tf":
    import tf_keras as keras
else:
    import keras
found = {}
for name in json.load(sys.stdin):
    kind, found[name] = getattr(keras.layers, name, None), {}
    for base in reversed(kind.__mro__ if kind is not None else ()):
        for parameter in inspect.signature(base.__init__).parameters.values():
            required = parameter.default is inspect.Parameter.empty
            found[name][parameter.name] = [required, None if required else parameter.default]
print(json.dumps(found, default=repr))
"""


@pytest.mark.parametrize("route", ["keras-torch", "keras2-tf", "keras-mxnet"])
def test_what_a_script_leaves_out_is_a_default(route: str, tmp_path: Path) -> None:
    """Initialisers apart: weights are set, so scripts leave out the catalogue's zeros."""
    names = [name for name, spec in CATALOGUE.items() if not name.islower()]
    group = ROUTES[route].steps[0].group
    done = subprocess.run(
        [str(environments.find(group.environment).python), "-W", "ignore", "-c", SIGNATURES, route],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        check=True,
        env={**group.environ, "HOME": str(tmp_path), "KERAS_HOME": str(tmp_path)},
    )
    live, dialect = json.loads(done.stdout.splitlines()[-1]), dialect_of(ROUTES[route])
    wrong = []
    for layer, parameters in live.items():
        spec = CATALOGUE[layer]
        for parameter, space in spec.params.items():
            known = dialect.renamed.get((layer, parameter), parameter)
            if parameter in spec.call_params or parameter.endswith("_initializer") or known not in parameters:
                continue
            required, default = parameters[known]
            if parameter in REQUIRED or (layer, parameter) in REQUIRED_IN:
                continue
            ours = dialect.defaults.get((layer, parameter), space.simplest)
            theirs = space.canonical(tuple(default) if isinstance(default, list) else default)
            if required or not _alike(parameter, ours, theirs):
                wrong.append(f"{layer}.{parameter}: ours {ours!r}, theirs {'required' if required else repr(theirs)}")
    assert not wrong


def _alike(parameter: str, ours: object, theirs: object) -> bool:
    """Equal, or two ways of saying the same."""
    absent = {"activation": ("linear",), "data_format": ("channels_last",), "dtype": ("float32", "int32")}
    if theirs is None and ours in absent.get(parameter, ()):
        return True
    return ours == theirs or _flat(ours) == _flat(theirs)


def _flat(value: object) -> list[object]:
    """The distinct numbers in a nest of tuples: (1, 1) and ((1, 1), (1, 1)) and 1 are the same padding."""
    if isinstance(value, list | tuple):
        return sorted({leaf for part in value for leaf in _flat(part)}, key=repr)
    return [value]
