"""Gaps of this family's layers, and what all interpolation has in common."""

import math
from collections.abc import Callable
from typing import Any

from cometfuzz.catalogue.shapes import channels, spatial
from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap

TF, TORCH, KERAS2 = ("keras-tf",), ("keras-torch",), ("keras2-tf",)
LANCZOS = ("lanczos3", "lanczos5")

SINGLE_PRECISION = "tf.image.resize computes in float32 whatever it is given (documented), so float64 is off by 1e-8"
COARSE_CUBIC = "tf.image.resize from 3 to 5 pixels by 'bicubic' is off by 2e-3: its kernel is a table of 1024 entries"
NO_LANCZOS = "Resizing with Lanczos interpolation is not supported by the PyTorch backend."
OTHER_CUBIC = "torch's interpolate(mode='bicubic') has a = -3/4 and repeats borders; TensorFlow and JAX have -1/2"


def without_channels(layer: str, when: Callable[[Any, Any], bool]) -> tuple[Gap, Gap]:
    """Images without channels, which only JAX takes; torch refuses Lanczos before it looks at the images."""
    return (
        Gap(
            TF,
            (layer,),
            lambda x, p: channels(x, p) == 0 and when(x, p),
            evidence="image must have at least one channel",
            raises="InvalidArgumentError",
        ),
        Gap(
            TORCH,
            (layer,),
            lambda x, p: channels(x, p) == 0 and p.get("interpolation") not in LANCZOS and when(x, p),
            evidence="Non-empty 4D data tensor expected but got a tensor with sizes [2, 0, 3, 3]",
            raises="RuntimeError",
        ),
    )


def off_the_table(n: int, outputs: int) -> bool:
    """Whether some output lies between the entries of a table with 1024 of them."""
    step = outputs // math.gcd(n, outputs)
    return n > 1 and step & (step - 1) != 0


def _changes(x: Any, p: Any) -> bool:
    """Whether there is anything to interpolate between."""
    return bool(x.elements) and any(n > 1 and factor > 1 for n, factor in zip(spatial(x, p), p.size, strict=True))


def _off_the_table(x: Any, p: Any) -> bool:
    return any(off_the_table(n, n * factor) for n, factor in zip(spatial(x, p), p.size, strict=True))


GAPS: tuple[Gap, ...] = (
    Gap(
        KERAS3_ROUTES,
        ("RepeatVector",),
        lambda x, p: p.n == 0,
        evidence="Argument `n` should be a positive integer. Received: n=0; Keras 2 takes it",
        raises="ValueError",
    ),
    Gap(
        KERAS2,
        ("ZeroPadding1D",),
        lambda x, p: p.data_format == "channels_first",
        evidence="('Keyword argument not understood:', 'data_format')",
        raises="TypeError",
    ),
    Gap(
        KERAS2,
        ("UpSampling1D",),
        lambda x, p: x.shape[1] == 0,
        evidence="Attr 'num_split' of 'Split' Op passed 0 less than minimum 1.",
        raises="ValueError",
    ),
    Gap(
        KERAS2,
        ("UpSampling3D",),
        lambda x, p: 0 in spatial(x, p),
        evidence="Attr 'num_split' of 'Split' Op passed 0 less than minimum 1.",
        raises="ValueError",
    ),
    Gap(
        KERAS2,
        ("UpSampling2D",),
        lambda x, p: 0 in x.shape[1:] and (p.interpolation == "nearest" or x.dtype == "float32"),
        evidence="input image must be of non-zero size; image must have at least one channel",
        raises="InvalidArgumentError",
    ),
    Gap(
        KERAS2,
        ("UpSampling2D",),
        lambda x, p: p.interpolation != "nearest" and x.dtype != "float32",
        evidence="UpSampling2D(interpolation='bilinear', dtype='float16') returns float32, as tf.image.resize does",
        raises="StaticTypeMismatch",
        kind="bug",
    ),
    *without_channels("UpSampling2D", lambda x, p: p.interpolation != "nearest"),
    Gap(
        TF,
        ("UpSampling2D",),
        lambda x, p: p.interpolation != "nearest" and x.dtype == "float64" and bool(x.elements),
        evidence=SINGLE_PRECISION,
        symptom="value",
    ),
    Gap(
        TF + KERAS2,
        ("UpSampling2D",),
        lambda x, p: (
            p.interpolation == "bicubic" and x.dtype == "float32" and bool(x.elements) and _off_the_table(x, p)
        ),
        evidence=COARSE_CUBIC,
        kind="bug",
        symptom="value",
        always=False,
    ),
    Gap(
        TORCH,
        ("UpSampling2D",),
        lambda x, p: p.interpolation in LANCZOS,
        evidence=NO_LANCZOS,
        raises="ValueError",
    ),
    Gap(
        TORCH,
        ("UpSampling2D",),
        lambda x, p: p.interpolation == "bicubic" and _changes(x, p),
        evidence=OTHER_CUBIC,
        kind="bug",
        symptom="value",
        always=False,
    ),
)
