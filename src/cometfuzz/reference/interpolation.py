"""Interpolation along one axis, as UpSampling2D and Resizing do it along two.

Pixels have their centres at half integers, so output i lies at (i + 1/2) n / outputs - 1/2 in the input. A method
is a kernel around that point; weights outside the image count for nothing, the others are scaled to a sum of one.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cometfuzz.reference.call import Array, Call, Freedom, Judging


def _triangle(t: Array) -> Array:
    return np.maximum(0.0, 1.0 - np.abs(t))


def _cubic(t: Array) -> Array:
    """Keys' cubic convolution with a = -1/2."""
    t = np.abs(t)
    near = (1.5 * t - 2.5) * t * t + 1.0
    far = ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0
    return np.where(t < 1.0, near, np.where(t < 2.0, far, 0.0))


def _lanczos(radius: int) -> Callable[[Array], Array]:
    return lambda t: np.where(np.abs(t) < radius, np.sinc(t) * np.sinc(t / radius), 0.0)


KERNELS: dict[str, Callable[[Array], Array]] = {
    "bilinear": _triangle,
    "bicubic": _cubic,
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
}

COMPUTED = ("bicubic", "lanczos3", "lanczos5")
"""Methods with weights that should be 0 and that rounding may leave at 1e-8."""


def leave_interpolation(call: Call, method: str) -> None:
    """Declare what is up to a library that interpolates: it may do so by a product with a matrix, whatever the method
    and the sizes."""
    call.leave(Freedom.SUM)
    if method in COMPUTED:
        call.leave(Freedom.WEIGHT)


def weights(n: int, outputs: int, method: str, antialias: bool, judging: Judging | None = None) -> Array:
    """The matrix (outputs, n) of a method; an antialiased kernel is as wide as the pixels of a smaller image."""
    centres = (np.arange(outputs) + 0.5) * n / outputs
    if judging is not None:  # places are float32 at least, also where the pixels are not
        centres = replace(judging, roundoff=min(judging.roundoff, 2.0**-24)).perturb(centres)
    width = max(n / outputs, 1.0) if antialias else 1.0
    raw = KERNELS[method]((np.arange(n) - (centres[:, None] - 0.5)) / width)
    raw[np.abs(raw) < 1e-12] = 0.0
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


def resample(call: Call, x: Array, axis: int, outputs: int, method: str, antialias: bool = False) -> Array:
    """`x` with `outputs` places along an axis."""
    n = x.shape[axis]
    if n == outputs:
        return x
    if method == "nearest":
        nearest = (2 * np.arange(outputs) + 1) * n // (2 * outputs)
        return np.asarray(np.take(x, nearest, axis=axis))
    x = np.moveaxis(x, axis, -1)
    rows = call.judging.perturb(weights(n, outputs, method, antialias, call.judging))
    # Only what has a weight counts: an infinity next door must not become 0 * inf.
    places = [x[..., row != 0.0] @ row[row != 0.0] for row in rows]
    return np.moveaxis(np.stack(places, axis=-1), -1, axis)
