"""Models for dear routes: what runs on Keras says nothing of a converter, so each of them has goals of its own."""

from collections import deque
from dataclasses import replace
from functools import partial

from cometfuzz.coverage.gain import Fact
from cometfuzz.coverage.layers import Item
from cometfuzz.coverage.routes import PARKED_AFTER
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import INPUT, Graph
from cometfuzz.mutation.base import Guide, ModelLimits
from cometfuzz.mutation.repair import Editor
from cometfuzz.search.pairs import Model, Pairs
from cometfuzz.search.placing import alone, place
from cometfuzz.search.planning import fact_of, plan
from cometfuzz.search.strategies import Avoided, RouteGoals

REFRESHED_AFTER = 64
"""After so many cases what is left on a route is read anew."""

UNPLANNED = 2
"""So many failures to plan an item within what a route can do, and it is left alone there."""

CALLS_AT_ONCE = 5
"""How many calls a model for pairs has: one that fails takes the others with it."""

ROUTE_SPARE = 4
"""How much room is left in a model for a dear route when one more call is placed: utilities may have to lead to it."""


class ForRoutes:
    """Makes models for dear routes: small ones, of calls that have not executed there and that should."""

    def __init__(self, goals: RouteGoals, limits: ModelLimits) -> None:
        self.goals, self.limits = goals, limits
        self.left: dict[str, deque[Item]] = {route: deque() for route in goals.dialects}
        self.read_at: dict[str, int] = {}
        self.unplanned: dict[str, dict[Item, int]] = {route: {} for route in goals.dialects}
        """How often no plan was found for an item that would run on a route."""
        self.pairs = {
            route: Pairs(
                goals.ran.pairs[route], goals.ran.triples[route], replace(limits, dialect=dialect), CALLS_AT_ONCE
            )
            for route, dialect in goals.dialects.items()
        }

    def make(self, draw: Draw, made: int) -> Model | None:
        """A model for one of the routes that lack something and would get it, by lot; None if nothing can be planned.

        made: how many cases there are, since what is left is read anew only now and then.
        """
        behind = self.goals.behind()
        for route in draw.shuffled([route for route in self.left if route in behind]):
            self._read(route, draw, made)
            if (graph := self._model(route, draw)) is not None:
                return graph, {}
            if (model := self.pairs[route].make(draw)) is not None:
                return model
        return None

    def _read(self, route: str, draw: Draw, made: int) -> None:
        """What is left on a route, the paper's space first, without what failed or could not be planned too often."""
        if self.left[route] or made < self.read_at.get(route, -REFRESHED_AFTER) + REFRESHED_AFTER:
            return
        self.read_at[route] = made
        failures, unplanned = self.goals.ran.failures[route], self.unplanned[route]
        for coverage in self.goals.ran.coverages[route]:
            found = coverage.open_items()
            self.left[route] += [
                item
                for item in draw.shuffled(found)
                if unplanned.get(item, 0) < UNPLANNED and failures[Fact(*item)] < PARKED_AFTER
            ]

    def _model(self, route: str, draw: Draw) -> Graph | None:
        ran, left = self.goals.ran, self.left[route]
        guide = Guide(ran.coverages[route], Avoided(ran.failures[route]))
        limits = replace(self.limits, nodes=2 * self.goals.largest, dialect=self.goals.dialects[route])
        editor: Editor | None = None
        while left:
            if editor is not None and _layers(editor) + ROUTE_SPARE > self.goals.largest:
                break
            item = left.popleft()
            fact = fact_of(item)
            if fact is not None and not guide.wants(fact):
                continue
            found = plan(item, guide, draw, limits)
            graph = alone(found) if found is not None and editor is None else None
            if found is None:
                self.unplanned[route][item] = self.unplanned[route].get(item, 0) + 1
            elif editor is not None:
                editor.attempt(partial(place, found=found))
            elif graph is not None:
                editor = Editor(graph, draw, limits)
        return None if editor is None else editor.finish()


def _layers(editor: Editor) -> int:
    """How many nodes there are that are no inputs."""
    return sum(node.layer != INPUT for node in editor.nodes.values())
