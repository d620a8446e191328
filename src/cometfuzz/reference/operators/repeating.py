"""Operators that pad, and the trace; formulas of their blocks say what the others do."""

import numpy as np

from cometfuzz.catalogue.operators.repeating import pads
from cometfuzz.reference.call import Array, Call, meaning


@meaning("ops.pad")
def pad(call: Call) -> Array:
    p = call.params
    if p.mode != "constant":
        return np.pad(call.x, pads(p, call.x.ndim), mode=p.mode)
    return np.pad(call.x, pads(p, call.x.ndim), constant_values=p.constant_values or 0)


@meaning("ops.trace")
def trace(call: Call) -> Array:
    p = call.params
    return call.add_up(np.diagonal(call.x, p.offset, p.axis1, p.axis2), axis=-1)
