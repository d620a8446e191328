"""Preprocessing layers: numbers rescaled, images resized and cropped, tokens encoded and embedded."""

from collections.abc import Callable, Sequence
from typing import Any

from cometfuzz.catalogue.fitting import Fit, FittingChoice, FittingInts
from cometfuzz.catalogue.reshaping import interpolations
from cometfuzz.catalogue.shapes import channels, spatial, with_channels
from cometfuzz.catalogue.spaces import (
    BOOLEAN_FALSE,
    BOOLEAN_TRUE,
    DATA_FORMAT,
    LARGE,
    Choice,
    Computed,
    Floats,
    Ints,
    Optional,
    build_params,
)
from cometfuzz.catalogue.spec import KERAS3, NO_FLOATS, Ours, Shape, Waived, draw_shape, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType


def _float_dtype(x: TensorType, p: Params) -> str:
    return x.dtype if x.is_float else "float32"


layer(
    "Rescaling",
    as_floats=NO_FLOATS,
    ranks=range(2, 7),
    dtypes=(*FLOATS, "int32"),
    params={"scale": Floats(-2, 2, 0.5, limit=LARGE), "offset": Floats(-2, 2, 0, limit=LARGE)},
    shape=lambda x, p: x.shape,
    dtype=_float_dtype,
    mask=lambda x, p: x.masked,
    libraries=(KERAS3,),
    doc="x * scale + offset.",
)


def kept_axes(rank: int, axis: Any) -> list[int]:
    """The axes along which Normalization has a mean and a variance for each index, in order."""
    axes = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return sorted(axis % rank for axis in axes)


def _axes_exist(x: TensorType, p: Params) -> bool:
    axes = () if p.axis is None else p.axis if isinstance(p.axis, tuple) else (p.axis,)
    return all(-x.rank <= axis < x.rank for axis in axes) and len(set(kept_axes(x.rank, p.axis))) == len(axes)


def _statistic(text: str, simplest: float, least: float) -> Computed:
    """A number, or a tuple with one for each index of the last kept axis."""

    def is_number(value: object) -> bool:
        return type(value) is float and least <= value <= 2.0**20

    def check(value: object) -> bool:
        return is_number(value) or (isinstance(value, tuple) and len(value) > 0 and all(map(is_number, value)))

    def draw_statistic(draw: Draw, x: TensorType, p: Params) -> float | tuple[float, ...]:
        like = p.get("mean")  # the variance has the form of the mean, which is drawn before it
        axes = kept_axes(x.rank, p.axis)
        indices = x.shape[axes[-1]] if axes else 0
        if like is None and indices and draw.chance(0.5):
            like = (0.0,) * (indices if draw.chance(0.8) else 1)
        low = max(least, -2.0)
        if isinstance(like, tuple):
            return tuple(low + draw.integer(0, 16) / 4 for _ in like)
        return low + draw.integer(0, 16) / 4

    return Computed(text, simplest=simplest, check=check, draw=draw_statistic)


def _statistics_fit(x: TensorType, p: Params) -> bool:
    if not isinstance(p.mean, tuple) and not isinstance(p.variance, tuple):
        return True
    if not isinstance(p.mean, tuple) or not isinstance(p.variance, tuple) or len(p.mean) != len(p.variance):
        return False
    axes = kept_axes(x.rank, p.axis)
    return bool(axes) and len(p.mean) in (1, x.shape[axes[-1]])


layer(
    "Normalization",
    as_floats=NO_FLOATS,
    ranks=range(2, 7),
    dtypes=(*FLOATS, "int32"),
    params={
        "axis": Choice(-1, None, 1, -2, (1, -1)),
        "mean": _statistic("a number, or one for each index of the last kept axis", 0.0, -(2.0**20)),
        "variance": _statistic("a positive number, or one for each index of the last kept axis", 1.0, 0.25),
        "invert": BOOLEAN_FALSE,
    },
    rules={
        "axes exist and differ": _axes_exist,
        "mean and variance fit the last kept axis": _statistics_fit,
    },
    shape=lambda x, p: x.shape,
    dtype=_float_dtype,
    mask=lambda x, p: x.masked,
    libraries=(KERAS3,),
    doc="(x - mean) / sqrt(variance), or the inverse of it.",
)


