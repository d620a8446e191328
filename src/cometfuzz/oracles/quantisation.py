"""How far a layer in int8 may be from itself: computed from the steps of its quantisation, not guessed.

Keras' `quantize("int8")` keeps a tensor as whole multiples of a step: the largest of its numbers, along the axes that a
product sums over, divided by 127. So each number is off by half a step at most. What that makes of a sum of products is
a sum of products again: with dx and dw for half the steps, |y' - y| <= |x| dw + dx |w| + dx dw. An activation that
nowhere rises by more than its input does keeps to that.
"""

from collections.abc import Callable, Mapping

import numpy as np

from cometfuzz.catalogue.data import Array, Data, draw_data
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Edge, Params
from cometfuzz.ir.types import POLICY

LEVELS = 127
LEAST = 1e-7
"""What Keras adds to the largest number, so that nothing is divided by zero."""

ROUNDINGS = 1.01
"""A number in the middle of a step may go to either side, in the float32 that it is divided in."""

RANGE = 1e-8, 1e8
"""How large the largest number of a tensor may be: the product of two scales must be an ordinary number."""

GENTLE = (None, "linear", "relu", "relu6", "leaky_relu", "tanh", "sigmoid", "hard_sigmoid", "hard_tanh")
"""Activations that rise by no more than their input does."""


def _dense(params: Params, x: Array, weights: Mapping[str, Array]) -> Array:
    kernel = weights["kernel"]
    return _product(np.matmul, x, _half_step(x, -1), kernel, _half_step(kernel, 0))


def _einsum_dense(params: Params, x: Array, weights: Mapping[str, Array]) -> Array:
    """Which axes are summed over is up to the equation; along all of them a step is at least as large."""
    kernel = weights["kernel"]

    def contract(one: Array, two: Array) -> Array:
        found: Array = np.einsum(params.equation, one, two)
        return found

    return _product(contract, x, _half_step(x), kernel, _half_step(kernel))


def _embedding(params: Params, x: Array, weights: Mapping[str, Array]) -> Array:
    table = weights["embeddings"]
    found: Array = (_half_step(table, -1) + np.zeros(table.shape))[x]
    return found


_SLACK: Mapping[str, Callable[[Params, Array, Mapping[str, Array]], Array]] = {
    "Dense": _dense,
    "EinsumDense": _einsum_dense,
    "Embedding": _embedding,
}
"""The layers that Keras quantises, of those that one formula tells of."""


def _half_step(array: Array, axis: int | None = None) -> Array:
    wide = np.abs(array.astype(np.float64))
    found: Array = (np.max(wide, axis=axis, keepdims=True, initial=0.0) + LEAST) / (2 * LEVELS)
    return found


def _product(contract: Callable[[Array, Array], Array], x: Array, dx: Array, w: Array, dw: Array) -> Array:
    x, w = np.abs(x.astype(np.float64)), np.abs(w.astype(np.float64))
    dx, dw = dx + np.zeros(x.shape), dw + np.zeros(w.shape)
    return contract(x, dw) + contract(dx, w) + contract(dx, dw)


def quantisable(case: Case) -> Case | None:
    """The case itself, if it is one layer that can be quantised, and whose numbers leave no doubt what should come."""
    nodes = [node for node in case.graph.nodes if node.layer != INPUT]
    if len(nodes) != 1 or nodes[0].layer not in _SLACK or nodes[0].is_broken or POLICY in nodes[0].params:
        return None
    (node,) = nodes
    data = draw_data(case)
    tensors = [*data.inputs.values(), *data.weights.get(node.id, {}).values()]
    floats = [array for array in tensors if array.dtype.kind not in "biu"]
    if node.outputs[0].dtype != "float32" or {array.dtype.name for array in floats} != {"float32"}:
        return None
    fit = all(array.size and _is_ordinary(array) for array in floats)
    return case if fit and node.params.get("activation") in GENTLE else None


def _is_ordinary(array: Array) -> bool:
    most = float(np.max(np.abs(array)))
    return most == 0.0 or RANGE[0] < most < RANGE[1]  # neither NaN nor Inf is


def slack(case: Case, data: Data | None = None) -> Mapping[Edge, Array]:
    """How far each output may be from that of the layer as it was; of a case that is `quantisable`."""
    data = draw_data(case) if data is None else data
    (node,) = (node for node in case.graph.nodes if node.layer != INPUT)
    (edge,) = case.graph.outputs
    x = data.inputs[node.inputs[0].node]
    return {edge: ROUNDINGS * _SLACK[node.layer](node.params, x, data.weights[node.id])}
