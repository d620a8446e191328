"""Utility nodes: exact, bit for bit, on exact inputs."""

import numpy as np

from cometfuzz.catalogue.data import NUMPY
from cometfuzz.catalogue.utility import special_value
from cometfuzz.reference.call import Array, Call, meaning


@meaning("cast")
def cast(call: Call) -> Array:
    x, dtype = call.x, call.params.dtype
    if dtype == "int32":
        if x.dtype.kind == "f":
            call.step(from_next(x, call.params.high))
            x = np.clip(np.where(np.isnan(x), 0.0, x), 0, call.params.high - 1)
        return np.clip(x.astype(np.int32), 0, call.params.high - 1)
    if dtype == "bool":
        return np.asarray(x != 0)
    return x.astype(NUMPY[dtype]).astype(np.float64)


def from_next(x: Array, high: int) -> Array:
    """How far numbers are from where another integer below `high` begins."""
    if high < 2:
        return np.full(x.shape, np.inf)
    return np.where(np.isnan(x), np.inf, x - np.clip(np.rint(x), 1, high - 1))


@meaning("pad")
def pad(call: Call) -> Array:
    return np.pad(call.x, call.params.paddings, constant_values=np.asarray(call.params.value, call.x.dtype).item())


@meaning("crop")
def crop(call: Call) -> Array:
    crops = zip(call.x.shape, call.params.crops, strict=True)
    return call.x[tuple(slice(before, size - after) for size, (before, after) in crops)]


@meaning("expand")
def expand(call: Call) -> Array:
    return np.expand_dims(call.x, call.params.axis)


@meaning("squeeze")
def squeeze(call: Call) -> Array:
    return np.squeeze(call.x, call.params.axis)


@meaning("reshape")
def reshape(call: Call) -> Array:
    return call.x.reshape(call.params.shape)


@meaning("special")
def special(call: Call) -> Array:
    value = special_value(call.params)
    call.give(value)
    if call.params.elements == "all":
        return np.full_like(call.x, value)
    y = call.x.copy()
    y.reshape(-1)[:1] = value
    return y


@meaning("scale")
def scale(call: Call) -> Array:
    value = special_value(call.params)
    call.give(value)
    return call.x * value
