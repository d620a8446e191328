"""What of a coverage space the libraries at hand can reach: what one of them does not have is out of reach for all."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cometfuzz.catalogue.offer import Offer
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.coverage.layers import NUMERIC, PAPER_PARAMETERS, CoverageSpace, Item, text

Offering = Callable[..., Sequence[Offer]]
"""The offers that count where some layers run, which are given by name; some that count for one of them if for all."""


def offered_space(space: CoverageSpace, offering: Offering) -> CoverageSpace:
    """The same space, with the reason for each item that some library does not have."""
    if not any(offering(layer) for layer in space.specs):
        return space
    lacking = {
        item: reason
        for items in space.items.values()
        for item in items
        if item not in space.unreachable and (reason := _why_lacking(item, offering))
    }
    return replace(space, unreachable={**space.unreachable, **lacking}) if lacking else space


def _why_lacking(item: Item, offering: Offering) -> str:
    layers = (item.layer, item.value) if item.criterion == "sequences" else (item.layer,)
    for offer in offering(*layers):
        for layer in layers:
            if not offer.has(layer):
                return f"{offer.library} has no {layer}"
        if item.criterion == "parameters" and not _has_value(offer, item):
            name = PAPER_PARAMETERS.get((item.layer, item.name), item.name)
            value = "" if item.value.startswith("#") or item.value == NUMERIC else f"={item.value}"
            return f"{offer.library} has no {name}{value} of {item.layer}"
    return ""


def _has_value(offer: Offer, item: Item) -> bool:
    """Whether some value that counts as the item is there; of a parameter that is not there, its simplest one is."""
    name = PAPER_PARAMETERS.get((item.layer, item.name), item.name)
    space = CATALOGUE[item.layer].params[name]
    if item.value.startswith("#") or item.value == NUMERIC:
        return offer.has_parameter(item.layer, name) or (item.value in ("#1", NUMERIC) and space.simplest is not None)
    named: list[Any] = [value for value in space.options() or () if text(value) == item.value]
    return not named or any(offer.has_value(item.layer, name, value) for value in named)
