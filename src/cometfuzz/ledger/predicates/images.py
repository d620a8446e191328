"""Conditions on layers that prepare data: resize images, scale numbers, count tokens, transform signals."""

import math
from typing import Any

import numpy as np

from cometfuzz.catalogue.shapes import spatial
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate

LANCZOS = ("lanczos3", "lanczos5")


def _off_the_table(n: int, outputs: int) -> bool:
    """Whether some output lies between the entries of a table with 1024 of them."""
    step = outputs // math.gcd(n, outputs)
    return n > 1 and step & (step - 1) != 0


@predicate
def cubic_table_is_coarse(x: Any, p: Params) -> bool:
    """Some output of UpSampling2D lies between the entries of TensorFlow's table of 1024 cubic weights."""
    return any(_off_the_table(n, n * factor) for n, factor in zip(spatial(x, p), p.size, strict=True))


@predicate
def interpolates(x: Any, p: Params) -> bool:
    """UpSampling2D has something to interpolate between."""
    return bool(x.elements) and any(n > 1 and factor > 1 for n, factor in zip(spatial(x, p), p.size, strict=True))


@predicate
def nearest(x: Any, p: Params) -> bool:
    """The interpolation is `nearest`."""
    return bool(p.interpolation == "nearest")


@predicate
def bilinear(x: Any, p: Params) -> bool:
    """The interpolation is `bilinear`."""
    return bool(p.interpolation == "bilinear")


@predicate
def nearest_or_float32(x: Any, p: Params) -> bool:
    """The interpolation is `nearest`, or the images are float32."""
    return bool(p.interpolation == "nearest" or x.dtype == "float32")


@predicate
def lanczos(x: Any, p: Params) -> bool:
    """The interpolation is one of Lanczos'."""
    return p.get("interpolation") in LANCZOS


@predicate
def antialiased(x: Any, p: Params) -> bool:
    """Resized with antialias, which `nearest` ignores."""
    return bool(p.get("antialias", False)) and p.interpolation != "nearest"


@predicate
def by_scale_and_translate(x: Any, p: Params) -> bool:
    """TensorFlow resizes by its operator ScaleAndTranslate."""
    return p.interpolation in LANCZOS or antialiased(x, p)


@predicate
def by_scale_and_translate_or_cubic(x: Any, p: Params) -> bool:
    """TensorFlow resizes by ScaleAndTranslate or ResizeBicubic."""
    return bool(by_scale_and_translate(x, p) or p.interpolation == "bicubic")


@predicate
def resized_in_another_dtype(x: Any, p: Params) -> bool:
    """TensorFlow's operator has another dtype than the images: float64, or float16 that is interpolated."""
    return bool(x.dtype == "float64" or (p.interpolation != "nearest" and x.dtype == "float16"))


@predicate
def enlarges(x: Any, p: Params) -> bool:
    """CenterCrop has to make images larger."""
    height, width = spatial(x, p)
    return bool(height < p.height or width < p.width)


@predicate
def height_above_1(x: Any, p: Params) -> bool:
    """Resized to more than one row."""
    return bool(p.height > 1)


def _not_single(*values: float) -> bool:
    return any(float(np.float32(value)) != value for value in values)


@predicate
def scale_not_float32(x: Any, p: Params) -> bool:
    """Scale or offset of Rescaling have no exact form in float32."""
    return _not_single(p.scale, p.offset)


@predicate
def deviation_not_float32(x: Any, p: Params) -> bool:
    """A standard deviation of Normalization has no exact form in float32."""
    values = p.variance if isinstance(p.variance, tuple) else (p.variance,)
    return _not_single(*[math.sqrt(value) for value in values])


@predicate
def one_hot(x: Any, p: Params) -> bool:
    """CategoryEncoding makes one-hot vectors."""
    return bool(p.output_mode == "one_hot")


@predicate
def reverses_in_another_dtype(x: Any, p: Params) -> bool:
    """ReversibleEmbedding computes the reverse direction in another dtype than its own."""
    return p.reverse_dtype is not None and p.reverse_dtype != p.dtype


@predicate
def crop_changes_size(x: Any, p: Params) -> bool:
    """RandomCrop has to give images another size."""
    return tuple(spatial(x, p)) != (p.height, p.width)


@predicate
def states_one_frame_too_many(x: Any, p: Params) -> bool:
    """The stride of MelSpectrogram divides the number of samples and one."""
    return bool((x.shape[1] + 1) % p.sequence_stride == 0)


@predicate
def rows_below_third_axis(x: Any, p: Params) -> bool:
    """Rows of tokens are encoded as one vector each, in a tensor of more than two axes."""
    return bool(x.rank > 2 and p.output_mode in ("multi_hot", "count", "tf_idf"))


@predicate
def several_in_a_row(x: Any, p: Params) -> bool:
    """The last axis has not size 1."""
    return bool(x.shape[-1] != 1)


@predicate
def pipes_normalization(x: Any, p: Params) -> bool:
    """A Pipeline with a Normalization in it."""
    return any(inner.layer == "Normalization" for inner in p.layers)


@predicate
def odd_window(x: Any, p: Params) -> bool:
    """The window of MelSpectrogram has an odd length."""
    return p.window is not None and bool((p.sequence_length or p.fft_length) % 2)


@predicate
def pipes_dense(x: Any, p: Params) -> bool:
    """A Pipeline with a Dense layer in it."""
    return any(inner.layer == "Dense" for inner in p.layers)