def _image(x: TensorType, p: Params) -> Shape:
    return with_channels(x.shape[0], (p.height, p.width), channels(x, p), p.data_format)


_IMAGE_IS_NOT_EMPTY = {"image is not empty": lambda x, p: min(spatial(x, p)) >= 1}

layer(
    "Resizing",
    ranks=(4,),
    params={
        "height": Ints(1, 8),
        "width": Ints(1, 8),
        "interpolation": interpolations("bilinear"),
        "crop_to_aspect_ratio": BOOLEAN_FALSE,
        "pad_to_aspect_ratio": BOOLEAN_FALSE,
        "fill_mode": Choice("constant"),
        "fill_value": Floats(-2, 2, 0, step=0.25),
        "antialias": BOOLEAN_FALSE,
        "data_format": DATA_FORMAT,
    },
    rules={
        **_IMAGE_IS_NOT_EMPTY,
        "crop or pad, not both": lambda x, p: not (p.crop_to_aspect_ratio and p.pad_to_aspect_ratio),
    },
    shape=_image,
    libraries=(KERAS3,),
    doc="Images interpolated to another size, cropped or padded to its aspect ratio before if asked for.",
)

layer(
    "CenterCrop",
    ranks=(4,),
    params={"height": Ints(1, 4), "width": Ints(1, 4), "data_format": DATA_FORMAT},
    rules=_IMAGE_IS_NOT_EMPTY,
    shape=_image,
    libraries=(KERAS3,),
    doc="The central part of images; where it is larger than they are, the largest part of its aspect ratio, resized.",
)


def _own_size(axis: int) -> Fit:
    """Mostly the size that images have, because of all others it is known what Keras 3.15 does (the ledger says it)."""
    return lambda x, p: (spatial(x, p)[axis],) * 24 + tuple(range(1, 9)) if min(spatial(x, p)) else ()


layer(
    "RandomCrop",
    ranks=(4,),
    params={
        "data_format": DATA_FORMAT,
        "height": FittingInts(1, 8, fit=_own_size(0)),
        "width": FittingInts(1, 8, fit=_own_size(1)),
    },
    rules=_IMAGE_IS_NOT_EMPTY,
    shape=_image,
    excluded={"seed": "training only"},
    libraries=(KERAS3,),
    doc="A random part of images in training; in inference the largest part of its aspect ratio, resized.",
)

layer(
    "AutoContrast",
    as_floats=NO_FLOATS,
    ranks=(4,),
    params={"value_range": Choice((0, 255), (0, 1), (-1, 1), (-4, 4))},
    rules={"images are not empty": Ours(lambda x, p: min(x.shape) >= 1)},
    shape=lambda x, p: x.shape,
    libraries=(KERAS3,),
    doc="Each channel stretched so that it fills the range of values; one that is constant stays as it is.",
)

_OUTPUT_DTYPE = Choice(*FLOATS, simplest="float32")
_TUNING = {
    "weights": "weights are set after the layer is built",
    "lora_rank": "training only",
    "lora_alpha": "training only",
    "quantization_config": "quantised models are not in the space",
}


def _tokens(ranks: Sequence[int]) -> Callable[[Draw], tuple[TensorType, ...]]:
    return lambda draw: (TensorType("int32", draw_shape(draw, draw.choice(ranks)), high=draw.integer(1, 9)),)


def _enough_for(x: TensorType, p: Params) -> Sequence[int]:
    return range(x.high, 10) if x.high and x.high < 10 else [x.high] if x.high else []


LOOKING_BEYOND = ("jax", "openvino")
"""Their documentation says what an index beyond a table gives: JAX fills with NaN, OpenVINO with zeros."""


def _known(x: TensorType, tokens: int) -> bool:
    return x.high is not None and x.high <= tokens


