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
    sign, logarithm = np.linalg.slogdet(near(call, call.x))
    return [np.asarray(sign), np.asarray(logarithm)]
