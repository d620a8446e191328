"""Faults in operators: functions of keras.ops as nodes of a model."""

import numpy as np

from cometfuzz.reference.call import Array, Call, Meaning
from faults.fault import outputs, plant


@plant("comparison-not-strict", "run", "ops.greater", "ops.less")
def comparison_not_strict(call: Call, right: Meaning) -> list[Array]:
    """Equal numbers pass for greater, or less, ones."""
    return [value | (call.inputs[0] == call.inputs[1]) for value in outputs(call, right)]


@plant("sum-without-the-last", "convert", "ops.sum")
def sum_without_the_last(call: Call, right: Meaning) -> list[Array]:
    """The last element of a row is forgotten."""
    shortened = call.x.copy()
    if shortened.ndim and shortened.shape[-1] > 1:
        shortened[..., -1] = 0
    return [np.sum(shortened, axis=call.params.axis, keepdims=call.params.keepdims)]


@plant("row-of-a-product", "run", "ops.matmul")
def row_of_a_product(call: Call, right: Meaning) -> list[Array]:
    """The last row of a product is that before it."""
    (value,) = outputs(call, right)
    if value.ndim < 2 or value.shape[-2] < 2:
        return [value]
    return [np.concatenate([value[..., :-1, :], value[..., -2:-1, :]], axis=-2)]


@plant("operands-of-a-difference", "convert", "ops.subtract")
def operands_of_a_difference(call: Call, right: Meaning) -> list[Array]:
    """One of two operands of different shapes is taken for the other."""
    first, second = call.inputs
    return [second - first if first.shape != second.shape else first - second]
