"""Metropolis-Hastings over mutations (the paper, section 3.5): the better one did so far, the likelier it is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError

P = 0.4


@dataclass
class Record:
    """How an operator did: the sum of its scores over all attempts, failed ones included."""

    attempts: int = 0
    score: float = 0.0
    applied: int = 0

    @property
    def fitness(self) -> float:
        return self.score / self.attempts if self.attempts else 1.0


def as_plain(records: Mapping[str, Record]) -> dict[str, dict[str, float]]:
    """The form of `--json`."""
    return {
        name: {"attempts": record.attempts, "applied": record.applied, "fitness": round(record.fitness, 3)}
        for name, record in records.items()
    }


def p_range(operators: int) -> tuple[float, float]:
    """The bounds of p that the paper takes over: 95% of the distribution falls on the operators, 0.1% on the last."""
    grid = [step / 1000 for step in range(1, 1000)]
    low = min(p for p in grid if (1 - p) ** operators <= 0.05)
    high = max(p for p in grid if (1 - p) ** (operators - 1) * p >= 0.001)
    return low, high


class Metropolis:
    """Chooses operators; ties in fitness are broken by draw. checked: whether p must be in the recommended range; other
    tools have used another one."""

    def __init__(self, operators: Sequence[str], p: float = P, checked: bool = True) -> None:
        low, high = p_range(len(operators))
        if checked and not low <= p <= high:
            raise CometfuzzError(f"expected p from {low} to {high} for {len(operators)} operators; received p={p}")
        self.records = {name: Record() for name in operators}
        self.p, self.last = p, operators[0]

    def choose(self, draw: Draw) -> str:
        """The next operator: proposed evenly, accepted with min(1, (1 - p) ** (rank of new - rank of last))."""
        ranked = sorted(draw.shuffled(list(self.records)), key=lambda name: -self.records[name].fitness)
        rank = {name: index for index, name in enumerate(ranked)}
        while True:
            proposed = draw.choice(ranked)
            if draw.fraction() < (1 - self.p) ** (rank[proposed] - rank[self.last]):
                self.last = proposed
                return proposed

    def learn(self, operator: str, score: float, applied: bool = True) -> None:
        record = self.records[operator]
        record.attempts += 1
        record.score += score
        record.applied += applied

    def as_plain(self) -> dict[str, dict[str, float]]:
        return as_plain(self.records)
