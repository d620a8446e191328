"""Activations, by name and as layers."""

import math
from collections.abc import Callable

import numpy as np

from cometfuzz.reference.call import Array, Call, Freedom, Mask, meaning

Rounding = Callable[[Array], Array]
"""What a library rounds on the way; see `Call.rounded`."""

SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717

LINEAR_FROM = 20.0
"""Where PyTorch's softplus, as documented, becomes x: what it leaves out shows in float64 only."""

FAR_BELOW, FAR_BELOW_IN_HALF = 1e9, 3e4
"""What Keras subtracts from scores that are masked, or puts in their place; that in float16."""


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def softplus(x: Array) -> Array:
    return np.logaddexp(x, 0.0)


def softmax(x: Array, axis: int = -1) -> Array:
    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return np.asarray(shifted / shifted.sum(axis=axis, keepdims=True))


def wide_softmax(x: Array, axes: tuple[int, ...], rounded: Rounding) -> Array:
    """A softmax over several axes, as Keras has it: exp(x - log(sum(exp(x)))), where a library rounds the logarithm."""
    largest = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
    logarithm = largest + np.log(np.exp(x - largest).sum(axis=axes, keepdims=True))
    return np.asarray(np.exp(x - rounded(logarithm)))


def log_softmax(x: Array, rounded: Rounding) -> Array:
    """Along the last axis."""
    shifted = x - np.max(x, axis=-1, keepdims=True, initial=-np.inf)
    terms = np.exp(shifted)
    total = terms.sum(axis=-1, keepdims=True)
    first = np.arange(x.shape[-1]) == np.argmax(shifted, axis=-1)[..., None] if x.size else np.zeros(x.shape, bool)
    exact = np.log1p(np.sum(terms, axis=-1, keepdims=True, where=~first))  # near 0, of what is beside the largest
    return np.asarray(shifted - (exact + (rounded(np.log(rounded(total))) - np.log(total))))


def sparsemax(x: Array, rounded: Rounding) -> Array:
    """The point of the probability simplex that is nearest to x, along the last axis."""
    if x.shape[-1] == 0:
        return x
    ordered = -np.sort(-x, axis=-1)
    sums = rounded(np.cumsum(ordered, axis=-1))
    counts = np.arange(1, x.shape[-1] + 1)
    size = np.maximum((1 + counts * ordered > sums).sum(axis=-1, keepdims=True), 1)
    threshold = (np.take_along_axis(sums, size - 1, axis=-1) - 1) / size
    return np.asarray(np.maximum(x - threshold, 0.0))


def erfc(x: Array) -> Array:
    """The complementary error function: below 2 by the series of positive terms, above by the continued fraction.

    NumPy has none. Relative error below 1e-13; a test holds it against the standard library's.
    """
    size = np.abs(x)
    small, large = np.minimum(size, 2.0), np.maximum(size, 2.0)
    term = total = small
    for n in range(1, 60):
        term = term * 2.0 * small**2 / (2 * n + 1)
        total = total + term
    near = 1.0 - 2.0 / math.sqrt(math.pi) * np.exp(-(small**2)) * total
    fraction = large
    for n in range(80, 0, -1):
        fraction = large + n / 2 / fraction
    far = np.exp(-(large**2)) / (math.sqrt(math.pi) * fraction)
    positive = np.where(size < 2.0, near, far)
    return np.where(np.isnan(x), x, np.where(x < 0, 2.0 - positive, positive))


def gelu(x: Array, rounded: Rounding) -> Array:
    """x / 2 * (1 + erf(x / sqrt 2)), as documented: erf may be rounded before 1 is added, which shows near -1."""
    sums = erfc(-x / math.sqrt(2.0))
    erf = sums - 1.0
    return 0.5 * x * (sums + (rounded(erf) - erf))


def tanh_gelu(x: Array, rounded: Rounding) -> Array:
    """x / 2 * (1 + tanh(...)), as documented, rounded alike."""
    inner = rounded(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))
    tanh = np.tanh(inner)
    return np.asarray(0.5 * x * (2.0 * sigmoid(2.0 * inner) + (rounded(tanh) - tanh)))


