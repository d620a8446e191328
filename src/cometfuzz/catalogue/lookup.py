"""Layers that give each number an index: the bin it falls into, its hash, or its place in a vocabulary."""

from typing import Any

from cometfuzz.catalogue.fitting import FittingChoice
from cometfuzz.catalogue.spaces import BOOLEAN_FALSE, Choice, Computed, Ints, Optional
from cometfuzz.catalogue.spec import KERAS3, Ours, Rule, Shape, draw_shape, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

_ENCODINGS = ("int", "one_hot", "multi_hot", "count")
_SPARSE = {"sparse": "sparse tensors are not in the space"}
_MOST = 2**20


def encoded(shape: Shape, depth: int, mode: str) -> Shape:
    """The shape of indices as they are, or as vectors with an element for each of `depth` indices.

    one_hot: a vector for each index, in place of the last axis if it has size 1. Others: one for each row of indices.
    """
    if mode == "int":
        return shape
    return (*shape, depth) if mode == "one_hot" and shape[-1] != 1 else (*shape[:-1], depth)


def _modes(*more: str) -> FittingChoice:
    """How indices are returned. What libraries do otherwise than documented is drawn seldom: rows of indices below a
    third axis, and a vector for each index of a row."""

    def fit(x: TensorType, p: Params) -> tuple[str, ...]:
        rows = () if x.rank > 2 else ("multi_hot", "count", *more)
        each = ("one_hot",) if x.shape[-1] == 1 else ()
        return (*("int", *rows, *each) * 4, *_ENCODINGS, *more)

    return FittingChoice(*_ENCODINGS, *more, fit=fit)


def _ascending(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) > 0
        and all(type(item) is float and abs(item) <= _MOST for item in value)
        and list(value) == sorted(set(value))
    )


def _draw_boundaries(draw: Draw, x: TensorType, p: Params) -> tuple[float, ...]:
    """Quarters, which all dtypes have exactly."""
    return tuple(sorted({draw.integer(-8, 8) / 4 for _ in range(draw.integer(1, 4))}))


layer(
    "Discretization",
    ranks=(2, 3, 4),
    output_ranks=(2, 3, 4, 5),
    params={
        "bin_boundaries": Computed("ascending numbers", simplest=(0.0,), check=_ascending, draw=_draw_boundaries),
        "output_mode": _modes(),
    },
    shape=lambda x, p: encoded(x.shape, len(p.bin_boundaries) + 1, p.output_mode),
    dtype=lambda x, p: "int32" if p.output_mode == "int" else x.dtype,
    high=lambda x, p: len(p.bin_boundaries) + 1 if p.output_mode == "int" else None,
    excluded={"num_bins": "asks for adapt()", "epsilon": "asks for adapt()", **_SPARSE},
    libraries=(KERAS3,),
    doc="The index of the bin that a number falls into, or that index as a vector; a boundary is in the bin above it.",
)


def _draw_tokens(draw: Draw) -> tuple[TensorType, ...]:
    return (TensorType("int32", draw_shape(draw, draw.integer(2, 3)), high=draw.integer(1, 30)),)


_SALT = Optional(Ints(1, 999))
_TOKENS_ARE_BOUNDED: dict[str, Rule] = {"tokens are not negative": Ours(lambda x, p: x.high is not None)}

layer(
    "Hashing",
    ranks=(2, 3),
    output_ranks=(2, 3, 4),
    dtypes=("int32",),
    params={
        "num_bins": Ints(1, 9),
        "mask_value": Optional(Ints(0, 5)),
        "salt": _SALT,
        "output_mode": _modes(),
        "dtype": FittingChoice(
            *("int32", *FLOATS), fit=lambda x, p: ("int32",) if p.output_mode == "int" else FLOATS, simplest="int32"
        ),
    },
    rules={
        **_TOKENS_ARE_BOUNDED,
        "indices are integers, vectors are not": Ours(lambda x, p: (p.dtype == "int32") == (p.output_mode == "int")),
    },
    shape=lambda x, p: encoded(x.shape, p.num_bins, p.output_mode),
    dtype=lambda x, p: p.dtype,
    high=lambda x, p: p.num_bins if p.output_mode == "int" else None,
    inputs=_draw_tokens,
    excluded=_SPARSE,
    libraries=(KERAS3,),
    doc="The remainder of a token's hash, FarmHash64 or, with a salt, SipHash64, of its digits; 0 is that of the mask.",
)


