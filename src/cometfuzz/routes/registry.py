"""Every route by name, found by entry point: a third party adds one from outside under "cometfuzz.routes".

An entry point names a Route. What it imports in the parent must import no library under test.
"""

from importlib import import_module

from cometfuzz.routes import Route

_OURS = {
    "keras-tf": "routes.keras:KERAS_TF",
    "keras-torch": "routes.keras:KERAS_TORCH",
    "keras-jax": "routes.keras:KERAS_JAX",
    "keras2-tf": "routes.keras2:KERAS2_TF",
    "tf-graph": "routes.tensorflow:TF_GRAPH",
    "tf-xla": "routes.tensorflow:TF_XLA",
    "keras-saved": "routes.keras_saved:KERAS_SAVED",
    "tf-saved": "routes.tensorflow:TF_SAVED",
    "onnxruntime": "routes.onnxruntime:ONNXRUNTIME",
    "onnxruntime-noopt": "routes.onnxruntime:ONNXRUNTIME_NOOPT",
    "onnx-reference": "routes.onnx_reference:ONNX_REFERENCE",
    "onnx2torch": "routes.onnx_torch:ONNX2TORCH",
    "onnx2pytorch": "routes.onnx_torch:ONNX2PYTORCH",
    "openvino": "routes.openvino:OPENVINO",
    "litert": "routes.litert:LITERT",
    "torch-onnx": "routes.torch_onnx:TORCH_ONNX",
    "reference": "execution.reference:REFERENCE",
}


def _load(place: str) -> Route:
    module, _, name = place.partition(":")
    route: Route = getattr(import_module(f"cometfuzz.{module}"), name)
    return route


ROUTES: dict[str, Route] = {name: _load(place) for name, place in _OURS.items()}


def base_of(name: str) -> str | None:
    """The route that runs the same model without any detour: keras-tf for all that goes on from its model."""
    route = ROUTES.get(name)
    same = [other for other in ROUTES.values() if route is not None and other.steps[0] == route.steps[0]]
    return None if not same or same[0] is route else same[0].name
