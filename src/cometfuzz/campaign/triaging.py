"""The triage of a campaign: one finding of each kind, ordinary ones first, into bugs that the store keeps.

The store also keeps what became of each finding, so that nothing is done twice and bugs know how often they were seen.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

from cometfuzz import errors
from cometfuzz.campaign.events import Notice
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import FindingId, Found, Settled
from cometfuzz.errors import InvalidCampaign
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import view_of
from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import DATA_KINDS, Finding
from cometfuzz.oracles.symptoms import SEVERITIES
from cometfuzz.routes import Route
from cometfuzz.routes.switches import with_switches
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.collection import having, marked
from cometfuzz.triage.draft import draft
from cometfuzz.triage.known import Known, known_as
from cometfuzz.triage.reproducer import reproduce
from cometfuzz.triage.triage import Triage

STAGE_S = 20.0
"""The limit of a stage in triage: a reduced model is small, and a hang is asked for many times."""


AHEAD = 3
"""How many findings are begun with for each worker: one that takes minutes keeps those behind it waiting."""


@dataclass(frozen=True)
class Elsewhere:
    """Works out findings beside each other, here or on a cluster: `look_into` one, and how many at once."""

    look_into: Callable[[Finding, Case, Sequence[str]], "Future[Bug | None]"]
    at_once: int


@dataclass(frozen=True)
class Progress:
    """How far triage is: findings looked at, of how many kinds, and the bug that came of the last one if it is new, or
    the mistake of ours that kept it from that."""

    done: int
    total: int
    step: str
    bug: Bug | None = None
    mistake: str = ""


def kinds(records: Records) -> list[Found]:
    """The first finding of each key that counts: the most severe first, ordinary numbers before others."""
    first: dict[str, Found] = {}
    for found in records.findings():
        if found.finding.counts:
            first.setdefault(found.finding.key, found)
    return sorted(first.values(), key=lambda found: rank(found.finding))


def rank(finding: Finding) -> tuple[int, int]:
    """The order in which findings are looked into: the most severe first, ordinary numbers before others."""
    return SEVERITIES.index(finding.severity), DATA_KINDS.index(finding.data_kind)


def triage_campaign(
    store: Store,
    routes: Mapping[str, Route],
    known: Known,
    show: Callable[[Progress], None] = lambda progress: None,
    limit_s: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
    jobs: int = 1,
    elsewhere: Elsewhere | None = None,
) -> list[Bug]:
    """Triage what the campaign found; each bug is kept as soon as it is there. The new ones are returned.

    Bugs that are kept already and that are known by now are marked as such. Kinds that are left when the time
    is over are triaged by a later call. All others are duplicate findings, which cost next to nothing. jobs: how many
    findings are worked out at once; elsewhere: nodes of a cluster do that. What is known and what is a duplicate is
    decided one after the other, in the same order as ever.
    """
    began, new = time.monotonic(), []
    view = view_of(routes)
    for bug in list(store.bugs()):
        told = named_by(bug, known.on(view, bug.finding.camps[0].routes))
        if told != bug:
            store.keep(told)
    unsettled = set(store.waiting())
    if not unsettled:
        return []
    names = [name for name in store.routes if name in routes]
    if not names:
        raise InvalidCampaign(
            f"{store.folder}: expected a campaign on routes that are here: {', '.join(routes)}; received "
            f"{', '.join(map(repr, store.routes))}: what declares them is missing, a package or the cometfuzz.toml "
            "of then (--config)"
        )
    limits = WorkerLimits(stage_s=STAGE_S)
    with Executor(with_switches(routes[name] for name in names), jobs, limits=limits, pause_after=0) as executor:
        usable = executor.routes
        waiting = [each for each in kinds(store) if each.id in unsettled and each.finding.camps[0].routes[0] in usable]
        triage = Triage(
            executor,
            known,
            reproduce=lambda bug: reproduce(bug, usable, executor),
            bugs={bug.id: bug for bug in store.bugs()},
            report=lambda step: show(Progress(done, len(waiting), step)),
        )
        if jobs > 1 and elsewhere is None:
            elsewhere = _beside(executor, known, triage.report, jobs)
        ahead = deque(waiting)
        begun: dict[FindingId, Future[Bug | None]] = {}
        for done, found in enumerate(waiting):
            while elsewhere is not None and ahead and len(begun) < elsewhere.at_once:
                next_one = ahead.popleft()
                if triage.wants(next_one.finding, case := store.case(next_one.case_id)):
                    begun[next_one.id] = elsewhere.look_into(next_one.finding, case, names)
            promise = begun.pop(found.id, None)
            triage.elsewhere = None if promise is None else promise.result
            if stopped() or (limit_s is not None and time.monotonic() - began > limit_s):
                break
            at = time.monotonic()
            try:
                result = triage.triage(found.finding, store.case(found.case_id), names)
            except errors.MEANT:
                raise
            except errors.BORNE as error:  # it waits for the next version; those behind it need not
                text = errors.mistake(error, f"triage of a finding of case {found.case_id}")
                store.handle(Notice(text))
                show(Progress(done + 1, len(waiting), "done", mistake=text))
                continue
            fresh = result.bug if result.new else None
            if fresh is not None:
                fresh = replace(fresh, draft=draft(fresh, usable))
                store.keep(fresh)
                new.append(fresh)
            if result.bug is not None:
                reason = unreported(result.bug)
                store.settle(Settled(found.id, result.bug.id, result.new, reason, time.monotonic() - at))
            show(Progress(done + 1, len(waiting), "done", fresh))
        _settle_the_others(store, triage)
    return new


def _beside(executor: Executor, known: Known, report: Callable[[str], None], jobs: int) -> Elsewhere:
    """Works out several findings at once, on the workers of one executor."""

    def look_into(finding: Finding, case: Case, routes: Sequence[str]) -> "Future[Bug | None]":
        return executor.begin(lambda: worked_out(executor, finding, case, routes, known, report))

    return Elsewhere(look_into, AHEAD * jobs)


def worked_out(
    executor: Executor,
    finding: Finding,
    case: Case,
    routes: Sequence[str],
    known: Known | None = None,
    report: Callable[[str], None] = lambda step: None,
) -> Bug | None:
    """The bug of a finding, script and all, whatever else a campaign has found; None if nothing came of it."""
    script = partial(reproduce, routes=executor.routes, executor=executor)
    return Triage(executor, known or Known(), script, report=report).triage(finding, case, routes).bug


def named_by(bug: Bug, known: Known) -> Bug:
    """A bug with what is known of it by now."""
    explained = (entry for entry in known.collected if entry.shipped and entry.slug == bug.finding.defect)
    entry = next(explained, None) or having(known.collected, bug)
    if entry is not None:
        return marked(bug, entry)
    issue = known_as(known.issues, bug.signature)
    return bug if issue is None or bug.known else replace(bug, known=issue.text, limit=issue.limit)


def unreported(bug: Bug) -> str:
    """Why a bug is not reported, in a few words; nothing if it is."""
    if bug.known:
        return f"known: {bug.known}"
    if bug.runs and not bug.shown:
        return f"did not show again in {bug.runs} runs"
    if bug.script is None:
        return "no script can be written"
    return "" if bug.script.shown else "the script does not show it by itself"


def _settle_the_others(store: Store, triage: Triage) -> None:
    """Findings of the kinds that were triaged: duplicates of a bug whose condition they meet, else of their
    kind's."""
    kind_of = store.bug_of_key()
    for name in store.waiting():
        at, found = time.monotonic(), store.finding(name)
        bug = triage.seen_before(found.finding, store.case(found.case_id))
        bug_id = bug.id if bug is not None else kind_of.get(found.finding.key)
        if bug_id is not None:
            reason = "" if bug is not None else "of the same kind"
            store.settle(Settled(name, bug_id, False, reason, time.monotonic() - at))
