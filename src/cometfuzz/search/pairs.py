"""Models for pairs: when every value has been covered by itself, calls that bring many pairs of values together.

A call begins with two values that have not been seen together; the rest of it is drawn a few times, and the draw that
has the most new pairs is taken, as for covering arrays. Several calls stand side by side in one model, each on inputs
and data of its own, so that none hides what another does.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.data import draw_inputs
from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.regimes import CONSTANT, LARGE, ORDINARY, REGIMES, SMALL, SPECIAL, SPREAD, regime_of
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.pairs import DATA, DTYPE, RANK, Factor, Pair, PairCoverage, call_pairs, value_of
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Params
from cometfuzz.ir.types import FLOATS, TensorType
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.search.odd import ODDITIES, made_odd

CALLS = 8
"""How many calls stand side by side."""

DRAWS, CANDIDATES = 12, 4
"""How often a call with two given values is drawn at most, and of how many valid ones the best is taken."""

WIDE_SHARE = 0.2
ODDITY_OF = {SPECIAL: "special", LARGE: "large", SMALL: "small", CONSTANT: "constant", SPREAD: "mixed"}


Model = tuple[Graph, dict[str, Tensor]]
"""A graph, and what of its data is not drawn."""


@dataclass(frozen=True)
class PairedCall:
    """A layer call, and the regime of the data that it is to read."""

    spec: LayerSpec
    types: tuple[TensorType, ...]
    params: Params
    regime: str


class Pairs:
    """Makes models that cover pairs of one coverage, within some limits."""

    def __init__(self, coverage: PairCoverage, limits: ModelLimits, calls: int = CALLS) -> None:
        self.coverage, self.limits, self.calls = coverage, limits, calls
        self.layers = [name for name in LAYERS if limits.has(name)]
        """Those that may have pairs left."""
        self.reasons: Counter[str] = Counter()
        """What stood against calls that could not be planned: rules, and known defects."""

    def make(self, draw: Draw) -> Model | None:
        """A model; None if no pair is left that can be planned."""
        found: list[PairedCall] = []
        for name in draw.shuffled(self.layers):
            if len(found) == self.calls:
                break
            call = self._call(name, draw)
            if call is not None:
                found.append(call)
        return self._side_by_side(found, draw) if found else None

    def _call(self, layer: str, draw: Draw) -> PairedCall | None:
        missing = self.coverage.missing(layer)
        if not len(missing):
            self.layers.remove(layer)
            return None
        number = int(missing[draw.integer(0, len(missing) - 1)])
        pair = self.coverage.space.pair(layer, number)
        candidates: list[PairedCall] = []
        for _ in range(DRAWS):
            drawn = self._drawn(pair, draw)
            if drawn is not None and number in self._ids(drawn):
                candidates.append(drawn)
            if len(candidates) == CANDIDATES:
                break
        if not candidates:
            self.coverage.fail(np.array([number]))
            return None
        return max(candidates, key=lambda call: self.coverage.gain(self._ids(call)))

    def _drawn(self, pair: Pair, draw: Draw) -> PairedCall | None:
        """A valid call that may have the pair."""
        spec = LAYERS[pair.layer]
        wide = draw.widened() if draw.chance(WIDE_SHARE) else draw
        wanted = {pair.first: pair.first_value, pair.second: pair.second_value}
        types = _with_dtype(spec.inputs(wide), wanted.get(DTYPE))
        if types[0].dtype not in spec.dtypes or wanted.get(RANK, str(types[0].rank)) != str(types[0].rank):
            return None
        factors = {factor.name: factor for factor in self.coverage.space.tables[pair.layer].factors}
        fixed: dict[str, Any] = {}
        for name, value in wanted.items():
            if name in spec.params:
                options = _options(spec, types, factors[name], value, draw)
                if not options:
                    return None
                fixed[name] = draw.choice(options)
        params = spec.draw_params(wide, types, fixed, tries=4)
        if params is None or not spec.accepts(types, params):
            self.reasons.update(spec.broken_rules(types, spec.complete(fixed)) if types[0].rank in spec.ranks else ())
            return None
        if objection := self.limits.objection(spec.name, types, params):
            self.reasons[objection] += 1
            return None
        kinds = (*types, *spec.outputs(types, params))
        if any(kind.elements > self.limits.widened().elements for kind in kinds):
            return None
        return PairedCall(spec, types, params, wanted.get(DATA) or draw.choice(REGIMES))

    def _ids(self, call: PairedCall) -> Any:
        return call_pairs(call.spec.name, call.params, call.types, call.regime)

    def _side_by_side(self, calls: list[PairedCall], draw: Draw) -> Model:
        drafts: list[Draft] = []
        outputs: list[Edge] = []
        regimes: dict[str, str] = {}
        for call in calls:
            inputs = []
            for kind in call.types:
                drafts.append(Draft(f"n{len(drafts)}", INPUT, input_params(kind), ()))
                inputs.append(Edge(drafts[-1].id))
                regimes[drafts[-1].id] = call.regime if kind.dtype in FLOATS else ORDINARY
            drafts.append(Draft(f"n{len(drafts)}", call.spec.name, call.params, tuple(inputs)))
            made = len(call.spec.outputs(call.types, call.params))
            outputs += [Edge(drafts[-1].id, place) for place in range(made)]
        graph = assemble(drafts, outputs)
        return graph, _data(graph, regimes, draw)


def _data(graph: Graph, regimes: Mapping[str, str], draw: Draw) -> dict[str, Tensor]:
    """The inputs that are not ordinary; one that its dtype turns into another regime stays as that is."""
    values = draw_inputs(Case(graph, draw.integer(0, 2**32)))
    odd = {}
    for name, regime in regimes.items():
        if regime != ORDINARY:
            tensor = made_odd(ODDITIES[ODDITY_OF[regime]], values[name], draw)
            if regime_of(tensor) != ORDINARY:
                odd[name] = tensor
    return odd


def _with_dtype(types: tuple[TensorType, ...], dtype: str | None) -> tuple[TensorType, ...]:
    """Input types with another float dtype, where one is wanted."""
    if dtype is None or dtype not in FLOATS:
        return types
    return tuple(TensorType(dtype, kind.shape, kind.masked) if kind.is_float else kind for kind in types)


def _options(
    spec: LayerSpec, types: tuple[TensorType, ...], factor: Factor, value: str, draw: Draw, tries: int = 12
) -> list[Any]:
    """Values of a parameter that count as one: those of a list, or some that were drawn."""
    space = spec.params[factor.name]
    listed = space.options()
    if listed is not None:
        return [option for option in listed if value_of(factor, option) == value]
    x, base = spec.view(types), spec.complete({})
    drawn = (space.canonical(space.draw(draw, x, base)) for _ in range(tries))
    return [each for each in drawn if value_of(factor, each) == value]
