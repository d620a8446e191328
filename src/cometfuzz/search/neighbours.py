"""Neighbours: small models around calls that brought something new, until they bring nothing more.

A finding of a new kind that the ledger does not explain makes a *neighbourhood* of the calls that it names, on the
routes that failed. Its models have several calls side by side, each on inputs of its own, and each differs in one thing
only from one that is known to fail (`search.moves`). It all goes by feedback, so a campaign that goes on after a kill
has the same neighbourhoods again.
"""

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cometfuzz.catalogue.data import draw_inputs
from cometfuzz.catalogue.drawing import TARGET, input_params
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.ir.types import FLOATS
from cometfuzz.mutation.base import Guide, ModelLimits
from cometfuzz.mutation.dialect import Dialects
from cometfuzz.search.moves import Move, moved, moves_of
from cometfuzz.search.odd import ODDITIES, made_odd
from cometfuzz.search.placing import promised
from cometfuzz.search.planning import Plan, PlannedCall
from cometfuzz.search.strategies import Lead, RouteGoals

NEIGHBOURS = "neighbours"
"""How a case is said to be made that is around a finding."""

SHARE = 0.05
"""How many of the cases may be around findings. One in twenty: in a simulation with half of the ledger hidden, with two
seeds, more of them showed no more kinds, and what nobody has tried must come first. A dear route gets them only while
it is behind its share of the time, so they take nothing from the other routes."""

CALLS, CALLS_AROUND_A_STOP = 5, 2
"""How many calls a model has: as many as models for pairs on dear routes; fewer where the finding is that there is no
result at all, since the first call that fails so hides the others."""

BARREN = 4
"""After so many models on end that brought no new kind a neighbourhood ends."""

MODELS = 32
"""So many models around one layer on the same routes in all: a bug that says something else each time looks new each
time."""

WAITING = 16
"""How many neighbourhoods there may be; one more, and the oldest is given up."""

CENTRES = 4
"""Around how many calls a neighbourhood goes: the newest ones."""

Name = tuple[tuple[str, ...], str]
"""What a neighbourhood goes by: the layers of its first calls, and the first of the routes that failed."""


@dataclass
class Neighbourhood:
    """Calls that failed on some routes, and what has been tried around them.

    left: how many models may still bring nothing. flying: how many have not been learned of. oddity: how the data is
    odd, if it must be.
    """

    routes: tuple[str, ...]
    stops: bool
    oddity: str
    centres: deque[PlannedCall] = field(default_factory=lambda: deque(maxlen=CENTRES))
    left: int = BARREN
    flying: int = 0
    moves: deque[tuple[PlannedCall, Move]] = field(default_factory=deque)
    tried: set[tuple[object, ...]] = field(default_factory=set)

    def add(self, calls: Sequence[PlannedCall]) -> None:
        """It is alive: go on, around these calls too."""
        self.left = BARREN
        for call in calls:
            if _key((call,)) not in self.tried:
                self.centres.append(call)
                self.tried.add(_key((call,)))
                self.moves.clear()

    def plans(self, guide: Guide, draw: Draw, limits: ModelLimits) -> list[Plan]:
        """Some neighbours that have not been tried; each move once before one of them comes again."""
        found: list[Plan] = []
        refilled = False
        while len(found) < (CALLS_AROUND_A_STOP if self.stops else CALLS):
            if not self.moves and refilled:
                break
            if not self.moves:
                refilled = True
                self.moves += draw.shuffled(
                    [(call, move) for call in self.centres for move in moves_of(call, self.stops)]
                )
            call, move = self.moves.popleft()
            plan = moved(call, move, guide, draw, limits)
            if plan is not None and _key(plan) not in self.tried and _graph([plan]) is not None:
                self.tried.add(_key(plan))
                found.append(plan)
        return found


@dataclass(frozen=True)
class NeighbourModel:
    """A graph, what of its data is not drawn, and the dear route that it must reach, if it is one."""

    graph: Graph
    data: dict[str, Tensor]
    aim: str


