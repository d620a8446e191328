"""An ONNX file that somebody gives us: looked at in a child, then read by every library that reads ONNX.

The file is a stranger's. Nothing of it is parsed in the parent, and what it keeps in other files is never opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work
from cometfuzz.routes.libraries import ONNX, Library
from cometfuzz.routes.tf2onnx import TF2ONNX

_GROUP = Group("onnx", "main", QUIET)
GIVEN = Step("given", _GROUP, __name__, "take", (Stage("given", Library("file")),))
"""Stands for the file, whose bytes the parent has: it is never done."""

_DESCRIBE = Step("onnx-file", _GROUP, __name__, "describe", (Stage("describe", ONNX),))
DESCRIBED = Route("onnx-file", "an ONNX file, described", "", (GIVEN, _DESCRIBE), turn="", fuses=False)


def reading(routes: Iterable[Route]) -> list[Route]:
    """The routes that read the file of tf2onnx, on a given file instead."""
    found = [route for route in routes if TF2ONNX in route.steps[-2:-1] and route.steps[-1].reader]
    return [
        replace(route, path=route.path.rpartition("tf2onnx > ")[2], speaks="", steps=(GIVEN, route.steps[-1]))
        for route in found
    ]


def start(options: Mapping[str, str]) -> FileAdapter:
    """Import onnx."""
    import onnx

    return FileAdapter(onnx)


class FileAdapter:
    """Looks at a file: what it takes and gives, and what is wrong with it."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx

    def versions(self) -> dict[str, str]:
        return {"onnx": self.onnx.__version__}

    def describe(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("describe")
        model = self.onnx.load_model_from_string(artefact)
        if not model.graph.node and not model.graph.output:
            raise ValueError("expected a model with a graph; received none")
        plain = {
            "opsets": [[opset.domain, opset.version] for opset in model.opset_import],
            "external": any(tensor.data_location == tensor.EXTERNAL for tensor in _tensors(model)),
            "inputs": self._inputs(model.graph),
            "outputs": [value.name for value in model.graph.output],
            "operators": sorted({node.op_type for node in model.graph.node}),
            "objection": "",
        }
        if not plain["external"]:
            plain["objection"] = self._objection(model)
        text = json.dumps(plain).encode()
        return [WireTensor("bytes", (len(text),), text)]

    def _inputs(self, graph: Any) -> list[Any]:
        """Name, dtype and sizes of what must be fed; an open size is its name, or null."""
        held = {tensor.name for tensor in graph.initializer}
        return [self._type(value) for value in graph.input if value.name not in held]

    def _type(self, value: Any) -> list[Any]:
        if not value.type.HasField("tensor_type"):
            return [value.name, str(value.type.WhichOneof("value")), None]
        kind = value.type.tensor_type
        name = self.onnx.TensorProto.DataType.Name(kind.elem_type).lower()
        if not kind.HasField("shape"):
            return [value.name, name, None]
        sizes = [size.dim_value if size.HasField("dim_value") else size.dim_param or None for size in kind.shape.dim]
        return [value.name, name, sizes]

    def _objection(self, model: Any) -> str:
        """What onnx's own checker has against it."""
        try:
            self.onnx.checker.check_model(model, full_check=True)
        except (self.onnx.checker.ValidationError, self.onnx.shape_inference.InferenceError) as error:
            return str(error).strip().splitlines()[0][:300]
        return ""


def _tensors(model: Any) -> Iterator[Any]:
    """Every tensor that a model has, however deep."""
    graphs = [model.graph, *(info.algorithm for info in model.training_info)]
    graphs += [info.initialization for info in model.training_info]
    nodes = [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            for sparse in graph.sparse_initializer:
                yield from (sparse.values, sparse.indices)
            nodes += graph.node
            continue
        for attribute in nodes.pop().attribute:
            yield from (*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            graphs += [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]
