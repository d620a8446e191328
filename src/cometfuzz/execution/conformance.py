"""Conformance: does each library accept what the catalogue accepts, and compute what the reference computes?

One draw is one layer call on drawn inputs with drawn parameters, run on one route in a child process and judged by
the local rule. A difference is a known defect of the library, or our fault and undeclared.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cometfuzz.catalogue import COUNTED
from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer, draw_precise
from cometfuzz.errors import WorkerFailure, looked_at
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import Executor, python_of
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.sayable import takes
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import Edge
from cometfuzz.ledger.matching import Rule, View
from cometfuzz.reference.bound import Expected, expect, judge
from cometfuzz.routes import Group, Route


@dataclass(frozen=True)
class Result:
    """What came of one draw on one route."""

    route: str
    layer: str
    index: int
    known: tuple[Rule, ...]
    accepted: bool
    shape_ok: bool
    value_ok: bool
    undeclared: str
    outcome: Outcome
    case: Case
    shown: tuple[Rule, ...]
    said: bool = False


@dataclass
class Tally:
    """Counts of one layer or one route, in the form of `--json`.

    refused: draws that the library refused, or typed differently, as known; said: that what stands behind a front end
    refused, saying itself that it does not do such a thing. These count no further. bugs: draws that it accepted and
    computed wrongly, as known.
    """

    draws: int = 0
    refused: int = 0
    said: int = 0
    accepted: int = 0
    shape_ok: int = 0
    value_ok: int = 0
    bugs: int = 0
    undeclared: int = 0

    def add(self, result: Result) -> None:
        self.draws += 1
        self.undeclared += bool(result.undeclared)
        if result.shown and not result.shape_ok:
            self.refused += 1
            return
        if result.said:
            self.said += 1
            return
        self.accepted += result.accepted
        self.shape_ok += result.shape_ok
        self.value_ok += result.value_ok
        self.bugs += bool(result.shown)


@dataclass
class Report:
    """Tallies by route and layer, why draws failed as declared, and every undeclared difference."""

    by_layer: dict[str, dict[str, Tally]] = field(default_factory=dict)
    undeclared: list[Result] = field(default_factory=list)
    reasons: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        self.by_layer.setdefault(result.route, {}).setdefault(result.layer, Tally()).add(result)
        reasons = self.reasons.setdefault((result.route, result.layer), {})
        reasons.update(dict.fromkeys(rule.text for rule in result.shown))
        if result.undeclared:
            self.undeclared.append(result)

    def total(self, route: str) -> Tally:
        total = Tally()
        for tally in self.by_layer.get(route, {}).values():
            for name, value in vars(tally).items():
                setattr(total, name, getattr(total, name) + value)
        return total

    def as_plain(self) -> dict[str, Any]:
        routes = {
            route: {
                **vars(self.total(route)),
                "by_layer": {
                    name: {**vars(tally), "reasons": list(self.reasons.get((route, name), ()))}
                    for name, tally in layers.items()
                },
            }
            for route, layers in self.by_layer.items()
        }
        failures = [
            {
                "route": result.route,
                "layer": result.layer,
                "draw": result.index,
                "what": result.undeclared,
                "case": encode(result.case).decode(),
            }
            for result in self.undeclared
        ]
        return {"routes": routes, "undeclared": failures}


def layers_of(route: Route, layers: Sequence[str] = ()) -> list[str]:
    """The layers that a route's dialect has at all; the reference speaks no dialect and has them all."""
    return [
        name
        for name, spec in COUNTED.items()
        if (not route.speaks or route.speaks in spec.libraries) and (not layers or name in layers)
    ]


def find_rules(route: str, drawn: LayerDraw, view: View) -> list[Rule]:
    """What the ledger has against a draw: the rules of the route, then those of its base route."""
    return list(view.excuses(route, drawn.spec, drawn.x, drawn.params))


