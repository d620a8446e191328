"""Operators that put in order, look up, count and gather by number."""

import numpy as np

from cometfuzz.reference.call import Array, Call, meaning
from cometfuzz.reference.run import roundoff


def _gaps(ranked: Array) -> Array:
    """How far each element of sorted ones is from its nearest neighbour."""
    between = np.diff(ranked.astype(float), axis=-1)
    edge = np.full((*ranked.shape[:-1], 1), np.inf)
    return np.asarray(np.minimum(np.concatenate([edge, between], axis=-1), np.concatenate([between, edge], axis=-1)))


@meaning("ops.argsort")
def places_in_order(call: Call) -> Array:
    flat = call.params.axis is None
    x, axis = (call.x.reshape(-1), 0) if flat else (call.x, call.params.axis)
    order = np.argsort(x, axis=axis, kind="stable")
    gaps = np.moveaxis(_gaps(np.moveaxis(np.take_along_axis(x, order, axis=axis), axis, -1)), -1, axis)
    call.step(gaps)
    call.undecided(~(gaps > 0))
    return order.astype(np.int32)


@meaning("ops.top_k")
def largest(call: Call) -> list[Array]:
    """Which of equal elements it is, is open; the values are the same."""
    k = call.params.k
    order = np.argsort(-call.x, axis=-1, kind="stable")
    ranked = np.take_along_axis(call.x, order, axis=-1)
    gaps = _gaps(-ranked)[..., :k]
    call.step(gaps)
    call.undecided(~(gaps > 0), output=1)
    return [ranked[..., :k], order[..., :k].astype(np.int32)]


@meaning("ops.in_top_k")
def is_among_largest(call: Call) -> Array:
    """It is, if fewer than k scores are larger; open, if it takes equal ones to say so."""
    targets, scores = call.inputs
    k = call.params.k
    own = np.take_along_axis(scores, targets[:, None], axis=-1)
    ranked = np.sort(scores, axis=-1)[:, ::-1]
    inside = np.sum(scores > own, axis=-1) < k
    beyond = ranked[:, k] if k < ranked.shape[1] else np.full(len(ranked), -np.inf)
    distance = np.where(inside, own[:, 0] - beyond, ranked[:, k - 1] - own[:, 0])
    call.step(distance)
    call.undecided(~(distance > 0))
    return np.asarray(inside)


def _find(call: Call, limits: Array, numbers: Array, right: bool) -> Array:
    """How many limits are below each number; `right`: or equal to it."""
    apart = numbers.astype(float)[..., None] - limits.astype(float)
    call.step(np.min(np.abs(apart), axis=-1, initial=np.inf))  # there may be no limits
    return np.asarray(np.sum(apart >= 0 if right else apart > 0, axis=-1, dtype=np.int32))


@meaning("ops.searchsorted")
def search(call: Call) -> Array:
    limits, numbers = call.inputs
    return _find(call, limits, numbers, call.params.side == "right")


@meaning("ops.digitize")
def between_limits(call: Call) -> Array:
    numbers, limits = call.inputs
    return _find(call, limits, numbers, right=True)


@meaning("ops.one_hot")
def one_hot(call: Call) -> Array:
    hot = np.moveaxis(call.x[..., None] == np.arange(call.params.num_classes), -1, call.params.axis)
    return np.asarray(hot, dtype=np.int32 if call.params.dtype == "int32" else float)


@meaning("ops.multi_hot")
def multi_hot(call: Call) -> Array:
    hot = (call.x[..., None] == np.arange(call.params.num_classes)).any(axis=-2)
    return np.asarray(hot, dtype=np.int32 if call.params.dtype == "int32" else float)


@meaning("ops.histogram")
def histogram(call: Call) -> list[Array]:
    """A number as near to a limit as the rounding of its distance from the lowest one may lie on either side."""
    low, high = call.params.range
    limits = np.linspace(low, high, call.params.bins + 1)
    counts = np.histogram(call.x, bins=call.params.bins, range=(low, high))[0].astype(float)
    distance = np.min(np.abs(call.x[:, None] - limits), initial=np.inf)
    call.undecided(np.full(counts.shape, distance <= 4 * roundoff(call.types[0].dtype) * (high - low)))
    return [counts, limits]


@meaning("ops.segment_sum", "ops.segment_prod", "ops.segment_max", "ops.segment_min")
def segment(call: Call) -> Array:
    """What the largest and the smallest of nothing is, is not documented."""
    data, numbers = call.inputs
    kind, count = call.layer.rpartition("_")[2], call.params.num_segments
    rows = [data[numbers == number] for number in range(count)]
    if kind == "sum":
        return np.stack([call.add_up(row, 0) for row in rows])
    if kind == "prod":
        call.rounded(np.prod(np.maximum(np.abs(data), 1.0), axis=0))
        return call.rounded(np.stack([np.prod(row, axis=0) for row in rows]))
    nothing = np.array([len(row) == 0 for row in rows]).reshape(count, *[1] * (data.ndim - 1))
    extreme = np.max if kind == "max" else np.min
    result = np.stack([extreme(row, axis=0) if len(row) else np.zeros(data.shape[1:]) for row in rows])
    call.undecided(np.broadcast_to(nothing, result.shape))
    return result
