"""Conditions on pooling layers."""

from typing import Any

from cometfuzz.catalogue.shapes import spatial
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate


def borders(x: Any, p: Params) -> list[int]:
    """How much "same" pads each axis in all."""
    axes = zip(spatial(x, p), p.pool_size, p.strides or p.pool_size, strict=True)
    return [max((-(-n // s) - 1) * s + k - n, 0) if p.padding == "same" else 0 for n, k, s in axes]


@predicate
def lopsided_borders(x: Any, p: Params) -> bool:
    """ "same" pads more behind than before, which torch cannot do by itself."""
    return any(total % 2 for total in borders(x, p))


@predicate
def window_exceeds_input(x: Any, p: Params) -> bool:
    """A pooling window is larger than the input, without lopsided borders."""
    return not lopsided_borders(x, p) and any(n < k for n, k in zip(spatial(x, p), p.pool_size, strict=True))


@predicate
def larger_window_does_not_fit(x: Any, p: Params) -> bool:
    """Keras' adaptive pooling tries windows of ceil(n / outputs) + 1 as well, and one does not fit."""
    places = spatial(x, p)
    sizes = p.output_size if isinstance(p.output_size, tuple) else (p.output_size,) * len(places)
    return any(-(-n // size) + 1 > n for n, size in zip(places, sizes, strict=True))


@predicate
def larger_window_does_not_fit_last_axis(x: Any, p: Params) -> bool:
    """The same along the last spatial axis, of an input that has elements."""
    return bool(x.elements) and (p.output_size[-1] == 1 or spatial(x, p)[-1] == 1)


@predicate
def pools_to_more_than_one(x: Any, p: Params) -> bool:
    """Adaptive pooling to more than a single place."""
    return any(size != 1 for size in p.output_size)


@predicate
def outputs_are_no_factor(x: Any, p: Params) -> bool:
    """Adaptive pooling to sizes that do not divide the input's."""
    return any(n % size for n, size in zip(spatial(x, p), p.output_size, strict=True))


@predicate
def channels_first_or_keepdims(x: Any, p: Params) -> bool:
    """The channels come first, or the pooled axes stay."""
    return bool(p.data_format == "channels_first" or p.keepdims)
