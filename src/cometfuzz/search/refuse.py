"""Calls that break a rule, one at a time: a strategy of its own, and a small share of every campaign."""

from collections.abc import Mapping

from cometfuzz.catalogue.breaking import Target, draw_breaking, targets
from cometfuzz.coverage.gain import Gain
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.search.metropolis import Record, as_plain
from cometfuzz.search.strategies import SEED, Feedback, Flight, Options, Search

OPERATOR = "refuse"
ONE_IN = 50
"""How many cases of any other strategy there are for one call that breaks a rule."""


def beside(seed: int, index: int, operator: str) -> Case | None:
    """The call that is run beside case `index` of a campaign, if it is its turn: one in every block of cases, the same
    for the same seed. Seeds are left alone; no case is another one because of it."""
    turn = Draw(seed, "refuse block", index // ONE_IN).integer(0, ONE_IN - 1)
    if index % ONE_IN != turn or operator in (SEED, OPERATOR):
        return None
    return _any_of(targets(), Draw(seed, "refuse", index))


def _any_of(rules: tuple[Target, ...], draw: Draw) -> Case:
    """A call that breaks some rule; a few rules cannot be broken alone."""
    for target in draw.shuffled(rules):
        case = draw_breaking(target, draw)
        if case is not None:
            return case
    raise CometfuzzError("expected a rule that a call can break; received none")


class Refuse(Search):
    """Breaks rule after rule, all of them once in a drawn order before any comes again. It covers nothing, and learns
    nothing."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        if options.mutations:
            raise CometfuzzError(
                f"expected no mutation for refuse, which has no use for it; received {options.mutations}"
            )
        self.unseen.clear()
        self.record = Record()
        self.waiting: list[Target] = []

    def make(self, draw: Draw) -> Case:
        case = None
        while case is None:
            self.waiting = self.waiting or draw.shuffled(targets())
            case = draw_breaking(self.waiting.pop(), draw)
        self.flights.append(Flight(case, OPERATOR, tuple(Gain(()) for _ in self.coverages), probe=True))
        return case

    def learn(self, case: Case, feedback: Feedback) -> None:
        self.land(case, feedback)
        self.record.attempts += 1
        self.record.applied += feedback.executed

    def operators(self) -> Mapping[str, Mapping[str, float]]:
        return as_plain({OPERATOR: self.record})
