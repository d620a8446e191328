"""Conditions on EinsumDense."""

from typing import Any

from cometfuzz.catalogue.einsum import output_shape, parse, weights
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.predicates import predicate
from cometfuzz.ledger.predicates.merging import adds_along_another_axis, adds_nothing


@predicate
def reverses_elided_axes(x: TensorType, p: Params) -> bool:
    """Keras puts the axes behind an ellipsis on the left in reverse order into the output's shape."""
    e = parse(p.equation)
    elided = x.shape[1 : x.rank - len(e.inputs)] if e.ellipsis == "left" else ()
    return elided != elided[::-1]


@predicate
def einsum_bias_goes_astray(x: Any, p: Params) -> bool:
    """Keras on TensorFlow adds the bias along a wrong axis."""
    return p.bias_axes is not None and adds_along_another_axis(output_shape(x, p), weights(x, p)["bias"])


@predicate
def einsum_bias_is_empty(x: Any, p: Params) -> bool:
    """Keras on TensorFlow takes an empty bias for one of rank 1."""
    return p.bias_axes is not None and adds_nothing(output_shape(x, p), weights(x, p)["bias"])


@predicate
def einsum_rank_above_5(x: Any, p: Params) -> bool:
    """The output has more than five axes."""
    return len(output_shape(x, p)) > 5
