"""A model is the same in every manner: on real libraries, and a fault that shows in one only is reported in it."""

import importlib.util
import json
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted_keras import FAULTS

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.manners import manner_words, odd_fields
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.case import Case, Manner
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import Draft, Edge, Graph
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.judging import examine
from cometfuzz.reference.bound import expect, judge
from cometfuzz.routes import Route
from cometfuzz.routes.onnx_text import described
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.tf2onnx import TF2ONNX
from cometfuzz.triage import reproducer
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.running import Ran, ScriptLimits, run_script
from cometfuzz.triage.triage import Triage

pytestmark = pytest.mark.library

NAMES = ("keras-tf", "keras-torch", "tf-saved", "onnxruntime", "openvino", "litert", "torch-onnx")


def _draft(name: str, layer: str, *inputs: str, **params: Any) -> Draft:
    return Draft(name, layer, params, tuple(map(Edge, inputs)))


def _input(name: str, *shape: int) -> Draft:
    return _draft(name, "input", dtype="float32", shape=shape)


ROW = assemble(
    [
        _input("x", 2, 6, 4),
        _draft("conv", "Conv1D", "x", filters=3, kernel_size=(2,), padding="same"),
        _draft("relu", "ReLU", "conv"),
        _draft("dense", "Dense", "relu", units=2),
    ],
    [Edge("dense")],
)
IMAGE = assemble(
    [
        _input("x", 2, 6, 5, 3),
        _draft("conv", "Conv2D", "x", filters=4, kernel_size=(3, 3)),
        _draft("inner", "crop", "conv", crops=((0, 0), (1, 0), (0, 1), (0, 0))),
        _draft("mean", "GlobalAveragePooling2D", "inner"),
    ],
    [Edge("mean")],
)
BRANCHES = assemble(
    [
        _input("x", 2, 5, 4),
        _input("y", 2, 5, 4),
        _draft("a", "Dense", "x", units=4),
        _draft("b", "Dense", "y", units=4),
        _draft("c", "ELU", "b"),
        _draft("sum", "Add", "a", "c"),
    ],
    [Edge("sum"), Edge("c")],
)
RECURRENT = assemble(
    [
        _input("x", 2, 5, 4),
        _draft("a", "LSTM", "x", units=3, return_sequences=True),
        _draft("b", "GRU", "a", units=2, return_sequences=True),
        _draft("c", "SimpleRNN", "b", units=3),
    ],
    [Edge("c")],
)
MASKED = assemble(
    [_input("x", 2, 5, 4), _draft("zeros", "Masking", "x"), _draft("a", "GRU", "zeros", units=3)], [Edge("a")]
)
BOTH = {"x": (0, 1), "y": (0, 1)}
MANNERS: dict[str, tuple[Graph, Manner]] = {
    "open sizes": (IMAGE, Manner(opened={"x": (0, 1, 2)}, before=({"x": (3, 9, 7)}, {"x": (1, 4, 4)}))),
    "open sizes of two inputs": (BRANCHES, Manner(opened=BOTH, before=({"x": (3, 1), "y": (3, 1)},))),
    "a Sequential with an open batch": (ROW, Manner(sequential=True, opened={"x": (0,)}, before=({"x": (5,)},))),
    "a model inside": (BRANCHES, Manner(inside=("b", "c"))),
    "one layer, called twice": (BRANCHES, Manner(shared=(("a", "b"),))),
    "dictionaries": (BRANCHES, Manner(named=True)),
    "states and masks given": (RECURRENT, Manner(explicit=True)),
    "states given where a mask arrives": (MASKED, Manner(explicit=True)),
    "a model for from_keras": (BRANCHES, Manner(exporter="from_keras", opset=17)),
    "Keras' own export": (BRANCHES, Manner(exporter="export", opset=16)),
}


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor([ROUTES[name] for name in NAMES]) as executor:
        yield executor


def wrong(case: Case, outcome: Outcome) -> str:
    if outcome.status != "completed":
        return str(outcome)
    expected = expect(case.graph, draw_data(case))
    pairs = zip(case.graph.outputs, outcome.outputs, strict=True)
    return ", ".join(f"{edge}: other values" for edge, one in pairs if not judge(expected[edge], array_of(one)).ok)


@pytest.mark.parametrize("name", MANNERS)
def test_a_model_is_the_same_in_every_manner(executor: Executor, name: str) -> None:
    graph, manner = MANNERS[name]
    case = decode(encode(Case(graph, 7, manner=manner)))
    trial = executor.run(case)
    assert {route: found for route, one in trial.outcomes.items() if (found := wrong(case, one))} == {}


