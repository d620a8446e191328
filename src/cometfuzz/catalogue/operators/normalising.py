"""Operators that normalise, compare with a target, and attend: what layers and losses are made of."""

from collections.abc import Callable, Mapping
from typing import Any

from cometfuzz.catalogue.operators import (
    AXIS_EXISTS,
    RANKS,
    Types,
    axes_of,
    axes_space,
    axis_space,
    draw_dtype,
    many,
    operator,
)
from cometfuzz.catalogue.spaces import BOOLEAN_FALSE, Choice, Floats, Optional
from cometfuzz.catalogue.spec import Ours, Rule, Shape, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

EPSILON = Optional(Choice(1e-5, 1e-3, 0.5))
"""What keeps from dividing by 0; null is 1e-7, unless Keras is told otherwise."""

_NOT_EMPTY: Mapping[str, Rule] = {
    "there is something to normalise": Ours(lambda x, p: all(kind.elements > 0 for kind in many(x)))
}


def _first_shape(x: Any, p: Params) -> Shape:
    return many(x)[0].shape


# -- normalisation -----------------------------------------------------------------------------------------------------

operator(
    "normalize",
    params={"axis": axes_space(simplest=-1, none=False), "order": Choice(2, 1, 3), "epsilon": EPSILON},
    rules={
        **AXIS_EXISTS,
        **_NOT_EMPTY,
        # of two axes, a norm of another order is that of a matrix to some and that of a vector to others
        "several axes have the order 2": Ours(lambda x, p: p.order == 2 or isinstance(p.axis, int)),
    },
    shape=_first_shape,
    doc="x / max(norm(x), epsilon) along axes.",
)


def _along(x: Types, p: Params) -> Shape:
    """The shape of what is scaled and shifted by: that of the axes, in order."""
    return tuple(x[0].shape[axis] for axis in sorted(axes_of(p.axis, x[0].rank)) if 0 <= axis < x[0].rank)


def _draw_with_vectors(least: int, most: int, ranks: range = RANKS) -> Callable[[Draw], Types]:
    """Draws a tensor, and up to `most - 1` vectors along one of its axes, mostly the last."""

    def draw_inputs(draw: Draw) -> Types:
        dtype, shape = draw_dtype(draw, FLOATS), draw_shape(draw, draw.choice(ranks))
        size = shape[-1] if draw.chance(0.7) else draw.choice(shape)
        vectors = draw.integer(least, most) - 1
        return TensorType(dtype, shape), *(TensorType(dtype, (size,)) for _ in range(vectors))

    return draw_inputs


operator(
    "layer_normalization",
    arity=(1, 3),
    params={"axis": axes_space(simplest=-1, none=False), "epsilon": EPSILON},
    rules={
        **AXIS_EXISTS,
        **_NOT_EMPTY,
        "gamma and beta have the axes": lambda x, p: all(kind.shape == _along(x, p) for kind in x[1:]),
    },
    shape=_first_shape,
    inputs=_draw_with_vectors(1, 3),
    doc="(x - mean) / sqrt(variance + epsilon) along axes, times gamma and plus beta where they are given.",
)
operator(
    "rms_normalization",
    arity=(1, 2),
    params={"axis": axes_space(simplest=-1, none=False), "epsilon": EPSILON},
    rules={
        **AXIS_EXISTS,
        **_NOT_EMPTY,
        "scale has the last axis": Ours(
            lambda x, p: len(x) == 1 or (p.axis in (-1, x[0].rank - 1) and x[1].shape == x[0].shape[-1:])
        ),
    },
    shape=_first_shape,
    inputs=_draw_with_vectors(1, 2),
    doc="x / sqrt(mean(x^2) + epsilon) along axes, times scale where it is given.",
)
operator(
    "batch_normalization",
    arity=(3, 5),
    ranks=range(2, 6),
    params={"axis": axis_space(), "epsilon": Choice(1e-3, 1e-5, 0.5)},
    rules={
        **AXIS_EXISTS,
        **_NOT_EMPTY,
        "vectors have the axis": lambda x, p: all(kind.shape == _along(x, p) for kind in x[1:]),
    },
    shape=_first_shape,
    inputs=_draw_with_vectors(3, 5, range(2, 6)),
    doc="(x - mean) / sqrt(variance + epsilon), times scale and plus offset where they are given.",
)

# -- losses ------------------------------------------------------------------------------------------------------------

LOGITS = Choice(True)
"""Drawn numbers are no probabilities, and what is no probability may be cut off anywhere."""


def _draw_pair(draw: Draw) -> Types:
    kind = TensorType(draw_dtype(draw, FLOATS), draw_shape(draw, draw.choice(RANKS)))
    return kind, kind