layer(
    "Embedding",
    autocast="nothing",
    ranks=range(2, 6),
    output_ranks=range(3, 7),
    dtypes=("int32",),
    params={
        "input_dim": FittingInts(1, 9, fit=_enough_for),
        "output_dim": Ints(1, 8),
        "mask_zero": FittingChoice(False, True, fit=lambda x, p: () if x.rank == 2 else (False,)),
        "dtype": _OUTPUT_DTYPE,
        **build_params("embeddings", activity=False),
    },
    rules={
        "tokens are below input_dim": Waived(lambda x, p: _known(x, p.input_dim), LOOKING_BEYOND),
        "a mask has two axes": lambda x, p: not p.mask_zero or x.rank == 2,
    },
    shape=lambda x, p: (*x.shape, p.output_dim),
    weights=lambda x, p: {"embeddings": (p.input_dim, p.output_dim)},
    dtype=lambda x, p: p.dtype,
    mask=lambda x, p: p.mask_zero,
    inputs=_tokens(range(2, 6)),
    excluded=_TUNING,
    libraries=(KERAS3,),
    doc="A row of a matrix for each token.",
)


def _draw_tokens_or_vectors(draw: Draw) -> tuple[TensorType, ...]:
    if draw.chance(0.5):
        return _tokens(range(2, 6))(draw)
    return (TensorType(draw.choice(FLOATS), draw_shape(draw, draw.integer(2, 5))),)


layer(
    "ReversibleEmbedding",
    autocast="nothing",
    ranks=range(2, 6),
    output_ranks=range(2, 7),
    dtypes=(*FLOATS, "int32"),
    params={
        "reverse": FittingChoice(False, True, fit=lambda x, p: (x.is_float,)),
        "input_dim": FittingInts(1, 9, fit=_enough_for),
        "output_dim": FittingInts(1, 8, fit=lambda x, p: x.shape[-1:] if x.is_float and x.shape[-1] else ()),
        "tie_weights": BOOLEAN_TRUE,
        "mask_zero": FittingChoice(False, True, fit=lambda x, p: () if x.rank == 2 else (False,)),
        "reverse_dtype": Choice(None, "float32"),
        "logit_soft_cap": Optional(Floats(0.5, 8, 4, step=0.5)),
        "dtype": FittingChoice(*FLOATS, simplest="float32", fit=lambda x, p: (x.dtype,) if x.is_float else ()),
        **build_params("embeddings", activity=False),
    },
    rules={
        "tokens, or vectors in reverse": lambda x, p: x.is_float == p.reverse,
        "tokens are below input_dim": Waived(lambda x, p: p.reverse or _known(x, p.input_dim), LOOKING_BEYOND),
        "vectors have output_dim features": lambda x, p: not p.reverse or x.shape[-1] == p.output_dim,
        "vectors have the dtype of the layer": Ours(lambda x, p: not p.reverse or x.dtype == p.dtype),
        "a mask has two axes": lambda x, p: not p.mask_zero or x.rank == 2,
    },
    shape=lambda x, p: (*x.shape[:-1], p.input_dim) if p.reverse else (*x.shape, p.output_dim),
    weights=lambda x, p: {
        "embeddings": (p.input_dim, p.output_dim),
        **({} if p.tie_weights else {"reverse_embeddings": (p.output_dim, p.input_dim)}),
    },
    dtype=lambda x, p: p.dtype,
    mask=lambda x, p: p.mask_zero and not p.reverse,
    inputs=_draw_tokens_or_vectors,
    call_params=("reverse",),
    libraries=(KERAS3,),
    doc="Embedding; in reverse, vectors times the transpose of its matrix or a matrix of their own.",
)

layer(
    "CategoryEncoding",
    ranks=(2,),
    output_ranks=(2, 3),
    dtypes=("int32",),
    params={
        "num_tokens": FittingInts(1, 9, fit=_enough_for),
        "output_mode": Choice("multi_hot", "one_hot", "count"),
        "dtype": _OUTPUT_DTYPE,
    },
    rules={"tokens are below num_tokens": Waived(lambda x, p: _known(x, p.num_tokens), LOOKING_BEYOND)},
    shape=lambda x, p: (
        (*x.shape, p.num_tokens) if p.output_mode == "one_hot" and x.shape[-1] != 1 else (x.shape[0], p.num_tokens)
    ),
    dtype=lambda x, p: p.dtype,
    inputs=_tokens((2,)),
    excluded={"sparse": "sparse tensors are not in the space"},
    libraries=(KERAS3,),
    doc="Tokens as vectors with a one, or a count, at their index.",
)
