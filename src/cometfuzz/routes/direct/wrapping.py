"""Wrappers: the layer inside, written in the wrapper's own way."""

from __future__ import annotations

from dataclasses import replace

from cometfuzz.ir.graph import Inner
from cometfuzz.routes.direct.activation import scaled
from cometfuzz.routes.direct.recurrent import Direction, both_ways
from cometfuzz.routes.direct.writing import Call, Unsaid, writes


@writes("Bidirectional")
def bidirectional(c: Call) -> list[str]:
    c.expect_no_mask()
    w, p = c.w, c.params
    back = p.backward_layer or Inner(p.layer.layer, p.layer.params.replace(go_backwards=True))
    count = 3 if p.layer.params.use_bias else 2
    forward = Direction(p.layer.layer, p.layer.params, c.weights[:count])
    outputs, states = both_ways(c, forward, Direction(back.layer, back.params, c.weights[count:]))
    if p.merge_mode is None:
        return [*outputs, *states]
    if p.merge_mode == "concat":
        return [w.op("Concat", *outputs, axis=-1), *states]
    merged = w.op("Mul" if p.merge_mode == "mul" else "Add", *outputs)
    return [scaled(w, merged, 0.5) if p.merge_mode == "ave" else merged, *states]


@writes("TimeDistributed")
def time_distributed(c: Call) -> str:
    """Steps are samples to the layer inside."""
    batch, steps, *rest = c.shape
    inner, out = c.params.layer, c.outputs[0]
    seen = replace(c.types[0], shape=(batch * steps, *rest), masked=False)
    made = replace(out, shape=(batch * steps, *out.shape[2:]), masked=False)
    x = c.w.reshape(c.x[0], seen.shape)
    (y,) = c.within(inner.layer, inner.params, x=(x,), types=(seen,), outputs=(made,))
    return c.w.reshape(y, out.shape)


@writes("SpectralNormalization")
def spectral_normalization(c: Call) -> list[str]:
    """In inference the layer itself; its second weight is for training."""
    inner = c.params.layer
    if not c.weights:
        raise Unsaid("there is no kernel")
    return c.within(inner.layer, inner.params, weights=(c.weights[0], *c.weights[2:]))
