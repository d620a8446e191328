"""Which routes a case runs on: cheap ones always, dear ones where something is new to them.

Every case runs on the base routes. Converters and JAX take seconds, so they get a case only if they have had less than
their share (`execution.budget`) and if it covers something new on them, and of a large one only a cut of at most
`largest_cut` layers. Of those one route leads: the cut is around what is new there, without nodes that it, or a route
in `clear`, is known to fail on; others get it where it covers something new too. What has failed on a route comes again
when nothing else is new, in a cut of three layers, then of one. Some routes are sampled: each by itself, and one that
cannot take the whole case gets a cut that it can. One case in `switched_one_in` also runs on some of its routes with a
switch of the whole process set, one in `options_one_in` with one that is an option. A case with layers that only Keras
2 has runs on the routes that speak it. All of it follows from the seed, the index of the case, the case, and what
earlier cases have covered: no clock. A route says itself which of these it is (`Route.turn`, `Route.clear`), unless the
configuration lists routes; one that is none of them is a converter in a campaign that names it.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from cometfuzz.catalogue.cutting import cut_out, open_ends, outputs_of
from cometfuzz.catalogue.manners import of_part
from cometfuzz.catalogue.spec import CATALOGUE, KERAS3
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.routes import Wanted
from cometfuzz.draw import Draw
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.execution.sayable import generation_of, objection, takes_everything
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Graph, Node
from cometfuzz.ir.types import POLICIES, POLICY
from cometfuzz.ledger.matching import View
from cometfuzz.routes import Route
from cometfuzz.routes.switches import plain_name

CUTS_AFTER_FAILURES = (0, 3, 1, 0)
"""How many layers a cut has at most around what has failed on a route never (0: `largest_cut`), once, twice; and around
what is new in pairs only."""

AROUND = 3
"""Around how many new nodes a cut is made: more of them would leave no room for what is between them."""

STOPPING = ("exception", "death", "any")
"""Symptoms of defects that leave a model without a result."""

SWITCHED_TOGETHER = 200
"""For how many cases on end the same switch of a whole process is tried: to start TensorFlow takes as long as some of
them."""


@dataclass(frozen=True)
class Assignment:
    """A case, which may be a cut of the one that was asked about, and the names of the routes to run it on."""

    case: Case
    routes: tuple[str, ...]


def assign(policy: PolicyConfig, view: View, case: Case, index: int, seed: int, wanted: Wanted) -> list[Assignment]:
    """What to run for case `index` of a campaign on the routes of its view; `wanted`: what of it is new, for each dear
    route that may have it.

    The first assignment is the case itself: what it covers counts as executed if that one is. Where none of its routes
    is there, nothing runs. Only routes of the view are named.
    """
    draw, routes = Draw(seed, "policy", index), view.routes
    usual = generation_of(policy.base, routes)
    modern = _is_of(usual, case.graph)
    whole, parts = [*_base(policy, case.graph, usual)], []
    lots = _lots(policy.sampled, routes)
    for lot in [lot for lot, names in lots.items() if not wanted.keys().isdisjoint(names)]:
        name = next((name for name in lots[lot] if name in routes), "")
        new = {node for each in lots[lot] for node in wanted.get(each, {})}
        part = _part_for(view, name, case, new, policy.largest_cut, draw.child(lot)) if name else None
        if part is not None and part.graph == case.graph:
            whole += lots[lot]
        elif part is not None:
            parts.append(Assignment(part, _present(routes, [*_base(policy, part.graph, usual), *lots[lot]])))
    if modern:
        dear = _dear(policy, view, case, wanted, draw.child("dear"))
        if dear is not None and dear.case.graph == case.graph:
            whole += dear.routes
        elif dear is not None:
            parts.append(Assignment(dear.case, _present(routes, [*policy.base, *dear.routes])))
    first = Assignment(case, _present(routes, whole))
    if not first.routes:
        return []
    return [_with_switches(policy, routes, part, (seed, index, number)) for number, part in enumerate([first, *parts])]


def _dear(policy: PolicyConfig, view: View, case: Case, wanted: Wanted, draw: Draw) -> Assignment | None:
    """A case, or a part of it, for the converters on which it covers something new; None if there is no such part."""
    able: dict[str, dict[str, int]] = {}
    for name in policy.converters:
        nodes = wanted.get(name, {}) if name in view.routes else {}
        hindered = _obstacles(case.graph, view, name, nodes) if nodes else {}
        if rest := {node: times for node, times in nodes.items() if node not in hindered}:
            able[name] = rest
    if not able:
        return None
    failures = min(times for nodes in able.values() for times in nodes.values())
    lead = draw.choice([name for name, nodes in able.items() if failures in nodes.values()])
    clear = [name for name in (*policy.clear, lead) if name in view.routes]
    avoided = {node for name in dict.fromkeys(clear) for node in _obstacles(case.graph, view, name)}
    around = draw.shuffled([node for node, times in able[lead].items() if times == failures])[:AROUND]
    avoided -= set(around)
    part = cut(case, around, CUTS_AFTER_FAILURES[failures] or policy.largest_cut, avoided)
    if part is None:
        return None
    kept = part.graph.by_id.keys()
    gets = [name for name, nodes in able.items() if not nodes.keys().isdisjoint(kept)]
    return Assignment(part, tuple(name for name in gets if name == lead or not _obstacles(part.graph, view, name)))


def _lots(names: Sequence[str], routes: Mapping[str, Route]) -> dict[str, list[str]]:
    """Routes that are sampled, each by itself; but readers of one file that we write together: of one alone nobody
    could say whether it is the reader or the file."""
    lots: dict[str, list[str]] = {}
    for name in names:
        route = routes.get(name)
        lots.setdefault(name if route is None or takes_everything(route) else route.steps[0].key, []).append(name)
    return lots


def joined(policy: PolicyConfig, routes: Iterable[Route]) -> PolicyConfig:
    """The policy of a campaign on these routes: one that is in none of its lists (`turn=""`) was named by the user, and
    gets what converters get."""
    named = {route.name: route for route in routes}
    listed, usual = {name for names in policy.names.values() for name in names}, generation_of(policy.base, named)
    more = [name for name, route in named.items() if name not in listed and route.speaks == usual]
    return msgspec.structs.replace(policy, converters=(*policy.converters, *more))


def _with_switches(
    policy: PolicyConfig, routes: Mapping[str, Route], part: Assignment, place: tuple[int, int, int]
) -> Assignment:
    """A part of a case, perhaps also on some of its routes with a switch set. place: seed, index, number of the part.

    A switch of a whole process takes a worker of its own, and seconds to start it: there is one such group for
    SWITCHED_TOGETHER cases, then the next. Of switches that are options, each library has one, by lot.
    """
    seed, index, number = place
    draw = Draw(seed, "switches", index, number)
    switched = [(route, route.switch) for route in routes.values() if route.switch is not None]
    able = [(route, switch) for route, switch in switched if plain_name(route.name) in part.routes]
    names: list[str] = []
    groups = list(dict.fromkeys(route.steps[-1].group.name for route, switch in switched if switch.environ))
    if draw.chance(1 / policy.switched_one_in) and groups:
        turn = Draw(seed, "switched groups").integer(0, len(groups) - 1) + index // SWITCHED_TOGETHER
        names += [route.name for route, _ in able if route.steps[-1].group.name == groups[turn % len(groups)]]
    options: dict[str, list[str]] = {}
    for _, switch in able:
        if not switch.environ:
            options.setdefault(switch.library.name, []).append(switch.name)
    for library, among in options.items() if draw.chance(1 / policy.options_one_in) else ():
        chosen = library, draw.choice(among)
        names += [route.name for route, switch in able if (switch.library.name, switch.name) == chosen]
    return Assignment(part.case, (*part.routes, *names))


def assign_breaking(view: View, case: Case, usual: str = KERAS3) -> Assignment:
    """A call that breaks a rule goes to every library that has what is in it: it is small, and how many refuse it is
    all that counts. usual: the generation of Keras on the base routes."""
    plain = [route for name, route in view.routes.items() if route.switch is None and name != REFERENCE.name]
    plain = [route for route in plain if takes_everything(route)]
    able = [route.name for route in plain if route.speaks in (usual, "")]
    return Assignment(case, tuple(name for name in able if not _lacking(case.graph, view, name)))


def _is_of(generation: str, graph: Graph) -> bool:
    """Whether a generation of Keras has all layers of a graph."""
    return all(generation in CATALOGUE[node.layer].libraries for node in graph.nodes)


def _base(policy: PolicyConfig, graph: Graph, usual: str) -> tuple[str, ...]:
    """The routes that every such graph runs on; usual: the generation of Keras on the base routes."""
    return policy.base if _is_of(usual, graph) else policy.only


def _present(routes: Mapping[str, Route], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name in routes)


def _lacking(graph: Graph, view: View, name: str) -> dict[str, bool]:
    """The nodes that the library at the front of a route does not have, or that are broken there; each with whether it
    is the former."""
    offer = view.offers.get(name)
    layers = [] if offer is None else [node for node in graph.nodes if CATALOGUE[node.layer].counted]
    return {
        node.id: bool(offer.objection(node.layer, node.params))
        for node in layers
        if offer is not None and offer.working.objection(node.layer, node.params, graph.input_types(node)[0].dtype)
    }


def _obstacles(graph: Graph, view: View, name: str, among: Collection[str] | None = None) -> dict[str, bool]:
    """The nodes, of all or among some, that a route is known to fail on, each with whether it always does.

    One of them in a model, and none of it is tested. Utility nodes count: most failures of converters are theirs.
    """
    found, route = _lacking(graph, view, name), view.routes[name]
    for node in graph.nodes:
        spec = CATALOGUE[node.layer]
        if node.layer == INPUT or node.id in found or (among is not None and node.id not in among):
            continue
        x = spec.view(graph.input_types(node), node.params)
        layers = [spec, *(CATALOGUE[inner.layer] for inner, _ in spec.inner(x, node.params))]
        foreign = route.speaks and any(layer.counted and route.speaks not in layer.libraries for layer in layers)
        if foreign or objection(route, spec, graph.input_types(node), node.params):
            found[node.id] = True
            continue
        rules = view.rules_against(name, spec, x, node.params)
        known = [rule for rule in rules if rule.symptom in STOPPING and not rule.vague]
        if known:
            found[node.id] = any(rule.always for rule in known)
    return found


def _part_for(view: View, name: str, case: Case, new: Collection[str], largest: int, draw: Draw) -> Case | None:
    """What a route can take of a case: all of it, or the surroundings of one layer, a new one if there is one.

    That layer may be one that the route sometimes fails on; what surrounds it may not.
    """
    graph, obstacles, route = case.graph, _obstacles(case.graph, view, name), view.routes[name]
    floats = {node.id: _float_dtypes(graph, node) for node in graph.nodes if node.layer != INPUT}
    if not obstacles and not (route.one_dtype and len(set().union(*floats.values())) > 1):
        return case
    able = [
        node.id
        for node in graph.nodes
        if CATALOGUE[node.layer].counted
        and not obstacles.get(node.id, False)
        and not (route.one_dtype and len(floats[node.id]) > 1)
    ]
    if not able:
        return None
    start = draw.choice([name for name in able if name in new] or able)
    others = {name for name, dtypes in floats.items() if route.one_dtype and not dtypes <= floats[start]}
    return cut(case, [start], largest, (obstacles.keys() | others) - {start})


def _float_dtypes(graph: Graph, node: Node) -> frozenset[str]:
    own = POLICIES[node.params[POLICY]] if POLICY in node.params else ()
    return frozenset(kind.dtype for kind in (*graph.input_types(node), *node.outputs) if kind.is_float).union(own)


def cut(case: Case, around: Collection[str], largest: int, avoided: Collection[str] = ()) -> Case | None:
    """The part of a case with at most `largest` layers nearest to some nodes; None if it does not stand alone.

    Edges that are cut become inputs. Kept nodes keep their names, and so their weights.
    """
    graph = case.graph
    layers = [node.id for node in graph.nodes if node.layer != INPUT]
    if len(layers) <= largest and not avoided and around:
        return case
    kept = _nearest(graph, [name for name in layers if name in around], largest, avoided)
    if not kept:
        return None
    ends = {*open_ends(graph, kept), *graph.outputs}
    outputs = [edge for name in layers if name in kept for edge in outputs_of(graph, name) if edge in ends]
    part = cut_out(graph, kept, outputs)
    if part is None:
        return None
    own = {key: data for key, data in case.data.items() if key.split("/")[0] in part.graph.by_id}
    return Case(part.graph, case.rng_seed, own, manner=of_part(case, part))


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