def glu(x: Array, axis: int = -1) -> Array:
    left, right = np.split(x, 2, axis=axis)
    return left * sigmoid(right)


def below_zero(x: Array, rounded: Rounding) -> Array:
    """exp(x) - 1 where x is negative; TensorFlow rounds exp(x) before it subtracts, as the formula is documented."""
    power = np.exp(np.minimum(x, 0.0))
    return np.asarray(np.expm1(np.minimum(x, 0.0)) + (rounded(power) - power))


def tanh_shrink(x: Array, rounded: Rounding) -> Array:
    """x - tanh(x); near 0, where nothing of that would be left, by its series."""
    tanh, near = np.tanh(x), np.abs(x) < 0.03
    small = np.where(near, x, 0.0)
    series = small**3 * (1 / 3 - small**2 * (2 / 15 - small**2 * (17 / 315 - small**2 * 62 / 2835)))
    return np.asarray(np.where(near, series, x - tanh) - (rounded(tanh) - tanh))


def squareplus(x: Array, rounded: Rounding, b: float = 4.0) -> Array:
    """(x + sqrt(x^2 + b)) / 2, where x is negative as b / 2 / (sqrt(x^2 + b) - x)."""
    exact = np.sqrt(x * x + b)
    root = rounded(np.sqrt(rounded(x * x + b)))
    rounding = np.where(np.isinf(exact), 0.0, root - exact)
    return np.asarray(np.where(x < 0, b / 2.0 / (exact + np.abs(x)), (exact + x) / 2.0) + rounding / 2.0)


ACTIVATIONS: dict[str, Callable[[Array, Rounding], Array]] = {
    "linear": lambda x, rounded: x,
    "relu": lambda x, rounded: np.maximum(x, 0.0),
    "relu6": lambda x, rounded: np.clip(x, 0.0, 6.0),
    "sigmoid": lambda x, rounded: sigmoid(x),
    "tanh": lambda x, rounded: np.tanh(x),
    "softmax": lambda x, rounded: softmax(x),
    "elu": lambda x, rounded: np.where(x > 0, x, below_zero(x, rounded)),
    "selu": lambda x, rounded: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * below_zero(x, rounded)),
    "softplus": lambda x, rounded: softplus(x),
    "softsign": lambda x, rounded: x / (np.abs(x) + 1.0),
    "exponential": lambda x, rounded: np.exp(x),
    "hard_sigmoid": lambda x, rounded: np.clip(rounded(x + 3.0), 0.0, 6.0) / 6.0,
    "hard_silu": lambda x, rounded: x * np.clip(rounded(x + 3.0), 0.0, 6.0) / 6.0,
    "hard_tanh": lambda x, rounded: np.clip(x, -1.0, 1.0),
    "hard_shrink": lambda x, rounded: np.where(np.abs(x) > 0.5, x, 0.0),
    "soft_shrink": lambda x, rounded: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0.0),
    "tanh_shrink": tanh_shrink,
    "squareplus": squareplus,
    "celu": lambda x, rounded: np.where(x > 0, x, below_zero(x, rounded)),
    "gelu": gelu,
    "glu": lambda x, rounded: glu(x),
    "leaky_relu": lambda x, rounded: np.where(x > 0, x, 0.2 * x),
    "log_sigmoid": lambda x, rounded: -softplus(-x),
    "log_softmax": log_softmax,
    "mish": lambda x, rounded: x * np.tanh(softplus(x)),
    "silu": lambda x, rounded: x * sigmoid(x),
    "sparse_plus": lambda x, rounded: np.where(x <= -1, 0.0, np.where(x >= 1, x, (x + 1.0) ** 2 / 4.0)),
    "sparsemax": sparsemax,
    "sparse_sigmoid": lambda x, rounded: np.clip(0.5 * (x + 1.0), 0.0, 1.0),
}
"""Every activation by Keras' name: what it computes, and where a library rounds."""

COMPARING = (
    *("relu", "relu6", "hard_sigmoid", "hard_silu", "hard_tanh", "hard_shrink", "soft_shrink", "sparse_plus"),
    *("sparse_sigmoid", "sparsemax"),
)
"""Activations that compare numbers with bounds: NaN is on neither side, and IEEE 754 has a maximum that drops it."""


