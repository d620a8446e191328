"""Gaps of initialisers, which any layer with weights may name."""

from collections.abc import Iterator
from typing import Any

from cometfuzz.ir.graph import Inner, Params
from cometfuzz.routes.gaps import Gap

_SWITCHES = {"bias": "use_bias", "gamma": "scale", "beta": "center"}
"""Weights that a layer only has if a parameter says so."""


def initialisers(p: Params) -> Iterator[str]:
    """The initialisers that really run when a layer, or the layer inside it, is built."""
    for name, value in p.items():
        if isinstance(value, Inner):
            yield from initialisers(value.params)
        elif name.endswith("_initializer") and p.get(_SWITCHES.get(name.removesuffix("_initializer"), ""), True):
            yield value


def first(x: Any) -> Any:
    """The type of a layer's first input, however many it has."""
    return x[0] if isinstance(x, tuple) else x


GAPS: tuple[Gap, ...] = ()
