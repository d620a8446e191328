"""Dialects: what a case may say so that all of it runs on one generation of Keras.

One bad node spoils a whole model. So a mutant keeps clear of what a base route of its dialect is known not to do; what
only a defect of the ledger stands against runs as a probe, a case of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from cometfuzz.catalogue.spec import CATALOGUE, KERAS2, KERAS3
from cometfuzz.config import PolicyConfig
from cometfuzz.execution.sayable import objection
from cometfuzz.execution.versions import general_view
from cometfuzz.ir.graph import Graph, Params
from cometfuzz.ir.types import POLICY, TensorType
from cometfuzz.ledger.matching import View


@dataclass(frozen=True)
class Dialect:
    """A generation of Keras and the routes whose defects, as a view has them, keep a call out of a mutant."""

    name: str
    routes: tuple[str, ...] = ()
    view: View = field(default_factory=general_view)

    def has(self, layer: str) -> bool:
        return self.name in CATALOGUE[layer].libraries

    def objection(self, layer: str, types: tuple[TensorType, ...], params: Params) -> str:
        """What stands against a valid call, or nothing."""
        return _objection(self, layer, types, params) if CATALOGUE[layer].counted else ""


@lru_cache(maxsize=10_000)
def _objection(dialect: Dialect, layer: str, types: tuple[TensorType, ...], params: Params) -> str:
    spec = CATALOGUE[layer]
    if dialect.name not in spec.libraries:
        return f"{dialect.name} has no {layer}"
    if POLICY in params and dialect.name != KERAS3:
        return f"{dialect.name} casts otherwise"
    x = spec.view(types, params)
    for inner, _ in spec.inner(x, params):
        if dialect.name not in CATALOGUE[inner.layer].libraries:
            return f"{dialect.name} has no {inner.layer}"
    for route in dialect.routes:
        if route in dialect.view.routes and (reason := objection(dialect.view.routes[route], spec, types, params)):
            return f"{route}: {reason}"
        for rule in dialect.view.rules_against(route, spec, x, params):
            return f"{rule.id} on {route}: {rule.text}"
    return ""


@dataclass(frozen=True)
class Dialects:
    """The two generations of Keras, on the base routes of a campaign."""

    modern: Dialect
    legacy: Dialect

    @staticmethod
    def on(view: View, modern: Sequence[str], legacy: Sequence[str]) -> "Dialects":
        return Dialects(Dialect(KERAS3, tuple(modern), view), Dialect(KERAS2, tuple(legacy), view))

    def of(self, graph: Graph) -> Dialect:
        """The dialect in which a graph runs: Keras 2 only where a layer needs it."""
        return self.home(*(node.layer for node in graph.nodes))

    def home(self, *layers: str) -> Dialect:
        """The dialect that has some layers: Keras 2 only where it must be."""
        return self.modern if all(self.modern.has(layer) for layer in layers) else self.legacy

    def is_clear(self, graph: Graph) -> bool:
        """Whether nothing stands against any call of a graph in the dialect in which it will run."""
        dialect = self.of(graph)
        return not any(dialect.objection(node.layer, graph.input_types(node), node.params) for node in graph.nodes)


@cache
def usual_dialects() -> Dialects:
    """The dialects on the base routes of the default policy, where models are made for no machine in particular."""
    policy = PolicyConfig()
    return Dialects.on(general_view(), policy.base, policy.only)
