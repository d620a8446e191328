"""How far a quantised layer may be from itself: computed from the steps of its quantisation, not guessed.

Keras' `quantize("int8")` keeps a tensor as whole multiples of a step: the largest of its numbers, along the axes that a
product sums over, divided by 127. `quantize("float8")` rounds each number to four binary digits. So each is off by half
a step at most. What that makes of a sum of products is a sum of products again: with dx and dw for half the steps,
|y' - y| <= |x| dw + dx |w| + dx dw. An activation that nowhere rises by more than its input does keeps to that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cometfuzz.catalogue.data import Array, draw_data
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Edge, Node, Params
from cometfuzz.ir.types import POLICY

LEVELS = 127
LEAST = 1e-7
"""What Keras adds to the largest number of a tensor, so that nothing is divided by zero."""

ROUNDINGS = 1.01
"""A number in the middle of a step may go to either side, in the float32 that it is divided in."""

GENTLE = (None, "linear", "relu", "relu6", "leaky_relu", "tanh", "sigmoid", "hard_sigmoid", "hard_tanh")
"""Activations that rise by no more than their input does."""

HalfStep = Callable[[Array, int | None], Array]
"""Half the step of each number of a tensor, or of all of them; by an axis along which they have it in common."""

Spread = Callable[[HalfStep, Params, Array, Mapping[str, Array]], Array]


def _of_int8(array: Array, axis: int | None) -> Array:
    found: Array = (np.max(np.abs(array), axis=axis, keepdims=True, initial=0.0) + LEAST) / (2 * LEVELS)
    return found


def _of_float8(array: Array, axis: int | None) -> Array:
    """Of float8_e4m3fn: three digits behind the first one, and 2**-9 between the numbers around zero."""
    found: Array = np.maximum(np.abs(array) * 2.0**-4, 2.0**-10)
    return found


def _dense(half: HalfStep, params: Params, x: Array, weights: Mapping[str, Array]) -> Array:
    kernel = weights["kernel"]
    return _product(np.matmul, x, half(x, -1), kernel, half(kernel, 0))


def _einsum_dense(half: HalfStep, params: Params, x: Array, weights: Mapping[str, Array]) -> Array:
    """Which axes are summed over is up to the equation; along all of them a step is at least as large."""
    kernel = weights["kernel"]

    def contract(one: Array, two: Array) -> Array:
        found: Array = np.einsum(params.equation, one, two)
        return found

    return _product(contract, x, half(x, None), kernel, half(kernel, None))


def _embedding(half: HalfStep, params: Params, x: Array, weights: Mapping[str, Array]) -> Array:
    table = weights["embeddings"]
    found: Array = (half(table, -1) + np.zeros(table.shape))[x.astype(int)]
    return found


def _product(contract: Callable[[Array, Array], Array], x: Array, dx: Array, w: Array, dw: Array) -> Array:
    dx, dw = dx + np.zeros(x.shape), dw + np.zeros(w.shape)
    return contract(np.abs(x), dw) + contract(dx, np.abs(w)) + contract(dx, dw)


@dataclass(frozen=True)
class Quantisation:
    """One way to quantise a layer.

    layers: those that have it, of those that a formula here tells of. range: how large the largest number of a tensor
    may be: what is beyond is cut off, or makes scales that are no ordinary numbers. bias: how far a bias may be off,
    relative to its largest number.
    """

    half_step: HalfStep
    layers: Mapping[str, Spread]
    range: tuple[float, float]
    bias: float = 0.0

    def applies(self, case: Case) -> Case | None:
        """The case itself, if it is one layer that has it, and its numbers leave no doubt what should come."""
        node = _only_node(case)
        if node is None or node.layer not in self.layers or node.is_broken or POLICY in node.params:
            return None
        data = draw_data(case)
        tensors = [*data.inputs.values(), *data.weights.get(node.id, {}).values()]
        floats = [array for array in tensors if array.dtype.kind not in "biu"]
        if node.outputs[0].dtype != "float32" or {array.dtype.name for array in floats} != {"float32"}:
            return None
        fit = all(array.size and self._is_ordinary(array) for array in floats)
        return case if fit and node.params.get("activation") in GENTLE else None

    def _is_ordinary(self, array: Array) -> bool:
        most = float(np.max(np.abs(array)))
        return most == 0.0 or self.range[0] < most < self.range[1]  # neither NaN nor Inf is

    def slack(self, case: Case) -> Mapping[Edge, Array]:
        """How far each output may be from that of the layer as it was; of a case to which it applies."""
        data, node = draw_data(case), _only_node(case)
        if node is None:
            raise ValueError(f"expected a case of one layer; received {len(case.graph.nodes)} nodes")
        weights = {name: array.astype(np.float64) for name, array in data.weights[node.id].items()}
        x = data.inputs[node.inputs[0].node].astype(np.float64)
        found = ROUNDINGS * self.layers[node.layer](self.half_step, node.params, x, weights)
        found += self.bias * float(np.max(np.abs(weights.get("bias", np.zeros(1)))))
        return dict.fromkeys(case.graph.outputs, found)


def _only_node(case: Case) -> Node | None:
    nodes = [node for node in case.graph.nodes if node.layer != INPUT]
    return nodes[0] if len(nodes) == 1 else None


_PRODUCTS: Mapping[str, Spread] = {"Dense": _dense, "EinsumDense": _einsum_dense}

INT8 = Quantisation(_of_int8, {**_PRODUCTS, "Embedding": _embedding}, (1e-8, 1e8))
FLOAT8 = Quantisation(_of_float8, _PRODUCTS, (1e-8, 448.0), bias=2.0**-8)
"""Its scales are all 1 until it is trained, so that what is beyond the largest float8 is cut off. Its bias goes through
bfloat16."""
