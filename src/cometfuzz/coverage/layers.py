"""The coverage spaces over API calls: the paper's, to the unit, the full one, ours, and that of operators.

A space is a set of items for each of three criteria (the paper, section 3.2): layer inputs (dtype, rank, and up to five
shapes), parameter values (each listed value; up to sigma values of a numeric one), and layer sequences (one layer's
output goes into another). Every item that nothing can cover is listed with the reason.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

from cometfuzz.catalogue import COUNTED, LAYERS, OPERATORS, LayerSpec
from cometfuzz.catalogue.spaces import Optional, Space
from cometfuzz.catalogue.spec import OPERATOR, unbounded
from cometfuzz.coverage.reach import why_unreachable
from cometfuzz.draw import Draw
from cometfuzz.ir.types import FLOATS

SIGMA = 5
SHAPES = 5
TRIES = 20
"""How many inputs a layer gets until parameters go with one: nearly always the first will do."""
CRITERIA = ("inputs", "parameters", "sequences")
NUMERIC = "numeric"
SPACE_NAMES = ("paper", "full", "ops")


class Item(NamedTuple):
    """One thing that can be covered.

    inputs: (layer, "dtype" | "rank" | "shape", value); parameters: (layer, parameter, value); sequences: (layer,
    "before", next layer). Shapes and numeric values are counted, not named: their value is "#1" to "#5".
    """

    criterion: str
    layer: str
    name: str
    value: str


class Index:
    """What coverages of one space look up in it, made once for all of them: a campaign has one for each route."""

    def __init__(self, space: "CoverageSpace") -> None:
        self.named: frozenset[tuple[str, ...]] = frozenset(item for items in space.items.values() for item in items)
        self.caps: dict[tuple[str, str, str], int] = {}
        """How many values are counted of a parameter, or shapes of a layer, where they are not named."""
        self.reachable: dict[tuple[str, str, str], int] = {}
        for item in (item for items in space.items.values() for item in items):
            self.reachable[item[:3]] = self.reachable.get(item[:3], 0) + (item not in space.unreachable)
            if item.value.startswith("#"):
                self.caps[item[:3]] = self.caps.get(item[:3], 0) + 1
        self.open_to_all = [
            (item, int(item.value[1:]) if item.value.startswith("#") else 0)
            for items in space.items.values()
            for item in items
            if item not in space.unreachable
        ]
        """What can be reached, with the number that it has among values that are counted, or 0."""
        self.totals = {
            name: sum(item not in space.unreachable for item in items) for name, items in space.items.items()
        }
        """How many items of each criterion can be reached."""
        after: dict[str, list[str]] = {}
        for item in space.items["sequences"]:
            after.setdefault(item.layer, []).append(item.value)
        self.followers = {layer: tuple(names) for layer, names in after.items()}


@dataclass(frozen=True)
class CoverageSpace:
    """All items of a space, why some are out of reach, and how many values it leaves aside."""

    name: str
    items: Mapping[str, tuple[Item, ...]]
    unreachable: Mapping[Item, str]
    aside: Mapping[str, int]
    specs: Mapping[str, LayerSpec] = field(default_factory=lambda: LAYERS)
    """Whose calls it counts: layers, or operators."""

    @cached_property
    def index(self) -> Index:
        return Index(self)

    def total(self, criterion: str) -> int:
        return len(self.items[criterion])

    def reachable(self, criterion: str) -> int:
        return self.index.totals[criterion]

    def as_plain(self) -> dict[str, Any]:
        """The form of `cometfuzz space --json`."""
        plain: dict[str, Any] = {}
        for criterion in CRITERIA:
            missing = [item for item in self.items[criterion] if item in self.unreachable]
            plain[criterion] = {
                "total": self.total(criterion),
                "reachable": self.reachable(criterion),
                "unreachable": [
                    {"layer": item.layer, "name": item.name, "value": item.value, "reason": self.unreachable[item]}
                    for item in missing
                ],
            }
        return {**plain, "aside": dict(self.aside)}


def text(value: Any) -> str:
    """A parameter value as items name it; a tuple of equal numbers is that number, as Keras reads it."""
    if isinstance(value, tuple) and value and all(type(item) is int and item == value[0] for item in value):
        value = value[0]
    kind = type(value)
    if kind is str:  # what nearly all are, and what `dumps` would come to
        return encode_basestring_ascii(value)
    if kind is bool or value is None:
        return _WORDS[value]
    return int.__repr__(value) if kind is int else json.dumps(value, default=str)


_WORDS = {True: "true", False: "false", None: "null"}


def counted(size: int | None, sigma: int) -> tuple[str, ...]:
    """The names of values that are counted up to sigma."""
    return tuple(f"#{index}" for index in range(1, (sigma if size is None else min(size, sigma)) + 1))


PAPER_PARAMETERS = {("LeakyReLU", "alpha"): "negative_slope"}
"""Parameters of the paper's space that have another name today."""

