"""Attention layers: scores, what may be attended to, softmax, and the weighted sum of the values."""

import string

import numpy as np

from cometfuzz.catalogue.attention import attention_axes
from cometfuzz.reference.activation import FAR_BELOW, activate, keep_from_masked, softmax, step_beside_nan, wide_softmax
from cometfuzz.reference.call import Array, Call, Mask, meaning


def triangle(queries: int, keys: int) -> Mask:
    """Query i may attend to keys up to i."""
    return np.arange(queries)[:, None] >= np.arange(keys)


def _key(call: Call) -> Array:
    return call.inputs[2] if len(call.inputs) > 2 else call.inputs[1]


@meaning("Attention")
def attention(call: Call) -> list[Array]:
    p, query, key = call.params, call.x, _key(call)
    scale = call.weights.get("scale", np.ones(()))
    if p.score_mode == "dot":
        scores = call.contract("bqd,bkd->bqk", query, key) * scale
    else:
        both = call.rounded(query[:, :, None] + key[:, None])
        scores = call.weights["concat_score_weight"] * _sum(call, np.tanh(scale * both))
    return _attend(call, scores)


@meaning("AdditiveAttention")
def additive_attention(call: Call) -> list[Array]:
    both = np.tanh(call.rounded(call.x[:, :, None] + _key(call)[:, None]))
    return _attend(call, _sum(call, call.weights.get("scale", np.ones(())) * both))


def _sum(call: Call, terms: Array) -> Array:
    """The sum over the last axis of terms that a library has rounded."""
    return call.rounded(call.rounded(terms).sum(axis=-1))


def _attend(call: Call, scores: Array) -> list[Array]:
    """A masked key gets no weight, a masked query the output zero.

    Keras asks for at least one key for each query. Where a query has none, the scores minus a large number are what
    is left, so that what a library makes of them depends on its rounding: the bound has to know that.
    """
    p, value_mask = call.params, call.masks[1]
    allowed = np.ones(scores.shape, bool)
    if p.use_causal_mask:
        allowed = allowed & triangle(*scores.shape[1:])
    if value_mask is not None:
        allowed = allowed & value_mask[:, None]
    scores = call.rounded(scores)
    step_beside_nan(call, scores, -1)
    keep_from_masked(call, scores, allowed)
    if allowed.all():
        weights = softmax(scores)
    else:
        lost = ~allowed.any(axis=-1, keepdims=True)
        below = call.rounded(scores - FAR_BELOW) if lost.any() else scores
        weights = softmax(np.where(lost, below, np.where(allowed, scores, -np.inf)))
    weights = call.rounded(weights)
    output = call.contract("bqk,bkd->bqd", weights, call.inputs[1])
    if call.mask is not None:
        output = np.where(call.mask[..., None], output, 0.0)
    return [output, weights] if p.return_attention_scores else [output]


@meaning("MultiHeadAttention", "GroupQueryAttention")
def many_heads(call: Call) -> list[Array]:
    """Each head attends for itself; where a query may attend to no key, the sum over keys is empty, hence zero."""
    p, w = call.params, call.weights
    tensors = call.inputs[:-1] if p.attention_mask else call.inputs
    query, value, key = (*tensors, tensors[1]) if len(tensors) == 2 else tensors
    axes = attention_axes(tuple(call.types), p) if "attention_axes" in p else (1,)
    q, k, v = _project(call, query, "query"), _project(call, key, "key"), _project(call, value, "value")
    repeats = w["kernel_query"].shape[1] // w["kernel_key"].shape[1]
    k, v = (np.repeat(side, repeats, axis=-2) for side in (k, v))
    q = call.rounded(q / np.sqrt(q.shape[-1]))
    letters = string.ascii_lowercase
    target, other = letters[: q.ndim], iter(letters[q.ndim + 1 :])
    source = "".join(next(other) if number in axes else letter for number, letter in enumerate(target))
    batch = "".join(letter for number, letter in enumerate(target[:-1]) if number not in axes)
    kept = "".join(target[axis] for axis in axes), "".join(source[axis] for axis in axes)
    pairs = batch + kept[0] + kept[1]
    scores = call.contract(f"{target},{source}->{pairs}", q, k)
    weights = _masked_softmax(call, scores, len(axes))
    wide = target[:-1] + letters[q.ndim]
    attended = call.contract(f"{pairs},{source[:-1] + letters[q.ndim]}->{wide}", weights, v)
    if p.use_gate:
        attended = attended * activate(call, _project(call, query, "gate"), "sigmoid")
    output = np.tensordot(call.rounded(attended), w["kernel_output"], axes=2)
    call.judging.note(np.tensordot(np.abs(attended), np.abs(w["kernel_output"]), axes=2))
    if p.use_bias:
        output = output + w["bias_output"]
    return [output, weights] if p.return_attention_scores else [output]


def _project(call: Call, x: Array, name: str) -> Array:
    """(..., features) to (..., heads, size)."""
    y = call.contract("...i,ijk->...jk", x, call.weights[f"kernel_{name}"])
    return call.rounded(y + call.weights[f"bias_{name}"]) if call.params.use_bias else y


def _masked_softmax(call: Call, scores: Array, axes: int) -> Array:
    """Softmax over the last axes, zero where attention is not allowed."""
    allowed = _allowed(call, scores)
    flat = scores.reshape(*scores.shape[:-axes], int(np.prod(scores.shape[-axes:])))
    kept = np.broadcast_to(allowed, scores.shape).reshape(flat.shape)
    step_beside_nan(call, np.where(kept, flat, 0.0), -1)
    keep_from_masked(call, flat, kept)
    lost = ~kept.any(axis=-1, keepdims=True)
    flat = np.where(kept, flat, np.where(lost, 0.0, -np.inf))
    weights = softmax(flat) if axes == 1 else wide_softmax(flat, (-1,), call.rounded)
    return call.rounded(np.where(kept, weights, 0.0)).reshape(scores.shape)


def _allowed(call: Call, scores: Array) -> Mask:
    """Which query may attend to which key: (batch, 1..., queries, keys), or True for all."""
    p, masks = call.params, call.masks
    if scores.ndim < 4:
        return np.ones((), bool)
    queries, keys = scores.shape[-2:]
    allowed = np.ones((1, queries, keys), bool)
    if p.use_causal_mask:
        allowed = allowed & triangle(queries, keys)
    if p.sliding_window is not None:
        allowed = allowed & (np.abs(np.arange(queries)[:, None] - np.arange(keys)) < p.sliding_window)
    if p.attention_mask:
        allowed = allowed & call.inputs[-1]
    if masks[0] is not None:
        allowed = allowed & masks[0][:, :, None]
    for mask in masks[1:]:
        if mask is not None:
            allowed = allowed & mask[:, None]
    return allowed.reshape(allowed.shape[0], *[1] * (scores.ndim - 3), queries, keys)
