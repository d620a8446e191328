"""What of a layer's pairs and triples can be at all: each is gone for as in a campaign, but without libraries, and what
is not to be had is listed with what stood against it."""

from dataclasses import dataclass
from typing import Any

from cometfuzz.coverage.combinations import CombinationCoverage, CombinationSpace
from cometfuzz.coverage.pairs import PairCoverage
from cometfuzz.coverage.rows import COVERED, GIVEN_UP_AFTER
from cometfuzz.coverage.triples import TripleCoverage
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.search.pairs import Pairs


@dataclass(frozen=True)
class Reach:
    """The combinations of a layer in one space: how many, and those out of reach, each with the reason."""

    space: CombinationSpace
    layer: str
    total: int
    unreachable: dict[int, str]

    @property
    def reachable(self) -> int:
        return self.total - len(self.unreachable)

    def as_plain(self) -> dict[str, Any]:
        """The form of `cometfuzz space --json`."""
        listed = [
            {"values": self.space.named(self.layer, number), "reason": reason}
            for number, reason in sorted(self.unreachable.items())
        ]
        return {"total": self.total, "reachable": self.reachable, "unreachable": listed}


def reach(layer: str) -> tuple[Reach, Reach]:
    """The pairs and the triples of a layer."""
    pairs, triples = PairCoverage(), TripleCoverage()
    reasons: dict[str, dict[int, str]] = {pairs.space.name: {}, triples.space.name: {}}

    def note(coverage: CombinationCoverage, number: int, reason: str) -> None:
        reasons[coverage.space.name][number] = reason

    search = Pairs(pairs, triples, ModelLimits(), calls=1, refused=note, layers=[layer])
    made = 0
    while search.layers or search.layers_of_triples:
        model = search.make(Draw("reach", layer, made))
        made += 1
        if model is not None:
            search.learn(Case(model[0], 0, model[1]), executed=True)
    return _found(layer, pairs, reasons), _found(layer, triples, reasons, pairs)


def _found(
    layer: str,
    coverage: CombinationCoverage,
    reasons: dict[str, dict[int, str]],
    pairs: CombinationCoverage | None = None,
) -> Reach:
    space = coverage.space
    table = space.tables[layer]
    lost = [number for number in range(table.start, table.stop) if coverage.state[number] == GIVEN_UP_AFTER]
    known = reasons[space.name]
    named = {} if pairs is None else _by_values(layer, pairs, reasons[pairs.space.name])
    unreachable = {number: known.get(number) or _of_a_pair(space.named(layer, number), named) for number in lost}
    assert all(coverage.state[number] in (COVERED, GIVEN_UP_AFTER) for number in range(table.start, table.stop))
    return Reach(space, layer, table.stop - table.start, unreachable)


Values = frozenset[tuple[str, str]]


def _by_values(layer: str, pairs: CombinationCoverage, reasons: dict[int, str]) -> dict[Values, str]:
    return {frozenset(pairs.space.named(layer, number).items()): reason for number, reason in reasons.items()}


def _of_a_pair(values: dict[str, str], named: dict[Values, str]) -> str:
    """Why a triple cannot be that contains a pair that cannot be."""
    found = frozenset(values.items())
    return next(reason for pair, reason in named.items() if pair <= found)
