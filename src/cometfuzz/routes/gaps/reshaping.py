"""Gaps of this family's layers, and what all interpolation has in common."""

import math
from typing import Any

from cometfuzz.catalogue.shapes import spatial
from cometfuzz.routes.gaps import Gap

TF, TORCH = ("keras-tf",), ("keras-torch",)
LANCZOS = ("lanczos3", "lanczos5")

SINGLE_PRECISION = "tf.image.resize computes in float32 whatever it is given (documented), so float64 is off by 1e-8"
COARSE_CUBIC = "tf.image.resize from 3 to 5 pixels by 'bicubic' is off by 2e-3: its kernel is a table of 1024 entries"
NO_LANCZOS = "Resizing with Lanczos interpolation is not supported by the PyTorch backend."
OTHER_CUBIC = "torch's interpolate(mode='bicubic') has a = -3/4 and repeats borders; TensorFlow and JAX have -1/2"


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
        TF,
        ("UpSampling2D",),
        lambda x, p: p.interpolation != "nearest" and x.dtype == "float64" and bool(x.elements),
        evidence=SINGLE_PRECISION,
        symptom="value",
    ),
    Gap(
        TF,
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
