"""COMET without its own operators (the paper, RQ4): LEMON's twelve and Audee's change of parameters in their place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cometfuzz.coverage.gain import Gain
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError, InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.mutation.base import Inapplicable
from cometfuzz.mutation.repair import trim
from cometfuzz.search.baselines.audee_operators import change_parameters
from cometfuzz.search.baselines.baseline import Bounds
from cometfuzz.search.baselines.lemon_operators import LEMON, Manner, Operator
from cometfuzz.search.comet import LEGACY_SHARE, TRIES, Comet
from cometfuzz.search.metropolis import Metropolis
from cometfuzz.search.pool import Model
from cometfuzz.search.strategies import Feedback, Options

PARAMETERS = "Parameters"
OPERATORS: Mapping[str, Operator] = {**LEMON, PARAMETERS: change_parameters}
RATIO = 1.0
"""How much of the weights a rule changes: all of it, the default of the authors' wrapper."""

BUNDLES, BUNDLE_TRIES = "MLA", 10
ROOM = 3
"""Nodes that an operator may add."""


class CometO(Comet):
    """Comet's search and pool over the operators of others. The pool has graphs without weights, so what a rule does to
    weights is for one case."""

    as_written = False

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.metropolis = Metropolis(tuple(OPERATORS), checked=False)
        self.bounds = Bounds(self.limits, self.dialects, self.unseen)

    def make(self, draw: Draw) -> Case:
        for _ in range(TRIES):
            operator, graph = self.choose(draw), self.pool.choose(draw)
            dialect = self.dialects.legacy if draw.chance(LEGACY_SHARE) else self.dialects.of(graph)
            manner = Manner(dialect, RATIO, self.as_written)
            limits = replace(self.limits, nodes=max(2, self.limits.nodes - ROOM), dialect=dialect.lenient)
            for _ in range(BUNDLE_TRIES if operator == BUNDLES else 1):
                try:
                    model = Model(trim(graph, draw, limits), draw.integer(0, 2**32))
                    mutant = OPERATORS[operator](model, draw, manner)
                    self.bounds.expect(mutant.graph)
                except (Inapplicable, InvalidCase):
                    continue
                return self.launch(mutant.graph, operator, draw, data=mutant.data, rng_seed=mutant.rng_seed)
            self.metropolis.learn(operator, 0.0, applied=False)
        raise CometfuzzError(f"expected an operator that applies; received none in {TRIES} tries at case {self.index}")


class CometOPublished(CometO):
    """As published: bundles as they are written, and a pool of what adds to the paper's space."""

    as_written = True

    def is_worth_keeping(self, gains: Sequence[Gain], feedback: Feedback) -> bool:
        return bool(gains[0]) or bool(feedback.new_branches)
