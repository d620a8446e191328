"""Attention: by dot products or sums of query and key, with one head or many.

Inputs are query, value and optionally key; a Keras mask on the query has shape (batch, queries), on the value and the
key (batch, keys).
"""

from collections.abc import Callable, Mapping
from typing import Any

from cometfuzz.catalogue.spaces import (
    BOOLEAN_FALSE,
    BOOLEAN_TRUE,
    Choice,
    Computed,
    Floats,
    Ints,
    Optional,
    Space,
    build_params,
)
from cometfuzz.catalogue.spec import KERAS3, Ours, Rule, Shape, draw_dtype, draw_shape, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

Types = tuple[TensorType, ...]
CALL = ("return_attention_scores", "use_causal_mask")
MASKED = 0.15
"""How often a value or a key is drawn with a mask."""


def common_params() -> dict[str, Space]:
    """What every attention layer takes: dropout on the scores, and two arguments of the call."""
    return {
        "dropout": Floats(0, 0.9, 0, effect="train"),
        "return_attention_scores": BOOLEAN_FALSE,
        "use_causal_mask": BOOLEAN_FALSE,
    }


def sequences(x: Types) -> Types:
    """Query, value and key; a bool tensor at the end is an attention mask."""
    given = x[:-1] if x[-1].dtype == "bool" and len(x) > 2 else x
    return (*given, given[-1])[:3]


def _floats_agree(x: Types, p: Any) -> bool:
    return all(kind.dtype == x[0].dtype for kind in sequences(x))


def _batches_agree(x: Types, p: Any) -> bool:
    return all(kind.rank == x[0].rank and kind.shape[0] == x[0].shape[0] for kind in sequences(x))


def _lengths_agree(x: Types, p: Any) -> bool:
    _, value, key = sequences(x)
    return value.shape[1:-1] == key.shape[1:-1]


COMMON: dict[str, Rule] = {
    "query, value and key have one dtype": Ours(_floats_agree),
    "query, value and key have one rank and batch": _batches_agree,
    "value and key have one length": _lengths_agree,
}


def draw_sequences(
    ranks: tuple[int, ...] = (3,), one_width: bool = True, attention_mask: bool = False
) -> Callable[[Draw], Types]:
    """Draws query, value, sometimes a key, sometimes a mask of shape (batch, queries, keys)."""

    def types(draw: Draw) -> Types:
        dtype, rank = draw_dtype(draw, FLOATS), draw.choice(ranks)
        query = draw_shape(draw, rank, high=6 if rank == 3 else 3)
        widths = [query[-1] if one_width or draw.chance(0.5) else draw.integer(1, 6) for _ in range(2)]
        lengths = tuple(size if draw.chance(0.5) else draw.integer(1, 4) for size in query[1:-1])
        given = [TensorType(dtype, query)]
        for width in widths[: draw.integer(1, 2)]:
            masked = rank == 3 and draw.chance(MASKED)
            given.append(TensorType(dtype, (query[0], *lengths, width), masked))
        if attention_mask and rank == 3 and draw.chance(0.15):
            given.append(TensorType("bool", (query[0], query[1], lengths[0])))
        return tuple(given)

    return types


def _single_head(
    name: str, params: Mapping[str, Space], weights: Callable[[Types, Any], dict[str, Shape]], doc: str
) -> None:
    layer(
        name,
        ranks=(3,),
        arity=(2, 3),
        params={**params, **common_params()},
        call_params=CALL,
        rules={
            **COMMON,
            "query and key have one width": lambda x, p: x[0].shape[-1] == sequences(x)[2].shape[-1],
        },
        shape=lambda x, p: [
            (*x[0].shape[:-1], x[1].shape[-1]),
            *([(*x[0].shape[:-1], x[1].shape[1])] if p.return_attention_scores else []),
        ],
        weights=weights,
        mask=lambda x, p: x[0].masked,
        inputs=draw_sequences(),
        excluded={"seed": "training only"} if "score_mode" in params else {},
        libraries=(KERAS3,),
        doc=doc,
    )


