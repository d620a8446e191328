"""Predicates: the conditions on a layer call that entries of the ledger may name.

An entry is data: it names a predicate, it does not hold one. A predicate is a function of (x, p), as the rules of a
catalogue block are: the type of the input, or a tuple of them, and the parameters. `NAME` in an entry asks for it,
`not NAME` for its opposite.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from cometfuzz.errors import UnknownName

Predicate = Callable[[Any, Any], bool]

ROOMS = (
    *("inputs", "activation", "attention", "convolution", "dense", "images", "merging", "normalisation", "pooling"),
    *("recurrent", "wrapping", "operators", "products", "neural", "arranging", "imaging"),
)

_FOUND: dict[str, Predicate] = {}


def predicate(function: Predicate) -> Predicate:
    """Register a function as the predicate of its name."""
    name = function.__name__
    if name in _FOUND:
        raise ValueError(f"expected one predicate of a name; received {name} twice")
    _FOUND[name] = function
    return function


@cache
def predicates() -> dict[str, Predicate]:
    """All predicates by name."""
    for room in ROOMS:
        import_module(f"{__name__}.{room}")
    return dict(sorted(_FOUND.items()))


def named(text: str) -> Predicate:
    """The predicate that `NAME` or `not NAME` asks for."""
    opposite, name = text.startswith("not "), text.removeprefix("not ")
    found = predicates().get(name)
    if found is None:
        raise UnknownName(f"expected a predicate (`cometfuzz ledger --predicates` lists them); received when={text!r}")
    if not opposite:
        return found
    return lambda x, p: not found(x, p)
