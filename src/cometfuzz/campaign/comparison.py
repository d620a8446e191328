"""A comparison: a campaign whose cases run on two sides, and the triage of what differs between them.

The same oracles judge the same trials; what they say of one side only is a difference. What the ledger knows gives a
difference its name, and never takes it away.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any

import msgspec

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import Found, Settled
from cometfuzz.campaign.triaging import STAGE_S, Progress, named_by
from cometfuzz.execution.executor import Executor, python_of
from cometfuzz.execution.sides import Side, Sides
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ledger.matching import View
from cometfuzz.ledger.reading import defects
from cometfuzz.oracles.finding import DATA_KINDS, Camp
from cometfuzz.oracles.symptoms import SEVERITIES
from cometfuzz.routes import Route
from cometfuzz.routes.switches import plain_name, with_switches
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.collection import Collected, marked
from cometfuzz.triage.contrast import KINDS, OTHER, RECORD, Contrast, Kind, Runs, contrasts, recorded, settle, told
from cometfuzz.triage.draft import draft
from cometfuzz.triage.known import Known
from cometfuzz.triage.reproducer import reproduce, shows
from cometfuzz.triage.running import run_script
from cometfuzz.triage.triage import Reproduce, Triage

TRIES = 3
"""How many findings of a kind are looked into, until one turns out to be a difference."""


class _Record(msgspec.Struct, frozen=True):
    """What `triage/contrast.py` leaves in the evidence of a bug."""

    kind: str
    side: Side
    routes: dict[Side, str]
    versions: dict[Side, dict[str, str]]
    scripts: dict[Side, dict[str, Any]]
    proved: bool


@dataclass(frozen=True)
class Difference:
    """What the sides do otherwise: a bug that is there on one of them, or on both, each time another one."""

    bug: Bug
    kind: Kind
    record: _Record

    @staticmethod
    def of(bug: Bug) -> "Difference | None":
        """The difference that a bug of a comparison is, if it is one."""
        try:
            record = msgspec.convert(bug.finding.evidence.get(RECORD), _Record)
        except msgspec.ValidationError:
            return None
        return next((Difference(bug, kind, record) for kind in KINDS if kind == record.kind), None)

    @property
    def proved(self) -> bool:
        """Whether its script shows it on one side only."""
        return self.record.proved

    @property
    def versions(self) -> dict[str, tuple[str, str]]:
        """The libraries on its way that differ: the old version and the new one."""
        old, new = (self.record.versions.get(side, {}) for side in ("old", "new"))
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        return {name: (old.get(name, "none"), new.get(name, "none")) for name in names}

    def as_plain(self) -> dict[str, Any]:
        """The form in JSON."""
        bug = self.bug
        return {
            "id": bug.id,
            "kind": self.kind,
            "proved": self.proved,
            "title": bug.title,
            "known": bug.known,
            "limit": bug.limit,
            "library": bug.blame.library,
            "symptom": bug.signature.symptom,
            "layers": list(bug.signature.layers),
            "detail": bug.finding.detail,
            "data_kind": bug.data_kind,
            **{name: getattr(self.record, name) for name in ("side", "routes", "versions", "scripts")},
            "minimal": bug.minimal_id,
            "script": None if bug.script is None else bug.script.text,
        }


def differences(records: Records) -> list[Difference]:
    """What a comparison has found, what matters most first."""
    found = [each for bug in records.bugs() if (each := Difference.of(bug)) is not None]
    return sorted(found, key=_importance)


def _importance(each: Difference) -> tuple[Any, ...]:
    bug = each.bug
    worth = SEVERITIES.index(bug.severity), DATA_KINDS.index(bug.data_kind)
    return KINDS.index(each.kind), not each.proved, bug.limit, *worth, bug.blame.library, bug.title, bug.id


@dataclass(frozen=True)
class Sighting:
    """A finding of a campaign that holds on one side only."""

    contrast: Contrast
    found: Found

    @property
    def rank(self) -> tuple[int, bool, int, int]:
        finding = self.contrast.finding
        worth = SEVERITIES.index(finding.severity), DATA_KINDS.index(finding.data_kind)
        return KINDS.index(self.contrast.kind), not self.contrast.clear, *worth


def sightings(records: Records, sides: Sides) -> dict[tuple[str, Side], list[Sighting]]:
    """What the findings of a campaign say of one side only, by the key of what it may be; the best evidence first."""
    ended: dict[tuple[int, int], dict[str, str]] = {}
    for ran in records.outcomes():
        ended.setdefault((ran.index, ran.part), {})[ran.result.route] = ran.result.status
    trials: dict[tuple[int, int], list[Found]] = {}
    for found in records.findings():
        trials.setdefault((found.index, found.part), []).append(found)
    groups: dict[tuple[str, Side], list[Sighting]] = {}
    for place, among in trials.items():
        for contrast in contrasts([each.finding for each in among], ended.get(place, {}), sides):
            groups.setdefault(contrast.key, []).append(Sighting(contrast, among[contrast.place]))
    for group in groups.values():
        group.sort(key=lambda each: each.rank)
    return dict(sorted(groups.items(), key=lambda item: item[1][0].rank))


@dataclass(frozen=True)
class NotOffered:
    """What a side says that it does not know: the side, the words for it, and in how many trials."""

    side: Side
    what: str
    times: int


def not_offered(groups: Mapping[tuple[str, Side], Sequence[Sighting]]) -> list[NotOffered]:
    """What the sides lack, the most frequent first."""
    lacking = [[each for each in group if each.contrast.kind == "not offered"] for group in groups.values()]
    found = [
        NotOffered(group[0].contrast.side, group[0].contrast.finding.detail, len(group)) for group in lacking if group
    ]
    return sorted(found, key=lambda each: (each.side, -each.times, each.what))


def waiting(records: Records, groups: Mapping[tuple[str, Side], Sequence[Sighting]]) -> list[Sequence[Sighting]]:
    """What may be a difference and was not looked into yet."""
    settled = {each.finding for each in records.settled()}
    asked = [[each for each in group if each.contrast.kind != "not offered"] for group in groups.values()]
    return [group for group in asked if group and not any(each.found.id in settled for each in group)]


@dataclass
class Comparing:
    """The triage of a comparison. Each difference is kept as soon as it is there; a later call goes on.

    reproduce: how the script of a bug is made and run.
    """

    store: Store
    sides: Sides
    executor: Executor
    known: Known
    show: Callable[[Progress], None] = lambda progress: None
    stopped: Callable[[], bool] = lambda: False
    reproduce: Reproduce | None = None
    _triages: dict[Side, Triage] = field(default_factory=dict)
    _at: Progress = field(default_factory=lambda: Progress(0, 0, ""))

    def run(self) -> None:
        """Look into every kind of finding that holds on one side, and into what the ledger knows of one side, by turns:
        if time is short, there is something of both."""
        names = [name for name in self.store.routes if name in self.executor.routes]
        entries = list(one_sided(self.executor.view, self.sides, self.known.collected))
        named = {(entry.slug, contrast.side) for entry, contrast in entries}
        seen = sightings(self.store, self.sides)
        groups = [
            group
            for group in waiting(self.store, seen)
            if (group[0].contrast.finding.defect, group[0].contrast.side) not in named
        ]
        explained: dict[tuple[str, Side], list[Found]] = {}
        for each in (each for group in seen.values() for each in group):
            explained.setdefault((each.contrast.finding.defect, each.contrast.side), []).append(each.found)
        findings = [partial(self._look_into, group, names) for group in groups]
        known = [
            partial(self._take, entry, contrast, explained.get((entry.slug, contrast.side), ()))
            for entry, contrast in entries
        ]
        tasks = [task for pair in zip_longest(findings, known) for task in pair if task is not None]
        for done, task in enumerate(tasks):
            if self.stopped():
                return
            self._at = Progress(done, len(tasks), "")
            self.show(Progress(done + 1, len(tasks), "done", task()))

    def _take(self, entry: Collected, contrast: Contrast, explained: Sequence[Found]) -> Bug | None:
        """The difference that an entry of the ledger is, with the findings that it explains; None if it is kept."""
        self.show(replace(self._at, step=entry.slug))
        fresh, bug = None, next((bug for bug in self.store.bugs() if bug.known == entry.known), None)
        if bug is None:
            bug = replace(marked(entry.bug, entry), finding=replace(entry.bug.finding, camps=contrast.finding.camps))
            runs = _entry_runs(bug, contrast, self.executor)
            bug = fresh = recorded(bug, contrast, contrast.kind, runs, self.executor)
            self.store.keep(bug)
        settled = {each.finding for each in self.store.settled()}
        for name in {each.id for each in explained} - settled:
            self.store.settle(Settled(name, bug.id, False, "known", 0.0))
        return fresh

    def _look_into(self, group: Sequence[Sighting], names: Sequence[str]) -> Bug | None:
        """The difference behind findings of one kind, if there is one; new ones are kept."""
        fresh = None
        for each in group[:TRIES]:
            began, contrast = time.monotonic(), each.contrast
            triage = self._triage(contrast.side)
            triage.contrast = contrast.clear
            result = triage.triage(contrast.finding, self.store.case(each.found.case_id), names)
            bug = result.bug
            if bug is None:
                continue
            if result.new:
                bug = fresh = self._settled(bug, contrast, triage)
            if each.found.id not in {settled.finding for settled in self.store.settled()}:
                reason = "" if Difference.of(bug) is not None else "the sides do not differ in it"
                self.store.settle(Settled(each.found.id, bug.id, result.new, reason, time.monotonic() - began))
            if Difference.of(bug) is not None:
                break
        return fresh

    def _settled(self, bug: Bug, contrast: Contrast, triage: Triage) -> Bug:
        """A new bug with what both sides do, and with the name that the ledger has for it."""
        self.show(replace(self._at, step="both sides"))
        made = settle(bug, contrast, self.executor, self.sides)
        made = named_by(made, self.known.on(self.executor.view, [contrast.failing]))
        made = replace(made, draft=draft(made, self.executor.routes))
        del triage.bugs[bug.id]
        other = self._triages.get(OTHER[contrast.side])
        if other is not None and made.id in other.bugs:  # the same signature on the other side is another difference
            where = f"with {self.sides.name(contrast.side)} only"
            condition = ", ".join(filter(None, (made.signature.condition, where)))
            made = replace(made, signature=replace(made.signature, condition=condition))
        triage.bugs[made.id] = made
        self.store.keep(made)
        return made

    def _triage(self, side: Side) -> Triage:
        """Triage of what shows on one side: bugs of the other one are others, though they have the same signature."""
        if side not in self._triages:
            known = [bug for bug in self.store.bugs() if (each := Difference.of(bug)) and each.record.side == side]
            self._triages[side] = Triage(
                self.executor,
                reproduce=self.reproduce or (lambda bug: reproduce(bug, self.executor.routes, self.executor)),
                bugs={bug.id: bug for bug in known},
                report=lambda step: self.show(replace(self._at, step=step)),
                declared=True,
                refusals=True,
            )
        return self._triages[side]


def triage_comparison(
    store: Store,
    sides: Sides,
    routes: Mapping[str, Route],
    known: Known,
    show: Callable[[Progress], None] = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Triage what differs between the sides of a comparison; what is left when it is stopped, a later call does."""
    limits = WorkerLimits(stage_s=STAGE_S)
    with Executor(with_switches(routes[name] for name in store.routes), limits=limits, pause_after=0) as executor:
        Comparing(store, sides, executor, known, show, stopped).run()


