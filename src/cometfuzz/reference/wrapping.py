"""Wrappers: the meaning of the layer inside, called in the wrapper's own way."""

import numpy as np

from cometfuzz.catalogue.recurrent import step_type
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.catalogue.wrapping import backward_of, piped
from cometfuzz.ir.graph import Inner
from cometfuzz.reference.call import Array, Call, Freedom, evaluate, meaning
from cometfuzz.reference.recurrent import recur


def _weights_of(call: Call, prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): w for name, w in call.weights.items() if name.startswith(prefix)}


def _direction(call: Call, inner: Inner, prefix: str) -> list[Array]:
    """The outputs of one direction; documented: in returned sequences, masked steps are zero. Of initial states, either
    has half."""
    given = call.inputs[1:]
    half = len(given) // 2
    inputs = [call.x, *(given[:half] if prefix == "forward_" else given[half:])]
    within = call.inner(inner.layer, inner.params, weights=_weights_of(call, prefix), inputs=inputs)
    return recur(within, zero_masked=inner.params.return_sequences)


@meaning("Bidirectional")
def bidirectional(call: Call) -> list[Array]:
    p = call.params
    forward, *states = _direction(call, p.layer, "forward_")
    backward, *more = _direction(call, backward_of(p), "backward_")
    if p.layer.params.return_sequences:
        backward = backward[:, ::-1]
    if p.merge_mode is None:
        return [forward, backward, *states, *more]
    if p.merge_mode == "concat":
        merged = np.concatenate([forward, backward], axis=-1)
    elif p.merge_mode == "mul":
        merged = forward * backward
    else:
        merged = call.rounded(forward + backward) / (2.0 if p.merge_mode == "ave" else 1.0)
    return [merged, *states, *more]


@meaning("TimeDistributed")
def time_distributed(call: Call) -> Array:
    inner, kind = call.params.layer, step_type(call.types[0])
    call.leave(Freedom.SUM)  # whatever is inside
    outputs = spec_of(inner.layer).outputs([kind], inner.params)
    steps = [
        evaluate(call.inner(inner.layer, inner.params, inputs=[x], masks=[None], types=[kind], outputs=outputs))[0]
        for x in np.moveaxis(call.x, 1, 0)
    ]
    return np.stack(steps, axis=1)


@meaning("SpectralNormalization")
def spectral_normalization(call: Call) -> Array:
    """Only training touches the kernel; what is stored is used as it is."""
    inner = call.params.layer
    return evaluate(call.inner(inner.layer, inner.params))[0]


@meaning("Pipeline")
def pipeline(call: Call) -> Array:
    """One layer after the other; each rounds what it makes."""
    y = call.x
    for place, (inner, types) in enumerate(piped(call.types[0], call.params)):
        outputs = spec_of(inner.layer).outputs(types, inner.params)
        weights = _weights_of(call, f"layer{place}_")
        given = {"inputs": [call.rounded(y) if place else y], "masks": [None], "types": types, "outputs": outputs}
        y = evaluate(call.inner(inner.layer, inner.params, weights=weights, **given))[0]
    return y
