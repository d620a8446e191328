"""Facts: what a report says of a campaign, gathered once from its folder for every format."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from cometfuzz.campaign.events import ByRoute, Summary
from cometfuzz.campaign.kernels import Kernels, read_kernels
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.stored import Point
from cometfuzz.execution.machine import Machine
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.reading import defects
from cometfuzz.oracles.finding import DATA_KINDS, Finding
from cometfuzz.oracles.symptoms import SEVERITIES, SYMPTOMS
from cometfuzz.places import Place
from cometfuzz.reports.summary import REASONS as ENDINGS
from cometfuzz.reports.tally import Health
from cometfuzz.reports.text import plural
from cometfuzz.triage.bug import Bug

POINTS = 240
"""About how many points of the coverage curve are kept: no screen shows more."""

Standing = Literal["new", "known", "utility", "limit", "unshown"]
"""How a bug counts. "utility": it needs one of our utility nodes. "limit": the library does not promise
this, so that it is no bug. "unshown": no script shows it by itself. The last two are listed and not reported."""

STANDINGS: tuple[Standing, ...] = ("new", "known", "utility", "limit", "unshown")

NO_BUG, DEFECT = "no bug", "defect"


def reasons() -> dict[str, str]:
    """Why findings are no bugs: a symptom that claims none is a reason of its own."""
    excuses = {name: record.excuse or record.text for name, record in SYMPTOMS.items() if not record.claims}
    return {NO_BUG: "not triaged yet", **excuses, DEFECT: "a known defect"}


@dataclass
class NotCounted:
    """Findings with one rough key that are no bugs: the first of them, its case, and how many there are."""

    reason: str
    finding: Finding
    case_id: str
    count: int = 0


@dataclass(frozen=True)
class Facts:
    """A campaign as reports show it. Bugs are in the order of reports: what matters most comes first."""

    name: str
    made_by: str
    settings: Mapping[str, Any]
    done: int
    executed: int
    elapsed_s: float
    state: str
    coverage: Summary
    by_route: ByRoute
    curve: Sequence[Point]
    bugs: Sequence[Bug]
    not_counted: Sequence[NotCounted]
    routes: Mapping[str, Health]
    versions: Mapping[str, Sequence[str]]
    machines: Sequence[str] = ()
    """The machines that it has run on, told apart by their CPUs and caps."""
    notices: Sequence[tuple[int, str]] = field(default=())
    sightings: Mapping[str, int] = field(default_factory=dict)
    """How many findings each bug explains, by its id."""
    kernels: Kernels | None = None
    """Which kernels its models led to, if somebody has asked."""

    @property
    def met(self) -> list[tuple[Defect, int]]:
        """The entries of the ledger that findings met, limits included, each with how many; the most frequent first.

        What the ledger does not have any more is left out."""
        counts = Counter[str]()
        for group in self.not_counted:
            counts[group.finding.defect] += group.count
        known = defects()
        return [(known[name], count) for name, count in counts.most_common() if name in known]

    @property
    def models_per_minute(self) -> float:
        return 60 * self.done / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def standings(self) -> dict[Standing, int]:
        """How many bugs there are of each standing."""
        return {name: sum(standing(bug) == name for bug in self.bugs) for name in STANDINGS}

    @property
    def headline(self) -> str:
        """The outcome in a few words."""
        new = [bug for bug in self.bugs if standing(bug) == "new"]
        if not new:
            known = self.standings["known"]
            return f"No new bugs; {plural(known, 'known one')}" if known else "No bugs"
        libraries = {bug.signature.library for bug in new}
        return f"{plural(len(new), 'new bug')} in {plural(len(libraries), 'library', 'libraries')}"


def standing(bug: Bug) -> Standing:
    """How a bug counts; of what is known no script is made."""
    if bug.known:
        return "limit" if bug.limit else "utility" if bug.utility else "known"
    return "unshown" if not bug.reported else "utility" if bug.utility else "new"


def fails(bug: Bug) -> bool:
    """Whether it is a failure where a report has tests: not known, and shown by its script or, where none can be
    written, by every run."""
    return not bug.known and (bug.is_new or standing(bug) != "unshown")


def rank(bug: Bug) -> tuple[Any, ...]:
    """The order of reports: what a script shows, by severity and data, what is new, then by library."""
    signature = bug.signature
    worth = SEVERITIES.index(bug.severity), DATA_KINDS.index(bug.data_kind)
    place = not bug.reported, *worth, STANDINGS.index(standing(bug))
    return (*place, signature.library, signature.stage, signature.layers, bug.id)


def gather(records: Records) -> Facts:
    """Read the folder of a campaign, also while it runs."""
    bugs = sorted(records.bugs(), key=rank)
    routes: dict[str, Health] = {str(name): Health() for name in records.settings.get("routes", ())}
    versions: dict[str, dict[str, None]] = {}
    for ran in records.outcomes():
        routes.setdefault(ran.result.route, Health()).take(ran.result)
        for library, version in ran.result.versions.items():
            versions.setdefault(library, {})[version] = None
    sessions = list(records.sessions())
    return Facts(
        name=records.folder.resolve().name,
        made_by=records.made_by,
        settings=records.settings,
        done=records.done,
        executed=sum(bool(logged.feedback.get("executed")) for logged in records.feedbacks()),
        elapsed_s=records.elapsed_s,
        state=merged_of(records.settings)
        or (ENDINGS.get(sessions[-1].reason or "", "not ended") if sessions else "not begun"),
        coverage=records.coverage,
        by_route=records.by_route,
        curve=thinned(records.curve()),
        bugs=bugs,
        not_counted=_not_counted(records),
        routes=routes,
        versions={library: tuple(versions[library]) for library in sorted(versions)},
        machines=_machines(session.settings.get("machine") for session in sessions),
        notices=tuple(records.notices()),
        sightings=records.sightings(),
        kernels=read_kernels(Place(records.folder)),
    )


def merged_of(settings: Mapping[str, Any]) -> str:
    """In words what a campaign was merged of; nothing if it is a plain one."""
    merged = settings.get("merged")
    return f"merged of {plural(len(merged), 'campaign')}" if isinstance(merged, list) else ""


def _machines(recorded: Iterable[Any]) -> tuple[str, ...]:
    """Each in a line, as far as the folder says it in our way; those of before it was recorded are left out."""
    found: dict[str, None] = {}
    for each in recorded:
        with suppress(msgspec.ValidationError):
            found[str(msgspec.convert(each, Machine))] = None
    return tuple(found)


def _not_counted(records: Records) -> list[NotCounted]:
    """Findings of which triage has made no bug, the most frequent first within each reason."""
    settled = {each.finding for each in records.settled()}
    groups: dict[tuple[str, str], NotCounted] = {}
    for found in records.findings():
        if found.id not in settled:
            reason = _reason(found.finding)
            name = reason, found.finding.key
            groups.setdefault(name, NotCounted(reason, found.finding, found.case_id)).count += 1
    order = list(reasons())
    return sorted(groups.values(), key=lambda group: (order.index(group.reason), -group.count, group.finding.key))


def _reason(finding: Finding) -> str:
    if finding.defect:
        return DEFECT
    return NO_BUG if finding.claims else finding.symptom


def thinned(points: Iterable[Point], most: int = POINTS) -> list[Point]:
    """About `most` points at equal steps, the first and the last among them, without holding all of them."""
    kept: list[Point] = []
    step, last = 1, None
    for place, last in enumerate(points):
        if place % step == 0:
            kept.append(last)
            if len(kept) > 2 * most:
                kept, step = kept[::2], 2 * step
    if last is not None and kept[-1] is not last:
        kept.append(last)
    return kept
