"""Contrast: what the two sides of a comparison do otherwise, by what the oracles say of one trial with both of them.

The old side right and the new one wrong is a regression, the other way round a repair. Both wrong, each in its own way,
is a change. That a side lacks a layer, a parameter or a value of one is said by the exception, and is no fault of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from cometfuzz.execution.executor import Executor, python_of
from cometfuzz.execution.sides import Side, Sides
from cometfuzz.execution.versions import versions_of
from cometfuzz.oracles.agreement import differences as apart
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.oracles.symptoms import about
from cometfuzz.routes import Route
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.confirm import Probe, Target
from cometfuzz.triage.reproducer import reproduce, shows
from cometfuzz.triage.running import run_script

Kind = Literal["regression", "repair", "change", "not offered"]
KINDS: tuple[Kind, ...] = ("regression", "repair", "change", "not offered")

OTHER: Mapping[Side, Side] = {"old": "new", "new": "old"}
Runs = Mapping[Side, Mapping[str, Any]]
"""What a script did on each side."""

RECORD = "difference"
"""Under which name the evidence of a bug has what the sides did."""

_MISSING = re.compile(
    r"module '[\w.]+' has no attribute"
    r"|got an unexpected keyword argument"
    r"|[Uu]nrecogni[sz]ed (keyword )?arguments?"
    r"|[Ii]nvalid keyword arguments?"
    r"|[Cc]ould not interpret \w+[\w ]* identifier"
    r"|[Uu]nknown (layer|activation|initiali[sz]er|argument|parameter|operator|op)\b"
)
"""How libraries say that they do not know the name of something."""

_ASKING = ("__init__", "__new__", "__call__", "get", "deserialize", "from_config", "wrapper", "build")
"""Functions of a library that a caller's names go into; what fails deeper is the library's own business."""


@dataclass(frozen=True)
class Contrast:
    """A finding that holds on one side: the route on which it shows, the one beside it, and what that makes of it.

    place: that of the finding among those of its trial. clear: the other route does right in every respect, so that a
    smaller case must keep it so.
    """

    finding: Finding
    failing: str
    other: str
    side: Side
    kind: Kind
    clear: bool
    place: int = 0

    @property
    def key(self) -> tuple[str, Side]:
        """Findings with one key are likely one difference."""
        return self.finding.key, self.side


def contrasts(findings: Sequence[Finding], ended: Mapping[str, str], sides: Sides) -> Iterator[Contrast]:
    """What the findings of one trial say of one side only; `ended`: how its routes ended.

    One for each finding and side; a change is told by what the new side does. Where the other side lacks something,
    nothing can be said of it.
    """
    for place, finding in enumerate(findings):
        seen: set[Side] = set()
        for failing in finding.camps[0].routes:
            other, side = sides.twin(failing), sides.side_of(failing)
            if other is None or side is None or side in seen or other in finding.camps[0].routes:
                continue
            kind = _kind(finding, other, side, findings, ended)
            if kind is not None:
                seen.add(side)
                narrow, clear = _narrowed(finding, failing, other), _clear(findings, other)
                yield Contrast(narrow, failing, other, side, kind, clear, place)


def _kind(
    finding: Finding, other: str, side: Side, findings: Sequence[Finding], ended: Mapping[str, str]
) -> Kind | None:
    if ended.get(other, "unavailable") == "unavailable":
        return None
    if is_missing(finding):
        return "not offered"
    if any(other in camp.routes for camp in finding.camps[1:]):
        return "regression" if side == "new" else "repair"
    wrong = [each for each in findings if other in each.camps[0].routes]
    if side == "old" or not wrong or any(is_missing(each) or _alike(finding, each) for each in wrong):
        return None
    return "change"


def _clear(findings: Sequence[Finding], other: str) -> bool:
    return not any(other in finding.camps[0].routes for finding in findings)


def _alike(one: Finding, two: Finding) -> bool:
    """Whether both stop in one stage over the same class of exception, since other words for it are no difference; or
    are wrong at one node by the same. Oracles tell apart what is known of one side only, though it is one answer."""
    if about(one.symptom).stops and about(two.symptom).stops:
        ends = [(each.library, each.stage, each.failure.partition(":")[0]) for each in (one, two)]
        return ends[0] == ends[1]
    answers = [(each.symptom, each.node, each.detail) for each in (one, two)]
    return answers[0] == answers[1]


def is_missing(finding: Finding) -> bool:
    """Whether a library says that it does not know a layer, a parameter or a value of one, when a model asks for it.

    The same words from deep inside the library are a slip of its own.
    """
    if not about(finding.symptom).raises or finding.stage != "build":
        return False
    frames = [str(frame) for frame in finding.evidence.get("frames", ())]
    where, _, name = frames[-1].partition(" ") if frames else ("", "", "")
    ours = "/cometfuzz/" in where.replace("\\", "/")
    message = str(finding.evidence.get("message", finding.detail))
    return (not frames or ours or name in _ASKING) and _MISSING.search(message) is not None


def _narrowed(finding: Finding, failing: str, other: str) -> Finding:
    """A finding whose other camp is the route beside the one that fails: that one is to stay as it is in a smaller
    case. How calls that break a rule are taken is seen only beside all routes."""
    rest = tuple(name for camp in finding.camps[1:] for name in camp.routes if name != other)
    others = (other, *rest) if finding.data_kind == "invalid" else (other,)
    first = (failing, *(name for name in finding.camps[0].routes if name != failing))
    what = next((camp.what for camp in finding.camps[1:] if other in camp.routes), "does otherwise")
    return replace(finding, camps=(Camp(first, finding.camps[0].what), Camp(others, what)))


def settle(bug: Bug, contrast: Contrast, executor: Executor, sides: Sides) -> Bug:
    """A bug that came of a contrast, with what its minimal case and its script do on both sides, as evidence."""
    kind = judged(bug, contrast, executor, sides)
    return recorded(bug, contrast, kind, script_runs(bug, contrast, executor) if kind is not None else {}, executor)


def recorded(bug: Bug, contrast: Contrast, kind: Kind | None, runs: Runs, executor: Executor) -> Bug:
    """A bug whose evidence says what the sides did."""
    routes = {contrast.side: contrast.failing, OTHER[contrast.side]: contrast.other}
    record = {
        "kind": kind or "",
        "side": contrast.side,
        "routes": routes,
        "versions": {side: versions_of(executor.routes[name]) for side, name in routes.items()},
        "scripts": dict(runs),
        "proved": kind is not None and is_proved(bug, kind, runs, contrast.side),
    }
    return replace(bug, finding=replace(bug.finding, evidence={**bug.finding.evidence, RECORD: record}))


def judged(bug: Bug, contrast: Contrast, executor: Executor, sides: Sides) -> Kind | None:
    """What the minimal case of a bug shows when it runs on both sides; None if they do not differ in it."""
    target = Target.of(_narrowed(bug.finding, contrast.failing, contrast.other), bug.minimal.graph, executor.routes)
    probe = Probe(executor, target)
    trial = executor.run(bug.minimal, list(dict.fromkeys([contrast.failing, contrast.other, *target.routes])))
    ended = {name: outcome.status for name, outcome in trial.outcomes.items()}
    found = [
        each
        for each in contrasts(probe.judge(trial), ended, sides)
        if each.side == contrast.side and each.finding.symptom == bug.finding.symptom
    ]
    kind = min((each.kind for each in found), key=KINDS.index, default=None)
    pair = [trial.outcomes[name] for name in (contrast.other, contrast.failing)]
    answered = all(outcome.status == "completed" for outcome in pair)
    same = kind == "change" and answered and not apart(bug.minimal.graph, pair[0], pair[1])
    return None if same else kind


def is_proved(bug: Bug, kind: Kind, runs: Runs, side: Side) -> bool:
    """Whether a difference is beyond doubt: its script shows it on one side and ends well on the other; where both are
    wrong, it does not end well on either. Where no script can be written, every run showed it."""
    if len(runs) < len(OTHER):
        return bug.script is None and bug.runs > 0 and not bug.flaky
    ends_well = runs[OTHER[side]]["exit_code"] == 0
    return bool(runs[side]["shows"]) and ends_well is (kind != "change")


def script_runs(bug: Bug, contrast: Contrast, executor: Executor) -> Runs:
    """What the script of a bug did on the side that fails, and does on the other one; nothing if there is none."""
    if bug.script is None:
        return {}
    other = _on_the_other(bug, contrast, executor)
    runs = {contrast.side: told(bug.script)}
    return runs if other is None else {**runs, OTHER[contrast.side]: told(other)}


def told(script: Script) -> dict[str, Any]:
    """What a script did, as evidence."""
    return {
        "environment": script.environment,
        "shows": script.shown,
        "exit_code": script.exit_code,
        "output": script.output[-2000:],
    }


def _on_the_other(bug: Bug, contrast: Contrast, executor: Executor) -> Script | None:
    """The same script in the other environment; where the sides are two ways to run a model, one that goes the other
    way."""
    routes = executor.routes
    one, two = routes[contrast.failing], routes[contrast.other]
    assert bug.script is not None
    same_place = [step.group.environment for step in one.steps] == [step.group.environment for step in two.steps]
    if _origin(one) != _origin(two) or same_place:
        camps = (Camp((contrast.other,), bug.finding.camps[0].what),)
        return reproduce(replace(bug, finding=replace(bug.finding, camps=camps)), routes, executor)
    group = next(
        (
            beside.group
            for step, beside in zip(one.steps, two.steps, strict=True)
            if step.group.environment == bug.script.environment
        ),
        two.steps[-1].group,
    )
    ran = run_script(bug.script.text, python_of(group))
    return Script(bug.script.text, group.environment, shows(bug, ran), ran.exit_code, ran.output)


def _origin(route: Route) -> str:
    """The route of which it may be a copy in another environment."""
    return route.like or route.name
