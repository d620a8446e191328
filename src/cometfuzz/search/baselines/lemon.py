"""LEMON: published models are mutated towards a larger inconsistency between libraries, each in a chain of its own.

A chain chooses a model of its pool, seldom chosen ones first, and an operator by Metropolis-Hastings; what is more
inconsistent than the last mutant that was enters the pool. Weights and inputs of a chain stay the same, so that
inconsistencies compare. Where nothing runs, nobody knows what is inconsistent: half of the mutants are taken for it.

The tool also turns down mutants that give nearly all instances one class; here batches are too small to say so.
"""

from collections import Counter, deque
from collections.abc import Mapping
from functools import partial

from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.search.baselines.baseline import RERUN, TRIES, Baseline
from cometfuzz.search.baselines.lemon_operators import LEMON, Manner
from cometfuzz.search.metropolis import Metropolis
from cometfuzz.search.pool import Model, Pool
from cometfuzz.search.strategies import SEED, Feedback, Options

CAPACITY = 51
P = 1 / 12


class Chain:
    """The search from one seed model: its pool, its operators' scores, and the inconsistency to beat."""

    def __init__(self, seed: Graph, rng_seed: int) -> None:
        self.pool = Pool([Model(seed, rng_seed)], CAPACITY)
        self.chosen = [0]
        self.metropolis: Metropolis | None = None
        self.scores: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self.last = 0.0
        self.waiting: deque[Model] = deque()
        """Mutants that are being run, the oldest first."""

    def choose_model(self, draw: Draw) -> Model:
        """By roulette: the oftener one was chosen, the less likely."""
        place = roulette([1 / (times + 1) for times in self.chosen], draw)
        self.chosen[place] += 1
        return self.pool.graphs[place]

    def choose_operator(self, draw: Draw) -> str:
        """The first by even chance, then by score."""
        if self.metropolis is None:
            self.metropolis = Metropolis(tuple(LEMON), P, checked=False)
            for record in self.metropolis.records.values():
                record.attempts = 1  # an operator that was never applied scores 0
            self.metropolis.last = draw.choice(tuple(LEMON))
            return self.metropolis.last
        return self.metropolis.choose(draw)

    def learn(self, mutant: Model, operator: str, rose: bool, inconsistency: float, draw: Draw) -> None:
        """A mutant was run; it enters the pool if it is more inconsistent than the last one that did."""
        self.made[operator] += 1
        self.scores[operator] += rose
        if self.metropolis is not None and operator in LEMON:
            record = self.metropolis.records[operator]
            record.attempts, record.score = self.made[operator], self.scores[operator]
        if rose:
            place = self.pool.add(mutant, draw)
            self.chosen[place : place + 1] = [0]
            self.last = inconsistency


class Lemon(Baseline):
    """One chain for each seed, which take turns."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        draws = [Draw(self.seed, "chain", place) for place in range(len(self.unseen))]
        self.chains = [Chain(graph, draw.integer(0, 2**32)) for graph, draw in zip(self.unseen, draws, strict=True)]
        self.unseen.clear()

    def make(self, draw: Draw) -> Case:
        chain = self.chains[(self.index - 1) % len(self.chains)]
        if self.index <= len(self.chains):
            return self._launch(chain, chain.pool.graphs[0], SEED, draw)
        manner = Manner(self.dialect_for(draw), as_written=self.published)
        for _ in range(TRIES):
            model, operator = chain.choose_model(draw), chain.choose_operator(draw)
            mutant = self.attempt(operator, partial(LEMON[operator], model, draw, manner))
            if mutant is not None:
                return self._launch(chain, mutant, operator, draw)
        return self._launch(chain, chain.pool.graphs[0], RERUN, draw)

    def _launch(self, chain: Chain, model: Model, operator: str, draw: Draw) -> Case:
        chain.waiting.append(model)
        return self.launch_model(model, operator, draw)

    def learn(self, case: Case, feedback: Feedback) -> None:
        chain = self.chains[self.landed % len(self.chains)]
        flight, _ = self.land(case, feedback)
        model = chain.waiting.popleft()
        found, draw = feedback.inconsistency, Draw(self.seed, "pool", self.landed)
        if flight.operator == SEED:
            chain.last = found or 0.0
        elif flight.operator != RERUN:
            good = feedback.executed and not feedback.failed and not feedback.nonfinite
            rose = good and (draw.chance(0.5) if found is None else found > chain.last)
            chain.learn(model, flight.operator, rose, found or 0.0, draw)
            if rose:
                self.pool.add(case.graph, draw)

    def operators(self) -> Mapping[str, Mapping[str, float]]:
        scores = sum((chain.scores for chain in self.chains), Counter[str]())
        made = sum((chain.made for chain in self.chains), Counter[str]())
        found = super().operators()
        return {name: {**found[name], "fitness": round(scores[name] / max(1, made[name]), 3)} for name in found}


class LemonPublished(Lemon):
    """From the originals, one mutant after the other."""

    published, window = True, 1


def roulette(weights: list[float], draw: Draw) -> int:
    """A place, each as likely as its weight says."""
    at = draw.fraction() * sum(weights)
    for place, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return place
    return len(weights) - 1
