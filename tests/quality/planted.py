"""Routes with planted faults: the reference, one node after the other, each rounded to its dtype as a library would.

What the child imports. A build makes a list of the faults so far, a conversion writes it down, a run computes with
them. All routes of a case share what no fault touches.
"""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from faults import ANY, FAULTS, Fault

from cometfuzz.catalogue.data import Array, to_array, weight_shapes
from cometfuzz.execution.protocol import WireTensor
from cometfuzz.ir.case import Tensor
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.ir.types import BYTES_OF, FLOATS, TensorType
from cometfuzz.reference.call import Call, Mask, evaluate, output_masks
from cometfuzz.reference.run import narrow, wide

Values = dict[Edge, tuple[Array, Mask | None, str]]
"""An edge's value, its mask and its dtype."""


def start(options: Mapping[str, str]) -> "Planted":
    return Planted(options.get("fault", ""))


class Planted:
    """A library with at most one fault in the stage that it serves."""

    def __init__(self, fault: str) -> None:
        self.fault = FAULTS.get(fault)

    def versions(self) -> dict[str, str]:
        return {"planted": "1"}

    def build(self, work: Any, value: None) -> tuple[str, ...]:
        work.enter("build")
        return self._with_mine(work.graph, ())

    def convert(self, work: Any, value: tuple[str, ...]) -> bytes:
        work.enter("convert")
        return json.dumps(self._with_mine(work.graph, value)).encode()

    def run(self, work: Any, value: tuple[str, ...] | bytes) -> list[WireTensor]:
        work.enter("run")
        names = self._with_mine(work.graph, tuple(json.loads(value) if isinstance(value, bytes) else value))
        right = _right(work)
        found = _compute(work, FAULTS[names[0]], right) if names else right
        outputs = []
        for edge in work.graph.outputs:
            array, _, dtype = found[edge]
            array = narrow(array, dtype)
            outputs.append(WireTensor(dtype, array.shape, array.tobytes()))
        return outputs

    def _with_mine(self, graph: Graph, before: tuple[str, ...]) -> tuple[str, ...]:
        if self.fault is None:
            return before
        for node in graph.nodes:
            if self.fault.refusal is not None and (node.layer in self.fault.layers or ANY in self.fault.layers):
                self.fault.refusal(graph, node)
        return (*before, self.fault.name)


_LAST: list[Any] = [None, {}]


def _right(work: Any) -> Values:
    """The values without any fault, computed once for all routes of a request."""
    if _LAST[0] is not work:
        _LAST[:] = [work, _compute(work, None, {})]
    found: Values = _LAST[1]
    return found


def _compute(work: Any, fault: Fault | None, right: Values) -> Values:
    graph: Graph = work.graph
    values: Values = {}
    for node, tensor in zip(graph.inputs, work.inputs, strict=True):
        values[Edge(node.id)] = wide(to_array(Tensor(*tensor))), None, tensor.dtype
    changed: set[str] = set()
    for node in graph.nodes:
        if node.layer == INPUT:
            continue
        touched = fault is not None and fault.touches(node)
        edges = [Edge(node.id, index) for index in range(len(node.outputs))]
        if right and not touched and not any(edge.node in changed for edge in node.inputs):
            values.update({edge: right[edge] for edge in edges})
            continue
        changed.add(node.id)
        values.update(zip(edges, _node(work, graph, node, values, fault if touched else None), strict=True))
    return values


def _node(
    work: Any, graph: Graph, node: Node, values: Values, fault: Fault | None
) -> list[tuple[Array, Mask | None, str]]:
    tensors = [to_array(Tensor(*tensor)) for tensor in work.weights.get(node.id, ())]
    call = Call(
        layer=node.layer,
        params=node.params,
        inputs=[values[edge][0] for edge in node.inputs],
        masks=[values[edge][1] for edge in node.inputs],
        weights=dict(zip(weight_shapes(graph, node), map(wide, tensors), strict=True)),
        types=graph.input_types(node),
        outputs=node.outputs,
    )
    with fault.planted() if fault is not None else nullcontext():
        results = evaluate(call)
    made = []
    for value, mask, kind in zip(results, output_masks(call), node.outputs, strict=True):
        dtype = (fault.dtype or {}).get(kind.dtype, kind.dtype) if fault is not None else kind.dtype
        if dtype in FLOATS and node.layer != "cast":  # what was promoted stays so, as in NumPy
            dtype = _wider(dtype, [values[edge][2] for edge in node.inputs], graph.input_types(node))
        made.append((wide(narrow(value, dtype)), mask, dtype))
    return made


def _wider(dtype: str, seen: list[str], declared: tuple[TensorType, ...]) -> str:
    promoted = [name for name, kind in zip(seen, declared, strict=True) if name != kind.dtype]
    return promoted[0] if promoted and BYTES_OF[promoted[0]] > BYTES_OF[dtype] else dtype
