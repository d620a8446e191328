"""Routes with planted faults: the reference, one node after the other, each rounded to its dtype as a library would.

What the child imports. A build makes a list of the faults so far, a conversion writes it down, a run computes with
them. All routes of a case share what no fault touches.

It is a route's ordinary child. What else somebody may ask of one: `predict` is a call beside `run`, which takes the
samples in parts; `SETTINGS` are switches by options and environment variables; a call that breaks a rule is refused.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from faults import ANY, FAULTS, KNOWN, Fault, setting

from cometfuzz.catalogue.data import Array, to_array, weight_shapes
from cometfuzz.catalogue.validate import Violation, assemble, check
from cometfuzz.ir.case import Tensor
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.ir.types import BYTES_OF, FLOATS, TensorType
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.call import MEANINGS, Call, Mask, evaluate, output_masks
from cometfuzz.reference.run import autocast, narrow, wide
from cometfuzz.routes.keras_types import check_static_types

Value = tuple[Array, Mask | None, str]
"""An edge's value, its mask and its dtype."""

Values = dict[Edge, Value]
Names = tuple[str, ...]
AT_ONCE = "2"
"""How many samples `predict` takes at once, unless the option `batch_size` says otherwise."""


def start(options: Mapping[str, str]) -> "Planted":
    return Planted(options)


