"""From a graph to an ONNX file: every node written, then all of it as a ModelProto. onnx is handed in by the child."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cometfuzz.ir.case import Manner
from cometfuzz.ir.graph import INPUT, Edge, Graph
from cometfuzz.ir.types import POLICY
from cometfuzz.routes.direct.families import WRITERS as WRITERS
from cometfuzz.routes.direct.writing import Call, Unsaid, Writing, written
from cometfuzz.routes.handing import output_name
from cometfuzz.routes.tensors import dtype_of

NUMBERS = {
    "float32": 1,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "bfloat16": 16,
}
"""ONNX' numbers of dtypes."""


def write(graph: Graph, weights: Mapping[str, Sequence[Any]], manner: Manner, opset: int) -> tuple[Writing, list[str]]:
    """A graph in ONNX operators, and the names of its outputs; Unsaid if it cannot be said at the opset."""
    if manner.opened:
        raise Unsaid("sizes are written into the file")
    w, names = Writing(opset), dict[Edge, str]()
    for node in graph.nodes:
        w.node = node.id
        if node.layer == INPUT:
            names[Edge(node.id)] = node.id
            w.dtypes[node.id] = node.outputs[0].dtype
            continue
        expect_sayable(node)
        own = tuple(weights.get(manner.first_of.get(node.id, node.id), ()))
        given = tuple(names[edge] for edge in node.inputs)
        call = Call(w, node.layer, node.params, given, graph.input_types(node), node.outputs, own)
        for place, name in enumerate(written(call)):
            names[Edge(node.id, place)] = name
    return w, [names[edge] for edge in graph.outputs]


def write_at(
    opsets: Sequence[int], graph: Graph, weights: Mapping[str, Sequence[Any]], manner: Manner
) -> tuple[Writing, list[str]]:
    """A graph at the first of some opsets that can say it; Unsaid if the last cannot."""
    for opset in opsets[:-1]:
        try:
            return write(graph, weights, manner, opset)
        except Unsaid:
            continue
    return write(graph, weights, manner, opsets[-1])


def expect_sayable(node: Any) -> None:
    """What holds for every layer."""
    if node.is_broken:
        raise Unsaid("the call breaks a rule")
    if POLICY in node.params:
        raise Unsaid("nobody writes dtype policies")


class Encoder:
    """Makes ONNX files with the onnx of the child."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self._versions: dict[int, int] = {}

    def model(self, graph: Graph, w: Writing, outputs: Sequence[str]) -> Any:
        """The ModelProto of a written graph, with inputs named as their nodes and outputs in their order."""
        renamed, last = self._named(w, graph, outputs)
        operators = [self._node(each, renamed) for each in w.operations] + last
        helper = self.onnx.helper
        given = [
            helper.make_tensor_value_info(node.id, NUMBERS[node.outputs[0].dtype], node.outputs[0].shape)
            for node in graph.inputs
        ]
        kinds = [graph.type_of(edge) for edge in graph.outputs]
        made = [
            helper.make_tensor_value_info(output_name(place), NUMBERS[kind.dtype], kind.shape)
            for place, kind in enumerate(kinds)
        ]
        tensors = [self._tensor(name, each.dtype, each.values) for name, each in w.constants.items()]
        proto = self.onnx.GraphProto(name="model", node=operators, input=given, output=made, initializer=tensors)
        opset = self.onnx.OperatorSetIdProto(domain="", version=w.opset)
        version = self._ir_version(opset)
        return self.onnx.ModelProto(ir_version=version, producer_name="cometfuzz", graph=proto, opset_import=[opset])

    def _ir_version(self, opset: Any) -> int:
        """The oldest that has the opset, which is what old readers take."""
        if opset.version not in self._versions:
            self._versions[opset.version] = self.onnx.helper.find_min_ir_version_for([opset])
        return self._versions[opset.version]

    def _named(self, w: Writing, graph: Graph, outputs: Sequence[str]) -> tuple[dict[str, str], list[Any]]:
        """New names for what is an output; what has one already, or is an input or a constant, is handed on."""
        made = {name for each in w.operations for name in each.outputs}
        renamed: dict[str, str] = {}
        last = []
        for place, name in enumerate(outputs):
            if name in made and name not in renamed:
                renamed[name] = output_name(place)
            else:
                source = renamed.get(name, name)
                last.append(self.onnx.NodeProto(op_type="Identity", input=[source], output=[output_name(place)]))
        return renamed, last

    def _node(self, each: Any, renamed: Mapping[str, str]) -> Any:
        attributes = [self._attribute(name, value) for name, value in each.attributes.items()]
        return self.onnx.NodeProto(
            op_type=each.kind,
            name=f"{each.node}/{each.outputs[0]}",
            input=[renamed.get(name, name) for name in each.inputs],
            output=[renamed.get(name, name) for name in each.outputs],
            attribute=attributes,
        )

    def _attribute(self, name: str, value: Any) -> Any:
        kinds = self.onnx.AttributeProto
        if name == "to":
            return kinds(name=name, type=kinds.INT, i=NUMBERS[value])
        if isinstance(value, bool):
            value = int(value)
        if isinstance(value, int):
            return kinds(name=name, type=kinds.INT, i=value)
        if isinstance(value, float):
            return kinds(name=name, type=kinds.FLOAT, f=value)
        if isinstance(value, str):
            return kinds(name=name, type=kinds.STRING, s=value.encode())
        if value and isinstance(value[0], float):
            return kinds(name=name, type=kinds.FLOATS, floats=value)
        if value and isinstance(value[0], str):
            return kinds(name=name, type=kinds.STRINGS, strings=[text.encode() for text in value])
        return kinds(name=name, type=kinds.INTS, ints=value)

    def _tensor(self, name: str, dtype: str, values: Any) -> Any:
        with np.errstate(over="ignore"):  # what is beyond the range of a dtype is infinite there
            array = (
                np.ascontiguousarray(values, dtype=dtype_of(dtype)) if values.ndim else values.astype(dtype_of(dtype))
            )
        assert array.size == math.prod(values.shape)
        return self.onnx.TensorProto(name=name, data_type=NUMBERS[dtype], dims=values.shape, raw_data=array.tobytes())