ALIASES = {"double": "float64", "half": "float16"}
"""Dtype names of the paper's space that are a second name of the same dtype."""


@cache
def paper_table() -> Mapping[str, Any]:
    """The paper's space, layer by layer and parameter by parameter."""
    table: Mapping[str, Any] = json.loads(files("cometfuzz.coverage").joinpath("paper_space.json").read_text())
    return table


@cache
def paper_space(sigma: int = SIGMA) -> CoverageSpace:
    """The space of the published percentages: 766 inputs, 2049 parameter values and 2170 sequences at sigma = 5."""
    table = paper_table()
    inputs: list[Item] = []
    parameters: list[Item] = []
    unreachable: dict[Item, str] = {}
    ranked = {name: entry for name, entry in table["layers"].items() if "input_ranks" in entry}
    for name, entry in table["layers"].items():
        spec = LAYERS[name]
        if name in ranked:
            for dtype in table["dtypes"]:
                inputs.append(item := Item("inputs", name, "dtype", dtype))
                if dtype in ALIASES:
                    unreachable[item] = f"a second name of {ALIASES[dtype]}"
            for rank in entry["input_ranks"]:
                inputs.append(item := Item("inputs", name, "rank", str(rank)))
                if rank not in spec.ranks:
                    unreachable[item] = f"the layer takes ranks {', '.join(map(str, spec.ranks))}"
            inputs += [Item("inputs", name, "shape", count) for count in counted(None, SHAPES)]
        for parameter, values in entry["parameters"].items():
            for item, reason in _paper_values(spec, parameter, values, sigma):
                parameters.append(item)
                if reason is not None:
                    unreachable[item] = reason
    sequences = []
    ends = {name: _ends(LAYERS[name]) for name in ranked}
    for before, entry in ranked.items():
        for after, follower in ranked.items():
            if set(entry["output_ranks"]) & set(follower["input_ranks"]):
                sequences.append(item := Item("sequences", before, "before", after))
                if (reason := _why_never_follows(ends[before], ends[after])) is not None:
                    unreachable[item] = reason
    items = {"inputs": tuple(inputs), "parameters": tuple(parameters), "sequences": tuple(sequences)}
    return CoverageSpace("paper", items, unreachable, {})


def _paper_values(
    spec: LayerSpec, parameter: str, values: Mapping[str, Any], sigma: int
) -> Iterator[tuple[Item, str | None]]:
    ours = PAPER_PARAMETERS.get((spec.name, parameter), parameter)
    space = spec.params.get(ours)
    if values.get("numeric"):
        size = None if space is None else _numeric_size(space)
        for index, count in enumerate(counted(None, sigma)):
            short = None if size is None or index < size else f"there are only {size} values"
            item = Item("parameters", spec.name, parameter, count)
            yield item, short if space is not None else "the catalogue has no such parameter"
        return
    for value in values["values"]:
        item = Item("parameters", spec.name, parameter, NUMERIC if value == NUMERIC else text(value))
        if space is None:
            yield item, "the catalogue has no such parameter"
        elif value == NUMERIC:
            yield item, None
        else:
            yield item, why_unreachable(spec, ours, value)


def _numeric_size(space: Space) -> int | None:
    return _numeric_size(space.inner) if isinstance(space, Optional) else space.size()


class _Ends(NamedTuple):
    """What decides which layers a layer can follow, and which can follow it; there are tens of thousands of pairs."""

    libraries: frozenset[str]
    ranks: frozenset[int]
    dtypes: frozenset[str]
    output_ranks: frozenset[int]
    output_dtypes: frozenset[str]


def _ends(spec: LayerSpec) -> _Ends:
    given = frozenset(spec.libraries), frozenset(spec.ranks), frozenset(spec.dtypes)
    return _Ends(*given, frozenset(spec.output_ranks), frozenset(_output_dtypes(spec)))


