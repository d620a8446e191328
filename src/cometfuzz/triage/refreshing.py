"""Refreshing the ledger: does each entry still show, with the versions that some routes have?

Every entry has a case, which is run on every route that the entry speaks of, by the workers that all entries share.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from cometfuzz.catalogue.files import load
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.execution import environments
from cometfuzz.execution.comparing import compare
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Trial
from cometfuzz.execution.versions import versions_of_all
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.defect import Defect, Seen
from cometfuzz.ledger.matching import Supposing
from cometfuzz.ledger.overlay import Found
from cometfuzz.ledger.reading import CASE
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.routes import Route
from cometfuzz.routes.libraries import KERAS, TF_KERAS
from cometfuzz.routes.registry import ROUTES, base_of
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.known import issue_of
from cometfuzz.triage.reproducer import reproduce
from cometfuzz.triage.running import run_script
from cometfuzz.triage.signature import covers, layers_of, rough_signature

NOT_SHOWN, SHOWN = 0, 1
"""The exit codes of a script that does not show its bug, and of one that does."""

RUNS = 3
"""How often the case of an entry is run that shows by chance, until it shows."""

Result = Literal["still there", "does not show", "does not show on this CPU", "not measured"]


@dataclass(frozen=True)
class Question:
    """An entry to look for on some routes, which have the same versions of its libraries, and the versions."""

    defect: Defect
    routes: tuple[str, ...]
    versions: Mapping[str, str]
    case: Case


@dataclass(frozen=True)
class Measured:
    """What came of a question: whether it shows, on which route it was seen, and if nobody can tell, why.

    absent: it does not show, but was only ever seen on other kinds of CPU, so that this says nothing of the versions.
    """

    question: Question
    shows: bool | None
    route: str = ""
    reason: str = ""
    absent: bool = False

    @property
    def result(self) -> Result:
        """In words, for people."""
        if self.absent:
            return "does not show on this CPU"
        return "not measured" if self.shows is None else "still there" if self.shows else "does not show"

    @property
    def found(self) -> Found | None:
        """As what it is kept; not at all, if nobody can tell."""
        if self.absent or self.shows is None:
            return "absent" if self.absent else None
        return "seen" if self.shows else "fixed"

    @property
    def seen(self) -> Seen:
        return Seen(dict(self.question.versions), cpu_level())


def questions(
    entries: Mapping[str, Defect], folder: Path, routes: Sequence[Route], anew: bool = False
) -> Iterator[Question]:
    """What is to be asked: each entry with a case, once for each set of versions; those that it has met only anew."""
    met = versions_of_all(routes)
    for defect in entries.values():
        path = folder / defect.id / CASE
        if not path.is_file():
            continue
        groups: dict[tuple[tuple[str, str], ...], list[Route]] = {}
        for route in routes:
            versions = relevant_versions(defect, route, met[route.name])
            found = (*defect.seen, *defect.fixed, *defect.absent)
            known = any(each.meets(versions, cpu_level()) for each in found)
            if versions and (anew or not known):
                groups.setdefault(tuple(versions.items()), []).append(route)
        if not groups:
            continue
        case = load(path, breaking=True)
        for versions_key, among in groups.items():
            if any(_is_met(defect, route, case) for route in among):
                yield Question(defect, tuple(route.name for route in among), dict(versions_key), case)


def _is_met(defect: Defect, route: Route, case: Case) -> bool:
    """Whether a case meets an entry on a route: its rules may speak of other layers there. One without rules is met
    wherever it speaks of."""
    view, graph = Supposing({route.name: route}, defect), case.graph
    return not defect.applies or any(
        True
        for node in graph.nodes
        if node.layer != INPUT
        for spec in [spec_of(node.layer)]
        for _ in view.rules_against(route.name, spec, spec.view(graph.input_types(node)), node.params)
    )


def relevant_versions(defect: Defect, route: Route, versions: Mapping[str, str]) -> dict[str, str]:
    """Of the versions on a route, those that matter to an entry: of its library, of those it was seen with, and of what
    runs the model, since one backend of Keras may have it and another not. None if the entry does not speak of the
    route."""
    if not defect.spoken_of & route.names:
        return {}
    libraries = {defect.library, *(name for each in (*defect.seen, *defect.fixed) for name in each.versions)}
    if libraries & {KERAS.name, TF_KERAS.name}:
        direct = ROUTES.get(base_of(route.like or route.name) or route.like or route.name, route)
        libraries.add(direct.stages[-1].library)
    return {name: version for name, version in versions.items() if name in libraries}


def measure(question: Question, executor: Executor, bug: Bug | None) -> Measured:
    """Run the case of an entry on its routes until one shows it."""
    view = Supposing(executor.routes, question.defect)
    chance = any(applies.by_chance for applies in question.defect.applies)
    foreign = not any(each.speaks_of(cpu_level()) for each in question.defect.seen)
    elsewhere = f"it was seen on other CPUs than this one ({cpu_level()})" if foreign else ""
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
        return Measured(question, None, reason=elsewhere or f"it fails otherwise: {otherwise}", absent=foreign)
    if chance:
        return Measured(question, None, reason=elsewhere or "it shows by chance, and did not", absent=foreign)
    first = next((name for name in question.routes if bug and _wrote(bug, executor.routes[name])), question.routes[0])
    code = _ran(bug, executor.routes[first], executor) if bug is not None else NOT_SHOWN
    if code == SHOWN:
        return Measured(question, True, first)
    if code != NOT_SHOWN and not foreign:
        return Measured(question, None, first, f"its case shows nothing, and its script ends with exit code {code}")
    return Measured(question, None if foreign else False, reason=elsewhere, absent=foreign)


def _wrote(bug: Bug, route: Route) -> bool:
    """Whether a bug's script is of a route: it is written for the first that failed."""
    return bool(bug.finding.camps) and bug.finding.camps[0].routes[:1] == (route.like or route.name,)


def _ran(bug: Bug, route: Route, executor: Executor) -> int | None:
    """How the script of a bug ends where its case shows nothing: oracles keep silent about what libraries are free to
    do, and ask other routes, which are not here. For a route that it was not written for, one is written."""
    if bug.script is not None and _wrote(bug, route):
        python = environments.find(route.steps[-1].group.environment).python
        return run_script(bug.script.text, python).exit_code
    camp = Camp((route.name,), bug.finding.detail)
    written = reproduce(replace(bug, finding=replace(bug.finding, camps=(camp,))), executor.routes, executor)
    return NOT_SHOWN if written is None else SHOWN if written.shown else written.exit_code


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
    return bug is not None and covers(bug, finding, question.case.graph, question.case.manner)