class Planted:
    """A library with the faults that its options name, separated by commas, in the stage that it serves."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options
        self.faults = tuple(_fault(name) for name in options.get("fault", "").split(",") if name)

    def versions(self) -> dict[str, str]:
        return {"planted": "1"}

    def build(self, work: Any, value: None) -> Names:
        """Refuse what breaks a rule, unless that is the fault; then say of which types everything will be."""
        work.enter("build")
        for violation in _case(work).violations:
            if not any(_overlooks(fault, work.graph, violation) for fault in self.faults):
                raise ValueError(str(violation))
        for node in work.graph.nodes:
            for fault in self.faults:
                if fault.symbolic is not None and node.layer in fault.layers:
                    check_static_types(node, [(kind.dtype, kind.shape) for kind in fault.symbolic(node)])
        return self._with_mine(work.graph, ())

    def convert(self, work: Any, value: Names) -> bytes:
        work.enter("convert")
        return json.dumps(self._with_mine(work.graph, value)).encode()

    def graph(self, work: Any, value: Names) -> Names:
        """Compile a live model."""
        work.enter("graph")
        return self._with_mine(work.graph, value)

    def run(self, work: Any, value: Names | bytes) -> list[WireTensor]:
        work.enter("run")
        case = _case(work)
        faults = [_fault(name) for name in self._with_mine(work.graph, _read(value))]
        found = _compute(case, faults, case.right) if faults else case.right
        return [_wire(found[edge]) for edge in work.graph.outputs if edge in found]

    def predict(self, work: Any, value: Names | bytes) -> list[WireTensor]:
        """The same, a few samples at a time."""
        work.enter("run")
        faults = [_fault(name) for name in self._with_mine(work.graph, _read(value), "predict")]
        parts = [_compute(part, faults, {}) for part in _parts(work, int(self.options.get("batch_size", AT_ONCE)))]
        joined = []
        for edge in work.graph.outputs:
            arrays, _, dtypes = zip(*(part[edge] for part in parts), strict=True)
            joined.append(_wire((np.concatenate(arrays), None, dtypes[0])))
        return joined

    def _with_mine(self, graph: Graph, before: Names, call: str = "run") -> Names:
        """The faults so far and those of this stage, as it is set; one of them may break it down."""
        options = {**self.options, "call": call}
        mine = [each for each in self.faults if each.switched is None or _is_set(each.switched, options)]
        for node in graph.nodes:
            for fault in mine:
                if fault.refusal is not None and (node.layer in fault.layers or ANY in fault.layers):
                    fault.refusal(graph, node)
        return (*before, *(fault.name for fault in mine))


def _fault(name: str) -> Fault:
    return FAULTS[name] if name in FAULTS else KNOWN[name]


def _is_set(switched: tuple[str, str], options: Mapping[str, str]) -> bool:
    name, value = switched
    return setting(name, options) == value


def _overlooks(fault: Fault, graph: Graph, violation: Violation) -> bool:
    return fault.unchecked == violation.rule and graph.by_id[violation.node].layer in fault.layers


def _read(value: Names | bytes) -> Names:
    return tuple(json.loads(value)) if isinstance(value, bytes) else value


def _wire(value: Value) -> WireTensor:
    array = narrow(value[0], value[2])
    return WireTensor(value[2], array.shape, array.tobytes())


@dataclass
class _Given:
    """A graph with its tensors, the rules that it breaks, and its values without any fault."""

    graph: Graph
    inputs: Sequence[Any]
    weights: Mapping[str, Sequence[Any]]
    violations: Sequence[Violation] = ()
    _right: Values | None = None

    @property
    def right(self) -> Values:
        if self._right is None:
            self._right = {} if self.violations else _compute(self, (), {})
        return self._right


_LAST: list[Any] = [None, None]


def _case(work: Any) -> _Given:
    """What is computed once for all routes of a request."""
    if _LAST[0] is not work:
        _, violations = check(work.graph.drafts, work.graph.outputs)
        _LAST[:] = [work, _Given(work.graph, work.inputs, work.weights, violations)]
    found: _Given = _LAST[1]
    return found


def _parts(work: Any, at_once: int) -> list[_Given]:
    """The case for some samples after the other; ValueError if its inputs are not samples of one batch."""
    sizes = {node.outputs[0].shape[0] for node in work.graph.inputs}
    if len(sizes) != 1:
        raise ValueError(f"expected inputs of one batch; received batches={sorted(sizes)}")
    (size,) = sizes
    parts = []
    for begin in range(0, max(size, 1), at_once):
        end = min(begin + at_once, size)
        drafts = [
            draft._replace(params=draft.params.replace(shape=(end - begin, *draft.params["shape"][1:])))
            if draft.layer == INPUT
            else draft
            for draft in work.graph.drafts
        ]
        taken = [to_array(Tensor(*tensor))[begin:end] for tensor in work.inputs]
        tensors = [WireTensor(array.dtype.name, array.shape, array.tobytes()) for array in taken]
        parts.append(_Given(assemble(drafts, work.graph.outputs), tensors, work.weights))
    return parts


def _compute(given: _Given, faults: Sequence[Fault], right: Values) -> Values:
    graph, values = given.graph, Values()
    for node, tensor in zip(graph.inputs, given.inputs, strict=True):
        values[Edge(node.id)] = wide(to_array(Tensor(*tensor))), None, tensor.dtype
    changed: set[str] = set()
    invalid = {violation.node for violation in given.violations}
    for node in graph.nodes:
        if node.layer == INPUT:
            continue
        if node.id in invalid:
            values.update(_overlooked(node, values, faults))
            continue
        touching = [fault for fault in faults if fault.touches(node)]
        edges = [Edge(node.id, index) for index in range(len(node.outputs))]
        if right and not touching and not any(edge.node in changed for edge in node.inputs):
            values.update({edge: right[edge] for edge in edges})
            continue
        changed.add(node.id)
        values.update(zip(edges, _node(given, node, values, touching), strict=True))
    return values


def _overlooked(node: Node, values: Values, faults: Sequence[Fault]) -> Values:
    """What a fault gives for a call that breaks a rule."""
    twist = next(fault.twist for fault in faults if fault.unchecked and node.layer in fault.layers)
    assert twist is not None
    inputs = [values[edge][0] for edge in node.inputs]
    call = Call(node.layer, node.params, inputs, [None] * len(inputs), {}, (), node.outputs)
    results = twist(call, MEANINGS[node.layer])
    dtype = values[node.inputs[0]][2]
    return {Edge(node.id, index): (result, None, dtype) for index, result in enumerate(results)}


def _node(given: _Given, node: Node, values: Values, faults: Sequence[Fault]) -> list[Value]:
    graph = given.graph
    tensors = [to_array(Tensor(*tensor)) for tensor in given.weights.get(node.id, ())]
    named = dict(zip(weight_shapes(graph, node), tensors, strict=True))
    inputs, weights, types = autocast(graph, node, [values[edge][0] for edge in node.inputs], named)
    call = Call(
        layer=node.layer,
        params=node.params,
        inputs=inputs,
        masks=[values[edge][1] for edge in node.inputs],
        weights=weights,
        types=types,
        outputs=node.outputs,
    )
    with ExitStack() as stack:
        for fault in faults:
            stack.enter_context(fault.planted(node.outputs[0].dtype))
        results = evaluate(call)
    changed = {old: new for fault in faults for old, new in (fault.dtype or {}).items()}
    made = []
    for value, mask, kind in zip(results, output_masks(call), node.outputs, strict=True):
        dtype = changed.get(kind.dtype, kind.dtype)
        if dtype in FLOATS and node.layer != "cast":  # what was promoted stays so, as in NumPy
            dtype = _wider(dtype, [values[edge][2] for edge in node.inputs], graph.input_types(node))
        made.append((wide(narrow(value, dtype)), mask, dtype))
    return made


def _wider(dtype: str, seen: list[str], declared: tuple[TensorType, ...]) -> str:
    promoted = [name for name, kind in zip(seen, declared, strict=True) if name != kind.dtype]
    return promoted[0] if promoted and BYTES_OF[promoted[0]] > BYTES_OF[dtype] else dtype
