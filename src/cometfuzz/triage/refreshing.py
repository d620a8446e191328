"""Refreshing the ledger: does each entry still show, with the versions that some routes have?

Every entry has a case, which is run on every route that the entry speaks of, by the workers that all entries share.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cometfuzz.catalogue.files import load
from cometfuzz.execution import environments
from cometfuzz.execution.comparing import compare
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Trial
from cometfuzz.execution.versions import versions_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.defect import ANY_CPU, Defect, Seen
from cometfuzz.ledger.matching import Supposing, meets
from cometfuzz.ledger.reading import CASE
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES, base_of
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.known import issue_of
from cometfuzz.triage.running import run_script
from cometfuzz.triage.signature import covers, layers_of, rough_signature

SHOWN = 1
"""The exit code of a script that shows its bug."""

RUNS = 3
"""How often the case of an entry is run that shows by chance, until it shows."""


@dataclass(frozen=True)
class Question:
    """An entry to look for on some routes, which have the same versions of its libraries, and the versions."""

    defect: Defect
    routes: tuple[str, ...]
    versions: Mapping[str, str]
    case: Case


@dataclass(frozen=True)
class Measured:
    """What came of a question: whether it shows, on which route it was seen, and if nobody can tell, why."""

    question: Question
    shows: bool | None
    route: str = ""
    reason: str = ""

    @property
    def seen(self) -> Seen:
        return Seen(dict(self.question.versions), cpu_level())


def questions(
    entries: Mapping[str, Defect], folder: Path, routes: Sequence[Route], anew: bool = False
) -> Iterator[Question]:
    """What is to be asked: each entry with a case, once for each set of versions; those that it has met only anew."""
    for defect in entries.values():
        path = folder / defect.id / CASE
        if not path.is_file():
            continue
        groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for route in routes:
            versions = _relevant(defect, route)
            known = any(meets(each.versions, versions) for each in (*defect.seen, *defect.fixed))
            if versions and (anew or not known):
                groups.setdefault(tuple(versions.items()), []).append(route.name)
        for versions_key, names in groups.items():
            yield Question(defect, tuple(names), dict(versions_key), load(path))


def _relevant(defect: Defect, route: Route) -> dict[str, str]:
    """The versions on a route that matter to an entry: of the libraries that it was seen with, and of what runs the
    model, since one backend of Keras may have it and another not. None if the entry does not speak of the route."""
    spoken = {name for applies in defect.applies for name in applies.routes} or {*defect.routes}
    if not spoken & route.names:
        return {}
    versions = versions_of(route)
    libraries = {name for each in (*defect.seen, *defect.fixed) for name in each.versions}
    if libraries & {"keras", "tf-keras"}:
        direct = ROUTES.get(base_of(route.like or route.name) or route.like or route.name, route)
        libraries.add(direct.stages[-1].library)
    return {name: version for name, version in versions.items() if name in libraries}


def measure(question: Question, executor: Executor, bug: Bug | None) -> Measured:
    """Run the case of an entry on its routes until one shows it."""
    view = Supposing(executor.routes, question.defect)
    chance = any(applies.by_chance for applies in question.defect.applies)
    otherwise = ""
    for _ in range(RUNS if chance else 1):
        for name in question.routes:
            trial = executor.run(question.case, [name])
            outcome = trial.outcomes[name]
            if outcome.status == "unavailable":
                return Measured(question, None, name, outcome.detail)
            found = examine(Bench(trial, executor.run, view=view))
            if any(_is_it(question, bug, each) for each in found) or _is_off(question, trial, name):
                return Measured(question, True, name)
            otherwise = otherwise or ("" if outcome.status == "completed" else str(outcome))
    if otherwise:  # what the entry is about was not reached
        return Measured(question, None, reason=f"it fails otherwise: {otherwise}")
    if chance:
        return Measured(question, None, reason="it shows by chance, and did not")
    first = next((name for name in question.routes if bug is not None and _wrote(bug, executor.routes[name])), "")
    if bug is not None and bug.script is not None and first and _script_shows(bug.script, executor.routes[first]):
        return Measured(question, True, first)
    if not any(each.cpu in (ANY_CPU, cpu_level()) for each in question.defect.seen):
        return Measured(question, None, reason=f"it was seen on other CPUs than this one ({cpu_level()})")
    return Measured(question, False)


def _wrote(bug: Bug, route: Route) -> bool:
    """Whether a bug's script is of a route: it is written for the first that failed."""
    return bool(bug.finding.camps) and bug.finding.camps[0].routes[:1] == (route.like or route.name,)


def _script_shows(script: Script, route: Route) -> bool:
    """Whether the script shows it where the case does not: oracles keep silent about what libraries are free to do."""
    python = environments.find(route.steps[-1].group.environment).python
    return run_script(script.text, python).exit_code == SHOWN


def _is_off(question: Question, trial: Trial, route: str) -> bool:
    """Whether a value is wrong by so little that only a model of one layer shows it, judged as conformance does."""
    values = any(applies.symptom in ("value", "result", "any") for applies in question.defect.applies)
    layers = sum(node.layer != INPUT for node in question.case.graph.nodes)
    if not values or layers > 1 or trial.outcomes[route].status != "completed":
        return False
    return not compare(trial)[route].ok


def _is_it(question: Question, bug: Bug | None, finding: Finding) -> bool:
    """Whether a finding in an entry's own case is the entry: by its rules, or as the same bug again."""
    if finding.defect:
        return True
    rough = rough_signature(finding)
    whole = replace(rough, layers=layers_of(question.case.graph))  # its case is minimal: all layers belong to it
    issues = [issue_of(question.defect, pattern) for pattern in question.defect.signature]
    if any(issue.matches(signature) for issue in issues for signature in (rough, whole)):
        return True
    return bug is not None and covers(bug, finding, question.case.graph)
