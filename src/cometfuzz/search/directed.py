"""Our own strategy: it reads what is missing, plans the calls that reach it, and batches several plans into one model.

What only a known defect stands against goes into a probe: a case of that plan alone, outside the pool.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from cometfuzz.catalogue import COUNTED, OPERATORS
from cometfuzz.coverage.chains import ChainCoverage
from cometfuzz.coverage.layers import Item
from cometfuzz.coverage.pairs import PAIRS, PairCoverage
from cometfuzz.coverage.routes import RouteCoverage
from cometfuzz.coverage.triples import TripleCoverage
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Edge, Graph, is_operator
from cometfuzz.mutation import MUTATIONS
from cometfuzz.mutation.base import Inapplicable, ModelLimits
from cometfuzz.mutation.dialect import Dialect
from cometfuzz.mutation.repair import Editor, trim
from cometfuzz.search.extending import extension
from cometfuzz.search.for_routes import ForRoutes
from cometfuzz.search.goals import Goals, is_sequence
from cometfuzz.search.metropolis import Record, as_plain
from cometfuzz.search.neighbours import NEIGHBOURS, SHARE, Neighbours
from cometfuzz.search.pairs import Model, Pairs
from cometfuzz.search.placing import alone, place
from cometfuzz.search.planning import PlannedCall, fact_of, followed, plan
from cometfuzz.search.strategies import FOR_A_ROUTE, Feedback, Options, Search

START_NODES = 10
STEPS = 20
TRIES = 20
WALKS, WALKS_TO_SEQUENCES = 0.5, 0.9
"""How often a step lets a layer read what is there, while the next goal is an item of a call, and while it is a
sequence: one more node may be all that takes, where a plan of two calls and what leads to them takes many."""

HARD_AFTER = 3
"""So many walks from one layer to another that came to nothing, and the pair is left to plans."""

MUTATED = 0.3
SPECIALS = 0.5
"""How often a batch also gets special values: NaN that is swallowed is found in no other way."""

PROBES, PROBE_TRIES = 0.25, 200
"""How often a case is a probe where there are some to make, and how long one is looked for: what is among them is rare,
such as a square matrix out of two that were put side by side."""

OPERATORS_SHARE = 0.2
"""How often a batch goes for operators while there are layers to go for: their space comes last, and would have to wait
until those of layers are full."""

PAIRS_SHARE = 0.8
"""How often a model is made for pairs when hardly a single item is left."""

ROUTES_SHARE, ROUTES_SHARE_LATER = 0.125, 0.6
"""How often a model is made for a dear route: while much is left on the base routes, and when that is done."""

WIDE_SHARE, WIDE_STEPS = 0.125, 5
"""How often a model has sizes that matter, and how many layers may follow its first one."""


class Directed(Search):
    """Goes for what is missing: walks on to layers that have not followed, and places planned calls.

    window: what is planned waits for no answer, so many cases may be under way. While one of them hangs for the minute
    that it is given, the others keep the workers busy; with the usual window they were idle for a third of an hour.
    """

    window = 32

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.records = {name: Record() for name in ("walk", "plan", "probe", "mutate", "wide", PAIRS)}
        self.options = options
        self.pairs: Pairs | None = None
        """There when they are needed."""
        self.for_routes = None if options.goals is None else ForRoutes(options.goals, self.limits)
        self.neighbours: Neighbours | None = None
        if options.goals is not None:
            self.records |= {FOR_A_ROUTE: Record(), NEIGHBOURS: Record()}
            self.neighbours = Neighbours(options.goals, self.limits, self.dialects, self.guide)
        self.made = 0
        layers = [coverage for coverage in self.coverages if coverage.space.specs is not OPERATORS]
        operators = [coverage for coverage in self.coverages if coverage.space.specs is OPERATORS]
        self.goals, self.operators_goals = Goals(layers, self._is_wanted), Goals(operators, self._is_wanted)
        self.followers: dict[Dialect | None, Mapping[str, None]] = {}
        """What may follow something, by dialect."""
        self.hard: Counter[tuple[str, str]] = Counter()
        """How often a walk from one layer to another came to nothing."""

    def make(self, draw: Draw) -> Case:
        self.goals.read(draw.child("goals"), self.made)
        self.operators_goals.read(draw.child("operators"), self.made)
        self.made += 1
        if (case := self._neighbouring(draw)) is not None:
            return case
        if (self.goals.probes or self.operators_goals.probes) and (self.is_nearly_done or draw.chance(PROBES)):
            graph = self._probe(draw)
            if graph is not None:
                return self.launch(graph, "probe", draw, probe=True)
        share = ROUTES_SHARE_LATER if self.is_nearly_done else ROUTES_SHARE
        if self.for_routes is not None and draw.chance(share):
            model = self.for_routes.make(draw.child("route"), self.made)
            self._note(FOR_A_ROUTE, model is not None)
            if model is not None:
                return self.launch(model[0], FOR_A_ROUTE, draw, data=model[1])
        if (
            self.is_nearly_done
            and draw.chance(PAIRS_SHARE)
            and (model := self._paired(draw.child("pairs"))) is not None
        ):
            return self.launch(model[0], PAIRS, draw, probe=True, data=model[1])
        if draw.chance(WIDE_SHARE) and (wide := self._wide(draw.widened())) is not None:
            return self.launch(wide, "wide", draw, probe=True)
        for _ in range(TRIES):
            try:
                return self.launch(self._batch(draw), "plan", draw)
            except Inapplicable:
                continue
        raise CometfuzzError(
            f"expected a graph that can be extended; received none in {TRIES} tries: of the models to begin with, the "
            "base routes take too little: begin with one that they take (--seeds)"
        )

    def learn(self, case: Case, feedback: Feedback) -> None:
        flight, _ = self.land(case, feedback)
        if self.neighbours is not None:
            own = flight.operator == NEIGHBOURS
            self.neighbours.learn(feedback.leads, own)
            self.records[NEIGHBOURS].score += own and bool(feedback.leads)
        if self._base is None:
            self.chains.learn(case, feedback.executed)
            if self.pairs is not None:
                self.pairs.learn(case, feedback.executed)

    @property
    def is_nearly_done(self) -> bool:
        """Whether hardly a goal is left among single items."""
        return len(self.goals) + len(self.operators_goals) < STEPS

    def _neighbouring(self, draw: Draw) -> Case | None:
        """A case around what is alive, if it is its turn. Its record counts as fit what brought a new kind."""
        aside = draw.child(NEIGHBOURS)
        if self.neighbours is None or not self.neighbours.waiting or not aside.chance(SHARE):
            return None
        model, record = self.neighbours.make(aside), self.records[NEIGHBOURS]
        record.attempts, record.applied = record.attempts + 1, record.applied + (model is not None)
        if model is None:
            return None
        return self.launch(model.graph, NEIGHBOURS, draw, probe=True, data=model.data, aim=model.aim)

    @cached_property
    def chains(self) -> ChainCoverage:
        """Sequences of three, as the first base route has executed them; without routes, as they were made."""
        return ChainCoverage() if self._base is None else self._base[0].chains[self._base[1]]

    @property
    def _base(self) -> tuple[RouteCoverage, str] | None:
        """What routes have executed, and the first base route among them."""
        ran = None if self.options.goals is None else self.options.goals.ran
        base = next((name for name in self.dialects.modern.routes if ran is not None and name in ran.pairs), None)
        return None if ran is None or base is None else (ran, base)

    def _paired(self, draw: Draw) -> Model | None:
        """A model for pairs, on what the first base route has executed; without routes, on what was made since."""
        if self.pairs is None:
            ran, base = self._base or (None, "")
            pairs, triples = (PairCoverage(), TripleCoverage()) if ran is None else (ran.pairs[base], ran.triples[base])
            self.pairs = Pairs(pairs, triples, replace(self.limits, dialect=self.dialects.modern))
        model = self.pairs.make(draw)
        self._note(PAIRS, model is not None)
        return model

    def operators(self) -> Mapping[str, Mapping[str, float]]:
        return as_plain(self.records)

    def why_missing(self, item: Item) -> str:
        """Why an item that can be reached has not been covered."""
        fact = fact_of(item)
        if fact is not None and fact in self.guide.avoided:
            return "every case that went for it failed"
        failures = self._goals_of(item).unplanned.get(item, 0)
        return f"no valid call was found in {failures} searches" if failures else "no case has gone for it yet"

    def _is_wanted(self, item: Item) -> bool:
        fact = fact_of(item)
        return fact is None or self.guide.wants(fact)

    def _goals_of(self, item: Item) -> Goals:
        return self.operators_goals if is_operator(item.layer) else self.goals

    def _probe(self, draw: Draw) -> Graph | None:
        """A graph of one plan, whatever defect stands against it."""
        for goals in (self.goals, self.operators_goals):
            while (item := goals.next_probe()) is not None:
                limits = replace(self.limits, dialect=self._home(item).lenient)
                found = plan(item, self.guide, draw, limits, PROBE_TRIES)
                graph = None if found is None else alone(found)
                self._note("probe", graph is not None)
                if graph is not None:
                    return graph
                goals.fail(item)
        return None

    def _wide(self, draw: Draw) -> Graph | None:
        """A model with sizes that matter: a call on inputs of its own, and layers that follow it directly.

        It stays out of the pool: what is made of it would be too large for the limits of other models.
        """
        limits = replace(self.limits.widened(), dialect=self.dialects.modern)
        names = [name for name in COUNTED if limits.has(name)]
        for _ in range(TRIES):
            spec = COUNTED[draw.choice(names)]
            types = spec.inputs(draw)
            params = self.guide.draw_params(spec, types, draw, limits)
            graph = None if params is None else alone((PlannedCall(spec, types, params),))
            if graph is not None and not limits.excess(graph):
                editor = Editor(graph, draw, limits)
                for _ in range(WIDE_STEPS):
                    editor.attempt(self._walk)
                self._note("wide", True)
                return editor.finish()
        self._note("wide", False)
        return None

    def _batch(self, draw: Draw) -> Graph:
        """A small part of a graph of the pool, with as much that is missing as fits."""
        goals = self.goals
        if self.operators_goals and (not goals or draw.chance(OPERATORS_SHARE)):
            goals = self.operators_goals
        goal = goals.next()
        graph = self.pool.choose(draw)
        dialect = self.dialects.of(graph) if goal is None else self._home(goal)
        limits = replace(self.limits, dialect=dialect)
        graph = trim(graph, draw, replace(limits, nodes=min(START_NODES, limits.nodes // 2)))
        if goal is None or draw.chance(MUTATED):
            graph = self._mutated(graph, draw, limits)
        editor = Editor(graph, draw, limits)
        for _ in range(STEPS):
            if len(editor.nodes) + 6 > limits.nodes:
                break
            likely = WALKS_TO_SEQUENCES if goal is not None and is_sequence(goal) else WALKS
            if (goal is None or draw.chance(likely)) and self._walked(editor):
                continue
            if goal is not None:
                self._pursue(goal, editor)
                goal = goals.next()
        if goal is not None:
            goals.put_back(goal)
        graph = editor.finish()
        if draw.chance(SPECIALS):
            graph = self._mutated(graph, draw, limits, "SpecialBranch")
        if not self.dialects.is_clear(graph):
            raise Inapplicable("made for Keras 2, but not in need of it, and with a defect on Keras 3")
        return graph

    def _mutated(self, graph: Graph, draw: Draw, limits: ModelLimits, name: str = "") -> Graph:
        """The graph after one of the mutations, if it applies."""
        name = name or draw.choice([each for each in self.mutations if self.is_due(each)])
        try:
            mutant = MUTATIONS[name](graph, self.guide, draw, limits)
        except Inapplicable:
            mutant = graph
        self._note("mutate", mutant is not graph)
        return mutant

    def _walked(self, editor: Editor) -> bool:
        walked = not editor.attempt(self._walk)
        self._note("walk", walked)
        return walked

    def _walk(self, editor: Editor) -> None:
        """Let a layer that has never followed read the output of one that is there, directly; when all have, one of a
        family that makes a sequence of three that is new."""
        after = self._followers(editor.limits)
        pair = self.guide.new_pair(editor.sources(), after, editor.draw)
        if pair is None and self.is_nearly_done:
            pair = extension(editor, self.chains, after, lambda *two: self.hard[two] < HARD_AFTER)
        if pair is None:
            raise Inapplicable("every follower of every layer has been seen")
        node, followers = pair
        easy = [name for name in followers if self.hard[node.layer, name] < HARD_AFTER]
        for name in editor.draw.shuffled(easy)[:8]:
            call = followed(COUNTED[name], node.outputs[0], self.guide, editor.draw, editor.limits)
            if call is not None:
                place(editor, (call,), Edge(node.id))
                return
            self.hard[node.layer, name] += 1
        raise Inapplicable(f"no layer can follow {node.layer} directly")

    def _followers(self, limits: ModelLimits) -> Mapping[str, None]:
        if limits.dialect not in self.followers:
            self.followers[limits.dialect] = {name: None for name in COUNTED if limits.has(name)}
        return self.followers[limits.dialect]

    def _pursue(self, goal: Item, editor: Editor) -> None:
        at_home = self._home(goal) == editor.limits.dialect
        found = plan(goal, self.guide, editor.draw, editor.limits) if at_home else None
        if found is None and at_home:
            self._goals_of(goal).fail(goal)
        placed = found is not None and not editor.attempt(lambda editor: place(editor, found))
        self._note("plan", placed)

    def _home(self, item: Item) -> Dialect:
        """The dialect in which an item is pursued: Keras 2 only where it must be."""
        return self.dialects.home(*((item.layer, item.value) if item.criterion == "sequences" else (item.layer,)))

    def _note(self, name: str, applied: bool) -> None:
        record = self.records[name]
        record.attempts, record.applied = record.attempts + 1, record.applied + applied
        record.score += applied
