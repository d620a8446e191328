"""Which routes a case runs on: cheap ones always, dear ones where something is new.

Every case runs on the base routes. Converters and JAX take seconds, so they get at most one case in `one_in`, only if
it covers something new, and of a large one only a cut of at most `largest_cut` layers around what is new, without
layers that one of the routes in `clear` is known to fail on. Some routes are sampled. A case with layers that only
Keras 2 has runs on the routes that speak it. All of it follows from the seed, the index of the case and the case: no
clock, no state.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.spec import CATALOGUE, KERAS3
from cometfuzz.catalogue.validate import assemble
from cometfuzz.config import PolicyConfig
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.routes import Route
from cometfuzz.routes.gaps import gaps_against


@dataclass(frozen=True)
class Assignment:
    """A case, which may be a cut of the one that was asked about, and the names of the routes to run it on."""

    case: Case
    routes: tuple[str, ...]


def assign(
    policy: PolicyConfig, routes: Mapping[str, Route], case: Case, index: int, seed: int, new: Collection[str]
) -> list[Assignment]:
    """What to run for case `index` of a campaign; `new` are the nodes that cover something new.

    The first assignment is the case itself. Only routes in `routes` are named.
    """
    draw = Draw(seed, "policy", index)
    only_old = any(KERAS3 not in CATALOGUE[node.layer].libraries for node in case.graph.nodes)
    sampled = [name for name in policy.sampled if draw.chance(1 / policy.sampled_one_in)]
    first = [*(policy.only if only_old else policy.base), *sampled]
    assignments = [Assignment(case, _able(routes, first, only_old))]
    turn = Draw(seed, "policy block", index // policy.one_in).integer(0, policy.one_in - 1)
    if new and not only_old and index % policy.one_in == turn:
        avoided = _spoilers(case.graph, [name for name in policy.clear if name in routes])
        part = cut(case, [name for name in new if name not in avoided], policy.largest_cut, avoided)
        if part is not None and part.graph == case.graph:
            assignments = [Assignment(case, _able(routes, [*first, *policy.converters], only_old))]
        elif part is not None and any(name in routes for name in policy.converters):
            assignments.append(Assignment(part, _able(routes, [*policy.base, *policy.converters], only_old)))
    return [assignment for assignment in assignments if assignment.routes]


def _able(routes: Mapping[str, Route], names: Sequence[str], only_old: bool) -> tuple[str, ...]:
    """The routes that exist here and speak the case's dialect."""
    speaking = {name for name in names if name in routes and not (only_old and routes[name].speaks == KERAS3)}
    return tuple(name for name in dict.fromkeys(names) if name in speaking)


def _spoilers(graph: Graph, routes: Sequence[str]) -> set[str]:
    """The nodes that one of the routes is known to fail on: one of them in a model, and none of it is tested."""
    found = set()
    for node in graph.nodes:
        spec = CATALOGUE[node.layer]
        if not spec.counted:
            continue
        x = spec.view(graph.input_types(node))
        gaps = (gap for route in routes for gap in gaps_against(route, spec, x, node.params))
        if any(gap.symptom in ("exception", "death", "any") for gap in gaps):
            found.add(node.id)
    return found


def cut(case: Case, around: Collection[str], largest: int, avoided: Collection[str] = ()) -> Case | None:
    """The part of a case with at most `largest` layers nearest to some nodes; None if it does not stand alone.

    Edges that are cut become inputs. Kept nodes keep their names, and so their weights.
    """
    graph = case.graph
    layers = [node.id for node in graph.nodes if node.layer != INPUT]
    if len(layers) <= largest and not avoided:
        return case
    kept = _nearest(graph, [name for name in layers if name in around], largest, avoided)
    if not kept:
        return None
    drafts: list[Draft] = []
    sources: dict[Edge, Edge] = {}
    for node in graph.nodes:
        if node.id not in kept:
            continue
        for edge in node.inputs:
            if edge.node not in kept and edge not in sources:
                name = edge.node if graph.by_id[edge.node].layer == INPUT else f"cut_{edge.node}_{edge.output}"
                drafts.append(Draft(name, INPUT, input_params(graph.type_of(edge)), ()))
                sources[edge] = Edge(name)
        drafts.append(node.draft._replace(inputs=tuple(sources.get(edge, edge) for edge in node.inputs)))
    used = {edge for draft in drafts for edge in draft.inputs}
    outputs = [
        Edge(node.id, index)
        for node in graph.nodes
        if node.id in kept
        for index in range(len(node.outputs))
        if Edge(node.id, index) not in used or Edge(node.id, index) in graph.outputs
    ]
    try:
        part = assemble(drafts, outputs)
    except InvalidCase:  # a bound or a mask that was cut off
        return None
    names = {draft.id for draft in drafts}
    return Case(part, case.rng_seed, {key: data for key, data in case.data.items() if key.split("/")[0] in names})


def _nearest(graph: Graph, start: Sequence[str], largest: int, avoided: Collection[str]) -> set[str]:
    """Up to `largest` layers, the first ones at no distance from `start`, then their neighbours, and so on."""
    beside: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for node in graph.nodes:
        for edge in node.inputs:
            beside[node.id].append(edge.node)
            beside[edge.node].append(node.id)
    kept: dict[str, None] = {}
    waiting = deque(start)
    while waiting and len(kept) < largest:
        name = waiting.popleft()
        if name in kept or name in avoided or graph.by_id[name].layer == INPUT:
            continue
        kept[name] = None
        waiting += beside[name]
    return set(kept)