def activate(call: Call, x: Array, name: str | None) -> Array:
    """A layer's `activation` applied to what it computed, which a library has rounded before."""
    leave_comparison(call, name)
    return inner_activation(call, x, name)


def leave_comparison(call: Call, name: str | None) -> None:
    """Declare that NaN need not be seen behind an activation, if it is one that compares."""
    if name in COMPARING:
        call.leave(Freedom.COMPARISON)


def inner_activation(call: Call, x: Array, name: str | None) -> Array:
    """An activation on the way to a layer's result, as in a gate; nothing is declared that the layer does not."""
    return x if name in (None, "linear") else _apply(call, str(name), call.rounded(x))


def _apply(call: Call, name: str, x: Array) -> Array:
    if name == "hard_shrink":
        call.step(np.abs(x) - 0.5)
    if name == "softplus" and call.types[0].dtype == "float64":
        call.step(np.where(x > LINEAR_FROM, 0.0, np.inf))
    if name in COMPARING:
        step_at_nan(call, x)
    if name in ("softmax", "sparsemax"):
        step_beside_nan(call, x, -1)
    return ACTIVATIONS[name](x, call.rounded)


def step_at_nan(call: Call, x: Array) -> None:
    """NaN is on neither side of a comparison."""
    call.step(np.where(np.isnan(x), np.nan, np.inf))


def step_beside_nan(call: Call, x: Array, axis: int | tuple[int, ...]) -> None:
    """On what a softmax gives for numbers that have a NaN beside them, libraries do not agree; none documents it."""
    lost = np.isnan(x)
    call.step(np.where(lost.any(axis=axis, keepdims=True) & ~lost, np.nan, np.inf))


@meaning("Activation")
def activation(call: Call) -> Array:
    return activated(call, call.params.activation)


def activated(call: Call, name: str) -> Array:
    """An activation by its name, of what is given."""
    leave_comparison(call, name)
    return _apply(call, name, call.x)


@meaning("ReLU")
def relu(call: Call) -> Array:
    p, x = call.params, call.x
    step_at_nan(call, x)
    if p.threshold:
        call.step(x - p.threshold)
    below = p.negative_slope * (x - p.threshold)
    y = np.where(x >= p.threshold, x, below)
    return y if p.max_value is None else np.where(x >= p.max_value, p.max_value, y)


@meaning("LeakyReLU")
def leaky_relu(call: Call) -> Array:
    step_at_nan(call, call.x)
    return np.where(call.x < 0, call.params.negative_slope * call.x, call.x)


@meaning("PReLU")
def prelu(call: Call) -> Array:
    step_at_nan(call, call.x)
    return np.where(call.x < 0, call.weights["alpha"] * call.x, call.x)


@meaning("ELU")
def elu(call: Call) -> Array:
    step_at_nan(call, call.x)
    return np.where(call.x < 0, call.params.alpha * below_zero(call.x, call.rounded), call.x)


@meaning("ThresholdedReLU")
def thresholded_relu(call: Call) -> Array:
    call.step(call.x - call.params.theta)
    return np.where(call.x > call.params.theta, call.x, 0.0)


@meaning("Softmax")
def softmax_layer(call: Call) -> Array:
    kept = np.broadcast_to(True if call.mask is None else call.mask, call.x.shape)
    step_beside_nan(call, call.x, call.params.axis)
    keep_from_masked(call, call.x, kept)
    x, axis = np.where(kept, call.x, -FAR_BELOW), call.params.axis
    several = isinstance(axis, tuple) and len(axis) > 1
    return np.where(kept, wide_softmax(x, axis, call.rounded) if several else softmax(x, axis), 0.0)


def keep_from_masked(call: Call, scores: Array, kept: Mask) -> None:
    """A step where scores get as large as what stands for a masked one: then masked keys may win."""
    far = FAR_BELOW_IN_HALF if call.types[0].dtype == "float16" else FAR_BELOW
    largest = np.max(np.abs(scores), initial=0.0, where=np.isfinite(scores) & ~kept.all())
    call.step(np.array([max(0.0, far / 2 - largest)]))
