"""Attention layers, in the form that exporters write and fusions look for."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

from cometfuzz.routes.direct.activation import scaled
from cometfuzz.routes.direct.writing import Call, Unsaid, writes


def far_below(c: Call) -> str:
    """What stands in the place of a score that does not count."""
    return c.number(-3e4 if c.dtype == "float16" else -1e9)


@writes("Attention")
def attention(c: Call) -> list[str]:
    w, p, weights = c.w, c.params, list(c.weights)
    scale = c.weight(weights.pop(0)) if p.use_scale else None
    query, key = c.x[0], c.x[2] if len(c.x) > 2 else c.x[1]
    if p.score_mode == "dot":
        scores = w.op("MatMul", query, w.transpose(key, [0, 2, 1]))
        return _attended(c, w.op("Mul", scores, scale) if scale else scores)
    both = w.op("Add", w.unsqueeze(query, [2]), w.unsqueeze(key, [1]))
    terms = w.op("Tanh", w.op("Mul", both, scale) if scale else both)
    return _attended(c, w.op("Mul", w.reduce("ReduceSum", terms, [-1]), c.weight(weights.pop(0))))


@writes("AdditiveAttention")
def additive_attention(c: Call) -> list[str]:
    w, key = c.w, c.x[2] if len(c.x) > 2 else c.x[1]
    terms = w.op("Tanh", w.op("Add", w.unsqueeze(c.x[0], [2]), w.unsqueeze(key, [1])))
    if c.params.use_scale:
        terms = w.op("Mul", terms, c.weight(c.weights[0]))
    return _attended(c, w.reduce("ReduceSum", terms, [-1]))


def _attended(c: Call, scores: str) -> list[str]:
    c.expect_no_mask()
    w = c.w
    if c.params.use_causal_mask:
        allowed = np.tri(c.types[0].shape[1], c.types[1].shape[1], dtype=bool)
        scores = w.where(w.constant(allowed, "bool"), scores, far_below(c))
    weights = w.op("Softmax", scores, axis=-1)
    output = w.op("MatMul", weights, c.x[1])
    return [output, weights] if c.params.return_attention_scores else [output]


@writes("MultiHeadAttention", "GroupQueryAttention")
def many_heads(c: Call) -> list[str]:
    """Projections as products of matrices, heads in front, and back."""
    c.expect_no_mask()
    w, p = c.w, c.params
    tensors = c.x[:-1] if p.attention_mask else c.x
    types = c.types[:-1] if p.attention_mask else c.types
    query, value, key = tensors if len(tensors) > 2 else (*tensors, tensors[1])
    if c.rank != 3:
        raise Unsaid("nobody writes attention over several axes")
    names = ["query", "key", *(["gate"] if p.use_gate else []), "value", "output"]
    given = list(c.weights)
    own = {name: (given.pop(0), given.pop(0) if p.use_bias else None) for name in names}
    heads, groups = own["query"][0].shape[1], own["key"][0].shape[1]
    sizes = types[0].shape[:2], types[-1 if len(types) > 2 else 1].shape[:2], types[1].shape[:2]
    size = own["query"][0].shape[2]
    q = w.transpose(scaled(w, _projected(c, query, own["query"], sizes[0]), 1 / math.sqrt(size)), [0, 2, 1, 3])
    k = _projected(c, key, own["key"], sizes[1])
    v = _projected(c, value, own["value"], sizes[2])
    if heads != groups:
        shared = w.ints([place * groups // heads for place in range(heads)])
        k, v = w.op("Gather", k, shared, axis=2), w.op("Gather", v, shared, axis=2)
    scores = w.op("MatMul", q, w.transpose(k, [0, 2, 3, 1]))
    allowed = _allowed(c, sizes[0][1], sizes[1][1])
    if allowed is not None:
        scores = w.where(allowed, scores, far_below(c))
    weights = w.op("Softmax", scores, axis=-1)
    if allowed is not None:
        weights = w.where(allowed, weights, c.number(0.0))
    attended = w.transpose(w.op("MatMul", weights, w.transpose(v, [0, 2, 1, 3])), [0, 2, 1, 3])
    if p.use_gate:
        attended = w.op("Mul", attended, w.op("Sigmoid", _projected(c, query, own["gate"], sizes[0])))
    output = _put_out(c, attended, own["output"], sizes[0])
    return [output, weights] if p.return_attention_scores else [output]


def _projected(c: Call, x: str, weights: tuple[Any, Any], sizes: tuple[int, ...]) -> str:
    """(batch, steps, features) as (batch, steps, heads, size)."""
    kernel, bias = weights
    features, heads, size = kernel.shape
    y = c.w.op("MatMul", x, c.weight(kernel.reshape(features, heads * size)))
    if bias is not None:
        y = c.w.op("Add", y, c.weight(bias.reshape(heads * size)))
    return c.w.reshape(y, [*sizes, heads, size])


def _put_out(c: Call, attended: str, weights: tuple[Any, Any], sizes: tuple[int, ...]) -> str:
    kernel, bias = weights
    inner, shape = kernel.shape[0] * kernel.shape[1], kernel.shape[2:]
    matrix = c.weight(kernel.reshape(inner, math.prod(shape)))
    y = c.w.op("MatMul", c.w.reshape(attended, [*sizes, inner]), matrix)
    y = y if bias is None else c.w.op("Add", y, c.weight(bias.reshape(math.prod(shape))))
    return y if len(shape) == 1 else c.w.reshape(y, [*sizes, *shape])


def _allowed(c: Call, queries: int, keys: int) -> Optional[str]:
    """Which query may attend to which key, if not all to all."""
    w, p, known = c.w, c.params, np.ones((queries, keys), dtype=bool)
    if p.use_causal_mask:
        known = known & np.tri(queries, keys, dtype=bool)
    if p.sliding_window is not None:
        known = known & (np.abs(np.arange(queries)[:, None] - np.arange(keys)) < p.sliding_window)
    fixed = None if known.all() else w.constant(known, "bool")
    if not p.attention_mask:
        return fixed
    mask = w.unsqueeze(c.x[-1], [1])
    return mask if fixed is None else w.op("And", mask, fixed)
