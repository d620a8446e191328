"""What has executed on each route: coverage, and what is left to do, route by route.

An item that ran on Keras with TensorFlow says nothing of OpenVINO. So every route has a coverage of its own, and is
given models until nothing is left there. What fails on a route is tried in smaller and smaller models, and then left
alone.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from cometfuzz.coverage.gain import Coverage, Fact, facts_by_node, summary_of
from cometfuzz.coverage.layers import CoverageSpace
from cometfuzz.ir.graph import Graph

PARKED_AFTER = 3
"""So many models with an item failed on a route, each smaller than the one before, and it is left alone there."""

Wanted = Mapping[str, Mapping[str, int]]
"""For each route the nodes of a graph that would add something there, each with how often that has failed before."""


class RouteCoverage:
    """The coverage of each route, of the spaces that it can do something about."""

    def __init__(self, spaces: Mapping[str, Sequence[CoverageSpace]]) -> None:
        self.coverages = {route: tuple(Coverage(space) for space in each) for route, each in spaces.items()}
        self.failures: dict[str, Counter[Fact]] = {route: Counter() for route in self.coverages}

    def learn(self, graph: Graph, completed: Mapping[str, bool]) -> None:
        """Count what a graph covers on the routes that computed it, and what it failed to cover on the others."""
        for route, done in completed.items():
            for coverage in self.coverages.get(route, ()):
                gain = coverage.gain(graph)
                if done:
                    coverage.add(gain.facts)
                else:
                    self.failures[route].update(gain.facts)

    def wanted(self, graph: Graph, routes: Collection[str]) -> Wanted:
        """The nodes of a graph that would add something, for each of some routes where there are any."""
        found: dict[str, dict[str, int]] = {route: {} for route in routes if route in self.coverages}
        by_space: dict[str, list[tuple[str, Coverage]]] = {}
        for route in found:
            for coverage in self.coverages[route]:
                by_space.setdefault(coverage.space.name, []).append((route, coverage))
        for counting in by_space.values():
            for node, facts in facts_by_node(graph, counting[0][1].space):
                for route, coverage in counting:
                    times = [self.failures[route][fact] for fact in coverage.wanted(facts)]
                    if times and min(times) < PARKED_AFTER:
                        found[route][node] = min(found[route].get(node, PARKED_AFTER), *times)
        return {route: nodes for route, nodes in found.items() if nodes}

    def summary(self) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
        """For each route the summary of each space."""
        return {route: summary_of(coverages) for route, coverages in self.coverages.items()}
