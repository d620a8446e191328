"""Utility nodes."""

from __future__ import annotations

import math

import numpy as np

from cometfuzz.routes.direct.writing import Call, writes


@writes("cast")
def cast(c: Call) -> str:
    w, x, dtype = c.w, c.x[0], c.params.dtype
    if dtype == "int32":
        if c.types[0].is_float:
            x = w.where(w.op("IsNaN", x), w.number(0.0, x), x)
            x = w.op("Clip", x, w.number(0.0, x), w.number(c.params.high - 1.0, x))
        least, most = w.constant(0, "int32"), w.constant(c.params.high - 1, "int32")
        return w.op("Max", w.op("Min", w.cast(x, "int32"), most), least)  # no Clip: onnx2torch makes floats of it
    if dtype == c.types[0].dtype:
        return w.op("Identity", x)
    return w.cast(x, dtype)


@writes("pad")
def pad(c: Call) -> str:
    return c.w.pad(c.x[0], c.params.paddings, c.params.value)


@writes("crop")
def crop(c: Call) -> str:
    crops = c.params.crops
    ends = [size - after for size, (_, after) in zip(c.shape, crops)]
    if not crops:
        return c.w.op("Identity", c.x[0])
    return c.w.slice(c.x[0], [before for before, _ in crops], ends, list(range(c.rank)))


@writes("expand")
def expand(c: Call) -> str:
    return c.w.unsqueeze(c.x[0], [c.params.axis])


@writes("squeeze")
def squeeze(c: Call) -> str:
    return c.w.squeeze(c.x[0], [c.params.axis])


@writes("reshape")
def reshape(c: Call) -> str:
    return c.w.reshape(c.x[0], c.params.shape)


def _special(c: Call) -> str:
    return c.number(0.0 if c.params.value == "zero" else float(c.params.value))


@writes("special")
def special(c: Call) -> str:
    w = c.w
    if c.params.elements == "all":
        return w.op("Expand", _special(c), w.ints(c.shape))
    first = np.zeros(math.prod(c.shape), dtype=bool)
    first[:1] = True
    return w.where(w.constant(first.reshape(c.shape), "bool"), _special(c), c.x[0])


@writes("scale")
def scale(c: Call) -> str:
    return c.w.op("Mul", c.x[0], _special(c))
