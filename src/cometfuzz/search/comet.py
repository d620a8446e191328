"""The paper's own search: Metropolis-Hastings over the eight mutations (section 3.5), and variants of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cometfuzz.coverage.gain import Gain
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation import MUTATIONS
from cometfuzz.mutation.base import Guide, Inapplicable
from cometfuzz.search.metropolis import Metropolis
from cometfuzz.search.strategies import SEED, Feedback, Options, Search

LAMBDA = 0.5
TRIES = 50
LEGACY_SHARE = 0.125
"""How often a case is made for Keras 2, which alone has three of the paper's layers."""


class Comet(Search):
    """Mutates graphs of the pool; an operator that led to new coverage is chosen more often."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.metropolis = Metropolis(self.mutations)

    def choose(self, draw: Draw) -> str:
        """The operator for the next case."""
        return self.metropolis.choose(draw)

    def make(self, draw: Draw) -> Case:
        for _ in range(TRIES):
            operator, graph = self.choose(draw), self.pool.choose(draw)
            if not self.is_due(operator):
                continue
            dialect = self.dialects.legacy if draw.chance(LEGACY_SHARE) else self.dialects.of(graph)
            mutant: Graph | None
            try:
                mutant = MUTATIONS[operator](graph, self.guide, draw, replace(self.limits, dialect=dialect))
            except Inapplicable:
                mutant = None
            if mutant is not None and (self.dialects.of(mutant) is dialect or self.dialects.is_clear(mutant)):
                return self.launch(mutant, operator, draw)
            self.metropolis.learn(operator, 0.0, applied=False)
        raise CometfuzzError(f"expected an operator that applies; received none in {TRIES} tries at case {self.index}")

    def learn(self, case: Case, feedback: Feedback) -> None:
        flight, gains = self.land(case, feedback)
        diverse, branch = bool(gains[0]), feedback.new_branches
        score = float(diverse) if branch is None else LAMBDA * diverse + (1 - LAMBDA) * branch
        if flight.operator != SEED:
            self.metropolis.learn(flight.operator, score)

    def operators(self) -> Mapping[str, Mapping[str, float]]:
        return self.metropolis.as_plain()


class CometRandom(Comet):
    """The ablation: operators by chance; the pool still grows."""

    def choose(self, draw: Draw) -> str:
        return draw.choice(self.mutations)


class CometPublished(Comet):
    """As published where ours differs by choice, for evaluations: mutations as `ModelLimits.published` has them, guided
    by the paper's space alone, and a pool of what adds to that."""

    def __init__(self, options: Options) -> None:
        super().__init__(replace(options, limits=replace(options.limits, published=True)))
        self.guide = Guide(self.coverages[:1], self.guide.avoided)

    def is_worth_keeping(self, gains: Sequence[Gain], feedback: Feedback) -> bool:
        return bool(gains[0]) or bool(feedback.new_branches)


class CometRandomPublished(CometPublished):
    """The ablation as published: operators by chance, and a pool that does not grow."""

    def choose(self, draw: Draw) -> str:
        return draw.choice(self.mutations)

    def is_worth_keeping(self, gains: Sequence[Gain], feedback: Feedback) -> bool:
        return False