class Answer:
    """What a case should give, computed when first asked for."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @cached_property
    def expected(self) -> dict[Edge, Expected]:
        return expect(self.case.graph, draw_data(self.case))


def judge_draw(
    route: Route,
    drawn: LayerDraw,
    index: int,
    outcome: Outcome,
    answer: Answer | None = None,
    view: View | None = None,
) -> Result:
    """Judge one outcome against the catalogue, the reference and the ledger."""
    known = find_rules(route.name, drawn, view or usual_view())
    accepted = outcome.status == "completed"
    shape_problem, value_problem = _compare(answer or Answer(drawn.case), outcome) if accepted else ("", "")
    if not accepted:
        seen, text = ("exception" if outcome.failure is not None else "death"), str(outcome)
    elif shape_problem:
        seen, text = "shape", shape_problem
    elif value_problem:
        seen, text = "value", value_problem
    else:
        seen, text = "", ""
    shown = [rule for rule in known if _shows(rule, seen, outcome)]
    said = not shown and not any(rule.always for rule in known) and _says_so(route, outcome)
    undeclared = "" if said else text
    if known and not said:
        excused = bool(shown) or (not seen and not any(rule.always for rule in known))
        undeclared = "" if excused else f"{known[0].id} ({known[0].text}) shows otherwise: {text or 'passes'}"
    return Result(
        route=route.name,
        layer=drawn.spec.name,
        index=index,
        known=tuple(known),
        accepted=accepted,
        shape_ok=accepted and not shape_problem,
        value_ok=accepted and not shape_problem and not value_problem,
        undeclared=undeclared,
        outcome=outcome,
        case=drawn.case,
        shown=tuple(shown),
        said=said,
    )


def _says_so(route: Route, outcome: Outcome) -> bool:
    """Whether something behind a front end says that it does not do this: nobody need declare that. What a front end
    takes is what models are made of, so there it must be declared."""
    front = {stage.name for stage in route.steps[0].stages}
    behind = route.steps[-1].name != "run" and outcome.stage not in front
    return behind and outcome.failure is not None and outcome.failure.says_unsupported


def _shows(rule: Rule, seen: str, outcome: Outcome) -> bool:
    if rule.symptom == "exception":
        return outcome.failure is not None and rule.raises in (outcome.failure.type, *outcome.failure.kinds)
    if rule.symptom == "any":
        return bool(seen)
    return seen == rule.symptom or (rule.symptom == "result" and seen in ("shape", "value"))


def _compare(answer: Answer, outcome: Outcome) -> tuple[str, str]:
    """(what is wrong with shapes and dtypes, what is wrong with values)."""
    case = answer.case
    kinds = [case.graph.type_of(edge) for edge in case.graph.outputs]
    if len(kinds) != len(outcome.outputs):
        return f"expected {len(kinds)} outputs; received {len(outcome.outputs)}", ""
    for kind, seen in zip(kinds, outcome.outputs, strict=True):
        if (kind.dtype, kind.shape) != (seen.dtype, seen.shape):
            return f"expected {kind.dtype}{list(kind.shape)}; received {seen.dtype}{list(seen.shape)}", ""
    expected = answer.expected
    for edge, seen in zip(case.graph.outputs, outcome.outputs, strict=True):
        verdict = judge(expected[edge], array_of(seen))
        if not verdict.ok:
            return "", f"output {edge.output}: {verdict.detail} ({verdict.worst:.3g} times the bound)"
    return "", ""


def conform(
    routes: Sequence[Route],
    layers: Sequence[str],
    draws: int,
    seed: int,
    jobs: int = 1,
    limits: WorkerLimits | None = None,
    find_python: Callable[[Group], Path] = python_of,
    policies: bool = False,
) -> Iterator[Result]:
    """Run `draws` draws of each layer on each route that has it; what the routes share is done once for all. A draw
    that a route's first step objects to is none of that route.

    policies: each call under a dtype policy, where the layer takes one.
    """
    flying: deque[tuple[LayerDraw, int, Future[Trial]]] = deque()
    with Executor(
        routes, jobs, limits or WorkerLimits(stage_s=120.0), pause_after=0, find_python=find_python
    ) as executor:
        for name in layers:
            speaking = [route for route in routes if name in layers_of(route)]
            for index in range(draws if speaking else 0):
                drawn = draw_precise(name, seed, index) if policies else draw_layer(name, seed, index)
                if drawn is None:
                    continue
                having = [route.name for route in speaking if takes(route, drawn.case.graph)]
                if not having:
                    continue
                flying.append((drawn, index, executor.submit(drawn.case, having)))
                if len(flying) > 2 * jobs:
                    yield from _judged(executor, *flying.popleft())
        while flying:
            yield from _judged(executor, *flying.popleft())


def _judged(executor: Executor, drawn: LayerDraw, index: int, future: Future[Trial]) -> Iterator[Result]:
    """A child that dies is asked again: what it did for another route may have spoilt its memory."""
    answer = Answer(drawn.case)
    for name, outcome in future.result().outcomes.items():
        if outcome.status == "unavailable":
            raise WorkerFailure(f"route {name}: {outcome.detail}; {looked_at(name)}")
        result = judge_draw(executor.routes[name], drawn, index, outcome, answer, executor.view)
        if result.undeclared and outcome.status == "signal":
            again = executor.submit(drawn.case, [name]).result().outcomes[name]
            result = judge_draw(executor.routes[name], drawn, index, again, answer, executor.view)
        yield result
