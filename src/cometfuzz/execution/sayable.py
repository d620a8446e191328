"""What a route's first step can be given at all, where that is not everything: asked in the parent, without a child."""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.metadata import EntryPoint
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE, KERAS2, KERAS3, LayerSpec
from cometfuzz.ir.case import Manner
from cometfuzz.ir.graph import INPUT, Graph, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.plugins import load
from cometfuzz.routes import Route


def generation_of(base: Iterable[str], routes: Mapping[str, Route]) -> str:
    """The generation of Keras that a campaign's base routes build models with: Keras 2 if no other one is there."""
    spoken = {routes[name].speaks for name in base if name in routes}
    return KERAS2 if spoken == {KERAS2} else KERAS3


def takes_everything(route: Route) -> bool:
    """Whether nothing has to be asked of a route's first step."""
    return not route.steps[0].objection


def knows_manners(route: Route, manner: Manner) -> bool:
    """Whether a route can be given models in a manner: Keras 3 knows them all, and what we write has sizes in it."""
    return route.speaks == KERAS3 or (not takes_everything(route) and not manner.opened)


def objection(route: Route, spec: LayerSpec, types: tuple[TensorType, ...], params: Params) -> str:
    """Why a route's first step cannot be given a call, or nothing."""
    place = route.steps[0].objection
    return _objection(place, spec.name, types, params) if place and spec.name != INPUT else ""


def takes(route: Route, graph: Graph) -> bool:
    """Whether a route's first step can be given a whole graph."""
    return takes_everything(route) or not any(
        objection(route, CATALOGUE[node.layer], graph.input_types(node), node.params) for node in graph.nodes
    )


@lru_cache(maxsize=20_000)
def _objection(place: str, layer: str, types: tuple[TensorType, ...], params: Params) -> str:
    spec = CATALOGUE[layer]
    shapes = tuple(spec.weights(spec.view(types, params), params).values())
    return str(_asked(place)(layer, params, types, spec.outputs(types, params), shapes))


@cache
def _asked(place: str) -> Any:
    return load(EntryPoint("objection", place, "cometfuzz.routes"))
