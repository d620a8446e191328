"""An ONNX file as plain JSON, so that the parent, which has no onnx, can write code that builds the same model.

No library under test: it is no route of its own, `described` puts it behind the converter of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work
from cometfuzz.routes.libraries import ONNX


def described(route: Route, converter: Step) -> Route:
    """The way of a route as far as a step that makes an ONNX file, and then to that file's description."""
    kept = route.steps[: route.steps.index(converter) + 1]
    environment = converter.group.environment
    group = Group("onnx" if environment == "main" else f"onnx@{environment}", environment, QUIET)
    step = Step("onnx-text", group, __name__, "describe", (Stage("describe", ONNX),))
    return Route(f"{route.name} as text", f"{route.path}, described", route.speaks, (*kept, step))


def start(options: Mapping[str, str]) -> DescribingAdapter:
    """Import onnx."""
    import onnx
    import onnx.numpy_helper

    return DescribingAdapter(onnx)


class DescribingAdapter:
    """Reads ONNX files."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx

    def versions(self) -> dict[str, str]:
        return {"onnx": self.onnx.__version__}

    def describe(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("describe")
        model = self.onnx.load_from_string(artefact)
        plain = {
            "ir_version": model.ir_version,
            "opsets": [[opset.domain, opset.version] for opset in model.opset_import],
            "graph": self._graph(model.graph),
        }
        text = json.dumps(plain).encode()
        return [WireTensor("bytes", (len(text),), text)]

    def _graph(self, graph: Any) -> dict[str, Any]:
        return {
            "inputs": [self._type(value) for value in graph.input],
            "outputs": [self._type(value) for value in graph.output],
            "initialisers": {tensor.name: self._tensor(tensor) for tensor in graph.initializer},
            "nodes": [
                {
                    "op": node.op_type,
                    "domain": node.domain,
                    "inputs": list(node.input),
                    "outputs": list(node.output),
                    "attributes": {each.name: self._attribute(each) for each in node.attribute},
                }
                for node in graph.node
            ],
        }

    def _type(self, value: Any) -> list[Any]:
        kind = value.type.tensor_type
        sizes = [size.dim_value if size.HasField("dim_value") else None for size in kind.shape.dim]
        return [value.name, self._name(kind.elem_type), sizes if kind.HasField("shape") else None]

    def _tensor(self, tensor: Any) -> list[Any]:
        array = self.onnx.numpy_helper.to_array(tensor)
        values = array.astype("float64") if "float" in array.dtype.name else array
        return [self._name(tensor.data_type), list(array.shape), values.reshape(-1).tolist()]

    def _name(self, kind: int) -> str:
        return str(self.onnx.TensorProto.DataType.Name(kind))

    def _attribute(self, attribute: Any) -> list[Any]:
        value = self.onnx.helper.get_attribute_value(attribute)
        kind = self.onnx.AttributeProto.AttributeType.Name(attribute.type)
        if kind == "TENSOR":
            return ["tensor", self._tensor(value)]
        if kind == "GRAPH":
            return ["graph", self._graph(value)]
        if kind in ("STRING", "STRINGS"):
            texts = [value] if kind == "STRING" else value
            decoded = [text.decode(errors="replace") for text in texts]
            return ["plain", decoded[0] if kind == "STRING" else decoded]
        return ["float" if kind in ("FLOAT", "FLOATS") else "plain", list(value) if kind.endswith("S") else value]
