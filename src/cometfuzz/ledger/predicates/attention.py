"""Conditions on attention layers."""

from typing import Any

from cometfuzz.catalogue.attention import attention_axes, sequences
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate
from cometfuzz.ledger.predicates.merging import adds_along_another_axis


def _head_size(p: Params) -> int:
    return int(p.key_dim if "key_dim" in p else p.head_dim)


@predicate
def fused_attention(x: Any, p: Params) -> bool:
    """Keras takes the way through its fused operation."""
    return p.dropout == 0 and not p.return_attention_scores and x[0].rank == 3


@predicate
def value_size_differs(x: Any, p: Params) -> bool:
    """The heads of keys and values have different sizes in the fused operation, where JAX wants one."""
    return fused_attention(x, p) and p.value_dim not in (None, p.key_dim)


@predicate
def no_queries(x: Any, p: Params) -> bool:
    """The batch is empty, or there is no query in it."""
    return 0 in x[0].shape[:2]


@predicate
def misstates_scores(x: Any, p: Params) -> bool:
    """Scores are returned that have not the shape (batch, heads, queries, queries), for which Keras takes them."""
    return bool(p.return_attention_scores) and (x[0].rank != 3 or x[0].shape[1] != x[1].shape[1])


@predicate
def may_leave_a_query_alone(x: Any, p: Params) -> bool:
    """Masks may leave a query without a key on the way through Keras' fused operation."""
    beyond = p.sliding_window is not None and x[0].shape[1] - x[1].shape[1] >= p.sliding_window
    return fused_attention(x, p) and bool(p.attention_mask or beyond or any(kind.masked for kind in x))


@predicate
def attends_along_one_axis(x: Any, p: Params) -> bool:
    """Attention along a single axis."""
    return len(attention_axes(x, p)) == 1


@predicate
def scale_is_inexact(x: Any, p: Params) -> bool:
    """1 / sqrt(size of a head) has no exact form in float32."""
    return _head_size(p) not in (1, 4, 16, 64)


@predicate
def projection_bias_goes_astray(x: Any, p: Params) -> bool:
    """Keras on TensorFlow adds the bias of a projection along a wrong axis."""
    if not p.use_bias:
        return False
    query, value, key = sequences(x)
    heads = p.num_heads if "num_heads" in p else p.num_query_heads
    key_heads = heads if "num_heads" in p else p.num_key_value_heads
    size = _head_size(p)
    value_size = p.get("value_dim") or size
    additions = [
        (query, (heads, size)),
        (key, (key_heads, size)),
        (value, (key_heads, value_size)),
        (query, p.get("output_shape") or query.shape[-1:]),
        *([(query, (heads, value_size))] if p.use_gate else []),
    ]
    return any(adds_along_another_axis((*kind.shape[:-1], *bias), bias) for kind, bias in additions)