def one_sided(view: View, sides: Sides, collected: Sequence[Collected]) -> Iterator[tuple[Collected, Contrast]]:
    """The entries of the ledger that stand on one side, and were looked for on the other and did not show."""
    for entry in collected:
        defect = defects().get(entry.slug) if entry.shipped else None
        wrote = entry.bug.finding.camps[0].routes[:1]  # its script is of that route

        def elsewhere(pair: tuple[str, str], wrote: Sequence[str] = wrote) -> bool:
            return not any((view.routes[name].like or name) in wrote for name in pair)

        for pair in sorted(sides.pairs, key=elsewhere) if defect is not None else ():
            assert defect is not None
            ways: Sequence[tuple[Side, str, str]] = (("old", *pair), ("new", pair[1], pair[0]))
            found = [
                (side, failing, other)
                for side, failing, other in ways
                if defect.spoken_of & view.routes[failing].names
                and view.stands(defect, failing)
                and view.mended(defect, other)
            ]
            if found:
                side, failing, other = found[0]
                camps = (Camp((failing,), entry.bug.finding.camps[0].what), Camp((other,), "does right"))
                finding = replace(entry.bug.finding, camps=camps)
                kind: Kind = "regression" if side == "new" else "repair"
                yield entry, Contrast(finding, failing, other, side, kind, True)
                break


def _entry_runs(bug: Bug, contrast: Contrast, executor: Executor) -> Runs:
    """What the script of an entry does on both sides, where it is written for such a route."""
    if bug.script is None:
        return {}
    runs: dict[Side, dict[str, Any]] = {}
    for side, name in ((contrast.side, contrast.failing), (OTHER[contrast.side], contrast.other)):
        group = executor.routes[plain_name(name)].steps[-1].group
        ran = run_script(bug.script.text, python_of(group))
        runs[side] = told(Script(bug.script.text, group.environment, shows(bug, ran), ran.exit_code, ran.output))
    return runs
