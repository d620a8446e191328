"""Every stage answers for itself: whether what is known of an earlier step explains what a route does.

A converter or a runtime is given a model, or a file, and must keep to its meaning, whatever its front end made of the
graph. So a defect of an earlier step explains a route only if it shows there: if a witness, which is a route that has
that step and then goes another way, fails too, or gives the same wrong answer. Where there is no witness, nobody can
say, and the defect explains it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cometfuzz.catalogue.data import Array
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import Node
from cometfuzz.ledger.matching import Rule
from cometfuzz.oracles.local import WrongNode
from cometfuzz.routes import Route
from cometfuzz.routes.libraries import ONNX

if TYPE_CHECKING:
    from cometfuzz.oracles.bench import Bench

SAME = 0.05
"""Answers are the same if they differ by less than this share of how far they are off: rounding upstream moves both."""

WITNESSES = 2
"""How many routes are asked, where the trial has none: two, since the first may fail for reasons of its own."""


def explaining(bench: "Bench", place: WrongNode) -> str:
    """The id of a defect that explains a wrong node or window, if one does."""
    for node in place.window:
        for rule in bench.rules(place.route, node):
            if rule.symptom in ("value", "result", "any") and _stands_for(bench, rule, place):
                return rule.id
    return ""


def explaining_call(bench: "Bench", route: str, node: Node) -> str:
    """The id of a defect of a route itself that may give a node other values, if there is one."""
    rules = (rule for rule in bench.rules(route, node) if rule.symptom in ("value", "result", "any"))
    return next((rule.id for rule in rules if not rule.inherited), "")


def excuses_failure(bench: "Bench", rule: Rule, outcome: Outcome) -> bool:
    """Whether a defect that may explain a failure does: one of the front end only if that fails as well."""
    return not rule.inherited or not any(
        _outcome(bench, name).status == "completed" for name in _witnesses(bench, rule, outcome.route)
    )


def excuses_types(bench: "Bench", rule: Rule, outcome: Outcome) -> bool:
    """Whether a defect explains other types than predicted: one of the front end only if it gives the same."""
    seen = [(tensor.dtype, tensor.shape) for tensor in outcome.outputs]
    witnesses = _witnesses(bench, rule, outcome.route) if rule.inherited else ()
    others = [_outcome(bench, name) for name in witnesses]
    right = [other for other in others if other.status == "completed"]
    return not right or any([(tensor.dtype, tensor.shape) for tensor in other.outputs] == seen for other in right)


def _stands_for(bench: "Bench", rule: Rule, place: WrongNode) -> bool:
    witnesses = _witnesses(bench, rule, place.route)
    if not witnesses:
        return True
    completed = [name for name in witnesses if _outcome(bench, name).status == "completed"]
    return not completed or any(_answers_alike(bench, place, name) for name in completed)


def _answers_alike(bench: "Bench", place: WrongNode, witness: str) -> bool:
    """Whether a witness is wrong at the same node in the same way.

    One that is wrong before the node was not judged there, and is asked again, on the inputs that the accused had. If
    it is wrong within the window even then, nobody can say.
    """
    wrong = [other for other in bench.beside(witness).wrong_nodes if other.route == witness]
    here = [other for other in wrong if other.node.id == place.node.id]
    if not here and any(other.node.id in bench.above(place.node) for other in wrong):
        here = _on_the_same_inputs(bench, place, witness)
    return any(other.node.id != place.node.id or same_answer(place, other) for other in here)


def _on_the_same_inputs(bench: "Bench", place: WrongNode, witness: str) -> list[WrongNode]:
    values = bench.values_of(place.route)
    part = bench.windows.on(place.window, values) if values else None
    if part is None:
        return []
    alone = replace(bench, trial=bench.rerun(part.alone(bench.trial.case.rng_seed), [witness]), again=None, _others={})
    return list(alone.wrong_nodes)


def _witnesses(bench: "Bench", rule: Rule, route: str) -> Sequence[str]:
    """The routes that have the step which a rule is about, and then go another way; those of the trial, if any."""
    own = bench.view.routes.get(route)
    if own is None:
        return ()
    length = _length(rule, own)
    if length == len(own.steps) and not rule.inherited:
        return ()
    if rule.inherited:
        base = bench.view.base_of(route)
        found = [] if base is None else [base]
    else:
        found = [other.name for other in bench.view.routes.values() if _parts(own, other, length)]
    present = [name for name in found if name in bench.trial.outcomes]
    return present or found[:WITNESSES]


def _length(rule: Rule, route: Route) -> int:
    """How many steps a route has until that which a rule is about has been done."""
    if (route.like or route.name) in rule.routes:
        return len(route.steps)
    return next((place for place, step in enumerate(route.steps, 1) if step.name in rule.routes), len(route.steps))


def _parts(route: Route, other: Route, length: int) -> bool:
    """Whether another route has the same first steps, and then goes on otherwise."""
    return (
        other.keys[:length] == route.keys[:length]
        and other.keys[length : length + 1] != (route.keys[length : length + 1])
    )


def _outcome(bench: "Bench", name: str) -> Outcome:
    return bench.beside(name).trial.outcomes[name]


def same_answer(one: WrongNode, two: WrongNode) -> bool:
    """Whether two routes give the same wrong answer at a node: NaN and Inf in the same places, and numbers that are off
    in the same way."""
    if one.symptom != two.symptom or one.seen.shape != two.seen.shape:
        return False
    first, second = one.seen.astype(np.float64), two.seen.astype(np.float64)
    evidence = ~(_ignored(one) | _ignored(two))
    kinds = [np.where(np.isfinite(each), 0.0, each) for each in (first, second)]
    with np.errstate(all="ignore"):
        off = np.maximum(np.abs(first - one.expected.value), np.abs(second - two.expected.value))
        allowed = SAME * np.where(np.isfinite(off), off, 0.0) + _bound(one) + _bound(two)
        near = (first == second) | (np.abs(first - second) <= allowed) | ~(np.isfinite(first) & np.isfinite(second))
    alike = near & np.asarray((kinds[0] == kinds[1]) | (np.isnan(kinds[0]) & np.isnan(kinds[1])))
    return bool(alike.all(where=evidence))


def _ignored(place: WrongNode) -> Array:
    tied = place.expected.tied
    return np.zeros(place.seen.shape, bool) if tied is None or tied.shape != place.seen.shape else tied


def _bound(place: WrongNode) -> Array | float:
    return 0.0 if place.expected.bound is None else place.expected.bound


def together(
    places: Sequence[WrongNode], defects: Mapping[str, str], right: Sequence[str], routes: Mapping[str, Route]
) -> Iterator[list[WrongNode]]:
    """Wrong nodes of one place in the graph, as many groups as there are things to mend.

    One group for each answer and what explains it. Libraries that have nothing in common are told apart even if their
    answers are the same, unless no route is right: then it may be the reference that is wrong. For NaN and Inf they
    are not: there the question is who stands alone.
    """
    groups: list[list[WrongNode]] = []
    innocent = {key for name in right if name in routes for key in routes[name].keys} - _meant(places, routes)
    for place in places:
        for group in groups:
            alike = defects[place.route] == defects[group[0].route] and same_answer(place, group[0])
            apart = (
                right and place.symptom != "nonfinite" and not any(_related(place, x, innocent, routes) for x in group)
            )
            if alike and not apart:
                group.append(place)
                break
        else:
            groups.append([place])
    yield from groups


def _meant(places: Sequence[WrongNode], routes: Mapping[str, Route]) -> set[tuple[str, ...]]:
    """Files that say what is wrong: ONNX's own evaluator reads them so, and another reader does. One that does right
    all the same, since it computes in more digits perhaps, does not show that the file is."""
    found = set()
    for one in places:
        way = routes.get(one.route)
        if way is None or way.stages[-1].owner != ONNX or len(way.steps) < 2:
            continue
        file = way.keys[-2]
        others = [each for each in places if each.route in routes and file in routes[each.route].keys]
        if len({routes[each.route].stages[-1].library for each in others if same_answer(one, each)}) > 1:
            found.add(file)
    return found


def _related(one: WrongNode, two: WrongNode, innocent: set[tuple[str, ...]], routes: Mapping[str, Route]) -> bool:
    """Whether two routes share a step that no right route has, or end in the same library."""
    ways = [routes[place.route] for place in (one, two) if place.route in routes]
    if len(ways) < 2:
        return True
    shared = {*ways[0].keys} & {*ways[1].keys} - innocent
    ends = [way.stages[-1].library for way in ways]
    return bool(shared) or ends[0] == ends[1]
