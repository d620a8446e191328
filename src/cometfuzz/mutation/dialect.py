"""Dialects: what a case may say so that all of it runs on one generation of Keras.

One bad node spoils a whole model. So a mutant keeps to what the libraries of all base routes of its dialect offer, and
clear of what one of them is known not to do; what only a defect of the ledger stands against runs as a probe, a case of
its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import Any

from cometfuzz.catalogue.offer import Offer, simplified
from cometfuzz.catalogue.spec import CATALOGUE, KERAS2, KERAS3, LayerSpec
from cometfuzz.catalogue.validate import check
from cometfuzz.config import PolicyConfig
from cometfuzz.execution.sayable import generation_of, objection
from cometfuzz.execution.versions import general_view
from cometfuzz.ir.graph import Graph, Params
from cometfuzz.ir.types import POLICY, TensorType
from cometfuzz.ledger.matching import View


@dataclass(frozen=True)
class Dialect:
    """A generation of Keras and the routes whose lacks and defects, as a view has them, keep a call out of a mutant.

    clear: whether defects do; lacks always do.
    """

    name: str
    routes: tuple[str, ...] = ()
    view: View = field(default_factory=general_view)
    clear: bool = True

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """What the libraries of the routes lack, where they lack something; unless defects do not matter, also what
        is broken there."""
        found = [self.view.offers[route] for route in self.routes if route in self.view.offers]
        return tuple(offer.working if self.clear else offer for offer in found)

    def speaks_of(self, layer: str) -> bool:
        """Whether a layer belongs to the generation, in some release."""
        return self.name in CATALOGUE[layer].libraries

    def has(self, layer: str) -> bool:
        return self.speaks_of(layer) and all(offer.has(layer) for offer in self.offers)

    def offered(self, layer: str, parameter: str, values: list[Any]) -> list[Any]:
        """Those of some values of a parameter that all libraries have."""
        for offer in self.offers:
            values = [value for value in values if offer.has_value(layer, parameter, value)]
        return values

    def __hash__(self) -> int:
        """The same for equal ones; the view, in which there is much, need not be looked at each time."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.routes, self.clear))

    @cached_property
    def lenient(self) -> "Dialect":
        """The same with all that only a defect stands against."""
        return replace(self, clear=False)

    def objection(self, layer: str, types: tuple[TensorType, ...], params: Params) -> str:
        """What stands against a valid call, or nothing."""
        return _objection(self, layer, types, params) if CATALOGUE[layer].counted else ""

    def within(self, spec: LayerSpec, types: tuple[TensorType, ...], params: Params | None) -> Params | None:
        """Parameters of a call, with simpler values where a library lacks one; None if there is no such call."""
        offers = self.offers
        if params is None or not offers:
            return params
        changed = simplified(offers, spec, params, spec.cast(types, params)[0].dtype)
        return changed if changed is params or spec.accepts(types, changed) else None


@lru_cache(maxsize=10_000)
def _objection(dialect: Dialect, layer: str, types: tuple[TensorType, ...], params: Params) -> str:
    spec = CATALOGUE[layer]
    if dialect.name not in spec.libraries:
        return f"{dialect.name} has no {layer}"
    for offer in dialect.offers:
        if lacking := offer.objection(layer, params, spec.cast(types, params)[0].dtype if types else ""):
            return lacking
    if POLICY in params and dialect.name != KERAS3:
        return f"{dialect.name} casts otherwise"
    x = spec.view(types, params)
    for inner, _ in spec.inner(x, params):
        if dialect.name not in CATALOGUE[inner.layer].libraries:
            return f"{dialect.name} has no {inner.layer}"
    for route in dialect.routes:
        if route in dialect.view.routes and (reason := objection(dialect.view.routes[route], spec, types, params)):
            return f"{route}: {reason}"
        for rule in dialect.view.rules_against(route, spec, x, params) if dialect.clear else ():
            if not rule.vague:
                return f"{rule.id} on {route}: {rule.text}"
    return ""


@dataclass(frozen=True)
class Dialects:
    """The two generations of Keras, on the base routes of a campaign; where those are all of Keras 2, that is both."""

    modern: Dialect
    legacy: Dialect

    @staticmethod
    def on(view: View, modern: Sequence[str], legacy: Sequence[str]) -> "Dialects":
        if generation_of(modern, view.routes) == KERAS2:
            only = Dialect(KERAS2, tuple(modern), view)
            return Dialects(only, only)
        return Dialects(Dialect(KERAS3, tuple(modern), view), Dialect(KERAS2, tuple(legacy), view))

    def of(self, graph: Graph) -> Dialect:
        """The dialect in which a graph runs: Keras 2 only where a layer needs it."""
        return self.home(*(node.layer for node in graph.nodes))

    def home(self, *layers: str) -> Dialect:
        """The dialect that has some layers: Keras 2 only where it must be."""
        return self.modern if all(self.modern.speaks_of(layer) for layer in layers) else self.legacy

    def is_clear(self, graph: Graph) -> bool:
        """Whether nothing stands against any call of a graph in the dialect in which it will run."""
        dialect = self.of(graph)
        return not any(dialect.objection(node.layer, graph.input_types(node), node.params) for node in graph.nodes)

    def offering(self, *layers: str) -> tuple[Offer, ...]:
        """The offers that count where some layers run."""
        modern, legacy = self._offers
        return modern if self.home(*layers) is self.modern else legacy

    @cached_property
    def _offers(self) -> tuple[tuple[Offer, ...], tuple[Offer, ...]]:
        """Those of either dialect, asked for once: there are tens of thousands of items to look at."""
        return self.modern.lenient.offers, self.legacy.lenient.offers

    def simplified(self, graph: Graph) -> Graph | None:
        """A graph with simpler values where a library lacks one; None if it lacks more than values."""
        dialect = self.of(graph).lenient
        if not dialect.offers:
            return graph
        drafts = [
            draft._replace(params=simplified(dialect.offers, CATALOGUE[draft.layer], node.params))
            for draft, node in zip(graph.drafts, graph.nodes, strict=True)
        ]
        changed, _ = check(drafts, graph.outputs)
        if changed is None:
            return None
        calls = ((node.layer, changed.input_types(node), node.params) for node in changed.nodes)
        return None if any(dialect.objection(*call) for call in calls) else changed


@cache
def usual_dialects() -> Dialects:
    """The dialects on the base routes of the default policy, where models are made for no machine in particular."""
    policy = PolicyConfig()
    return Dialects.on(general_view(), policy.base, policy.only)
