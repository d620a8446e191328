"""Offers: what of the catalogue a library has, as the library itself has answered.

A library of another release lacks layers, parameters and values. An Offer names what it lacks and nothing else: one
that lacks nothing is no restriction. A parameter that it lacks may still have its simplest value, which is the default.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import POLICY


@dataclass(frozen=True, order=True)
class Lack:
    """Something that a library does not have: a layer or operator, a parameter of it (or two `together`), or a value of
    that, as text.

    dtype: only where the first input has it.
    """

    layer: str
    parameter: str = ""
    value: str = ""
    dtype: str = ""

    def __str__(self) -> str:
        what = f"{self.parameter}={self.value}" if self.value else self.parameter
        return (f"{what} of {self.layer}" if what else self.layer) + (f" on {self.dtype}" if self.dtype else "")


@dataclass(frozen=True, eq=False)
class Offer:
    """What a library lacks. library: its name and version, as a person reads them.

    broken: what it has, but what raised in a call as simple as can be. That is a bug as like as not: models keep clear
    of it, probes do not.
    """

    library: str = ""
    lacks: tuple[Lack, ...] = ()
    broken: tuple[Lack, ...] = ()

    @cached_property
    def working(self) -> "Offer":
        """The same without what is broken."""
        return Offer(self.library, (*self.lacks, *self.broken)) if self.broken else self

    @cached_property
    def _known(self) -> frozenset[Lack]:
        return frozenset(self.lacks)

    @cached_property
    def _layers(self) -> frozenset[str]:
        return frozenset(lack.layer for lack in self.lacks)

    def _lacks(self, layer: str, parameter: str = "", value: str = "", dtype: str = "") -> bool:
        known = self._known
        whole = Lack(layer, parameter, value) in known
        return whole or (bool(dtype) and Lack(layer, parameter, value, dtype) in known)

    def has(self, layer: str, dtype: str = "") -> bool:
        return layer not in self._layers or not self._lacks(layer, dtype=dtype)

    def has_parameter(self, layer: str, parameter: str) -> bool:
        """Whether a parameter may have another value than the simplest one."""
        return layer not in self._layers or not self._lacks(layer, parameter)

    def has_value(self, layer: str, parameter: str, value: Any, dtype: str = "") -> bool:
        """Whether a parameter may have a value; for a layer inside, whether that may have its own."""
        if type(value) in (Inner, tuple) and any(
            self.objection(inner.layer, inner.params, dtype) for inner in inside(value)
        ):
            return False
        if layer not in self._layers:
            return True
        absent = not self.has_parameter(layer, parameter) and value != CATALOGUE[layer].params[parameter].simplest
        return not absent and not self._lacks(layer, parameter, text_of(value), dtype)

    def objection(self, layer: str, params: Params, dtype: str = "") -> str:
        """What of a call the library does not have, in words; nothing if it has it all. dtype: of the first input."""
        if not self.has(layer, dtype):
            return f"{self.library} has no {Lack(layer, dtype='' if not self.has(layer) else dtype)}"
        for name, value in params.items():
            if name != POLICY and not self.has_value(layer, name, value, dtype):
                inner = [self.objection(each.layer, each.params, dtype) for each in inside(value)]
                own = f"{self.library} has no {Lack(layer, name, text_of(value))}"
                return next(filter(None, inner), own)
        odd = next(self.at_odds(layer, params), None)
        return f"{self.library} has no {Lack(layer, together(odd))}" if odd else ""

    def at_odds(self, layer: str, params: Params) -> Iterator[tuple[str, str]]:
        """Parameters that a call has together and the library takes one at a time."""
        for names in CATALOGUE[layer].together if layer in self._layers else ():
            if self._lacks(layer, together(names)) and has_both(CATALOGUE[layer], names, params):
                yield names


def text_of(value: Any) -> str:
    """A value as the answers of libraries name it."""
    return json.dumps(value, default=str)


def together(names: tuple[str, str]) -> str:
    """Two parameters at once, as the answers of libraries name it."""
    return " with ".join(names)


def has_both(spec: LayerSpec, names: tuple[str, str], params: Params) -> bool:
    """Whether neither of two parameters has its simplest value."""
    return all(params[name] != spec.params[name].simplest for name in names)


def inside(value: Any) -> Iterator[Inner]:
    """The layers within a value."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, Inner):
            yield part


def simplified(offers: Sequence[Offer], spec: LayerSpec, params: Params, dtype: str = "") -> Params:
    """Parameters with the simplest value, or the first one that there is, in place of all that some library lacks."""
    changed = {
        name: _offered(offers, spec, name, value, dtype)
        for name, value in params.items()
        if name != POLICY and not all(offer.has_value(spec.name, name, value, dtype) for offer in offers)
    }
    params = spec.complete({**params, **changed}) if changed else params
    alone = {second: spec.params[second].simplest for offer in offers for _, second in offer.at_odds(spec.name, params)}
    return spec.complete({**params, **alone}) if alone else params


def _offered(offers: Sequence[Offer], spec: LayerSpec, name: str, value: Any, dtype: str) -> Any:
    options = [spec.params[name].simplest, *(spec.params[name].options() or ())]
    if any(True for _ in inside(value)):
        parts = [
            Inner(each.layer, simplified(offers, CATALOGUE[each.layer], each.params, dtype)) for each in inside(value)
        ]
        options.insert(0, parts[0] if isinstance(value, Inner) else tuple(parts))
    fine = (each for each in options if all(offer.has_value(spec.name, name, each, dtype) for offer in offers))
    return next(fine, spec.params[name].simplest)