def first_index(p: Params) -> int:
    """The index of the first word of IntegerLookup's vocabulary: the mask and what is unknown come before."""
    return int(p.num_oov_indices) + (p.mask_token is not None and p.output_mode == "int")


def depth(p: Params) -> int:
    """How many indices IntegerLookup has."""
    return int(p.max_tokens) if p.pad_to_max_tokens else first_index(p) + len(p.vocabulary)


def _is_vocabulary(value: object) -> bool:
    if not isinstance(value, tuple) or not all(type(item) is int and 0 <= item < _MOST for item in value):
        return False
    return len(value) == len(set(value)) > 0


def _draw_vocabulary(draw: Draw, x: TensorType, p: Params) -> tuple[int, ...]:
    tokens = draw.shuffled(range(x.high or 9))
    return tuple(token for token in tokens if token != p.get("mask_token"))[: draw.integer(1, 6)] or (1,)


def _are_weights(value: object) -> bool:
    if not isinstance(value, tuple):
        return value is None
    return len(value) > 0 and all(type(item) is float and 0 <= item <= _MOST for item in value)


def _draw_idf(draw: Draw, x: TensorType, p: Params) -> tuple[float, ...] | None:
    return tuple(draw.integer(0, 8) / 4 for _ in p.vocabulary) if p.output_mode == "tf_idf" else None


def _weights_fit(x: Any, p: Params) -> bool:
    given = p.idf_weights is not None
    return given == (p.output_mode == "tf_idf") and (not given or len(p.idf_weights) == len(p.vocabulary))


def _padding_fits(x: Any, p: Params) -> bool:
    if p.max_tokens is None:
        return not p.pad_to_max_tokens
    enough = p.max_tokens >= first_index(p) + len(p.vocabulary)
    return bool(enough and (not p.pad_to_max_tokens or p.output_mode not in ("int", "one_hot")))


layer(
    "IntegerLookup",
    ranks=(2, 3),
    output_ranks=(2, 3, 4),
    dtypes=("int32",),
    params={
        "output_mode": _modes("tf_idf"),
        "num_oov_indices": Ints(1, 3, limit=9),
        "mask_token": Optional(Ints(0, 5)),
        "vocabulary": Computed(
            "different tokens", simplest=(1,), check=_is_vocabulary, draw=_draw_vocabulary, numeric=False
        ),
        "idf_weights": Computed(
            "null, or a number for each token", simplest=None, check=_are_weights, draw=_draw_idf, numeric=False
        ),
        "invert": FittingChoice(False, True, fit=lambda x, p: () if p.output_mode == "int" else (False,)),
        "max_tokens": Optional(Ints(2, 12)),
        "pad_to_max_tokens": BOOLEAN_FALSE,
        "oov_method": Choice("floormod", "farmhash"),
        "salt": _SALT,
    },
    rules={
        **_TOKENS_ARE_BOUNDED,
        "the mask is no word of the vocabulary": lambda x, p: p.mask_token not in p.vocabulary,
        "weights for tf_idf, one for each token": _weights_fit,
        "vectors are not inverted": lambda x, p: not p.invert or p.output_mode == "int",
        "the vocabulary fits, and vectors are padded": Ours(_padding_fits),
        "salt for a hash": lambda x, p: p.salt is None or p.oov_method == "farmhash",
    },
    shape=lambda x, p: encoded(x.shape, depth(p), p.output_mode),
    dtype=lambda x, p: "int32" if p.output_mode == "int" else "float32",
    high=lambda x, p: depth(p) if p.output_mode == "int" and not p.invert else None,
    inputs=_draw_tokens,
    excluded={"oov_token": "-1, which is no token", "vocabulary_dtype": "int64 is the only one", **_SPARSE},
    libraries=(KERAS3,),
    doc="The place of each token in a vocabulary, or the token at each place; unknown ones share the first indices.",
)
