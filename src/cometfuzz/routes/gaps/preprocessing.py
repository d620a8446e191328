"""Gaps of this family's layers."""

import math
from typing import Any

import numpy as np

from cometfuzz.catalogue.shapes import spatial
from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap
from cometfuzz.routes.gaps.reshaping import (
    COARSE_CUBIC,
    LANCZOS,
    NO_LANCZOS,
    OTHER_CUBIC,
    SINGLE_PRECISION,
    TF,
    TORCH,
    without_channels,
)

HALF = ("float16", "bfloat16")
NO_FLOAT64 = "keras.backend.result_type makes float32 of every float64, 'to be aligned with JAX's default'"


def _not_single(*values: float) -> bool:
    return any(float(np.float32(value)) != value for value in values)


def _deviations(p: Any) -> list[float]:
    values = p.variance if isinstance(p.variance, tuple) else (p.variance,)
    return [math.sqrt(value) for value in values]


def _resizes(x: Any, p: Any) -> bool:
    """Whether CenterCrop has to make images larger."""
    height, width = spatial(x, p)
    return bool(height < p.height or width < p.width)


GAPS: tuple[Gap, ...] = (
    *without_channels("Resizing", lambda x, p: True),
    *without_channels("CenterCrop", _resizes),
    Gap(
        TF,
        ("Rescaling",),
        lambda x, p: x.dtype == "float64" and bool(x.elements) and _not_single(p.scale, p.offset),
        evidence="Rescaling(0.1, dtype='float64') of 1 is 0.10000000149: scale and offset become float32 tensors first",
        kind="bug",
        symptom="value",
    ),
    Gap(
        TORCH,
        ("Normalization",),
        lambda x, p: x.dtype == "float64" and bool(x.elements) and _not_single(*_deviations(p)),
        evidence=f"keras.ops.maximum of float64 is float32, and so is the deviation: {NO_FLOAT64}",
        kind="bug",
        symptom="value",
    ),
    Gap(
        TF,
        ("Resizing",),
        lambda x, p: p.interpolation != "nearest" and x.dtype == "float64" and bool(x.elements),
        evidence=SINGLE_PRECISION,
        symptom="value",
    ),
    Gap(
        TF,
        ("Resizing",),
        lambda x, p: p.interpolation == "bicubic" and not p.antialias and x.dtype == "float32" and bool(x.elements),
        evidence=COARSE_CUBIC,
        kind="bug",
        symptom="value",
        always=False,
    ),
    Gap(
        TORCH,
        ("Resizing",),
        lambda x, p: p.interpolation in LANCZOS,
        evidence=NO_LANCZOS,
        raises="ValueError",
    ),
    Gap(
        TORCH,
        ("Resizing",),
        lambda x, p: p.interpolation == "bicubic" and not p.antialias and bool(x.elements),
        evidence=OTHER_CUBIC,
        kind="bug",
        symptom="value",
        always=False,
    ),
    Gap(
        TORCH,
        ("Resizing",),
        lambda x, p: p.antialias and p.interpolation in ("bilinear", "bicubic") and p.width == 1 and p.height > 1,
        evidence="interpolate(torch.arange(3.).reshape(1, 1, 3, 1), (6, 1), mode='bilinear', antialias=True) is 0",
        kind="bug",
        symptom="value",
        always=False,
    ),
    Gap(
        TF,
        ("CenterCrop",),
        lambda x, p: x.dtype != "float32" and _resizes(x, p),
        evidence="CenterCrop(8, 8, dtype='float16') of 4 x 4 images is float32, as tf.image.resize made it",
        kind="bug",
        symptom="shape",
    ),
    Gap(
        TF,
        ("CategoryEncoding",),
        lambda x, p: p.output_mode != "one_hot" and p.dtype in HALF,
        evidence="Value for attr 'T' of half is not in the list of allowed values: int32, int64, float, double",
        raises="InvalidArgumentError",
        kind="bug",
    ),
    Gap(
        TORCH,
        ("CategoryEncoding",),
        lambda x, p: p.output_mode == "multi_hot" and x.shape[-1] == 0,
        evidence="amax(): Expected reduction dim 1 to have non-zero size.",
        raises="IndexError",
        kind="bug",
    ),
    Gap(
        ("keras-jax",),
        ("CategoryEncoding",),
        lambda x, p: p.output_mode == "multi_hot" and x.shape[-1] == 0,
        evidence="zero-size array to reduction operation max which has no identity",
        raises="ValueError",
        kind="bug",
    ),
    Gap(
        TORCH,
        ("ReversibleEmbedding",),
        lambda x, p: p.reverse and p.dtype == "float64",
        evidence=f"keras.ops.matmul of float64 is float32: {NO_FLOAT64}",
        kind="bug",
        symptom="result",
    ),
    Gap(
        KERAS3_ROUTES,
        ("ReversibleEmbedding",),
        lambda x, p: p.reverse and p.reverse_dtype is not None and p.reverse_dtype != p.dtype,
        evidence="reverse_dtype='float32', dtype='float16': the symbolic result is float16, the real one float32",
        kind="bug",
        symptom="result",
    ),
)
