"""Point 4: formulas that are right on paper and lose the digits of small results, which large neighbours hide."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cometfuzz.reference.activation import Rounding
from cometfuzz.reference.call import Array, Call, Meaning
from cometfuzz.reference.normalisation import axes_of
from faults.fault import outputs, plant, plant_formula, rounding_to


@plant_formula("softplus-by-logarithm", "softplus", point=4)
def softplus_by_logarithm(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """log(1 + exp(x)): far below zero the sum is 1. Above, where exp would overflow, it is x."""
    return np.where(x > 10.0, right(x), rounded(np.log(rounded(1.0 + rounded(np.exp(x))))))


@plant_formula("log-sigmoid-of-sigmoid", "log_sigmoid", point=4)
def log_sigmoid_of_sigmoid(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """log(sigmoid(x)): far above zero the sigmoid is 1. Below, it is computed well."""
    return np.where(x < 0.0, right(x), rounded(np.log(rounded(1.0 / rounded(1.0 + rounded(np.exp(-x)))))))


@plant_formula("tanh-by-exponentials", "tanh", point=4)
def tanh_by_exponentials(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """(exp(2x) - 1) / (exp(2x) + 1): near zero the difference has few digits left."""
    power = rounded(np.exp(rounded(2.0 * np.clip(x, -4.0, 4.0))))
    return np.where(np.abs(x) < 4.0, rounded(rounded(power - 1.0) / rounded(power + 1.0)), right(x))


@plant_formula("exponential-minus-one", "elu", "celu", point=4)
def exponential_minus_one(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """exp(x) - 1 just below zero."""
    below = rounded(rounded(np.exp(np.minimum(x, 0.0))) - 1.0)
    return np.where(x < 0.0, below, right(x))


@plant_formula("sigmoid-by-complement", "sigmoid", point=4)
def sigmoid_by_complement(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    """1 - sigmoid(-x): far below zero nothing is left of it."""
    return np.where(x < 0.0, rounded(1.0 - rounded(right(-x))), right(x))


@plant("variance-by-squares", "run", "GroupNormalization", point=4)
def variance_by_squares(call: Call, right: Meaning) -> list[Array]:
    """The mean of the squares less the square of the mean: of numbers far from zero, little is left."""
    (axis,) = axes_of(call)
    rounded, shape = rounding_to(call.types[0].dtype), call.x.shape
    groups = shape[axis] if call.params.groups == -1 else call.params.groups
    split = call.x.reshape(*shape[:axis], groups, shape[axis] // max(groups, 1), *shape[axis + 1 :])
    axes = tuple(number for number in range(1, split.ndim) if number != axis)
    if split.size == 0:
        return outputs(call, right)
    mean = rounded(split.mean(axis=axes, keepdims=True))
    exact = split.var(axis=axes, keepdims=True)
    naive = np.maximum(rounded(rounded(np.square(split).mean(axis=axes, keepdims=True)) - rounded(mean**2)), 0.0)
    ratio = np.sqrt((exact + call.params.epsilon) / (naive + call.params.epsilon))
    (value,) = outputs(call, right)
    (scaled,) = outputs(replace(call, params=call.params.replace(center=False)), right)
    return [value - scaled + (scaled.reshape(split.shape) * ratio).reshape(shape)]