_single_head(
    "Attention",
    {"use_scale": BOOLEAN_FALSE, "score_mode": Choice("dot", "concat")},
    lambda x, p: {
        **({"scale": ()} if p.use_scale else {}),
        **({"concat_score_weight": ()} if p.score_mode == "concat" else {}),
    },
    "softmax(scores) . value, with the scores from the dot product or the tanh of the sum of query and key.",
)
_single_head(
    "AdditiveAttention",
    {"use_scale": BOOLEAN_TRUE},
    lambda x, p: {"scale": (x[0].shape[-1],)} if p.use_scale else {},
    "softmax(sum of scale tanh(query + key)) . value.",
)


class _GivenMask(Choice):
    """Whether the last input is an attention mask: the inputs settle it."""

    def draw(self, draw: Draw, x: Types, p: Params) -> bool:
        return x[-1].dtype == "bool"


class _RareScores(Choice):
    """Whether scores are returned: seldom where Keras misstates their shape, so that the rest is tested too."""

    def draw(self, draw: Draw, x: Types, p: Params) -> bool:
        return draw.chance(0.5 if x[0].rank == 3 and x[0].shape[1] == x[1].shape[1] else 0.1)


def many_heads_params() -> dict[str, Space]:
    """What MultiHeadAttention and GroupQueryAttention share."""
    return {
        "use_bias": BOOLEAN_TRUE,
        "sliding_window": Optional(Ints(1, 5)),
        "use_gate": BOOLEAN_FALSE,
        "attention_mask": _GivenMask(False, True),
        **common_params(),
        **build_params("kernel", "bias"),
    }


def _mask_is_given(x: Types, p: Any) -> bool:
    return bool(p.attention_mask == (x[-1].dtype == "bool") and 2 <= len(x) - p.attention_mask <= 3)


def _mask_fits(x: Types, p: Any) -> bool:
    return not p.attention_mask or x[-1].shape == (*x[0].shape[:2], *x[1].shape[1:2])


MANY_HEADS: dict[str, Rule] = {
    **COMMON,
    "a mask is the last input": _mask_is_given,
    "the mask is (batch, queries, keys)": _mask_fits,
}
NOT_HERE = {
    "flash_attention": "has no implementation on a CPU; Keras refuses it there",
    "seed": "training only",
}


def projections(p: Any, **shapes: tuple[Shape, Shape]) -> dict[str, Shape]:
    """Kernel and bias of each projection; the names begin as the initialisers' do."""
    weights: dict[str, Shape] = {}
    for name, (kernel, bias) in shapes.items():
        weights[f"kernel_{name}"] = kernel
        if p.use_bias:
            weights[f"bias_{name}"] = bias
    return weights


def head_weights(
    x: Types, p: Any, heads: int, key_heads: int, sizes: tuple[int, int], output: Shape
) -> dict[str, Shape]:
    """The weights in Keras' order; `sizes` are those of one head for keys and for values."""
    query, value, key = (kind.shape[-1] for kind in sequences(x))
    size, value_size = sizes
    gate = {"gate": ((query, heads, value_size), (heads, value_size))} if p.use_gate else {}
    return projections(
        p,
        query=((query, heads, size), (heads, size)),
        key=((key, key_heads, size), (key_heads, size)),
        **gate,
        value=((value, key_heads, value_size), (key_heads, value_size)),
        output=((heads, value_size, *output), output),
    )


def attention_axes(x: Types, p: Any) -> Shape:
    """The axes over which attention runs, as numbers from 0."""
    if p.attention_axes is None:
        return tuple(range(1, x[0].rank - 1))
    return tuple(axis % x[0].rank for axis in p.attention_axes)


def _axes_fit(x: Types, p: Any) -> bool:
    """All axes exist between batch and features, each once, in order; the others have one size in all inputs."""
    axes, rank = attention_axes(x, p), x[0].rank
    if any(not -rank <= axis < rank for axis in p.attention_axes or ()) or list(axes) != sorted(set(axes)):
        return False
    fixed = [axis for axis in range(rank - 1) if axis not in axes]
    return all(1 <= axis <= rank - 2 for axis in axes) and all(
        kind.rank == rank and kind.shape[axis] == x[0].shape[axis] for kind in sequences(x) for axis in fixed
    )


def _masks_have_an_axis(x: Types, p: Any) -> bool:
    """Masks have shape (batch, queries, keys): attention must run over axis 1 alone."""
    masked = p.attention_mask or p.use_causal_mask or p.sliding_window is not None or any(kind.masked for kind in x)
    return not masked or attention_axes(x, p) == (1,)


