"""A case that somebody wants reduced: what it shows on a route that is said to fail, and the bug that this is."""

from collections.abc import Callable
from dataclasses import dataclass

from cometfuzz.errors import CometfuzzError, looked_at
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.relations import ALL
from cometfuzz.oracles.symptoms import RELATION, about
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.known import Known
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.triage import Triage


@dataclass(frozen=True)
class Asked:
    """A case, the routes to run it on, the one of them that fails, and in which way; any, if no symptom is named."""

    case: Case
    routes: tuple[str, ...]
    route: str
    symptom: str
    effort: Effort


def reduced(
    executor: Executor, asked: Asked, known: Known, report: Callable[[str], None] = lambda text: None
) -> tuple[Bug | None, tuple[str, ...]]:
    """The bug of a case, reduced; if it shows none that counts, what it shows instead, in words."""
    finding, shown = _finding(executor, asked)
    if finding is None:
        return None, shown
    triage = Triage(executor, known, effort=asked.effort, report=report)
    bug = triage.triage(finding, asked.case).bug
    assert bug is not None, "expected a bug for a finding that counts"
    return bug, ()


def _finding(executor: Executor, asked: Asked) -> tuple[Finding | None, tuple[str, ...]]:
    """The finding of a case that the route is in the wrong camp of, or what the route shows instead."""
    case, route, symptom = asked.case, asked.route, asked.symptom
    trial = executor.run(case, asked.routes)
    if trial.outcomes[route].status == "unavailable":
        raise CometfuzzError(f"route {route}: {trial.outcomes[route].detail}; {looked_at(route)}")
    again = executor.run(case, [route]) if about(symptom).twice else None
    relations, memory = ALL if symptom == RELATION.name else "", about(symptom).end == "memory"
    bench = Bench(trial, executor.run, again, executor.view, memory=memory, relations=relations)
    found = [each for each in examine(bench) if route in each.camps[0].routes]
    for each in found:
        if each.counts and symptom in ("", each.symptom):
            return each, ()
    known = [f" (known: {each.defect})" if each.defect else "" for each in found]
    return None, tuple(f"{each.symptom}: {each.detail}{name}" for each, name in zip(found, known, strict=True))
