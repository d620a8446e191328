"""Operators on each element by itself; formulas of their blocks say what nearly all of them compute."""

import math

import numpy as np

from cometfuzz.reference.activation import erfc as complement
from cometfuzz.reference.call import Array, Call, meaning
from cometfuzz.reference.run import roundoff

_erf = np.vectorize(math.erf, otypes=[float])


@meaning("ops.erf")
def erf(call: Call) -> Array:
    return np.asarray(_erf(call.x))


@meaning("ops.erfc")
def erfc(call: Call) -> Array:
    return complement(call.x)


@meaning("ops.erfinv")
def erfinv(call: Call) -> Array:
    """An estimate of half a digit or more, made exact by Newton's steps; NaN outside of [-1, 1]."""
    logarithm = np.log((1.0 - call.x) * (1.0 + call.x))
    half = 2.0 / (math.pi * _SHARE) + logarithm / 2.0
    found = np.copysign(np.sqrt(np.sqrt(half**2 - logarithm / _SHARE) - half), call.x)
    for _ in range(4):
        step = (_erf(found) - call.x) * np.exp(found**2) * (math.sqrt(math.pi) / 2.0)
        found = np.where(np.isfinite(step), found - step, found)
    return np.asarray(np.where(np.abs(call.x) == 1.0, np.copysign(np.inf, call.x), found))


_SHARE = 0.147
"""The constant for which erf(y)^2 = 1 - exp(-y^2 (4 / pi + a y^2) / (1 + a y^2)) holds best."""


@meaning("ops.isclose")
def is_close(call: Call) -> Array:
    """Whether |x - y| <= atol + rtol |y|; where both sides are nearly equal, rounding decides."""
    x, y = call.inputs
    allowed = call.params.atol + call.params.rtol * np.abs(y)
    room = allowed - np.abs(x - y)
    call.step(room)
    unit = roundoff(call.types[0].dtype)
    call.undecided((np.abs(room) <= 4 * unit * (np.abs(x) + np.abs(y) + allowed)) & (x != y))
    both = np.isnan(x) & np.isnan(y) & call.params.equal_nan
    return np.asarray((x == y) | both | ((room >= 0) & np.isfinite(x) & np.isfinite(y)))
