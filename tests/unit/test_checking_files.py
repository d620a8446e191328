"""Readers of an ONNX file, judged by each other."""

import numpy as np

from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.types import TensorType
from cometfuzz.oracles.checking import exit_code
from cometfuzz.oracles.checking_files import judge_readers
from cometfuzz.protocol import WireTensor
from cometfuzz.routes.onnx_given import GIVEN, reading
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.blame import blame

INPUTS = {"x": TensorType("float32", (2,))}
LIBRARIES = {"onnxruntime": "onnxruntime", "openvino": "openvino", "onnx-reference": "onnx", "onnx2torch": "torch"}


def completed(name: str, *values: float, dtype: str = "float32") -> Outcome:
    array = np.array(values, dtype)
    return Outcome(name, "completed", "run", LIBRARIES[name], (WireTensor(dtype, array.shape, array.tobytes()),))


def verdicts(*outcomes: Outcome) -> dict[str, str]:
    return {each.route: each.verdict for each in judge_readers(INPUTS, {each.route: each for each in outcomes})}


def test_the_answer_of_most_libraries_is_right() -> None:
    found = verdicts(
        completed("onnxruntime", 1, 2), completed("openvino", 1, 3), completed("onnx-reference", 1, 2.0000001)
    )
    assert found == {"onnxruntime": "agrees", "openvino": "disagrees", "onnx-reference": "agrees"}


def test_among_as_many_the_evaluator_says_what_the_file_means() -> None:
    found = verdicts(completed("openvino", 1, 3), completed("onnx-reference", 1, 2))
    assert found == {"openvino": "disagrees", "onnx-reference": "agrees"}


def test_another_dtype_is_another_answer() -> None:
    (answer,) = (
        each
        for each in judge_readers(
            INPUTS,
            {
                "onnx-reference": completed("onnx-reference", 1, 2),
                "onnxruntime": completed("onnxruntime", 1, 2),
                "onnx2torch": completed("onnx2torch", 1, 2, dtype="float64"),
            },
        )
        if each.verdict == "disagrees"
    )
    assert answer.route == "onnx2torch"
    assert "float64" in answer.text


def test_one_library_alone_is_not_judged() -> None:
    failed = Outcome("openvino", "signal", "compile", "openvino", detail="SIGSEGV")
    answers = judge_readers(INPUTS, {"onnxruntime": completed("onnxruntime", 1, 2), "openvino": failed})
    assert [each.verdict for each in answers] == ["not judged", "failed"]
    assert exit_code(answers) == 3


def test_nothing_that_completed_is_nothing_that_agrees() -> None:
    failed = Outcome("openvino", "signal", "compile", "openvino", detail="SIGSEGV")
    assert [each.verdict for each in judge_readers(INPUTS, {"openvino": failed})] == ["failed"]


def test_readers_of_a_given_file_are_those_of_the_converters_file() -> None:
    readers = reading(ROUTES.values())
    assert {"onnxruntime", "onnxruntime-noopt", "openvino", "onnx-reference"} <= {route.name for route in readers}
    assert all(route.steps[0] == GIVEN and len(route.steps) == 2 for route in readers)


def test_a_file_that_all_readers_take_for_another_model_is_our_error() -> None:
    direct = ["direct-onnxruntime", "direct-openvino", "direct-onnx-reference"]
    ours = blame(ROUTES, direct, ["keras-tf", "keras-torch"])
    assert (ours.library, ours.stage) == ("cometfuzz", "write")
    reader = blame(ROUTES, ["direct-openvino"], ["direct-onnxruntime", "direct-onnx-reference", "keras-tf"])
    assert reader.library == "openvino"
