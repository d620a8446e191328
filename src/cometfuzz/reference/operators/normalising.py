"""Operators that normalise, compare with a target, and attend."""

import math

import numpy as np

from cometfuzz.catalogue.operators import axes_of
from cometfuzz.reference.activation import keep_from_masked, log_softmax, softmax, step_beside_nan
from cometfuzz.reference.attention import triangle
from cometfuzz.reference.call import Array, Call, Freedom, meaning
from cometfuzz.reference.normalisation import along, epsilon, mean, standardised, unit

USUAL_EPSILON = 1e-7


def with_epsilon(call: Call) -> Call:
    """The same call, with Keras' own epsilon where none is given."""
    given = call.params.epsilon
    return call.inner(call.layer, call.params.replace(epsilon=USUAL_EPSILON if given is None else given))


def sorted_axes(call: Call) -> tuple[int, ...]:
    return tuple(sorted(axes_of(call.params.axis, call.x.ndim)))


@meaning("ops.normalize")
def normalize(call: Call) -> Array:
    call, axes = with_epsilon(call), sorted_axes(call)
    least, order = call.params.epsilon, call.params.order
    if order == 2:
        return unit(call, call.x, axes, least)
    norm = call.add_up(np.abs(call.x) ** order, axes, keepdims=True) ** (1.0 / order)
    return np.asarray(call.x / np.maximum(call.rounded(norm), least))


@meaning("ops.layer_normalization")
def layer_normalization(call: Call) -> Array:
    call, axes = with_epsilon(call), sorted_axes(call)
    y = standardised(call, call.x, axes)
    vectors = [along(vector, axes, call.x.ndim) for vector in call.inputs[1:]]
    y = y * vectors[0] if vectors else y
    return y + vectors[1] if len(vectors) > 1 else y


@meaning("ops.rms_normalization")
def rms_normalization(call: Call) -> Array:
    call, axes = with_epsilon(call), sorted_axes(call)
    call.leave(Freedom.SUM)
    square = call.rounded(mean(np.square(call.x), axes))
    y = call.x / np.sqrt(square + epsilon(call, square, call.x.shape))
    return np.asarray(y * call.inputs[1] if len(call.inputs) > 1 else y)


@meaning("ops.batch_normalization")
def batch_normalization(call: Call) -> Array:
    """Libraries may put scale and deviation together first, and the mean with the offset: all of these are rounded."""
    axes = sorted_axes(call)
    average, variance, *others = (along(vector, axes, call.x.ndim) for vector in call.inputs[1:])
    call.leave(Freedom.SUM)
    factor = 1.0 / np.sqrt(call.rounded(variance + epsilon(call, variance, call.x.shape)))
    if len(others) > 1:
        factor = factor * others[1]
    factor = call.rounded(factor)
    y = call.rounded(call.x * factor) - call.rounded(average * factor)
    return np.asarray(y + others[0] if others else y)


@meaning("ops.binary_crossentropy")
def binary_crossentropy(call: Call) -> Array:
    target, logits = call.inputs
    product = call.rounded(logits * target)
    return np.maximum(logits, 0.0) - product + np.log1p(np.exp(-np.abs(logits)))


@meaning("ops.categorical_crossentropy")
def categorical_crossentropy(call: Call) -> Array:
    target, logits = (np.moveaxis(x, call.params.axis, -1) for x in call.inputs)
    return -call.add_up(target * call.rounded(log_softmax(logits, call.rounded)), -1)


@meaning("ops.sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(call: Call) -> Array:
    target, logits = call.x, np.moveaxis(call.inputs[1], call.params.axis, -1)
    chosen = np.take_along_axis(log_softmax(logits, call.rounded), target[..., None], axis=-1)
    return -chosen[..., 0]


@meaning("ops.dot_product_attention")
def dot_product_attention(call: Call) -> Array:
    """A query that may attend to no key has no weights that anybody documents."""
    query, key, value, *others = call.inputs
    repeats = query.shape[2] // key.shape[2]
    key, value = (np.repeat(side, repeats, axis=2) for side in (key, value))
    scale = 1.0 / math.sqrt(query.shape[3]) if call.params.scale is None else call.params.scale
    scores = call.contract("btnh,bsnh->bnts", query, key) * scale
    if others:
        scores = scores + others[0]
    scores = call.rounded(scores)
    allowed = np.ones(scores.shape, bool)
    if len(others) > 1:
        allowed = allowed & others[1]
    if call.params.is_causal:
        allowed = allowed & triangle(*scores.shape[2:])
    step_beside_nan(call, scores, -1)
    keep_from_masked(call, scores, allowed)
    lost = ~allowed.any(axis=-1, keepdims=True)
    weights = call.rounded(softmax(np.where(lost, 0.0, np.where(allowed, scores, -np.inf))))
    nowhere = np.moveaxis(np.where(lost, 0.0, np.inf), 1, 2)
    call.step(np.broadcast_to(nowhere, call.x.shape))
    return call.contract("bnts,bsnh->btnh", weights, value)
