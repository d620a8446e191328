"""What has executed on each route: coverage, and what is left to do, route by route.

An item that ran on Keras with TensorFlow says nothing of OpenVINO. So every route has a coverage of its own, and is
given models until nothing is left there. What fails on a route is tried in smaller and smaller models, and then left
alone.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from cometfuzz.coverage.chains import CHAINS, ChainCoverage, chains_of
from cometfuzz.coverage.gain import Coverage, Fact, facts_by_node
from cometfuzz.coverage.layers import CoverageSpace
from cometfuzz.coverage.pairs import PAIRS, PairCoverage, pair_space
from cometfuzz.coverage.rows import Ids
from cometfuzz.coverage.triples import TRIPLES, TripleCoverage, triple_space
from cometfuzz.ir.case import Case

PARKED_AFTER = 3
"""So many models with an item failed on a route, each smaller than the one before, and it is left alone there."""

IN_PAIRS = PARKED_AFTER
"""In place of a number of failures: each value has been covered, but not two of them together; or, of a layer that has
no such pairs left on the route, not three of a group."""

Wanted = Mapping[str, Mapping[str, int]]
"""For each route the nodes of a graph that would add something there, each with how often that has failed before, or
IN_PAIRS. What has failed less often comes first, pairs last."""


class RouteCoverage:
    """The coverage of each route, of the spaces that it can do something about."""

    def __init__(self, spaces: Mapping[str, Sequence[CoverageSpace]]) -> None:
        self.coverages = {route: tuple(Coverage(space) for space in each) for route, each in spaces.items()}
        self.failures: dict[str, Counter[Fact]] = {route: Counter() for route in self.coverages}
        self.pairs = {route: PairCoverage() for route in self.coverages}
        self.triples = {route: TripleCoverage() for route in self.coverages}
        self.chains = {route: ChainCoverage() for route in self.coverages}

    def learn(self, case: Case, completed: Mapping[str, bool]) -> None:
        """Count what a case covers on the routes that computed it, and what it failed to cover on the others.

        What fails on inputs of its own may work on ordinary ones, so that only counts against pairs.
        """
        odd = not case.data.keys().isdisjoint(node.id for node in case.graph.inputs)
        pairs, triples = ([ids for _, ids in space.of_case(case)] for space in (pair_space(), triple_space()))
        chains = chains_of(case.graph)
        for route, done in completed.items():
            if route in self.pairs:
                self.pairs[route].count(pairs, done)
                self.triples[route].count(triples, done)
                self.chains[route].count(chains, done)
            for coverage in self.coverages.get(route, ()):
                gain = coverage.gain(case.graph)
                if done:
                    coverage.add(gain.facts)
                elif not odd:
                    self.failures[route].update(gain.facts)

    def wanted(self, case: Case, routes: Collection[str]) -> Wanted:
        """The nodes of a case that would add something, for each of some routes where there are any."""
        found: dict[str, dict[str, int]] = {route: {} for route in routes if route in self.coverages}
        if not found:
            return {}
        by_space: dict[str, list[tuple[str, Coverage]]] = {}
        for route in found:
            for coverage in self.coverages[route]:
                by_space.setdefault(coverage.space.name, []).append((route, coverage))
        for counting in by_space.values():
            for node, facts in facts_by_node(case.graph, counting[0][1].space):
                for route, coverage in counting:
                    times = [self.failures[route][fact] for fact in coverage.wanted(facts)]
                    if times and min(times) < PARKED_AFTER:
                        found[route][node] = min(found[route].get(node, PARKED_AFTER), *times)
        for (node, ids), (_, threes) in zip(pair_space().of_case(case), triple_space().of_case(case), strict=True):
            layer = case.graph.by_id[node].layer
            for route, nodes in found.items():
                if node not in nodes and (self.pairs[route].wants(ids) or self._wants_triples(route, layer, threes)):
                    nodes[node] = IN_PAIRS
        return {route: nodes for route, nodes in found.items() if nodes}

    def _wants_triples(self, route: str, layer: str, ids: Ids) -> bool:
        """Whether some triples of a call are new on a route; those of a layer wait for its pairs."""
        return self.triples[route].wants(ids) and not len(self.pairs[route].missing(layer))

    def summary(self) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
        """For each route the summary of each space, of pairs, of triples, and of sequences of three."""
        return {
            route: {
                **{each.space.name: each.summary() for each in coverages},
                PAIRS: {PAIRS: self.pairs[route].summary()},
                TRIPLES: {TRIPLES: self.triples[route].summary()},
                CHAINS: {CHAINS: self.chains[route].summary()},
            }
            for route, coverages in self.coverages.items()
        }
