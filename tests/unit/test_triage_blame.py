"""Blame: the earliest stage that all failing routes share and no agreeing route has."""

import pytest

from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.blame import AGAINST, EVERY_BACKEND, EVERYBODY, blame, traced


@pytest.mark.parametrize(
    ("failing", "agreeing", "library", "role"),
    [
        ("onnxruntime,openvino", "keras-tf,keras-torch", "tf2onnx", "converter tf2onnx"),
        ("openvino", "keras-tf,onnxruntime", "openvino", "runtime OpenVINO"),
        ("onnxruntime", "keras-tf,onnxruntime-noopt", "onnxruntime", "runtime ONNX Runtime"),
        ("keras-torch", "keras-tf", "keras", "Keras, torch backend"),
        ("keras-tf,onnxruntime,tf-graph", "keras-torch,keras-jax", "keras", "Keras, tensorflow backend"),
        ("keras-tf", "tf-graph,onnxruntime", "tensorflow", "Keras, tensorflow backend"),
        ("litert", "keras-tf", "litert-converter", "converter of LiteRT"),
        ("torch-onnx", "keras-torch", "torch", "converter torch.onnx"),
        ("torch-inductor", "torch-aot-eager,torch-export,keras-torch", "torch", "converter inductor"),
        ("torch-inductor,torch-aot-eager", "torch-export,keras-torch", "torch", "converter aot_eager"),
        ("torch-inductor,torch-aot-eager,torch-export", "keras-torch", "torch", "converter torch.export"),
        ("torch-decomposed", "torch-export,keras-torch", "torch", "converter run_decompositions"),
        ("keras-numpy", "keras-tf,keras-torch", "keras", "Keras, numpy backend"),
        ("openvino-saved", "tf-saved,keras-tf", "openvino", "runtime OpenVINO"),
        ("onnx2pytorch", "keras-tf,onnxruntime", "onnx2pytorch", "converter onnx2pytorch"),
        ("tf-saved", "keras-tf", "keras", "Keras, export"),
        ("keras2-tf", "keras-tf", "tf-keras", "front end tf-keras"),
        ("onnxruntime,onnx-reference", "keras-tf,openvino", "tf2onnx", "converter tf2onnx"),
        ("onnx-reference", "keras-tf,openvino", "onnx", "runtime ONNX ReferenceEvaluator"),
    ],
)
def test_who_is_blamed(failing: str, agreeing: str, library: str, role: str) -> None:
    found = blame(ROUTES, failing.split(","), agreeing.split(","))
    assert (found.library, found.role) == (library, role)
    assert all(name in found.reasoning for name in failing.split(","))
    assert 0.5 <= found.confidence <= 1


@pytest.mark.parametrize(
    ("failing", "agreeing", "stage", "role"),
    [
        ("onnxruntime,openvino", "keras-tf", "tf2onnx", "Keras, tensorflow backend"),
        ("tf-graph,tf-xla", "keras-tf", "trace", "Keras, tensorflow backend"),
        ("litert", "keras-tf", "convert", "Keras, tensorflow backend"),
        ("torch-onnx", "keras-torch", "torch.onnx", "converter torch.onnx"),
        ("onnxruntime", "keras-tf,openvino", "load", "runtime ONNX Runtime"),
    ],
)
def test_a_layer_that_tensorflow_cannot_trace_is_that_of_keras(
    failing: str, agreeing: str, stage: str, role: str
) -> None:
    """It is not the converter that asked for the trace; and a converter may fail over a model that was traced."""
    found = blame(ROUTES, failing.split(","), agreeing.split(","), stage)
    assert traced(found, "cannot convert a node") == found
    assert traced(found, "in user code: Exception encountered when calling Kron.call(). no integer").role == role


def test_a_control_makes_surer() -> None:
    alone = blame(ROUTES, ["openvino"], ["keras-tf"])
    assert alone.library == "tf2onnx"
    assert alone.confidence < blame(ROUTES, ["openvino"], ["keras-tf", "onnxruntime"]).confidence
    assert alone.confidence < blame(ROUTES, ["openvino", "onnxruntime"], ["keras-tf"]).confidence


def test_all_libraries_against_the_reference_is_said_as_that() -> None:
    found = blame(ROUTES, ["keras-tf", "keras2-tf", "keras-mxnet"], ["reference"])
    assert (found.library, found.role) == (EVERYBODY, AGAINST)
    for built in (
        blame(ROUTES, ["keras-tf", "keras-torch"], [], failed_in="build"),
        blame(ROUTES, ["keras-tf", "keras-torch", "openvino"], ["reference"]),
    ):
        assert (built.library, built.stage) == ("keras", "build")
        assert built.role == f"{EVERY_BACKEND} ({AGAINST})"


def test_what_keras_does_on_every_backend_is_its_own() -> None:
    found = blame(ROUTES, ["keras-tf", "keras-torch", "keras-jax", "openvino"], ["keras2-tf"])
    assert (found.library, found.stage, found.role) == ("keras", "build", EVERY_BACKEND)


def test_nothing_after_an_exception_is_blamed() -> None:
    found = blame(ROUTES, ["openvino"], ["onnxruntime"], failed_in="load")
    assert (found.library, found.stage) == ("openvino", "load")


def test_keras_is_blamed_for_what_all_its_backends_do() -> None:
    """What was converted may be right by chance: the layer became one operator there."""
    found = blame(ROUTES, ["keras-tf", "keras-torch", "tf-graph"], ["keras2-tf", "onnxruntime"])
    assert (found.library, found.stage, found.role) == ("keras", "build", EVERY_BACKEND)
    assert "Keras on tensorflow and torch" in found.reasoning
    one_does_right = blame(ROUTES, ["keras-tf", "keras-jax"], ["keras-torch", "onnxruntime"])
    assert one_does_right.role != EVERY_BACKEND


def test_routes_without_a_common_stage() -> None:
    found = blame(ROUTES, ["keras-torch", "keras2-tf"], ["keras-tf"])
    assert found.confidence < 0.5
    assert "without a stage" in found.reasoning
