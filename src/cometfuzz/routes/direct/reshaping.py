"""Reshaping layers and Masking."""

from __future__ import annotations

from typing import Any

from cometfuzz.routes.direct.convolution import channels_first, in_format
from cometfuzz.routes.direct.writing import Call, Unsaid, writes

KINDS = ("1D", "2D", "3D")


@writes("Masking")
def masking(c: Call) -> str:
    """What it zeroes; the mask that it makes is not in the file, and who needs it is not written."""
    w, x = c.w, c.x[0]
    differs = w.cast(w.op("Not", w.op("Equal", x, c.number(c.params.mask_value))), "float32")
    kept = w.cast(w.reduce("ReduceMax", differs, [2], keepdims=True), "bool")
    return w.where(kept, x, c.number(0.0))


@writes("Identity")
def identity(c: Call) -> str:
    return c.w.op("Identity", c.x[0])


@writes("Reshape")
def reshape(c: Call) -> str:
    return c.w.reshape(c.x[0], c.outputs[0].shape)


@writes("Flatten")
def flatten(c: Call) -> str:
    x = c.x[0]
    if c.params.data_format == "channels_first" and c.rank > 2:
        x = c.w.transpose(x, [0, *range(2, c.rank), 1])
    return c.w.op("Flatten", x, axis=1)


@writes("Permute")
def permute(c: Call) -> str:
    return c.w.op("Transpose", c.x[0], perm=[0, *c.params.dims])


@writes("RepeatVector")
def repeat_vector(c: Call) -> str:
    return c.w.op("Expand", c.w.unsqueeze(c.x[0], [1]), c.w.ints(c.outputs[0].shape))


def as_pairs(value: Any) -> Any:
    """(before, after) for each axis, also for a single one."""
    return value if isinstance(value[0], tuple) else (value,)


def first_axis(c: Call) -> int:
    return 2 if c.params.get("data_format") == "channels_first" else 1


@writes(*(f"Cropping{kind}" for kind in KINDS))
def cropping(c: Call) -> str:
    pairs = as_pairs(c.params.cropping)
    axes = [axis + first_axis(c) for axis in range(len(pairs))]
    ends = [c.shape[axis] - after for axis, (_, after) in zip(axes, pairs)]
    return c.w.slice(c.x[0], [before for before, _ in pairs], ends, axes)


@writes(*(f"ZeroPadding{kind}" for kind in KINDS))
def zero_padding(c: Call) -> str:
    borders = [(0, 0)] * c.rank
    for axis, pair in enumerate(as_pairs(c.params.padding), start=first_axis(c)):
        borders[axis] = pair
    return c.w.pad(c.x[0], borders)


@writes(*(f"UpSampling{kind}" for kind in KINDS))
def up_sampling(c: Call) -> str:
    p = c.params
    factors = p.size if isinstance(p.size, tuple) else (p.size,)
    data_format = p.get("data_format", "channels_last")
    x = channels_first(c.w, c.x[0], c.rank, data_format)
    y = resized(c, x, p.get("interpolation", "nearest"), scales=[1.0, 1.0, *map(float, factors)])
    return in_format(c.w, y, c.rank, data_format)


def resized(c: Call, x: str, method: str, scales: Any = None, sizes: Any = None, antialias: bool = False) -> str:
    """Resize by factors or to sizes; pixels have their centres at half integers."""
    w = c.w
    if method.startswith("lanczos"):
        raise Unsaid("ONNX does not interpolate by Lanczos")
    if 0 in c.shape:
        raise Unsaid("there is nothing to resize")
    if antialias and w.opset < 18:
        raise Unsaid("Resize has no antialias before opset 18")
    methods: dict[str, dict[str, Any]] = {
        "nearest": {
            "mode": "nearest",
            "coordinate_transformation_mode": "asymmetric" if scales else "half_pixel",
            "nearest_mode": "floor" if scales else "round_prefer_ceil",
        },
        "bilinear": {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
        "bicubic": {
            "mode": "cubic",
            "coordinate_transformation_mode": "half_pixel",
            "cubic_coeff_a": -0.5,
            "exclude_outside": 1,
        },
    }
    how = {**methods[method], **({"antialias": 1, "exclude_outside": 1} if antialias else {})}
    if scales:
        return w.op("Resize", x, "", w.constant(scales, "float32"), **how)
    return w.op("Resize", x, "", "", w.ints(sizes), **how)
