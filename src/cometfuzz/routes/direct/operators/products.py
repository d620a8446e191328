"""Operators that add up products."""

from __future__ import annotations

import math
import string
from typing import Any

from cometfuzz.compat import zip_strictly
from cometfuzz.routes.direct.operators.reducing import axes_of
from cometfuzz.routes.direct.writing import Call, Unsaid, writes


def _expect_something(c: Call) -> None:
    if any(0 in kind.shape for kind in c.types):
        raise Unsaid("readers differ in sums of nothing")


@writes("ops.matmul")
def matmul(c: Call) -> str:
    return c.w.op("MatMul", *c.x)


def summed_over(c: Call, first: list[int], second: list[int]) -> str:
    """The sum over pairs of axes as a product of matrices; the others stand in order."""
    w, (left, right) = c.w, (kind.shape for kind in c.types)
    kept = [axis for axis in range(len(left)) if axis not in first]
    others = [axis for axis in range(len(right)) if axis not in second]
    inner = math.prod(left[axis] for axis in first)
    rows, columns = math.prod(left[axis] for axis in kept), math.prod(right[axis] for axis in others)
    one = w.transpose(c.x[0], [*kept, *first])
    two = w.transpose(c.x[1], [*second, *others])
    if len(kept) != 1 or len(first) != 1:
        one = w.reshape(one, [rows, inner])
    if len(others) != 1 or len(second) != 1:
        two = w.reshape(two, [inner, columns])
    product = w.op("MatMul", one, two)
    return product if len(kept) == len(others) == 1 else w.reshape(product, c.outputs[0].shape)


@writes("ops.dot")
def dot(c: Call) -> str:
    _expect_something(c)
    return summed_over(c, [c.rank - 1], [max(0, len(c.types[1].shape) - 2)])


@writes("ops.inner")
def inner(c: Call) -> str:
    _expect_something(c)
    return summed_over(c, [c.rank - 1], [len(c.types[1].shape) - 1])


@writes("ops.tensordot")
def tensordot(c: Call) -> str:
    _expect_something(c)
    axes: Any = c.params.axes
    if isinstance(axes, int):
        return summed_over(c, list(range(c.rank - axes, c.rank)), list(range(axes)))
    return summed_over(c, axes_of(axes[0], c.rank), axes_of(axes[1], len(c.types[1].shape)))


@writes("ops.vdot")
def vdot(c: Call) -> str:
    _expect_something(c)
    size = math.prod(c.shape)
    return c.w.op("MatMul", *(c.w.reshape(x, [size]) for x in c.x))


@writes("ops.outer")
def outer(c: Call) -> str:
    sizes = [math.prod(kind.shape) for kind in c.types]
    return c.w.op("Mul", c.w.reshape(c.x[0], [sizes[0], 1]), c.w.reshape(c.x[1], [1, sizes[1]]))


@writes("ops.kron")
def kron(c: Call) -> str:
    left, right = (kind.shape for kind in c.types)
    one = c.w.reshape(c.x[0], [size for n in left for size in (n, 1)])
    two = c.w.reshape(c.x[1], [size for n in right for size in (1, n)])
    return c.w.reshape(c.w.op("Mul", one, two), c.outputs[0].shape)


@writes("ops.einsum")
def einsum(c: Call) -> str:
    """With an arrow: without one, the letters that occur once are kept, in the order of the alphabet. And with as many
    axes behind the dots in each input, as ONNX has it."""
    _expect_something(c)
    text = c.params.subscripts.replace(" ", "")
    if "->" not in text:
        letters = sorted(letter for letter in set(text) & set(string.ascii_letters) if text.count(letter) == 1)
        text += "->" + ("..." if "..." in text else "") + "".join(letters)
    terms = text.partition("->")[0].split(",")
    dots = [kind.rank - len(term.replace("...", "")) for term, kind in zip_strictly(terms, c.types)]
    given = []
    for term, x, axes in zip_strictly(terms, c.x, dots):
        first, more = term.find("..."), max(dots) - axes
        given.append(c.w.unsqueeze(x, list(range(first, first + more))) if first >= 0 and more else x)
    return c.w.op("Einsum", *given, equation=text)


@writes("ops.cdist")
def cdist(c: Call) -> str:
    w = c.w
    sides = w.unsqueeze(c.x[0], [-2]), w.unsqueeze(c.x[1], [-3])
    return w.reduce("ReduceL2", w.op("Sub", *sides), [-1])
