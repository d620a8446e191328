"""Algorithm 1 of the paper: a small model with the diversity of a large one.

As printed, the algorithm never recomputes what is missing; here every step does.

It starts from the shrunken inputs of the original and adds one layer call of the original at a time, until all that
the original covers is covered, or the budget of steps ends. Each step takes the call and the place that cover most of
what is missing now: parameter values (the paper's IL), another input type or sequence for a layer that is there already
(CL), a merge of tensors (ML). Where no tensor of the graph will do as it is, one is led to another dtype, rank or shape
by utility nodes (MDtype, MDims, MShape). Last, layers that turned out to be needless are taken out.
"""

from dataclasses import dataclass, replace

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.coverage.gain import Fact
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph
from cometfuzz.synthesis.builder import Builder
from cometfuzz.synthesis.pruning import without_needless
from cometfuzz.synthesis.wanted import Wanted, wanted_of

BUDGET = 400
EFFORT = 100
"""No new attempt begins after so many steps; one attempt takes about as many as the result has layers."""


@dataclass(frozen=True)
class Synthesis:
    """A small model, what of its original it does not cover, the share that it does, and the steps it took."""

    graph: Graph
    missing: tuple[Fact, ...]
    kept: dict[str, float]
    steps: int


def synthesise(original: Graph, seed: int = 1, budget: int = BUDGET) -> Synthesis:
    """A small valid graph that covers what `original` covers: the best of the attempts that `EFFORT` steps allow.

    Same seed and budget, same graph. It never fails: when the budget ends, the result says what is missing.
    """
    wanted = wanted_of(original)
    results: list[Synthesis] = []
    steps = 0
    while not results or steps < min(budget, EFFORT):
        results.append(_attempt(original, wanted, Draw("synthesis", seed, len(results)), budget - steps))
        steps += max(1, results[-1].steps)
    best = min(results, key=lambda result: (len(result.missing), _size(result.graph)))
    return replace(best, steps=steps)


def _attempt(original: Graph, wanted: Wanted, draw: Draw, budget: int) -> Synthesis:
    builder = Builder(original, wanted, draw)
    steps = 0
    while builder.wanted and steps < budget:
        steps += 1
        if not builder.step():
            break
    graph = without_needless(builder.graph(), wanted)
    left = wanted.without(graph)
    return Synthesis(graph, tuple(left.missing()), left.kept(), steps)


def _size(graph: Graph) -> tuple[int, int]:
    return sum(CATALOGUE[node.layer].counted for node in graph.nodes), len(graph.nodes)
