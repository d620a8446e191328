"""The bugs of an experiment: all its campaigns triaged as one campaign is, with nothing known beforehand.

The ledger names nothing and excuses nothing here, neither what a campaign found nor what is looked into: an arm gets
no credit for what somebody else wrote down, and loses nothing to it. A bug that two campaigns found is one bug.
Findings are taken in turns, seed by seed, the most severe of every campaign first, so that a triage that is cut short
has done as much for each arm. What is done is kept in the experiment's folder, and is not done again.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import msgspec

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.stored import Found
from cometfuzz.campaign.triaging import STAGE_S, Progress, rank
from cometfuzz.errors import CometfuzzError, InvalidCampaign
from cometfuzz.evaluation.running import CAMPAIGN, Run
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import versions_of_all
from cometfuzz.ledger.matching import View
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.symptoms import SEVERITIES
from cometfuzz.places import Place
from cometfuzz.routes import Route
from cometfuzz.routes.switches import with_switches
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.records import bug_as_plain, bug_from_plain
from cometfuzz.triage.reproducer import reproduce
from cometfuzz.triage.triage import Triage

FILE = "bugs.json"
MAX_BYTES = 256 * 2**20


class Sight(NamedTuple):
    """Where a finding is: the arm and seed of its campaign, and its id there; `at` is the index of its case."""

    arm: str
    seed: int
    at: int
    part: int
    place: int


@dataclass(frozen=True)
class Settled:
    """What a finding turned out to be. bug_id: nothing if it is none. exact: it meets the bug's condition; else it is
    only of the kind of a finding that did. declared: the entry of the ledger that the campaign named."""

    bug_id: str
    exact: bool = True
    declared: str = ""


@dataclass
class Unique:
    """The bugs of an experiment, and which findings they explain."""

    bugs: dict[str, Bug] = field(default_factory=dict)
    settled: dict[Sight, Settled] = field(default_factory=dict)

    @staticmethod
    def of(place: Place) -> "Unique":
        """What is kept in a folder; nothing if nothing is."""
        if not place.kind(FILE):
            return Unique()
        try:
            plain = json.loads(place.read(FILE, MAX_BYTES))
            bugs = [bug_from_plain(each) for each in plain["bugs"]]
            rows = msgspec.convert(plain["findings"], list[tuple[Sight, Settled]])
            settled = dict(rows)
            known = {bug.id for bug in bugs}
            if strange := {each.bug_id for each in settled.values()} - known - {""}:
                raise ValueError(f"a finding of the bug {min(strange)!r:.40}, which is not there")
        except (ValueError, KeyError, TypeError, RecursionError, CometfuzzError) as error:
            raise InvalidCampaign(f"{place.path(FILE)}: expected the bugs of an experiment; received {error}") from None
        return Unique({bug.id: bug for bug in bugs}, settled)

    def save(self, place: Place) -> None:
        plain = {
            "bugs": [bug_as_plain(bug) for bug in self.bugs.values()],
            "findings": [[list(sight), asdict(settled)] for sight, settled in self.settled.items()],
        }
        place.write(FILE, json.dumps(plain).encode())


class Unknowing(Executor):
    """An executor to which the ledger says nothing."""

    @cached_property
    def view(self) -> View:
        return View(self.routes, versions_of_all(self.routes.values()), known=(), offers=self.offers)


Show = Callable[[Progress], None]
MakeExecutor = Callable[[Sequence[Route]], Executor]
Reproduce = Callable[[Bug, Mapping[str, Route], Executor], Script | None]


def unknowing(routes: Sequence[Route]) -> Executor:
    """The executor of a triage in which nothing is known."""
    return Unknowing(routes, limits=WorkerLimits(stage_s=STAGE_S), pause_after=0)


def triage_runs(
    runs: Sequence[Run],
    place: Place,
    routes: Mapping[str, Route],
    show: Show = lambda progress: None,
    limit_s: float | None = None,
    made: MakeExecutor = unknowing,
    scripted: Reproduce = reproduce,
) -> Unique:
    """Look into what the campaigns of some runs found and nobody has looked into; what came of it is kept at once.

    KeyboardInterrupt goes through: the next call goes on.
    """
    unique, began = Unique.of(place), time.monotonic()
    with ExitStack() as stack:
        open_runs = [(run, stack.enter_context(Records(run.folder / CAMPAIGN))) for run in runs if has_campaign(run)]
        waiting = [each for each in in_turns(open_runs) if each[0] not in unique.settled]
        if not waiting:
            return unique
        names = dict.fromkeys(name for _, records in open_runs for name in records.routes if name in routes)
        executor = stack.enter_context(made(list(with_switches(routes[name] for name in names))))
        usable = executor.routes
        done = 0
        triage = Triage(
            executor,
            reproduce=lambda bug: scripted(bug, usable, executor),
            bugs=unique.bugs,
            report=lambda step: show(Progress(done, len(waiting), step)),
        )
        for done, (sight, found, records) in enumerate(waiting):
            if limit_s is not None and time.monotonic() - began > limit_s:
                break
            fresh = None
            if found.finding.camps[0].routes[0] in usable:
                result = triage.triage(unnamed(found.finding), records.case(found.case_id), tuple(names))
                fresh = result.bug if result.new else None
                unique.settled[sight] = settled_of(result.bug, found.finding)
                unique.save(place)
            show(Progress(done + 1, len(waiting), "done", fresh))
        _settle_the_others(unique, triage, open_runs)
        unique.save(place)
    return unique


def has_campaign(run: Run) -> bool:
    return (run.folder / CAMPAIGN).is_dir()


def unnamed(finding: Finding) -> Finding:
    """A finding as it would be if nobody knew of the defect."""
    return replace(finding, defect="")


def settled_of(bug: Bug | None, finding: Finding, exact: bool = True) -> Settled:
    return Settled("" if bug is None else bug.id, exact, finding.defect)


Waiting = tuple[Sight, Found, Records]


def claims(run: Run, records: Records) -> Iterator[tuple[Sight, Found]]:
    """The findings of a campaign that say that a library does wrong, whatever the ledger says."""
    for found in records.findings():
        if found.finding.claims:
            yield Sight(run.arm.name, run.seed, *found.id), found


def in_turns(open_runs: Sequence[tuple[Run, Records]]) -> list[Waiting]:
    """The first finding of each key of each campaign: seed by seed, the most severe first, each campaign in turn."""
    ordered: list[tuple[tuple[int, int, int, int], Waiting]] = []
    for number, (run, records) in enumerate(open_runs):
        first: dict[str, tuple[Sight, Found]] = {}
        for sight, found in claims(run, records):
            first.setdefault(found.finding.key, (sight, found))
        ranked = sorted(first.values(), key=lambda each: rank(each[1].finding))
        for place, (sight, found) in enumerate(ranked):
            order = run.seed, SEVERITIES.index(found.finding.severity), place, number
            ordered.append((order, (sight, found, records)))
    return [waiting for _, waiting in sorted(ordered, key=lambda each: each[0])]


def _settle_the_others(unique: Unique, triage: Triage, open_runs: Sequence[tuple[Run, Records]]) -> None:
    """Findings of kinds that were looked into: duplicates of a bug whose condition they meet, else of their kind's in
    the same campaign."""
    for run, records in open_runs:
        every = list(claims(run, records))
        kind_of = {
            found.finding.key: unique.settled[sight].bug_id
            for sight, found in reversed(every)
            if sight in unique.settled
        }
        for sight, found in every:
            if sight in unique.settled or found.finding.key not in kind_of:
                continue
            bug = triage.seen_before(unnamed(found.finding), records.case(found.case_id))
            bug_id = kind_of[found.finding.key] if bug is None else bug.id
            unique.settled[sight] = Settled(bug_id, bug is not None, found.finding.defect)


def waiting(runs: Sequence[Run], unique: Unique) -> dict[str, int]:
    """How many kinds of findings of each arm nobody has looked into."""
    left: dict[str, int] = {}
    for run in filter(has_campaign, runs):
        with Records(run.folder / CAMPAIGN) as records:
            count = sum(sight not in unique.settled for sight, _, _ in in_turns([(run, records)]))
        left[run.arm.name] = left.get(run.arm.name, 0) + count
    return left