class Neighbours:
    """Makes models around what is alive. All that it knows it was told by `learn`, in order of index."""

    def __init__(self, goals: RouteGoals, limits: ModelLimits, dialects: Dialects, guide: Guide) -> None:
        self.goals, self.limits, self.dialects, self.guide = goals, limits, dialects, guide
        self.waiting: dict[Name, Neighbourhood] = {}
        """The neighbourhoods that are alive, the oldest first."""
        self.flights: deque[Name] = deque()
        """Whose models have not been learned of, in order of index."""
        self.made: Counter[Name] = Counter()

    def make(self, draw: Draw) -> NeighbourModel | None:
        """A model of the oldest neighbourhood that can be reached now; None if there is none."""
        behind = self.goals.behind()
        for name, home in list(self.waiting.items()):
            aim = self._aim(home, name, behind)
            if aim is None or home.left <= 0 or self.made[name] >= MODELS:
                continue
            dialect = self.goals.dialects.get(aim) or self.dialects.home(*name[0])
            limits = replace(self.limits.widened(), dialect=dialect)
            graph = _within(home.plans(self.guide, draw, limits), limits)
            if graph is None:
                home.left = 0
                self._end(name)
                continue
            home.left, home.flying = home.left - 1, home.flying + 1
            self.made[name] += 1
            self.flights.append(name)
            return NeighbourModel(graph, _data(graph, home.oddity, draw), aim)
        return None

    def learn(self, leads: Sequence[Lead], own: bool) -> None:
        """What a case brought; own: it was one of ours, the oldest that is in flight."""
        name = self.flights.popleft() if own else None
        home = None if name is None else self.waiting.get(name)
        if home is not None:
            home.flying -= 1
            home.left = BARREN if leads else home.left
        for lead in leads:
            self._take(lead)
        if name is not None:
            self._end(name)

    def _take(self, lead: Lead) -> None:
        calls = [call_of(text) for text in lead.calls]
        if not calls or not lead.routes:
            return
        name = tuple(call.spec.name for call in calls), lead.routes[0]
        if self.made[name] >= MODELS:
            return
        home = self.waiting.setdefault(name, Neighbourhood(lead.routes, lead.stops, lead.oddity))
        home.add(calls)
        if len(self.waiting) > WAITING:
            del self.waiting[next(iter(self.waiting))]

    def _end(self, name: Name) -> None:
        """Give up a neighbourhood that has nothing left and of which nothing is to come."""
        home = self.waiting.get(name)
        if home is not None and not home.flying and (home.left <= 0 or self.made[name] >= MODELS):
            del self.waiting[name]

    def _aim(self, home: Neighbourhood, name: Name, behind: Collection[str]) -> str | None:
        """The dear route that a model must reach, nothing if every case reaches one that failed; None: not now."""
        if any(route in self.dialects.home(*name[0]).routes for route in home.routes):
            return ""
        return next((route for route in home.routes if route in behind), None)


def call_of(text: str) -> PlannedCall:
    """The call in a lead: the node TARGET of a case."""
    graph = decode(text.encode()).graph
    if TARGET not in graph.by_id or graph.by_id[TARGET].layer == INPUT:
        raise InvalidCase(f"$.nodes: expected a call with the id {TARGET!r}; received none")
    node = graph.by_id[TARGET]
    return PlannedCall(CATALOGUE[node.layer], graph.input_types(node), node.params)


def _key(plan: Plan) -> tuple[object, ...]:
    return tuple((call.spec.name, call.types, call.params) for call in plan)


def _within(plans: list[Plan], limits: ModelLimits) -> Graph | None:
    """As many of the plans in one graph as the limits allow."""
    while plans:
        graph = _graph(plans)
        if graph is not None and not limits.excess(graph):
            return graph
        plans = plans[:-1]
    return None


def _graph(plans: Sequence[Plan]) -> Graph | None:
    """Plans side by side, each on inputs of its own; None if that is not valid."""
    drafts: list[Draft] = []
    outputs: list[Edge] = []

    def add(layer: str, params: Mapping[str, Any], inputs: Sequence[Edge]) -> Edge:
        drafts.append(Draft(f"n{len(drafts)}", layer, params, tuple(inputs)))
        return Edge(drafts[-1].id)

    for plan in plans:
        source: list[Edge] = []
        for call in plan:
            inputs = source[:1]
            for kind in call.types[len(inputs) :]:
                given = add(INPUT, {**input_params(promised(kind)), "zero_steps": kind.masked}, ())
                inputs.append(add("Masking", {}, [given]) if kind.masked else given)
            made = add(call.spec.name, call.params, inputs)
            source = [Edge(made.node, place) for place in range(len(call.spec.outputs(call.types, call.params)))]
        outputs += source
    try:
        return assemble(drafts, outputs)
    except InvalidCase:
        return None


def _data(graph: Graph, oddity: str, draw: Draw) -> dict[str, Tensor]:
    """The inputs that are floats, made odd as those of the finding were, if they were."""
    if oddity not in ODDITIES:
        return {}
    given = {node.id: node.outputs[0].dtype for node in graph.inputs}
    values = draw_inputs(Case(graph, draw.integer(0, 2**32)))
    return {name: made_odd(ODDITIES[oddity], value, draw) for name, value in values.items() if given[name] in FLOATS}
