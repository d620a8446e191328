"""Operators that add up products."""

import string

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cometfuzz.catalogue.operators.products import paired, vector_axes
from cometfuzz.catalogue.operators.subscripts import parse
from cometfuzz.reference.call import Array, Call, meaning


@meaning("ops.matmul")
def matmul(call: Call) -> Array:
    left, right = call.inputs
    rows, columns = "i" * (left.ndim > 1), "k" * (right.ndim > 1)
    dots = ("..." * (left.ndim > 1), "..." * (right.ndim > 1))
    return call.contract(f"{dots[0]}{rows}j,{dots[1]}j{columns}->{max(dots)}{rows}{columns}", left, right)


@meaning("ops.dot")
def dot(call: Call) -> Array:
    left, right = call.inputs
    return summed_over(call, (left.ndim - 1,), (max(0, right.ndim - 2),))


@meaning("ops.inner")
def inner(call: Call) -> Array:
    left, right = call.inputs
    return summed_over(call, (left.ndim - 1,), (right.ndim - 1,))


@meaning("ops.tensordot")
def tensordot(call: Call) -> Array:
    return summed_over(call, *paired(call.inputs, call.params.axes))


def summed_over(call: Call, first: tuple[int, ...], second: tuple[int, ...]) -> Array:
    """The sum over pairs of axes; the others stand in order."""
    left, right = call.inputs
    names = list(string.ascii_lowercase[: left.ndim]), list(string.ascii_uppercase[: right.ndim])
    kept = [name for axis, name in enumerate(names[0]) if axis not in first]
    kept += [name for axis, name in enumerate(names[1]) if axis not in second]
    for one, other in zip(first, second, strict=True):
        names[1][other] = names[0][one]
    return call.contract(f"{''.join(names[0])},{''.join(names[1])}->{''.join(kept)}", left, right)


@meaning("ops.vdot")
def vdot(call: Call) -> Array:
    left, right = call.inputs
    return call.contract("i,i->", left.reshape(-1), right.reshape(-1))


@meaning("ops.einsum")
def einsum(call: Call) -> Array:
    return call.contract(parse(call.params.subscripts).equation, *call.inputs)


@meaning("ops.cross")
def cross(call: Call) -> Array:
    """a2 b3 - a3 b2 and so on; a vector of two numbers has 0 as its third."""
    *axes, place = vector_axes(call.params)
    sides = [np.moveaxis(x, axis, -1) for x, axis in zip(call.inputs, axes, strict=True)]
    plane = all(side.shape[-1] == 2 for side in sides)
    a, b = (np.concatenate([side, np.zeros((*side.shape[:-1], 3 - side.shape[-1]))], axis=-1) for side in sides)
    turned = [
        call.rounded(a[..., i] * b[..., j]) - call.rounded(a[..., j] * b[..., i]) for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    return turned[2] if plane else np.stack(turned, axis=place)


@meaning("ops.correlate")
def correlate(call: Call) -> Array:
    """Of a longer second vector, the same from the other end; "same" is as long as the longer one."""
    turned = len(call.inputs[0]) < len(call.inputs[1])
    longer, shorter = reversed(call.inputs) if turned else call.inputs
    n, m = len(longer), len(shorter)
    seen = sliding_window_view(np.pad(longer, m - 1), m)
    full = call.contract("ni,i->n", seen, shorter)
    start, count = {"valid": (m - 1, n - m + 1), "same": (m - 1 - m // 2, n), "full": (0, n + m - 1)}[call.params.mode]
    part = full[start : start + count]
    return part[::-1] if turned else part


@meaning("ops.cdist")
def cdist(call: Call) -> Array:
    left, right = call.inputs
    apart = call.rounded(left[..., :, None, :] - right[..., None, :, :])
    return np.sqrt(call.add_up(np.square(apart), -1))
