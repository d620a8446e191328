"""Models for pairs and triples: when every value has been covered by itself, calls that bring many values together.

A call begins with two values that have not been seen together; the rest of it is drawn a few times, and the draw that
has the most new pairs is taken, as for covering arrays. Several calls stand side by side in one model, each on inputs
and data of its own, so that none hides what another does. Where pairs are nearly exhausted, so that they do not fill a
model, triples do, of layers that have no pairs left.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.data import draw_inputs
from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.regimes import CONSTANT, LARGE, ORDINARY, REGIMES, SMALL, SPECIAL, SPREAD, regime_of
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.combinations import CombinationCoverage
from cometfuzz.coverage.factors import DATA, DTYPE, RANK, Factor, value_of, values_of
from cometfuzz.coverage.pairs import PairCoverage
from cometfuzz.coverage.rows import Ids
from cometfuzz.coverage.triples import TripleCoverage
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


Refused = Callable[[CombinationCoverage, int, str], None]
"""Told of a combination that was not to be had, by its number, and what stood against it."""

LACKING, REFUSED, UNDRAWN = range(3)
"""What may stand against a combination: valid calls turned out otherwise, a rule or a known defect refused them, or a
value was not among those that were drawn. If there were valid calls, rules are not to blame, and where a rule refused
some, the values had been drawn: the first of these is the reason."""

Against = Counter[tuple[int, str]]

VAIN = "no data of a valid call was of that kind"
UNFOUND = "no drawn call had these values"


@dataclass(frozen=True)
class PairedCall:
    """A layer call, and the regime of the data that it is to read."""

    spec: LayerSpec
    types: tuple[TensorType, ...]
    params: Params
    regime: str

    def ids(self, coverage: CombinationCoverage) -> Ids:
        """The combinations that it has, if its data turn out as they are to be."""
        return coverage.space.of_call(self.spec.name, self.params, self.types, self.regime)

    def lacking(self, factors: Mapping[str, Factor], wanted: Mapping[str, str]) -> Iterator[str]:
        """Which of the values that it was drawn for it does not have; a stride that is not given has no relation to a
        window, and one of 1 is not larger than any."""
        said = values_of(self.spec, tuple(factors.values()), self.params, self.types, self.regime)
        for name, value in wanted.items():
            if name not in said:
                yield f"{name} says nothing in such a call"
            elif said[name] != value:
                yield f"{name} was never {value} in such a call"


class Target(NamedTuple):
    """A combination that is gone for."""

    coverage: CombinationCoverage
    number: int


class Pairs:
    """Makes models that cover pairs of one coverage, then triples of another, within some limits."""

    def __init__(
        self,
        pairs: PairCoverage,
        triples: TripleCoverage,
        limits: ModelLimits,
        calls: int = CALLS,
        refused: Refused | None = None,
        layers: Iterable[str] = LAYERS,
    ) -> None:
        self.coverage, self.triples, self.limits, self.calls, self.refused = pairs, triples, limits, calls, refused
        self.layers = [name for name in layers if limits.has(name)]
        """Those that may have pairs left."""
        self.layers_of_triples = [name for name in self.layers if len(triples.missing(name))]
        self.ruled_out: set[str] = set()
        """Layers of which it was looked up which triples contain a pair that cannot be."""

    def make(self, draw: Draw) -> Model | None:
        """A model; None if no pair and no triple is left that can be planned."""
        found: list[tuple[PairedCall, Target]] = []
        for coverage, layers in ((self.coverage, self.layers), (self.triples, self.layers_of_triples)):
            for name in draw.shuffled(layers) if len(found) < self.calls else ():
                if len(found) == self.calls:
                    break
                if not len(missing := self._missing(coverage, name)):
                    continue
                target = Target(coverage, int(missing[draw.integer(0, len(missing) - 1)]))
                if (call := self._call(name, target, draw)) is not None:
                    found.append((call, target))
        if not found:
            return None
        model = self._side_by_side([call for call, _ in found], draw)
        self._note_vain([target for _, target in found], model)
        return model

    def learn(self, case: Case, executed: bool) -> None:
        """Count what a case has executed, or that it failed, where nobody else does."""
        self.coverage.learn(case, executed)
        self.triples.learn(case, executed)

    def _missing(self, coverage: CombinationCoverage, layer: str) -> Sequence[int] | Ids:
        """What is left of a layer; its triples wait for its pairs."""
        if coverage is self.triples:
            if len(self.coverage.missing(layer)):
                return ()
            if layer not in self.ruled_out:
                self.ruled_out.add(layer)
                self.triples.rule_out(layer, self.coverage)
        missing = coverage.missing(layer)
        if not len(missing):
            (self.layers if coverage is self.coverage else self.layers_of_triples).remove(layer)
        return missing

    def _call(self, layer: str, target: Target, draw: Draw) -> PairedCall | None:
        """A valid call with a combination: of a few, the one with the most that are new."""
        coverage, number = target
        wanted = coverage.space.named(layer, number)
        factors = {factor.name: factor for factor in coverage.space.tables[layer].factors}
        candidates: list[PairedCall] = []
        against: Against = Counter()
        for _ in range(DRAWS):
            drawn = self._drawn(LAYERS[layer], wanted, factors, draw, against)
            if drawn is not None and number in drawn.ids(coverage):
                candidates.append(drawn)
            elif drawn is not None and self.refused is not None:
                against.update((LACKING, reason) for reason in drawn.lacking(factors, wanted))
            if len(candidates) == CANDIDATES:
                break
        if not candidates:
            self._fail(target, min(against, key=lambda each: (each[0], -against[each]), default=(UNDRAWN, UNFOUND))[1])
            return None
        return max(candidates, key=lambda call: coverage.gain(call.ids(coverage)))

    def _fail(self, target: Target, reason: str) -> None:
        target.coverage.fail(np.array([target.number], np.int32))
        if self.refused is not None:
            self.refused(*target, reason)

    def _note_vain(self, targets: Sequence[Target], model: Model) -> None:
        """Count a failure for what a model was made for and does not have: integers are never NaN, and a tensor of one
        element is not spread. Nobody else would, since such a model executes, and it would be gone for without end."""
        case = Case(model[0], 0, model[1])
        for coverage in (self.coverage, self.triples):
            had: dict[int, None] = {}
            for _, ids in coverage.space.of_case(case):
                had |= dict.fromkeys(ids.tolist())
            for target in targets:
                if target.coverage is coverage and target.number not in had:
                    self._fail(target, VAIN)

    def _drawn(
        self,
        spec: LayerSpec,
        wanted: Mapping[str, str],
        factors: Mapping[str, Factor],
        draw: Draw,
        against: Against,
    ) -> PairedCall | None:
        """A valid call that may have values of some factors; `against` counts the rules and known defects that stand
        against it."""
        wide = draw.widened() if draw.chance(WIDE_SHARE) else draw
        types = _with_dtype(spec.inputs(wide), wanted.get(DTYPE))
        if types[0].dtype not in spec.dtypes or wanted.get(RANK, str(types[0].rank)) != str(types[0].rank):
            return None
        fixed: dict[str, Any] = {}
        for name, value in wanted.items():
            if name in spec.params:
                options = _options(spec, types, factors[name], value, draw)
                if not options:
                    against[UNDRAWN, f"no drawn {name} was {value}"] += 1
                    return None
                fixed[name] = draw.choice(options)
        params = spec.draw_params(wide, types, fixed, tries=4)
        if params is None or not spec.accepts(types, params):
            broken = spec.broken_rules(types, spec.complete(fixed)) if types[0].rank in spec.ranks else ()
            against.update((REFUSED, rule) for rule in broken)
            return None
        if objection := self.limits.objection(spec.name, types, params):
            against[REFUSED, objection] += 1
            return None
        kinds = (*types, *spec.outputs(types, params))
        if any(kind.elements > self.limits.widened().elements for kind in kinds):
            return None
        return PairedCall(spec, types, params, wanted.get(DATA) or draw.choice(REGIMES))

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
