"""Regimes of data: kinds of numbers on which libraries compute in other ways, or lose something."""

import numpy as np

from cometfuzz.catalogue.data import to_array
from cometfuzz.ir.case import Tensor
from cometfuzz.ir.types import FLOATS

ORDINARY, SPECIAL, LARGE, SMALL, CONSTANT, SPREAD = "ordinary", "special", "large", "small", "constant", "spread"
REGIMES = (ORDINARY, SPECIAL, LARGE, SMALL, CONSTANT, SPREAD)

LARGEST, SMALLEST, WIDEST = 1e4, 1e-3, 2.0**16
"""Beyond which size numbers are large, below which they are small, and from which ratio on they are spread: half of
float32's digits are lost from 2^12 on."""


def regime_of(tensor: Tensor) -> str:
    """The regime of the numbers of a tensor; integers and booleans are ordinary."""
    if tensor.dtype not in FLOATS:
        return ORDINARY
    values = np.abs(to_array(tensor).astype(np.float64)).ravel()
    if not np.isfinite(values).all():
        return SPECIAL
    some = values[values > 0]
    if values.size > 1 and (values == values[0]).all():
        return CONSTANT
    if some.size and some.max() > LARGEST:
        return LARGE
    if some.size and some.max() < SMALLEST:
        return SMALL
    return SPREAD if some.size and some.max() / some.min() > WIDEST else ORDINARY
