"""Special: NaN or Inf that was put in, and one library alone makes something else of it.

What a library does with NaN and Inf is often left open, by the order of a sum for one, and the judgement of values
keeps silent there. But if at least four independent implementations were asked and all but one agree with the
mathematical meaning, element by element, nothing is open: the one is wrong. So is each of two among eight, if they do
not even agree with each other.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cometfuzz.catalogue.data import Array
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import INPUT, Edge, Node
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.oracles.local import same_types
from cometfuzz.oracles.stages import explaining_call
from cometfuzz.reference.run import narrow

VOTERS = 4
"""How many independent implementations must have an answer: of three, two may have copied each other's formula."""

NAMES = ("a number", "Inf", "-Inf", "NaN")


def special(bench: Bench) -> Iterator[Finding]:
    """One finding for each library that stands alone with what it makes of a NaN or Inf at a node."""
    if bench.data_kind() != "special":
        return
    voters = _voters(bench)
    libraries = {_library(bench, name) for name in voters}
    if len(libraries) < VOTERS:
        return
    for name, differing in _otherwise(bench).items():
        accused = {_library(bench, route) for route in differing}
        if VOTERS * len(accused) <= len(libraries):  # else none of them stands alone
            yield from _vote(bench, bench.graph.by_id[name], bench.values_of(differing[0]), [*voters, *differing])


def _library(bench: Bench, route: str) -> str:
    """Who computes at the end of a route: by that, implementations are independent."""
    return bench.view.routes[route].stages[-1].library


def _voters(bench: Bench) -> list[str]:
    """A route for each library: those of the trial, and if the bench may ask others, the shortest one to each."""
    routes = bench.view.routes
    names = [name for name in bench.completed if name in routes]
    if bench.thorough:
        names += sorted((name for name in routes if name not in names), key=lambda name: len(routes[name].steps))
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(_library(bench, name), name)
    return list(found.values())


def _otherwise(bench: Bench) -> dict[str, list[str]]:
    """The nodes that give a NaN or Inf elsewhere than the meaning has, on their own inputs, and on which routes; what
    local judgement has something to say about is left out."""
    said = {(place.route, place.node.id) for place in bench.wrong_nodes}
    found: dict[str, list[str]] = {}
    for node in bench.graph.nodes:
        for suspect in bench.suspects if node.layer != INPUT else ():
            values = bench.values_of(suspect.route)
            if values and (suspect.route, node.id) not in said and _differs(bench, node, values):
                found.setdefault(node.id, []).append(suspect.route)
    return found


def _differs(bench: Bench, node: Node, values: Mapping[Edge, Array]) -> bool:
    part = bench.windows.on([node], values)
    return part is not None and any(
        kind.dtype in FLOATS and not _same_kinds(part.exact[edge], values[edge], kind.dtype)
        for edge, kind in ((edge, part.graph.type_of(edge)) for edge in part.graph.outputs)
    )


def _kinds(array: Array) -> Array:
    """0 for a number, 1 for Inf, 2 for -Inf, 3 for NaN."""
    wide = array.astype(np.float64)
    return np.select([np.isnan(wide), wide == np.inf, wide == -np.inf], [3, 1, 2], 0)


def _same_kinds(want: Array, seen: Array, dtype: str) -> bool:
    return want.shape == seen.shape and bool((_kinds(narrow(want, dtype)) == _kinds(seen)).all())


def _vote(bench: Bench, node: Node, values: Mapping[Edge, Array], routes: Sequence[str]) -> Iterator[Finding]:
    """Run the node alone on all of them, and see who stands alone."""
    part = bench.windows.on([node], values)
    if part is None:
        return
    case = part.alone(bench.trial.case.rng_seed)
    want = [part.exact[edge] for edge in case.graph.outputs]
    answers: dict[str, tuple[str, Outcome]] = {}
    for name, outcome in bench.rerun(case, list(dict.fromkeys(routes))).outcomes.items():
        if outcome.status == "completed" and same_types(case.graph, outcome):
            answers[name] = _difference(want, outcome), outcome
    libraries = {_library(bench, name) for name in answers}
    right = Camp(tuple(name for name, (text, _) in answers.items() if not text), "as the formula has it")
    for failing in _alone(bench, answers):
        yield _finding(bench, node, Camp(failing, answers[failing[0]][0]), right, answers[failing[0]][1], libraries)


def _alone(bench: Bench, answers: Mapping[str, tuple[str, Outcome]]) -> Iterator[tuple[str, ...]]:
    """The routes of each library that nobody agrees with, where most agree with the formula."""
    wrong: dict[str, list[str]] = {}
    for name, (text, _) in answers.items():
        if text:
            wrong.setdefault(_library(bench, name), []).append(name)
    libraries = {_library(bench, name) for name in answers}
    if len(libraries) < VOTERS * len(wrong):
        return
    for library, names in wrong.items():
        others = [name for other, each in wrong.items() if other != library for name in each]
        if not any(_alike(answers[one][1], answers[two][1]) for one in names for two in others):
            yield tuple(names)


def _alike(one: Outcome, two: Outcome) -> bool:
    pairs = zip(one.outputs, two.outputs, strict=True)
    return all(bool((_kinds(array_of(a)) == _kinds(array_of(b))).all()) for a, b in pairs)


def _finding(bench: Bench, node: Node, wrong: Camp, right: Camp, outcome: Outcome, libraries: set[str]) -> Finding:
    stage = outcome.times[-1] if outcome.times else None
    return Finding(
        oracle="special",
        symptom="special",
        data_kind="special",
        camps=(wrong, right),
        stage=stage.stage if stage else outcome.stage,
        library=stage.library if stage else outcome.library,
        detail=wrong.what,
        node=node.id,
        layer=node.layer,
        defect=explaining_call(bench, wrong.routes[0], node),
        evidence={"against": "some routes", "implementations": sorted(libraries)},
    )


def _difference(want: Sequence[Array], outcome: Outcome) -> str:
    """The first element of another kind than the meaning has, in words; nothing if there is none."""
    for value, tensor in zip(want, outcome.outputs, strict=True):
        if tensor.dtype not in FLOATS:
            continue
        right, seen = _kinds(narrow(value, tensor.dtype)), _kinds(array_of(tensor))
        wrong = np.argwhere(right != seen)
        if len(wrong):
            at = tuple(int(index) for index in wrong[0])
            count = f"{len(wrong)} of {seen.size} elements, the first at {list(at)}"
            return f"{count}: expected {NAMES[int(right[at])]}; received {NAMES[int(seen[at])]}"
    return ""
