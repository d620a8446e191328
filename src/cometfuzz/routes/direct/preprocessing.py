"""Preprocessing layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cometfuzz.routes.direct.convolution import channels_first, in_format
from cometfuzz.routes.direct.reshaping import resized
from cometfuzz.routes.direct.writing import Call, Unsaid, writes


@writes("Rescaling")
def rescaling(c: Call) -> str:
    w, p = c.w, c.params
    x = w.cast(c.x[0], c.outputs[0].dtype)
    return w.op("Add", w.op("Mul", x, c.number(p.scale)), c.number(p.offset))


@writes("Normalization")
def normalization(c: Call) -> str:
    w, p, x = c.w, c.params, c.w.cast(c.x[0], c.outputs[0].dtype)
    axes = () if p.axis is None else p.axis if isinstance(p.axis, tuple) else (p.axis,)
    shape = [1] * c.rank
    if isinstance(p.mean, tuple):
        shape[sorted(axis % c.rank for axis in axes)[-1]] = len(p.mean)
    mean, variance = (c.weight(np.reshape(each, shape)) for each in (p.mean, p.variance))
    deviation = w.op("Sqrt", variance)
    if p.invert:
        return w.op("Add", w.op("Mul", x, deviation), mean)
    return w.op("Div", w.op("Sub", x, mean), deviation)


def _first(c: Call, x: str) -> str:
    return channels_first(c.w, x, 4, c.params.data_format)


def _sizes(c: Call) -> Sequence[int]:
    return c.shape[2:] if c.params.data_format == "channels_first" else c.shape[1:3]


def _largest_part(c: Call, x: str, sizes: Sequence[int]) -> tuple[str, list[int]]:
    """The largest central part of channels-first images that has the target's aspect ratio."""
    p = c.params
    matching = sizes[1] * p.height // p.width, sizes[0] * p.width // p.height
    parts = [max(min(n, part), 1) for n, part in zip(sizes, matching)]
    starts = [(n - part) // 2 for n, part in zip(sizes, parts)]
    if list(parts) == list(sizes):
        return x, parts
    return c.w.slice(x, starts, [a + b for a, b in zip(starts, parts)], [2, 3]), parts


def _resized(c: Call, x: str, sizes: Sequence[int], method: str, antialias: bool = False) -> str:
    p = c.params
    if c.types[0].dtype not in ("float32", "float16", "float64", "bfloat16"):
        raise Unsaid("nobody writes how integers are resized")
    wanted = [p.height, p.width]
    if list(sizes) == wanted:
        return in_format(c.w, x, 4, p.data_format) if x != c.x[0] else c.w.op("Identity", x)
    if antialias and method == "nearest":
        antialias = False
    y = resized(c, x, method, sizes=[*_outer(c), *wanted], antialias=antialias)
    return in_format(c.w, y, 4, p.data_format)


def _outer(c: Call) -> list[int]:
    return [c.shape[0], c.shape[1] if c.params.data_format == "channels_first" else c.shape[-1]]


@writes("Resizing")
def resizing(c: Call) -> str:
    p = c.params
    c = _batched(c)
    x, sizes = _first(c, c.x[0]), list(_sizes(c))
    if p.crop_to_aspect_ratio:
        x, sizes = _largest_part(c, x, sizes)
    if p.pad_to_aspect_ratio:
        matching = sizes[1] * p.height // p.width, sizes[0] * p.width // p.height
        sides = [max(whole - n, 0) // 2 for n, whole in zip(sizes, matching)]
        if any(sides):
            x = c.w.pad(x, [(0, 0), (0, 0), *((side, side) for side in sides)], p.fill_value)
        sizes = [n + 2 * side for n, side in zip(sizes, sides)]
    return _resized(c, x, sizes, p.interpolation, p.antialias)


def _batched(c: Call) -> Call:
    """Images come in batches."""
    if c.rank != 4:
        raise Unsaid("nobody writes images without a batch")
    return c


@writes("CenterCrop", "RandomCrop")
def center_crop(c: Call) -> str:
    c, p = _batched(c), c.params
    sizes = list(_sizes(c))
    over = [n - wanted for n, wanted in zip(sizes, (p.height, p.width))]
    if min(over) < 0 or c.layer == "RandomCrop":
        x, parts = _largest_part(c, _first(c, c.x[0]), sizes)
        return _resized(c, x, parts, "bilinear")
    axes = [2, 3] if p.data_format == "channels_first" else [1, 2]
    starts = [n // 2 for n in over]
    return c.w.slice(c.x[0], starts, [a + b for a, b in zip(starts, (p.height, p.width))], axes)


@writes("Embedding")
def embedding(c: Call) -> str:
    return _rows(c)


def _rows(c: Call) -> str:
    return c.w.op("Gather", c.w.constant(c.weights[0], c.outputs[0].dtype), c.x[0], axis=0)


@writes("ReversibleEmbedding")
def reversible_embedding(c: Call) -> str:
    w, p = c.w, c.params
    if not p.reverse:
        return _rows(c)
    kernel = c.weights[0].T if p.tie_weights else c.weights[1]
    logits = w.op("MatMul", c.x[0], c.weight(kernel))
    if p.logit_soft_cap is None:
        return logits
    cap = c.number(p.logit_soft_cap)
    return w.op("Mul", w.op("Tanh", w.op("Div", logits, cap)), cap)


@writes("CategoryEncoding")
def category_encoding(c: Call) -> str:
    w, p, dtype = c.w, c.params, c.outputs[0].dtype
    if c.types[0].dtype != "int32" or len(c.x) > 1:
        raise Unsaid("nobody writes categories that are no integers")
    values = w.constant([0.0, 1.0], dtype)
    hot = w.op("OneHot", w.cast(c.x[0], "int64"), w.constant(p.num_tokens, "int64"), values, dtype=dtype, axis=-1)
    if p.output_mode == "one_hot":
        return w.reshape(hot, c.outputs[0].shape)
    if 0 in c.shape:
        raise Unsaid("ONNX leaves open what comes of nothing")
    return w.reduce("ReduceSum" if p.output_mode == "count" else "ReduceMax", hot, [-2])


@writes("AutoContrast")
def auto_contrast(c: Call) -> str:
    w, x, (bottom, top) = c.w, c.x[0], c.params.value_range
    if not c.types[0].is_float:
        raise Unsaid("nobody writes the contrast of integers")
    part = w.op("Mul", w.op("Div", w.op("Sub", x, c.number(bottom)), c.number(top - bottom)), c.number(255.0))
    low, high = (w.reduce(kind, part, [1, 2], keepdims=True) for kind in ("ReduceMin", "ReduceMax"))
    factor = w.op("Div", c.number(255.0), w.op("Sub", high, low))
    y = w.op("Add", w.op("Mul", part, factor), w.op("Mul", w.op("Neg", low), factor))
    y = w.op("Div", w.op("Clip", y, c.number(0.0), c.number(255.0)), c.number(255.0))
    y = w.op("Add", w.op("Mul", y, c.number(top - bottom)), c.number(bottom))
    return w.where(w.op("IsNaN", y), x, y)
