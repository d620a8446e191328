"""Plans: the layer calls that would cover one missing item, found by drawing calls and asking the catalogue.

A Plan is one call, or two of which the second reads the first. It says nothing of a graph: `directed` places it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from cometfuzz.catalogue import LayerSpec
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.coverage.gain import Fact, facts_about
from cometfuzz.coverage.layers import PAPER_PARAMETERS, Item, text
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, ModelLimits

TRIES, RANK_TRIES = 16, 60
"""How often calls are drawn, and inputs until their rank is the one that is wanted."""

COMPANIONS = 4
"""How often what a layer reads besides its first tensor is drawn to go with that one."""


@dataclass(frozen=True)
class PlannedCall:
    """A valid layer call: the types that it reads and its parameters; `at`: in which place it reads the call before."""

    spec: LayerSpec
    types: tuple[TensorType, ...]
    params: Params
    at: int = 0

    @property
    def output(self) -> TensorType:
        return self.spec.outputs(self.types, self.params)[0]


Plan = tuple[PlannedCall, ...]


def plan(item: Item, guide: Guide, draw: Draw, limits: ModelLimits, tries: int = TRIES) -> Plan | None:
    """Calls within the limits that cover the item, or None if none was found in so many tries."""
    spec = CATALOGUE[item.layer]
    if not limits.has(spec.name):
        return None
    if item.criterion == "sequences":
        return _sequence(spec, CATALOGUE[item.value], guide, draw, limits, tries) if limits.has(item.value) else None
    for _ in range(tries):
        for call in _calls(spec, item, guide, draw, limits):
            if _covers(call, item, guide):
                return (call,)
    return None


def followed(spec: LayerSpec, first: TensorType, guide: Guide, draw: Draw, limits: ModelLimits) -> PlannedCall | None:
    """A call of a layer that reads a tensor as it is, in its first place; None if it takes no such tensor."""
    if first.rank not in spec.ranks or first.dtype not in spec.dtypes:
        return None
    low = spec.arity[0]
    offers = [(first, *(replace(first, masked=False) for _ in range(low - 1)))]
    drawn = [_of_rank(first.rank, spec, draw, tries=2)[:low] for _ in range(COMPANIONS if low > 1 else 0)]
    offers += [_beside(each, first, 0) for each in drawn if each[0].rank == first.rank]
    return _call(spec, offers, 0, guide, draw, limits)


def _read_later(
    spec: LayerSpec, given: TensorType, guide: Guide, draw: Draw, limits: ModelLimits
) -> PlannedCall | None:
    """The same in another place than the first, by lot."""
    at = draw.integer(1, spec.arity[0] - 1)
    drawn = [spec.inputs(draw)[: spec.arity[0]] for _ in range(COMPANIONS)]
    offers = [
        _beside(each, given, at) for each in drawn if (each[at].dtype, each[at].rank) == (given.dtype, given.rank)
    ]
    return _call(spec, offers, at, guide, draw, limits)


def _call(
    spec: LayerSpec,
    offers: Iterable[tuple[TensorType, ...]],
    at: int,
    guide: Guide,
    draw: Draw,
    limits: ModelLimits,
) -> PlannedCall | None:
    """The first call on one of some inputs that is valid."""
    for types in offers:
        params = guide.draw_params(spec, types, draw, limits)
        if params is None:
            continue
        call = PlannedCall(spec, types, params, at)
        if spec.fits(types, params) and _small(call, limits):
            return call
    return None


def _beside(drawn: tuple[TensorType, ...], given: TensorType, at: int) -> tuple[TensorType, ...]:
    """What was drawn, with a tensor as it is in one place and others made to go with it: a size that was one of the
    drawn tensor's is now this one's at that axis, and floats have its dtype."""
    sizes = dict(zip(drawn[at].shape, given.shape, strict=True))
    found = []
    for kind in drawn:
        dtype = given.dtype if kind.is_float and given.is_float else kind.dtype
        found.append(replace(kind, dtype=dtype, shape=tuple(sizes.get(size, size) for size in kind.shape)))
    found[at] = given
    return tuple(found)


def _sequence(
    before: LayerSpec, after: LayerSpec, guide: Guide, draw: Draw, limits: ModelLimits, tries: int
) -> Plan | None:
    for index in range(tries):
        wanted = after.inputs(draw) if index % 2 else ()
        types = _leading_to(wanted[0], before, draw) if wanted else before.inputs(draw)
        params = guide.draw_params(before, types, draw, limits)
        if params is None:
            continue
        first = PlannedCall(before, types, params)
        if not _small(first, limits):
            continue
        if wanted and first.output == replace(wanted[0], high=first.output.high):
            second = _call(after, [(first.output, *wanted[1:])], 0, guide, draw, limits)
        elif index % 4 == 3 and after.arity[0] > 1:
            second = _read_later(after, first.output, guide, draw, limits)
        else:
            second = followed(after, first.output, guide, draw, limits)
        if second is not None and second.types[second.at] == first.output:
            return first, second
    return None


def _leading_to(wanted: TensorType, before: LayerSpec, draw: Draw) -> tuple[TensorType, ...]:
    """Inputs of a layer that give what the next one was drawn with, if the layer keeps type and shape: many do, and
    some that follow want a square matrix, or sizes that go with those of what they read besides."""
    drawn = _of_rank(wanted.rank, before, draw, tries=4) if wanted.rank in before.ranks else before.inputs(draw)
    if wanted.dtype not in before.dtypes or wanted.rank != drawn[0].rank or draw.chance(0.5):
        return drawn
    return tuple(
        replace(kind, dtype=wanted.dtype, shape=wanted.shape, high=kind.high or wanted.high)
        if (kind.dtype, kind.rank) == (drawn[0].dtype, drawn[0].rank)
        else kind
        for kind in drawn
    )


def _calls(spec: LayerSpec, item: Item, guide: Guide, draw: Draw, limits: ModelLimits) -> Iterator[PlannedCall]:
    """Drawn calls that may cover an input or a parameter value."""
    types = spec.inputs(draw)
    if item.name == "rank" and item.criterion == "inputs":
        types = _of_rank(int(item.value), spec, draw)
    if item.name == "dtype" and item.criterion == "inputs":
        types = tuple(
            TensorType(item.value, kind.shape, high=9 if item.value == "int32" else None)
            if kind.is_float or kind is types[0]
            else kind
            for kind in types
        )
    if not (types[0].rank in spec.ranks and types[0].dtype in spec.dtypes):
        return
    if item.criterion == "inputs":
        params = guide.draw_params(spec, types, draw, limits)
    else:
        params = _with_value(spec, types, item, guide, draw, limits)
    if params is not None and spec.fits(types, params) and _small(PlannedCall(spec, types, params), limits):
        yield PlannedCall(spec, types, params)


def _of_rank(rank: int, spec: LayerSpec, draw: Draw, tries: int = RANK_TRIES) -> tuple[TensorType, ...]:
    """Drawn inputs of which the first has a rank; one that is seldom drawn is made by axes of size 1, as MDims does."""
    for _ in range(tries):
        types = spec.inputs(draw)
        if types[0].rank == rank:
            return types
    axes = (1,) * (rank - types[0].rank)
    return tuple(
        replace(kind, shape=(*kind.shape[:1], *axes, *kind.shape[1:])) if kind.rank == types[0].rank else kind
        for kind in types
    )


def _with_value(
    spec: LayerSpec, types: tuple[TensorType, ...], item: Item, guide: Guide, draw: Draw, limits: ModelLimits
) -> Params | None:
    """Parameters with the item's value, where it is a listed one; else whatever is uncovered."""
    options = _options(spec.name, _today(item))
    if item.value not in options:
        return guide.draw_params(spec, types, draw, limits)
    fixed = {_today(item): draw.choice(options[item.value])}
    params = limits.within(spec, types, spec.draw_params(draw, types, fixed, tries=8))
    return params if params is not None and not limits.objection(spec.name, types, params) else None


@cache
def _options(layer: str, parameter: str) -> dict[str, list[Any]]:
    """The values of a parameter by the text that names them in a space."""
    named: dict[str, list[Any]] = {}
    for option in CATALOGUE[layer].params[parameter].options() or ():
        named.setdefault(text(option), []).append(option)
    return named


def _today(item: Item) -> str:
    return PAPER_PARAMETERS.get((item.layer, item.name), item.name)


def _covers(call: PlannedCall, item: Item, guide: Guide) -> bool:
    """Whether a call does what the item names; a counted item ("#3") asks for any value that is not yet counted."""
    counted = item.value[:1] == "#"
    facts = facts_about(call.spec.name, call.params, call.types, item)
    return any(fact.value == item.value or (counted and guide.wants(fact)) for fact in facts)


def _small(call: PlannedCall, limits: ModelLimits) -> bool:
    kinds = (*call.types, *CATALOGUE[call.spec.name].outputs(call.types, call.params))
    return all(kind.elements <= limits.elements for kind in kinds)


def fact_of(item: Item) -> Fact | None:
    """The fact that an item names; None for a counted one."""
    return None if item.value.startswith("#") else Fact(*item)
