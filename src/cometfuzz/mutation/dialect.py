"""Dialects: what a case may say so that all of it runs on one generation of Keras.

One bad node spoils a whole model. So a mutant keeps clear of what a base route of its dialect is known not to do
; what only a defect of the ledger stands against runs as a probe, a case of its own.
"""

from dataclasses import dataclass
from functools import lru_cache

from cometfuzz.catalogue.spec import CATALOGUE, KERAS2, KERAS3
from cometfuzz.ir.graph import Graph, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.matching import rules_against


@dataclass(frozen=True)
class Dialect:
    """A generation of Keras and the routes whose defects keep a call out of a mutant."""

    name: str
    routes: tuple[str, ...]

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
    x = spec.view(types)
    for inner, _ in spec.inner(x, params):
        if dialect.name not in CATALOGUE[inner.layer].libraries:
            return f"{dialect.name} has no {inner.layer}"
    for route in dialect.routes:
        for rule in rules_against(route, spec, x, params):
            return f"{rule.id} on {route}: {rule.text}"
    return ""


MODERN = Dialect(KERAS3, ("keras-tf", "keras-torch"))
LEGACY = Dialect(KERAS2, ("keras2-tf",))


def is_clear(graph: Graph) -> bool:
    """Whether nothing stands against any call of a graph in the dialect in which it will run."""
    dialect = dialect_of(graph)
    return not any(dialect.objection(node.layer, graph.input_types(node), node.params) for node in graph.nodes)


def dialect_of(graph: Graph) -> Dialect:
    """The dialect in which a graph runs: Keras 2 only where a layer needs it."""
    return MODERN if all(MODERN.has(node.layer) for node in graph.nodes) else LEGACY
