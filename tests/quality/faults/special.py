"""Point 3: NaN or Inf that gets lost, or is made, on one of many routes; it may depend on where the number stands."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np

from cometfuzz.reference.activation import Rounding
from cometfuzz.reference.call import Array, Call, Meaning
from faults.fault import outputs, plant, plant_formula

LANES = 8
"""How many numbers a vector instruction takes; what is left over goes the slow way."""


@plant("nan-by-operand-order", "run", "Maximum", "Minimum", point=3)
def nan_by_operand_order(call: Call, right: Meaning) -> list[Array]:
    """Written with a comparison: NaN in the second operand stays, NaN in the first is lost."""
    if any(mask is not None for mask in call.masks):
        return outputs(call, right)
    rank = max(x.ndim for x in call.inputs)
    inputs = [x.reshape(*x.shape[:1], *[1] * (rank - x.ndim), *x.shape[1:]) for x in call.inputs]
    wins = np.greater if call.layer == "Maximum" else np.less
    return [reduce(lambda x, y: np.where(wins(x, y), x, y), inputs)]


@plant_formula("nan-clipped", "relu6", "hard_tanh", "hard_sigmoid", "sparse_sigmoid", "hard_silu", point=3)
def nan_clipped(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """min(max(x, low), high) with instructions that give the bound for NaN."""
    return right(np.where(np.isnan(x), -100.0, x))


@plant("pooling-ignores-nan", "run", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", point=3)
def pooling_ignores_nan(call: Call, right: Meaning) -> list[Array]:
    """The maximum of the numbers that are numbers."""
    return outputs(replace(call, inputs=[np.where(np.isnan(call.x), -np.inf, call.x)]), right)


@plant_formula("relu-by-lanes", "relu", point=3)
def relu_by_lanes(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """Whole vectors make 0 of NaN, the rest of the row keeps it."""
    flat = right(x).reshape(-1).copy()
    vectors = flat[: flat.size - flat.size % LANES]
    vectors[np.isnan(vectors)] = 0.0
    return flat.reshape(x.shape)


@plant_formula("softmax-of-inf", "softmax", point=3)
def softmax_of_inf(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """Inf counts as the largest number: 1 where NaN is right, since Inf - Inf is."""
    return right(np.clip(x, -1e30, 1e30))


@plant("depthwise-as-dense", "run", "DepthwiseConv1D", "DepthwiseConv2D", point=3)
def depthwise_as_dense(call: Call, right: Meaning) -> list[Array]:
    """As a full convolution whose other weights are zero: NaN or Inf of one channel spoils all of them."""
    axis = -1 if call.params.data_format == "channels_last" else 1
    reached = replace(
        call,
        inputs=[np.where(np.isfinite(call.x), 0.0, call.x)],
        params=call.params.replace(activation="linear", use_bias=False),
    )
    spoiled = ~np.isfinite(outputs(reached, right)[0]).all(axis=axis, keepdims=True)
    return [np.where(spoiled & np.isfinite(value), np.nan, value) for value in outputs(call, right)]
