"""GraphFuzz, after its paper's description: graphs of blocks, edited as a tree search says, for coverage of operators.

Its authors published lists of bugs and no code. The tree has two levels here: the edit, and the block that it adds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.search.baselines.baseline import TRIES, Baseline
from cometfuzz.search.baselines.editing import layers_of
from cometfuzz.search.baselines.graphfuzz_edits import EDITS, SUBGRAPHS, blocks, edited, wired
from cometfuzz.search.pool import Model
from cometfuzz.search.strategies import Feedback, Options

WIRED, FIRST = "wired", 10
"""The operator that makes a first model, and how many there are."""

ADDING = "block addition"
EXPLORATION = 1.4

Fact = tuple[str, ...]


@dataclass
class Branch:
    """A choice of the tree search: how often it was made, and what it brought."""

    visits: int = 0
    reward: float = 0.0

    def bound(self, total: int) -> float:
        """What it may bring at best (UCT); the logarithm is that of whole numbers, which is the same everywhere."""
        if not self.visits:
            return math.inf
        return self.reward / self.visits + EXPLORATION * math.sqrt(total.bit_length() / self.visits)


@dataclass
class Level:
    """Some choices, of which the most promising is taken; ties are broken by draw."""

    branches: dict[str, Branch] = field(default_factory=dict)

    def choose(self, names: Sequence[str], draw: Draw) -> str:
        for name in names:
            self.branches.setdefault(name, Branch())
        total = sum(branch.visits for branch in self.branches.values())
        return max(draw.shuffled(names), key=lambda name: self.branches[name].bound(total))

    def learn(self, name: str, reward: float) -> None:
        branch = self.branches.setdefault(name, Branch())
        branch.visits, branch.reward = branch.visits + 1, branch.reward + reward


class GraphFuzz(Baseline):
    """Models of rank 4 with one input; those that bring new facts about operators are edited again."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.unseen.clear()
        self.pool.graphs.clear()
        self.edits, self.blocks = Level(), Level()
        self.seen: set[Fact] = set()
        self.ways: list[tuple[str, str]] = []

    def make(self, draw: Draw) -> Case:
        for _ in range(TRIES):
            dialect = self.dialect_for(draw)
            limits = replace(self.limits, dialect=dialect)
            names = [name for name in blocks() if all(map(dialect.has, SUBGRAPHS.get(name, (name,))))]
            edit, block = WIRED, ""
            if self.index > FIRST and self.pool.graphs:
                edit = self.edits.choose(tuple(EDITS), draw)
                block = self.blocks.choose(names, draw) if edit == ADDING else ""
            model = self.attempt(edit, partial(self._made, edit, block, draw, limits, names))
            if model is not None:
                self.ways.append((edit, block))
                return self.launch(model.graph, edit, draw)
            self._reward(edit, block, 0.0)
        raise CometfuzzError(f"expected a model; received none in {TRIES} tries at case {self.index}")

    def _made(self, edit: str, block: str, draw: Draw, limits: ModelLimits, names: Sequence[str]) -> Model:
        if edit == WIRED:
            return Model(wired(draw, limits, names), 0)
        return Model(edited(self.pool.choose(draw), edit, block, draw, limits), 0)

    def learn(self, case: Case, feedback: Feedback) -> None:
        self.land(case, feedback)
        edit, block = self.ways.pop(0)
        new = facts_of(case.graph) - self.seen if feedback.executed else set()
        self.seen |= new
        self._reward(edit, block, len(new) / (1 + len(new)))
        if new and not feedback.nonfinite:
            self.pool.add(case.graph, Draw(self.seed, "pool", self.landed))

    def _reward(self, edit: str, block: str, reward: float) -> None:
        if edit != WIRED:
            self.edits.learn(edit, reward)
        if block:
            self.blocks.learn(block, reward)


class GraphFuzzPublished(GraphFuzz):
    """One model after the other, and nothing kept clear of."""

    published, window = True, 1


def facts_of(graph: Graph) -> set[Fact]:
    """Its five criteria: the types of operators, how many edges come in and go out, single edges, and shapes and
    parameters."""
    found: set[Fact] = set()
    readers: dict[str, int] = {}
    for node in graph.nodes:
        for edge in node.inputs:
            readers[edge.node] = readers.get(edge.node, 0) + 1
    for node in layers_of(graph):
        found |= {
            ("type", node.layer),
            ("in-degree", node.layer, str(len(node.inputs))),
            ("out-degree", node.layer, str(readers.get(node.id, 0))),
            ("shape and parameters", node.layer, str(graph.input_types(node)), node.params.key),
        }
        found |= {("edge", graph.by_id[edge.node].layer, node.layer) for edge in node.inputs}
    return found