@pytest.mark.parametrize(("name", "exporter", "newest"), [("onnxruntime", 1, 18), ("torch-onnx", 1, 20)])
def test_every_opset_is_written_and_read(executor: Executor, name: str, exporter: int, newest: int) -> None:
    route = ROUTES[name]
    for opset in range(13, newest + 2):
        case = Case(ROW, 7, manner=Manner(opset=opset, opened={"x": (0,)}))
        assert wrong(case, executor.run(case, [name]).outcomes[name]) == ""
        file = executor.run_apart(case, described(route, route.steps[exporter]))
        plain = json.loads(file.outputs[0].data)
        assert dict(plain["opsets"])[""] == min(opset, newest)
        assert [sizes for _, _, sizes in plain["graph"]["inputs"]] == [[None, 6, 4]]


def test_the_newest_opsets_are_those_of_the_libraries(main_python: Path) -> None:
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(main_python.parent.parent)}))
    known = _constants(packages / "torch" / "onnx" / "_constants.py").ONNX_TORCHSCRIPT_EXPORTER_MAX_OPSET
    assert ROUTES["torch-onnx"].steps[1].options["newest"] == str(known)
    text = (packages / "tf2onnx" / "constants.py").read_text()
    table = text.partition("OPSET_TO_IR_VERSION = {")[2].partition("}")[0]
    assert TF2ONNX.options["newest"] == str(max(int(pair.split(":")[0]) for pair in table.split(",") if pair.strip()))


def _constants(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("constants", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def faulty(fault: str) -> Route:
    route = ROUTES["keras-torch"]
    group = replace(route.steps[0].group, name=f"planted-{fault}")
    options = {**route.steps[0].options, "fault": fault}
    steps = tuple(replace(step, group=group, module="planted_keras", options=options) for step in route.steps)
    return replace(route, steps=steps, forms={}, switches=())


MIXED = assemble(
    [
        _input("x", 2, 5, 4),
        _draft("a", "Dense", "x", units=4),
        _draft("b", "Dense", "a", units=4, policy="mixed_bfloat16"),
        _draft("c", "ELU", "b"),
    ],
    [Edge("c")],
)
OPERATORS = assemble(
    [
        _input("x", 2, 5, 4),
        _draft("a", "Dense", "x", units=4),
        _draft("tanh", "ops.tanh", "x"),
        _draft("least", "ops.minimum", "a", "tanh"),
        _draft("sum", "ops.sum", "least", axis=(1,), keepdims=True),
    ],
    [Edge("sum")],
)
PLANTED: dict[str, tuple[Graph, Manner, list[str], list[str], str]] = {
    "open": (
        *(BRANCHES, Manner(opened=BOTH, before=({"x": (3, 2), "y": (3, 2)},), named=True)),
        *(["opened"], ["input", "Dense"], "None"),
    ),
    "inside": (
        *(BRANCHES, Manner(inside=("b", "c", "sum"), opened={"x": (0,), "y": (0,)})),
        *(["inside"], ["input", "Dense"], "keras.Model("),
    ),
    "mixed": (MIXED, Manner(), [], ["input", "Dense"], 'dtype="mixed_bfloat16"'),
    "operator": (OPERATORS, Manner(), [], ["input", "ops.minimum"], "keras.ops.minimum("),
}
"""For each fault a model that has it; what is left of its manner and its layers, and what stands in the script."""


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_in_one_kind_of_model_is_reduced_to_a_script_that_has_it(
    fault: str, monkeypatch: pytest.MonkeyPatch, main_python: Path
) -> None:
    """All that is left of the model is what it needs; without the fault the script says that all is well."""
    texts: list[str] = []

    def run_planted(text: str, python: Path, limits: ScriptLimits | None = None) -> Ran:
        texts.append(text)
        head, imports, rest = text.partition("    sys.exit(2)\n")
        return run_script(head + imports + FAULTS[fault] + rest, python, limits)

    monkeypatch.setattr(reproducer, "run_script", run_planted)
    graph, manner, left, layers, words = PLANTED[fault]
    with Executor([faulty(fault)], pause_after=0) as apart:
        case = decode(encode(Case(graph, 7, manner=manner)))
        found = [each for each in examine(Bench(apart.run(case), apart.run)) if each.symptom == "value"]
        assert found
        triage = Triage(apart, effort=Effort(steps=200, wall_s=300), reproduce=reproducer.reproduce)
        bug = triage.triage(found[0], case).bug
    assert bug is not None
    assert odd_fields(bug.minimal.manner) == left
    assert list(dict.fromkeys(node.layer for node in bug.minimal.graph.nodes)) == layers
    assert all(each in bug.title for each in manner_words(bug.minimal.manner))
    assert bug.script is not None
    assert words in bug.script.text
    assert bug.script.shown, bug.script.text + bug.script.output
    assert run_script(texts[-1], main_python).exit_code == 0
