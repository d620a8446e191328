"""An ONNX model as lines that build it with onnx.helper."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from cometfuzz.triage.scripts.keras_code import quoted
from cometfuzz.triage.scripts.onnx_graph import (
    DTYPES,
    NUMBERS,
    Float,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxTensor,
    OnnxValue,
)
from cometfuzz.triage.scripts.text import WIDTH, indented, number, wrap

INDENT = 4
IMPORTS = ("import onnx", "from onnx import TensorProto, helper")


def onnx_lines(model: OnnxModel) -> list[str]:
    """Lines that end with `proto`, checked by onnx itself."""
    writer = _Writer()
    lines = writer.graph("graph", model.graph)
    opsets = ", ".join(f'helper.make_opsetid("{domain}", {version})' for domain, version in model.opsets)
    make = f"proto = helper.make_model(graph, opset_imports=[{opsets}], ir_version={model.ir_version})"
    return [*lines, *wrap(make), "onnx.checker.check_model(proto, full_check=True)"]


class _Writer:
    """Writes graphs; those inside nodes come first, as variables of their own."""

    def __init__(self) -> None:
        self._bodies = 0

    def graph(self, variable: str, graph: OnnxGraph) -> list[str]:
        before: list[str] = []
        nodes: list[str] = []
        for node in graph.nodes:
            lines, call = self._node(node)
            before += lines
            nodes.append(call)
        parts = [
            _listed(nodes),
            [f'"{variable}",'],
            _listed([_value(value) for value in graph.inputs]),
            _listed([_value(value) for value in graph.outputs]),
            *([_listed([_constant(*item) for item in graph.constants.items()])] if graph.constants else []),
        ]
        return [*before, f"{variable} = helper.make_graph(", *indented(_packed(parts)), ")"]

    def _node(self, node: OnnxNode) -> tuple[list[str], str]:
        before, arguments = [], []
        for name, value in node.attributes.items():
            if isinstance(value, OnnxGraph):
                self._bodies += 1
                body = f"body{self._bodies}"
                before += self.graph(body, value)
                arguments.append(f"{name}={body}")
            elif value != []:
                arguments.append(f"{name}={_attribute(name, value)}")
        if node.domain:
            arguments.append(f"domain={quoted(node.domain)}")
        head = f"{quoted(node.op)}, {_names(node.inputs)}, {_names(node.outputs)}"
        return before, f"helper.make_node({', '.join([head, *arguments])})"


def _names(names: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, names))}]"


def _listed(items: Sequence[str]) -> list[str]:
    """A list as an argument; one item alone has the brackets at its ends."""
    if not items:
        return ["[],"]
    if len(items) == 1:
        first, *rest = wrap(items[0], WIDTH - INDENT)
        if rest:
            return [f"[{first}", *rest[:-1], f"{rest[-1]}],"]
        if len(first) <= WIDTH - INDENT - len("[],"):
            return [f"[{first}],"]
    return ["[", *(line for item in items for line in wrap(f"    {item},", WIDTH - INDENT)), "],"]


def _packed(parts: Sequence[Sequence[str]]) -> list[str]:
    """Arguments one below the other; those that are short share a line."""
    lines: list[str] = []
    for before, part in pairwise([[], *parts]):
        if len(before) == len(part) == 1 and len(f"{lines[-1]} {part[0]}") <= WIDTH - INDENT:
            lines[-1] += f" {part[0]}"
        else:
            lines += part
    return lines


def _value(value: OnnxValue) -> str:
    shape = "None" if value.shape is None else str(list(value.shape))
    return f"helper.make_tensor_value_info({quoted(value.name)}, TensorProto.{value.dtype}, {shape})"


def _constant(name: str, tensor: OnnxTensor) -> str:
    dtype = DTYPES.get(tensor.dtype, "int64")
    texts = [number(value, dtype) for value in tensor.values]
    values = f"[{', '.join(texts)}]"
    if len(texts) > 2 and len(set(texts)) == 1:
        values = f"[{texts[0]}] * {len(texts)}"
    return f"helper.make_tensor({quoted(name)}, TensorProto.{tensor.dtype}, {list(tensor.shape)}, {values})"


def _attribute(name: str, value: Any) -> str:
    if isinstance(value, OnnxTensor):
        return _constant(name, value)
    if isinstance(value, Float):
        return number(value.value, "float32")
    if isinstance(value, list):
        return f"[{', '.join(_attribute(name, each) for each in value)}]"
    if name == "to" and value in NUMBERS:
        return f"TensorProto.{NUMBERS[value]}"
    return quoted(value)
