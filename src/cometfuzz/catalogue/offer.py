"""Offers: what of the catalogue a library has, as the library itself has answered.

A library of another release lacks layers, parameters and values. An Offer names what it lacks and nothing else: one
that lacks nothing is no restriction. A parameter that it lacks may still have its simplest value, which is the default.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import POLICY


@dataclass(frozen=True, order=True)
class Lack:
    """Something that a library does not have: a layer or operator, a parameter of it, or a value of that, as text."""

    layer: str
    parameter: str = ""
    value: str = ""

    def __str__(self) -> str:
        what = f"{self.parameter}={self.value}" if self.value else self.parameter
        return f"{what} of {self.layer}" if what else self.layer


@dataclass(frozen=True, eq=False)
class Offer:
    """What a library lacks. library: its name and version, as a person reads them."""

    library: str = ""
    lacks: tuple[Lack, ...] = ()

    @cached_property
    def _by_layer(self) -> Mapping[str, frozenset[tuple[str, str]]]:
        found: dict[str, set[tuple[str, str]]] = {}
        for lack in self.lacks:
            found.setdefault(lack.layer, set()).add((lack.parameter, lack.value))
        return {layer: frozenset(each) for layer, each in found.items()}

    def has(self, layer: str) -> bool:
        return ("", "") not in self._by_layer.get(layer, ())

    def has_parameter(self, layer: str, parameter: str) -> bool:
        """Whether a parameter may have another value than the simplest one."""
        return (parameter, "") not in self._by_layer.get(layer, ())

    def has_value(self, layer: str, parameter: str, value: Any) -> bool:
        """Whether a parameter may have a value; for a layer inside, whether that may have its own."""
        if any(self.objection(inner.layer, inner.params) for inner in inside(value)):
            return False
        lacking = self._by_layer.get(layer)
        if lacking is None:
            return True
        absent = not self.has_parameter(layer, parameter) and value != CATALOGUE[layer].params[parameter].simplest
        return not absent and (parameter, text_of(value)) not in lacking

    def objection(self, layer: str, params: Params) -> str:
        """What of a call the library does not have, in words; nothing if it has it all."""
        if not self.has(layer):
            return f"{self.library} has no {layer}"
        for name, value in params.items():
            if name != POLICY and not self.has_value(layer, name, value):
                inner = [self.objection(each.layer, each.params) for each in inside(value)]
                own = f"{self.library} has no {name}={text_of(value)} of {layer}"
                return next(filter(None, inner), own)
        return ""


def text_of(value: Any) -> str:
    """A value as the answers of libraries name it."""
    return json.dumps(value, default=str)


def inside(value: Any) -> Iterator[Inner]:
    """The layers within a value."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, Inner):
            yield part


def simplified(offers: Sequence[Offer], spec: LayerSpec, params: Params) -> Params:
    """Parameters with the simplest value, or the first one that there is, in place of all that some library lacks."""
    changed = {
        name: _offered(offers, spec, name, value)
        for name, value in params.items()
        if name != POLICY and not all(offer.has_value(spec.name, name, value) for offer in offers)
    }
    return params.replace(**changed) if changed else params


def _offered(offers: Sequence[Offer], spec: LayerSpec, name: str, value: Any) -> Any:
    space = spec.params[name]
    if any(True for _ in inside(value)):
        parts = [value] if isinstance(value, Inner) else list(value)
        parts = [Inner(each.layer, simplified(offers, CATALOGUE[each.layer], each.params)) for each in parts]
        value = parts[0] if isinstance(value, Inner) else tuple(parts)
        if all(offer.has_value(spec.name, name, value) for offer in offers):
            return value
    for option in (space.simplest, *(space.options() or ())):
        if all(offer.has_value(spec.name, name, option) for offer in offers):
            return option
    return space.simplest
