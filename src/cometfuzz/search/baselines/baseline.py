"""What baselines share: how a case is tried for, how attempts are counted, and what "as published" means."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from cometfuzz.catalogue.spec import KERAS2, KERAS3
from cometfuzz.coverage.gain import Gain
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Inapplicable, ModelLimits
from cometfuzz.mutation.dialect import Dialect, Dialects
from cometfuzz.search.comet import LEGACY_SHARE
from cometfuzz.search.metropolis import Record, as_plain
from cometfuzz.search.pool import Model
from cometfuzz.search.strategies import LARGE, WINDOW, Feedback, Flight, Options, Search
from cometfuzz.seeds import published

LIFTED = ModelLimits(nodes=100_000, elements=2**27, flops=10**11, bytes=2**30)
"""The size bounds lifted to what a worker can hold at all; the largest original needs 0.6 GB and 17 GFlop."""

TRIES = 50
"""Attempts at a case before a model is run once more as it is."""

RERUN = "re-run"

Call = tuple[str, tuple[TensorType, ...], Params]


class Bounds:
    """What a graph that nobody repairs must keep to: limits of size, and nothing that stands against one
    of its calls. As with mutations of ours, the calls that seeds have are let be, however large their tensors are."""

    def __init__(self, limits: ModelLimits, dialects: Dialects, seeds: Iterable[Graph]) -> None:
        self.limits, self.dialects = limits, dialects
        self.given = {call for graph in seeds for call in calls_of(graph)}

    def expect(self, graph: Graph) -> None:
        """Inapplicable with the reason."""
        if reason := replace(self.limits, elements=LARGE).excess(graph):
            raise Inapplicable(reason)
        dialect = self.dialects.of(graph)
        for node, call in zip(graph.nodes, calls_of(graph), strict=True):
            if call in self.given:
                continue
            if any(kind.elements > self.limits.elements for kind in node.outputs):
                raise Inapplicable(f"more than {self.limits.elements} elements")
            if reason := dialect.objection(*call):
                raise Inapplicable(reason)


def calls_of(graph: Graph) -> list[Call]:
    """Each node's layer, with what it reads and its parameters."""
    return [(node.layer, graph.input_types(node), node.params) for node in graph.nodes]


class Baseline(Search):
    """A strategy that does not see coverage. It is counted as that of all strategies, of cases that executed."""

    published = False
    window = WINDOW

    def __init__(self, options: Options) -> None:
        super().__init__(as_published(options, self.original_seeds()) if self.published else options)
        self.bounds = Bounds(self.limits, self.dialects, self.unseen)
        self.records: dict[str, Record] = {}
        self.landed = 0

    def original_seeds(self) -> Sequence[Graph]:
        """What the published tool begins with."""
        return [published.original(name) for name in published.names()]

    def dialect_for(self, draw: Draw) -> Dialect:
        """The generation of Keras that the layers of the next case are taken from; Keras 2 as often as `comet`."""
        return self.dialects.legacy if draw.chance(LEGACY_SHARE) else self.dialects.modern

    def attempt(self, operator: str, make: Callable[[], Model]) -> Model | None:
        """A model that an operator makes and that can run, or None; both count as an attempt of the operator."""
        record = self.records.setdefault(operator, Record())
        record.attempts += 1
        try:
            model = make()
            self.bounds.expect(model.graph)
        except (Inapplicable, InvalidCase):
            return None
        record.applied += 1
        return model

    def launch_model(self, model: Model, operator: str, draw: Draw) -> Case:
        """The case of a model with its own weights and inputs."""
        return self.launch(model.graph, operator, draw, data=model.data, rng_seed=model.rng_seed)

    def land(self, case: Case, feedback: Feedback) -> tuple[Flight, list[Gain]]:
        self.landed += 1
        return super().land(case, feedback)

    def learn(self, case: Case, feedback: Feedback) -> None:
        self.land(case, feedback)

    def is_worth_keeping(self, gains: Sequence[Gain], feedback: Feedback) -> bool:
        return False

    def operators(self) -> Mapping[str, Mapping[str, float]]:
        return as_plain(self.records)


def as_published(options: Options, seeds: Sequence[Graph]) -> Options:
    """Other seeds, no limits of size, and nothing that models keep clear of."""
    return replace(options, seeds=seeds, limits=LIFTED, dialects=unfiltered(options.dialects))


def unfiltered(dialects: Dialects) -> Dialects:
    """The two generations of Keras without any route that models keep clear of."""
    view = dialects.modern.view
    return Dialects(Dialect(KERAS3, (), view), Dialect(KERAS2, (), view))
