"""Triage: from a finding to a bug. Confirm, localise, isolate, reduce, blame, sign; then a script.

One bug for each key, whatever the number of findings. A finding of a bug that is known costs no run of a library.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cometfuzz.catalogue.manners import manner_words
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Trial
from cometfuzz.ir.case import PLAIN, Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import INPUT
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.relations import case_of
from cometfuzz.oracles.special import VOTERS
from cometfuzz.oracles.symptoms import RELATION, about
from cometfuzz.routes import Switch
from cometfuzz.routes.registry import library_named
from cometfuzz.routes.switches import plain_name
from cometfuzz.triage.blame import AGAINST, NO_STAGE, blame, traced, with_degrees
from cometfuzz.triage.bug import Blame, Bug, Script, Signature
from cometfuzz.triage.collection import covering, having, recognised, twin
from cometfuzz.triage.confirm import Confirmed, Probe, Target, confirm
from cometfuzz.triage.known import Known, known_as
from cometfuzz.triage.localise import Located, beginning, isolated, localise
from cometfuzz.triage.passes import filled
from cometfuzz.triage.reduce import Effort, Reduced, Reducer
from cometfuzz.triage.signature import (
    alias_of,
    covers,
    layers_of,
    needs_utility,
    rough_signature,
    same_bug,
    same_rule,
    sign,
)

Reproduce = Callable[[Bug], Script | None]
"""Makes the script of a bug and runs it in a clean process; None if there is no way to write one."""

UNDECIDED = "libraries that share no stage do the same with a NaN or Inf that was put in, others do otherwise"
FORMULA_ALONE = "all libraries do otherwise than the formula with a NaN or Inf that was put in"
TOO_FEW = f"fewer than {VOTERS - 1} libraries say what is right with a NaN or Inf that was put in"
REFUSED = "several libraries refuse a call with an empty tensor"

LAYERS, CONDITIONS = 4, 6
"""How many of each a title names."""


@dataclass(frozen=True)
class Triaged:
    """What became of a finding: its bug, whether that is new, and if there is none, why."""

    bug: Bug | None
    new: bool = False
    reason: str = ""


@dataclass
class Triage:
    """Turns findings into bugs. `executor` must never pause a step; `bugs` are those that earlier runs found, by id;
    those of collections that are `known` become bugs of this campaign, marked as such, when they are found again.

    Deterministic as long as no reduction is cut short by the clock; then the finding's evidence says so.
    """

    executor: Executor
    known: Known = field(default_factory=Known)
    reproduce: Reproduce = lambda bug: None
    effort: Effort = field(default_factory=Effort)
    bugs: dict[str, Bug] = field(default_factory=dict)
    report: Callable[[str], None] = lambda text: None
    declared: bool = False
    """Whether findings that a known defect explains become bugs as well; else they are left alone."""
    refusals: bool = False
    """Whether that a library says it does not do this is worked out as well."""
    contrast: bool = False
    """Whether the route that agrees must do right in every respect, as one side of a comparison."""
    elsewhere: Callable[[], Bug | None] | None = None
    """What has already worked out the finding that is asked about next, script and all; None: it is done here."""
    _aliases: dict[str, str] = field(default_factory=dict)
    """Which bug a finding turned out to be, though the condition of that bug did not tell so."""

    def __post_init__(self) -> None:
        if self.executor.pause_after:
            raise CometfuzzError(
                f"triage: expected an executor that pauses nothing; received pause_after={self.executor.pause_after}"
            )

    def triage(self, finding: Finding, case: Case, routes: Sequence[str] = ()) -> Triaged:
        """The bug behind a finding of a case; `routes`: where to run the reduced one, to find out who is to blame."""
        began, case = time.monotonic(), case_of(finding, case)
        wanted = finding.claims or (self.refusals and about(finding.symptom).raises)
        if not finding.counts and not (self.declared and wanted):
            return Triaged(None, reason=finding.defect or finding.symptom)
        bug = self.seen_before(finding, case)
        if bug is not None:
            return Triaged(bug)
        entry = covering(self._known(finding).collected, finding, case.graph, case.manner)
        if entry is not None:
            return self._keep(recognised(entry, case))
        known_here = self.executor.routes
        plain = [name for name, route in known_here.items() if route.switch is None]
        everywhere = [name for name in routes or plain if name in known_here]
        rough = rough_signature(finding)
        known = known_as(self._known(finding).issues, rough, early=True)
        if known is not None:
            bug = self._bug(rough, finding, case, case, _unclear(finding), Confirmed(0, 0, None), known.text, began)
            return self._keep(replace(bug, limit=known.limit))
        bug = self._work_out(finding, case, everywhere, began) if self.elsewhere is None else self.elsewhere()
        if bug is None:
            return Triaged(None, reason="no node came to an end of it")
        triaged = self._keep(bug)
        if triaged.bug is not None:
            self._aliases[alias_of(finding, case.graph)] = triaged.bug.id
        return triaged

    def wants(self, finding: Finding, case: Case) -> bool:
        """Whether a finding would have to be worked out, as far as is known now."""
        case = case_of(finding, case)
        known = self._known(finding)
        return (
            finding.counts
            and self.seen_before(finding, case) is None
            and covering(known.collected, finding, case.graph, case.manner) is None
            and known_as(known.issues, rough_signature(finding), early=True) is None
        )

    def _known(self, finding: Finding) -> Known:
        """What is known and stands for the versions of the routes that fail."""
        return self.known.on(self.executor.view, finding.camps[0].routes)

    def seen_before(self, finding: Finding, case: Case) -> Bug | None:
        """The bug that a finding is a duplicate of; no library is run for that."""
        case = case_of(finding, case)
        alias = alias_of(finding, case.graph)
        for bug in self.bugs.values():
            if covers(bug, finding, case.graph, case.manner) or (alias and self._aliases.get(alias) == bug.id):
                return bug
        return None

    def _cause(self, probe: Probe, reduced: Reduced) -> tuple[Finding, Case] | None:
        """What is wrong already before the last layer of a reduced case, which then fails over it."""
        layers = [node.id for node in reduced.case.graph.nodes if node.layer != INPUT]
        if len(layers) < 2 or not about(reduced.finding.symptom).stops:
            return None
        for case in (reduced.case, replace(reduced.case, data={})):  # zeros may hide what drawn numbers show
            part = beginning(case, layers[:-1])
            for found in probe.findings(part, probe.target.routes) if part is not None else ():
                camp = found.camps[0].routes
                blurred = self.contrast and probe.target.agreeing in camp
                if part is not None and found.claims and probe.target.failing in camp and not blurred:
                    return found, part
        return None

    def _keep(self, bug: Bug) -> Triaged:
        """A bug, or the one that it turned out to be."""
        for other in self.bugs.values():
            alike = other.id == bug.id or same_bug(other.signature, bug.signature) or same_rule(other, bug.finding)
            if alike or _against_all(other, bug) or made_wrong(other, bug):
                return Triaged(other)
        collected = self._known(bug.finding).collected
        entry = having(collected, bug) if bug.shown else twin(collected, bug)
        if entry is not None:
            bug = recognised(entry, bug.original)
        elif not bug.known and bug.shown and self.elsewhere is None:
            # A whole model that nobody could reduce is not shown, and proves nothing by its values.
            began = time.monotonic()
            bug = self._with_script(bug)
            bug = replace(bug, triage_s=bug.triage_s + time.monotonic() - began)
        self.bugs[bug.id] = bug
        return Triaged(bug, new=True)

    def _with_script(self, bug: Bug) -> Bug:
        """A bug and its script. Uninitialised memory is zero in a clean process: data of zeros may hide there what
        ones show."""
        script = self.reproduce(bug)
        fuller = filled(bug.minimal) if script is not None and not script.shown and not bug.minimal.breaks else None
        if fuller is None:
            return replace(bug, script=script)
        found = self._probe(bug.finding, bug.minimal).find(fuller)
        if found is None:
            return replace(bug, script=script)
        camps = (replace(bug.finding.camps[0], what=found.detail), *bug.finding.camps[1:])
        seen = replace(bug.finding, detail=found.detail, camps=camps)
        other = replace(bug, finding=seen, minimal=fuller, minimal_id=case_id(fuller))
        again = self.reproduce(other)
        return replace(other, script=again) if again is not None and again.shown else replace(bug, script=script)

    def _probe(self, finding: Finding, case: Case) -> Probe:
        target = Target.of(finding, case.graph, self.executor.routes)
        return Probe(self.executor, target, contrast=self.contrast)

    def _work_out(self, finding: Finding, case: Case, routes: Sequence[str], began: float) -> Bug:
        """The bug of a finding, new or not."""
        probe = self._probe(finding, case)
        self.report("confirm")
        confirmed = confirm(probe, case)
        if confirmed.finding is None:
            unseen = replace(finding, evidence={**finding.evidence, "reduction": "did not show again"})
            return self._bug(rough_signature(finding), unseen, case, case, _unclear(finding), confirmed, "", began)
        probe.tries = 1 if confirmed.shown == confirmed.runs else 3
        if case.breaks:  # one call, as simple as its rule allows
            whole = Reduced(case, confirmed.finding, 0, ""), Located(finding.node, "the rule that it breaks", {})
            return self._blamed(probe, case, *whole, confirmed, routes, began)
        reducer = Reducer(probe, self.effort, lambda smaller: self.report(f"reduce: {_nodes(smaller)} nodes"))
        small, shown = _plainly(reducer, case, confirmed.finding)
        self.report("localise")
        located = localise(probe, reducer, small, finding.node)
        for part in isolated(small, located):
            found = reducer.show(part)
            if found is not None:
                small, shown = part, found
                break
        reduced = reducer.reduce(small, shown)
        cause = self._cause(probe, reduced)
        if cause is not None and cause[0].defect and not self.declared:
            note = f"known: {cause[0].defect}"
            rough, who = rough_signature(cause[0]), _unclear(cause[0])
            return self._bug(rough, cause[0], case, cause[1], who, confirmed, note, began)
        if cause is not None:
            place = cause[0], cause[1].graph, cause[1].manner
            other = next((bug for bug in self.bugs.values() if covers(bug, *place)), None)
            entry = covering(self._known(cause[0]).collected, *place) if other is None else None
            if entry is not None:
                return recognised(entry, case)
            return other or replace(self._work_out(*cause, routes, began), original=case, original_id=case_id(case))
        return self._blamed(probe, case, reduced, located, confirmed, routes, began)

    def _blamed(
        self,
        probe: Probe,
        case: Case,
        reduced: Reduced,
        located: Located,
        confirmed: Confirmed,
        routes: Sequence[str],
        began: float,
    ) -> Bug:
        """The bug of a reduced case: who is to blame, and whether it is known."""
        self.report("blame")
        last, trial = self._everywhere(probe, reduced, routes)
        right = agreeing(last)
        failed_in = last.stage if about(last.symptom).stops else ""
        who = blame(self.executor.routes, last.camps[0].routes, right, failed_in)
        who = traced(who, str(last.evidence.get("message", ""))) if failed_in else who
        alone = case.breaks or last.symptom == RELATION.name  # nobody need do otherwise to show that it is wrong
        if alone and not right:
            who = _by_itself(last)
        elif not case.breaks:
            who = with_degrees(who, *self._switches(probe, reduced.case))
        last = replace(last, evidence={**last.evidence, **_evidence(case, located, reduced)})
        signature = sign(last, who, reduced.case.graph)
        facts = [fact for fact in (signature.condition, *manner_words(reduced.case.manner)) if fact]
        signature = replace(signature, condition=", ".join(facts))
        known = known_as(self._known(last).issues, signature)
        text, limit = (known.text, known.limit) if known is not None else ("", False)
        if known is None and (open_question := self._left_open(last, who, trial)):
            text, limit = open_question, True
        bug = self._bug(signature, last, case, reduced.case, who, confirmed, text, began)
        versions: dict[str, str] = {}
        for outcome in trial.outcomes.values():
            versions.update(outcome.versions)
        return replace(bug, limit=limit, versions=versions)

    def _left_open(self, finding: Finding, who: Blame, trial: Trial) -> str:
        """Why nobody says what is right with a NaN or Inf that was put in, or no element; empty if somebody does."""
        if finding.data_kind == "empty" and finding.symptom == "crash":
            refusing = {outcome.library for outcome in trial.outcomes.values() if outcome.status == "exception"}
            return REFUSED if len(refusing) > 1 else ""
        if finding.data_kind != "special" or finding.symptom not in ("nonfinite", "value"):
            return ""
        if AGAINST in who.role:
            return FORMULA_ALONE
        if finding.symptom == "nonfinite":  # libraries that have nothing to do with each other
            return UNDECIDED if who.confidence == NO_STAGE else ""
        right = {self.executor.routes[name].stages[-1].library for name in agreeing(finding)}
        return "" if len(right) >= VOTERS - 1 else TOO_FEW

    def _switches(self, probe: Probe, case: Case) -> tuple[list[Switch], list[Switch]]:
        """The switches of the failing library with which it fails in the same way, and those with which it does right.

        Only those that are options of a step: others take seconds, for a process of their own."""
        own, routes = probe.target.failing, self.executor.routes
        asked = {
            name: route.switch
            for name, route in routes.items()
            if route.switch is not None and not route.switch.environ and plain_name(name) == plain_name(own)
        }
        trial = self.executor.run(case, list(dict.fromkeys([own, *asked]))) if asked else None
        for found in probe.judge(trial) if trial is not None else ():
            if found.symptom == probe.target.symptom and own in found.camps[0].routes:
                ways = found.camps[0].routes, agreeing(found)
                failing, right = ([switch for name, switch in asked.items() if name in way] for way in ways)
                return failing, right
        return [], []

    def _everywhere(self, probe: Probe, reduced: Reduced, routes: Sequence[str]) -> tuple[Finding, Trial]:
        """The reduced case on all routes: the finding with all its camps."""
        wanted = list(dict.fromkeys([*probe.target.routes, *routes]))
        trial = self.executor.run(reduced.case, wanted)
        for _ in range(probe.tries):
            for found in probe.judge(trial):
                if probe.target.matches(found):
                    return found, trial
            trial = self.executor.run(reduced.case, wanted)
        return reduced.finding, trial

    def _bug(
        self,
        signature: Signature,
        finding: Finding,
        case: Case,
        minimal: Case,
        who: Blame,
        confirmed: Confirmed,
        known: str,
        began: float,
    ) -> Bug:
        layers = _few(signature.layers, " > ", LAYERS) or "a model"
        condition = _few(signature.condition.split(", "), ", ", CONDITIONS)
        condition = f" ({condition})" if condition else ""
        return Bug(
            signature=signature,
            title=f"{layers} {about(finding.symptom).title}: {who.role}{condition}",
            data_kind=finding.data_kind,
            finding=finding,
            blame=who,
            original=case,
            original_id=case_id(case),
            minimal=minimal,
            minimal_id=case_id(minimal),
            runs=confirmed.runs,
            shown=confirmed.shown,
            utility=confirmed.shown > 0 and needs_utility(minimal.graph),  # else nobody has tried without
            known=known,
            triage_s=time.monotonic() - began,
        )


def _plainly(reducer: Reducer, case: Case, finding: Finding) -> tuple[Case, Finding]:
    """The case in the plain manner, if it shows there too: then nobody need hear of the other one."""
    plain = replace(case, manner=PLAIN)
    shown = None if case.manner == PLAIN else reducer.show(plain)
    return (case, finding) if shown is None else (plain, shown)


def _few(parts: Sequence[str], between: str, most: int) -> str:
    """The first parts and the last one, where there are more than a title bears."""
    if len(parts) > most:
        parts = (*parts[: most - 1], f"... {len(parts) - most} more ...", parts[-1])
    return between.join(parts)


def _against_all(one: Bug, two: Bug) -> bool:
    """Whether one model fails in the same way on all libraries, though each says it in its own words."""
    alike = one.minimal_id == two.minimal_id and one.finding.symptom == two.finding.symptom
    return alike and AGAINST in one.blame.role and AGAINST in two.blame.role


def made_wrong(one: Bug, two: Bug) -> bool:
    """Whether both are of one thing that a stage made wrong: those who are given it fail, each in its own words."""
    same = [(bug.blame.library, bug.blame.stage, bug.finding.symptom, bug.signature.layers) for bug in (one, two)]
    behind = all((bug.finding.library, bug.finding.stage) != (bug.blame.library, bug.blame.stage) for bug in (one, two))
    return same[0] == same[1] and behind and one.signature.condition == two.signature.condition


def agreeing(finding: Finding) -> list[str]:
    """The routes that did right."""
    return [name for camp in finding.camps[1:] for name in camp.routes]


def _unclear(finding: Finding) -> Blame:
    """Nobody has looked closer: the stage that the finding names."""
    text = f"{', '.join(finding.camps[0].routes)}: as the finding says; not looked into"
    role = finding.library if finding.stage == finding.library else f"{finding.stage} of {finding.library}"
    return Blame(finding.library, finding.stage, role, text, 0.2)


def _by_itself(finding: Finding) -> Blame:
    """The stage that the finding names, which is enough where a call that breaks a rule is not refused, or a route
    contradicts itself."""
    role = library_named(finding.library).title
    return Blame(finding.library, finding.stage, role, f"{', '.join(finding.camps[0].routes)}: {finding.detail}", 0.8)


def _evidence(case: Case, located: Located, reduced: Reduced) -> Mapping[str, Any]:
    def named(node: str) -> str:
        return f"{case.graph.by_id[node].layer} ({node})" if node in case.graph.by_id else node

    return {
        "located": {"at": named(located.node), "by": located.by, "r_l": named(located.r_l)},
        "reduction": f"cut short {reduced.cut_short}" if reduced.cut_short else "complete",
        "steps": reduced.steps,
        "from_nodes": _nodes(case),
        "to_nodes": _nodes(reduced.case),
    }


def _nodes(case: Case) -> int:
    return len(layers_of(case.graph))