def _why_never_follows(before: _Ends, after: _Ends) -> str | None:
    """Why no edge can lead from one layer to another, or None."""
    if before.libraries.isdisjoint(after.libraries):
        return "no library has both layers"
    if before.output_ranks.isdisjoint(after.ranks):
        return "the ranks never meet"
    if before.output_dtypes.isdisjoint(after.dtypes):
        return "the dtypes never meet"
    return None


@cache
def _readable(name: str) -> frozenset[str]:
    """The dtypes of tensors that a layer or operator reads, in any place, if nobody says how large their integers are:
    indices need a bound, and so do sums and products that must stay exact."""
    spec, found = COUNTED[name], set()
    for index in range(TRIES):
        draw = Draw("bounded", spec.name, index)
        types = spec.inputs(draw)
        params = spec.draw_params(draw, types)
        for place, kind in enumerate(types if params is not None else ()):
            freed = [replace(each, high=None) if at == place else each for at, each in enumerate(types)]
            if kind.dtype != "int32" or (params is not None and spec.accepts(freed, params)):
                found.add(kind.dtype)
    return frozenset(found)


def _output_dtypes(spec: LayerSpec) -> tuple[str, ...]:
    named = spec.params.get("dtype")
    if named is not None:
        return named.options() or FLOATS
    return _drawn_dtypes(spec.name) if spec.kind == OPERATOR else spec.dtypes


@cache
def _drawn_dtypes(operator: str) -> tuple[str, ...]:
    """The dtypes that come out of drawn calls: many operators give another one than they take."""
    spec = OPERATORS[operator]
    found: dict[str, None] = {}
    for index in range(TRIES):
        draw = Draw("dtypes", spec.name, index)
        types = spec.inputs(draw)
        if (params := spec.draw_params(draw, types)) is not None:
            found[spec.outputs(types, params)[0].dtype] = None
    return tuple(found)


@cache
def full_space(sigma: int = SIGMA) -> CoverageSpace:
    """Our own space: every catalogue layer, real dtypes, in-domain values, direct edges.

    Values that cannot show in a forward pass (initialisers, regularisers, constraints, train-only scalars) are counted
    aside, by the place where they can show.
    """
    return _space("full", LAYERS, sigma)


@cache
def ops_space(sigma: int = SIGMA) -> CoverageSpace:
    """The space of operators, by the same rules: their inputs, their parameters, and which of them reads which."""
    return _space("ops", OPERATORS, sigma)


def _space(space_name: str, specs: Mapping[str, LayerSpec], sigma: int) -> CoverageSpace:
    inputs: list[Item] = []
    parameters: list[Item] = []
    sequences: list[Item] = []
    unreachable: dict[Item, str] = {}
    aside = {"build": 0, "train": 0}
    ends = {name: _ends(spec) for name, spec in specs.items()}
    for name, spec in specs.items():
        inputs += [Item("inputs", name, "dtype", dtype) for dtype in spec.dtypes]
        inputs += [Item("inputs", name, "rank", str(rank)) for rank in spec.ranks]
        inputs += [Item("inputs", name, "shape", count) for count in counted(None, SHAPES)]
        for parameter, space in spec.params.items():
            options = space.options()
            if space.effect != "forward":
                aside[space.effect] += len(values_of(space, sigma))
                continue
            for value in values_of(space, sigma):
                parameters.append(item := Item("parameters", name, parameter, value))
                if options is not None and not space.numeric:
                    option = next(option for option in options if text(option) == value)
                    if (reason := why_unreachable(spec, parameter, option)) is not None:
                        unreachable[item] = reason
        for after, follower in ends.items():
            if _why_never_follows(ends[name], follower) is None:
                sequences.append(item := Item("sequences", name, "before", after))
                shared = ends[name].output_dtypes & follower.dtypes
                if (
                    spec.high is unbounded
                    and shared == {"int32"}
                    and ends[name].output_dtypes.isdisjoint(_readable(after))
                ):
                    unreachable[item] = "it takes integers with a bound only"
    items = {"inputs": tuple(inputs), "parameters": tuple(parameters), "sequences": tuple(sequences)}
    return CoverageSpace(space_name, items, unreachable, aside, specs)


def values_of(space: Space, sigma: int) -> tuple[str, ...]:
    """The names of a parameter's values in the full space."""
    if isinstance(space, Optional):
        return tuple(dict.fromkeys(("null", *values_of(space.inner, sigma))))
    options = space.options()
    if space.numeric or options is None:
        return counted(space.size(), sigma)
    return tuple(dict.fromkeys(text(option) for option in options))


SPACES = (paper_space, full_space, ops_space)
"""Each space by its sigma, in the order in which a search fills them."""
