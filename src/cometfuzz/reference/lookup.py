"""Layers that give each number an index."""

import numpy as np

from cometfuzz.catalogue.lookup import depth, first_index
from cometfuzz.reference.call import Array, Call, meaning
from cometfuzz.reference.hashing import farm_hash, sip_hash

DROPPED = -1
"""The index of what no vector counts."""


def encode(call: Call, indices: Array, count: int, mode: str) -> Array:
    """Indices as they are, or as vectors of `count` elements."""
    if mode == "int":
        return indices
    hot: Array = (indices[..., None] == np.arange(count)).astype(np.float64)
    if mode == "one_hot":
        return hot.reshape(call.outputs[0].shape)
    return np.asarray(hot.max(axis=-2, initial=0.0) if mode == "multi_hot" else hot.sum(axis=-2))


@meaning("Discretization")
def discretization(call: Call) -> Array:
    p, x = call.params, call.x
    boundaries = np.array(p.bin_boundaries)
    apart = np.min(np.abs(x[..., None] - boundaries), axis=-1)
    indices = (x[..., None] >= boundaries).sum(axis=-1)
    y = encode(call, indices, len(boundaries) + 1, p.output_mode)
    if p.output_mode == "int":
        call.step(apart)
    elif p.output_mode == "one_hot":
        call.step(np.broadcast_to(apart.reshape(*y.shape[:-1], 1), y.shape))
    else:
        call.step(np.broadcast_to(np.min(apart, axis=-1, keepdims=True, initial=np.inf), y.shape))
    return y


def buckets(tokens: Array, count: int, salt: int | None) -> Array:
    """The hash of the digits of each token, modulo `count`."""

    def bucket(token: int) -> int:
        digits = str(token).encode()
        return (farm_hash(digits) if salt is None else sip_hash(digits, (salt, salt))) % count

    return np.array([bucket(int(token)) for token in tokens.ravel()], dtype=np.int64).reshape(tokens.shape)


@meaning("Hashing")
def hashing(call: Call) -> Array:
    p = call.params
    masked = p.mask_value is not None and p.num_bins > 1
    indices = buckets(call.x, p.num_bins - masked, p.salt) + masked
    if masked:
        indices = np.where(call.x == p.mask_value, 0, indices)
    return encode(call, indices, p.num_bins, p.output_mode)


def _unknown(call: Call) -> Array:
    """The index of each token as if no token were known."""
    p, count = call.params, call.params.num_oov_indices
    before = first_index(p) - count
    if count == 1:
        return np.full(call.x.shape, before)
    return np.asarray(before + (buckets(call.x, count, p.salt) if p.oov_method == "farmhash" else call.x % count))


@meaning("IntegerLookup")
def integer_lookup(call: Call) -> Array:
    p, start = call.params, first_index(call.params)
    if p.invert:
        words = {place + start: word for place, word in enumerate(p.vocabulary)}
        if p.mask_token is not None:
            words[0] = p.mask_token
        return np.array([words.get(int(index), -1) for index in call.x.ravel()]).reshape(call.x.shape)
    indices = _unknown(call)
    for place, word in enumerate(p.vocabulary):
        indices = np.where(call.x == word, place + start, indices)
    if p.mask_token is not None:
        indices = np.where(call.x == p.mask_token, 0 if p.output_mode == "int" else DROPPED, indices)
    if p.output_mode != "tf_idf":
        return encode(call, indices, depth(p), p.output_mode)
    weights = np.zeros(depth(p))
    weights[:start] = call.rounded(np.mean(p.idf_weights))
    weights[start : start + len(p.vocabulary)] = p.idf_weights
    return encode(call, indices, depth(p), "count") * weights
