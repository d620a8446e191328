"""Linear algebra. What a library loses in a factorisation is that of a matrix near the given one (Wilkinson)."""

import numpy as np

from cometfuzz.reference.call import Array, Call, meaning


def near(call: Call, x: Array) -> Array:
    """A matrix, as a library may have it when it is done: each element off by a part of the largest ones' size."""
    size = np.broadcast_to(np.sqrt(np.square(x).sum(axis=(-2, -1), keepdims=True)), x.shape)
    return np.asarray(x + (call.rounded(size) - size))


@meaning("ops.det")
def det(call: Call) -> Array:
    return np.asarray(np.linalg.det(near(call, call.x)))


@meaning("ops.slogdet")
def slogdet(call: Call) -> list[Array]:
    matrix = near(call, call.x)
    call.step(from_singular(matrix))
    sign, logarithm = np.linalg.slogdet(matrix)
    return [np.asarray(sign), np.asarray(logarithm)]


def from_singular(matrix: Array) -> Array:
    """How far matrices are from singular ones, in parts of their size; there the sign of a determinant changes, and its
    logarithm is -Inf."""
    finite = np.asarray(np.isfinite(matrix).all(axis=(-2, -1)))
    values = np.linalg.svdvals(np.where(finite[..., None, None], matrix, 0.0))
    largest, least = values[..., :1].max(axis=-1, initial=0.0), values[..., -1:].max(axis=-1, initial=0.0)
    return np.where(finite, np.divide(least, largest, out=np.zeros_like(least), where=largest > 0), np.nan)