def _scores(x: Types, p: Any) -> Shape:
    axes, query, value = attention_axes(x, p), x[0].shape, x[1].shape
    fixed = tuple(query[axis] for axis in range(x[0].rank - 1) if axis not in axes)
    return (*fixed, p.num_heads, *(query[axis] for axis in axes), *(value[axis] for axis in axes))


def _is_sizes(value: object) -> bool:
    return isinstance(value, tuple) and 1 <= len(value) <= 3 and all(type(size) is int and size >= 1 for size in value)


def _is_axes(value: object) -> bool:
    return isinstance(value, tuple) and 1 <= len(value) <= 4 and all(type(axis) is int for axis in value)


def _draw_attention_axes(draw: Draw, x: Types, p: Any) -> Shape:
    """Axes that include all along which the lengths differ."""
    rank = x[0].rank
    axes = [a for a in range(1, rank - 1) if x[0].shape[a] != x[1].shape[a] or draw.chance(0.5)] or [1]
    return tuple(axis - rank for axis in axes) if draw.chance(0.3) else tuple(axes)


layer(
    "MultiHeadAttention",
    ranks=(3, 4, 5),
    arity=(2, 4),
    params={
        "num_heads": Ints(1, 4),
        "key_dim": Ints(1, 6),
        "value_dim": Optional(Ints(1, 6)),
        "output_shape": Optional(
            Computed(
                "sizes of the output's last axes",
                simplest=(1,),
                check=_is_sizes,
                draw=lambda draw, x, p: tuple(draw.integer(1, 5) for _ in range(draw.integer(1, 2))),
            )
        ),
        "attention_axes": Optional(
            Computed("axes between batch and features", simplest=(1,), check=_is_axes, draw=_draw_attention_axes)
        ),
        **many_heads_params(),
        "return_attention_scores": _RareScores(False, True),
    },
    call_params=("attention_mask", *CALL),
    rules={
        **MANY_HEADS,
        "attention axes exist, the others agree": _axes_fit,
        "masks need attention over axis 1 alone": _masks_have_an_axis,
    },
    output_ranks=range(3, 8),
    shape=lambda x, p: [
        (*x[0].shape[:-1], *(p.output_shape or x[0].shape[-1:])),
        *([_scores(x, p)] if p.return_attention_scores else []),
    ],
    weights=lambda x, p: head_weights(
        x,
        p,
        p.num_heads,
        p.num_heads,
        (p.key_dim, p.value_dim or p.key_dim),
        p.output_shape or x[0].shape[-1:],
    ),
    mask=lambda x, p: x[0].masked,
    inputs=draw_sequences((3, 3, 3, 4, 5), one_width=False, attention_mask=True),
    excluded=NOT_HERE,
    libraries=(KERAS3,),
    doc="Projections of softmax(q . k / sqrt(key_dim)) . v for each head, with q, k and v projected from the inputs.",
)

layer(
    "GroupQueryAttention",
    ranks=(3,),
    arity=(2, 4),
    params={
        "head_dim": Ints(1, 6),
        "num_query_heads": Ints(1, 6),
        "num_key_value_heads": Computed(
            "a divisor of num_query_heads",
            simplest=1,
            check=lambda value: type(value) is int and value >= 1,
            draw=lambda draw, x, p: draw.choice(
                [heads for heads in range(1, p.num_query_heads + 1) if p.num_query_heads % heads == 0]
            ),
            wrong=(0, -1),
        ),
        **many_heads_params(),
    },
    call_params=("attention_mask", *CALL),
    rules={
        **MANY_HEADS,
        "key heads divide the query heads": lambda x, p: p.num_query_heads % p.num_key_value_heads == 0,
        "query and value have one width": lambda x, p: x[0].shape[-1] == x[1].shape[-1],
    },
    shape=lambda x, p: [
        x[0].shape,
        *([(x[0].shape[0], p.num_query_heads, x[0].shape[1], x[1].shape[1])] if p.return_attention_scores else []),
    ],
    weights=lambda x, p: head_weights(
        x, p, p.num_query_heads, p.num_key_value_heads, (p.head_dim, p.head_dim), x[0].shape[-1:]
    ),
    mask=lambda x, p: x[0].masked,
    inputs=draw_sequences(attention_mask=True),
    excluded=NOT_HERE,
    libraries=(KERAS3,),
    doc="MultiHeadAttention in which groups of query heads share one head of key and value.",
)