_ALIKE: Mapping[str, Rule] = {"both have one shape": lambda x, p: x[0].shape == x[1].shape}


def _without_axis(shape: Shape, axis: int) -> Shape:
    axis %= len(shape)
    return shape[:axis] + shape[axis + 1 :]


operator(
    "binary_crossentropy",
    arity=(2, 2),
    params={"from_logits": LOGITS},
    rules=_ALIKE,
    shape=_first_shape,
    inputs=_draw_pair,
    doc="The cross-entropy of each target with the sigmoid of each logit.",
)
operator(
    "categorical_crossentropy",
    arity=(2, 2),
    params={"from_logits": LOGITS, "axis": axis_space()},
    rules={**_ALIKE, **AXIS_EXISTS, **_NOT_EMPTY},
    output_ranks=range(5),
    shape=lambda x, p: _without_axis(x[1].shape, p.axis),
    inputs=_draw_pair,
    doc="The cross-entropy of targets with the softmax of logits along an axis.",
)


def _draw_classes(draw: Draw) -> Types:
    """Logits, and a class for each of them; the classes are along any axis."""
    shape = draw_shape(draw, draw.integer(1, 5), low=2)
    axis = -1 if draw.chance(0.6) else draw.integer(-len(shape), -1)
    classes = max(1, shape[axis])
    return TensorType("int32", _without_axis(shape, axis), high=classes), TensorType(draw_dtype(draw, FLOATS), shape)


def _class_axis(x: Types, p: Params) -> bool:
    return -x[1].rank <= p.axis < x[1].rank and _without_axis(x[1].shape, p.axis) == x[0].shape


operator(
    "sparse_categorical_crossentropy",
    arity=(2, 2),
    ranks=range(5),
    dtypes=("int32",),
    one_dtype=False,
    params={"from_logits": LOGITS, "axis": axis_space()},
    rules={
        "logits are numbers": lambda x, p: x[1].dtype in FLOATS and x[1].rank >= 1,
        "an axis has the classes": _class_axis,
        "targets are classes": Ours(lambda x, p: _class_axis(x, p) and (x[0].high or 10**9) <= x[1].shape[p.axis]),
        **_NOT_EMPTY,
    },
    dtype=lambda x, p: x[1].dtype,
    shape=_first_shape,
    inputs=_draw_classes,
    doc="The cross-entropy of a class with the softmax of logits along an axis.",
)
# -- attention ---------------------------------------------------------------------------------------------------------


def _draw_attention(draw: Draw) -> Types:
    """Query, key and value, then perhaps a bias, and then perhaps a mask."""
    dtype, batch, size = draw_dtype(draw, FLOATS), draw.integer(1, 3), draw.integer(1, 8)
    queries, keys, groups = draw.integer(1, 5), draw.integer(1, 5), draw.integer(1, 3)
    heads = groups * (1 if draw.chance(0.7) else draw.integer(1, 3))
    query, key = (batch, queries, heads, size), (batch, keys, groups, size)
    scores = tuple(1 if draw.chance(0.2) else n for n in (batch, heads, queries, keys))
    kinds = (*(TensorType(dtype, shape) for shape in (query, key, key, scores)), TensorType("bool", scores))
    return kinds[: draw.integer(3, 5)]


def _heads_fit(x: Types, p: Params) -> bool:
    query, key, value = x[:3]
    if key.rank != 4 or key.shape != value.shape or query.shape[0] != key.shape[0] or query.shape[3] != key.shape[3]:
        return False
    return key.shape[2] > 0 and query.shape[2] % key.shape[2] == 0


def _scores_fit(x: Types, p: Params) -> bool:
    query, key = x[:2]
    whole = (query.shape[0], query.shape[2], query.shape[1], key.shape[1]) if key.rank == 4 else ()
    return all(
        len(kind.shape) == len(whole) and all(a in (1, b) for a, b in zip(kind.shape, whole, strict=True))
        for kind in x[3:]
    )


operator(
    "dot_product_attention",
    arity=(3, 5),
    ranks=(4,),
    one_dtype=False,
    params={"scale": Optional(Floats(0.25, 2.0, 0.5, step=0.25)), "is_causal": BOOLEAN_FALSE},
    rules={
        "numbers have one dtype": Ours(lambda x, p: len({kind.dtype for kind in x[:4]}) == 1),
        "the mask is true or false": lambda x, p: len(x) < 5 or x[4].dtype == "bool",
        "heads fit": _heads_fit,
        "bias and mask fit the scores": _scores_fit,
        **_NOT_EMPTY,
    },
    shape=_first_shape,
    inputs=_draw_attention,
    doc="softmax(query key * scale + bias) value for each head; query heads in order share the heads of keys.",
)
