"""RQ2: which faults does each arm find? Read from the campaigns of RQ1, whose models were executed.

A *kind* is what the ledger names as one defect or, where it names none, findings with one rough key: it costs nothing
to count, and nothing is triaged. A *bug* is what triage made of findings with nothing known beforehand (`unique.py`):
reduced, confirmed, and shown by a script in a clean process.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cometfuzz.campaign.records import Records
from cometfuzz.evaluation.running import CAMPAIGN, Run
from cometfuzz.evaluation.statistics import Comparison, compare, median
from cometfuzz.evaluation.tables import Grid, machine
from cometfuzz.evaluation.unique import Unique, has_campaign
from cometfuzz.ledger.defect import TRIGGERS
from cometfuzz.ledger.reading import defects
from cometfuzz.reports.published_bugs import DETECTED, TRIGGERED
from cometfuzz.reports.text import clean
from cometfuzz.routes.registry import library_named
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.entries import first_entry

KINDS, BUGS = "kinds", "bugs"

PUBLISHED = (
    "The paper's COMET found 32 faults: 23 crashes (13 confirmed), 8 NaN (7 confirmed), 1 inconsistency (confirmed). "
    "It gives no number for any other tool. Its triggers are of the 21 confirmed ones, of which one may have several."
)
NOT_COMPARABLE = (
    "Published faults are those that developers could tell apart. Kinds here are rough, and not triaged. Bugs are what "
    "differs in its reduced case, and no developer has looked at them.",
    "Nothing is known beforehand: what the libraries' documentation leaves open, or what their authors call a limit, "
    "counts here; the column `limits` has how many of the bugs are called so in today's ledger.",
    "Their libraries are of 2021 and 2022; these are today's, after what was reported has been mended.",
    "Values here are judged against a reference and node by node; theirs by crashes, NaN and D_MAD above 0.4.",
    "Models of all arms but those named `-published` keep clear of what is known to fail on the base routes, so what "
    "is known best is found least, by every arm alike.",
)


@dataclass
class Kind:
    """Findings that are likely, or after triage surely, one fault.

    ledger: what today's ledger calls it (bug, limit, choice), if it names it. seen: for each arm, by seed, the index of
    the first case that shows it; seconds: the CPU seconds that the run had spent by then.
    """

    name: str
    symptom: str
    library: str
    ledger: str = ""
    triggers: tuple[str, ...] = ()
    converter: bool = False
    seen: dict[str, dict[int, int]] = field(default_factory=dict)
    seconds: dict[str, dict[int, float]] = field(default_factory=dict)

    def sighted(self, run: Run, index: int) -> None:
        """A case of a run shows it."""
        seeds = self.seen.setdefault(run.arm.name, {})
        if index < seeds.get(run.seed, index + 1):
            seeds[run.seed] = index
            self.seconds.setdefault(run.arm.name, {})[run.seed] = cpu_at(run, index)


def cpu_at(run: Run, index: int) -> float:
    """What a run had spent when it was next looked at after a case; at the end if that was before."""
    return next((moment.cpu_s for moment in run.moments if moment.cases > index), _end(run))


def _end(run: Run) -> float:
    return run.moments[-1].cpu_s if run.moments else 0.0


@dataclass(frozen=True)
class Found:
    """What the arms have found. what: kinds or bugs. waiting: findings of each arm that nobody has looked into."""

    what: str
    runs: Mapping[str, Sequence[int]]
    kinds: Sequence[Kind]
    ours: str
    waiting: Mapping[str, int] = field(default_factory=dict)

    def of(self, arm: str) -> list[Kind]:
        return [kind for kind in self.kinds if arm in kind.seen]

    def by_run(self, arm: str) -> list[float]:
        """How many each run of an arm has found."""
        return [float(sum(seed in kind.seen.get(arm, {}) for kind in self.kinds)) for seed in self.runs[arm]]

    @property
    def comparisons(self) -> dict[str, Comparison]:
        return compare(self.by_run(self.ours), {arm: self.by_run(arm) for arm in self.runs if arm != self.ours})

    @property
    def shared(self) -> Counter[tuple[str, ...]]:
        """How many exactly these arms have found."""
        return Counter(tuple(arm for arm in self.runs if arm in kind.seen) for kind in self.kinds)

    @property
    def best_other(self) -> tuple[str, int]:
        """The arm out of those that are not COMET's that found most, and how many; nothing if there is none."""
        others = [arm for arm in self.runs if not arm.startswith(("directed", "comet"))]
        best = max(others, key=lambda arm: len(self.of(arm)), default="")
        return best, len(self.of(best)) if best else 0

    def as_plain(self) -> dict[str, Any]:
        """The form of `--json`."""
        return {
            "arms": {
                arm: {
                    "runs": len(self.runs[arm]),
                    self.what: len(self.of(arm)),
                    "of_converters": sum(kind.converter for kind in self.of(arm)),
                    "in_ledger": dict(Counter(kind.ledger or "no" for kind in self.of(arm))),
                    "alone": self.shared[arm,],
                    "median_by_run": median(self.by_run(arm)),
                    "by_library": dict(Counter(kind.library for kind in self.of(arm))),
                    "by_symptom": dict(Counter(kind.symptom for kind in self.of(arm))),
                    "by_trigger": dict(Counter(each for kind in self.of(arm) for each in kind.triggers)),
                    "not_looked_into": self.waiting.get(arm, 0),
                }
                for arm in self.runs
            },
            "found_by_exactly": [{"arms": list(arms), self.what: count} for arms, count in self.shared.most_common()],
            "best_other": list(self.best_other),
            "comparisons": {
                "ours": self.ours,
                **{arm: {**vars(each), "size": each.size} for arm, each in self.comparisons.items()},
            },
            self.what: [vars(kind) for kind in self.kinds],
        }


def gather(runs: Sequence[Run]) -> Found:
    """The kinds that the campaigns of some runs have found; those that have none yet are left out."""
    kinds: dict[str, Kind] = {}
    for run in filter(has_campaign, runs):
        with Records(run.folder / CAMPAIGN) as records:
            for found in records.findings():
                finding = found.finding
                if finding.claims:
                    name = clean(finding.defect or finding.key)
                    fresh = Kind(name, finding.symptom, clean(finding.library), _called(finding.defect))
                    kinds.setdefault(name, fresh).sighted(run, found.index)
    return Found(KINDS, _begun(runs), list(kinds.values()), _first(runs))


def unique_bugs(runs: Sequence[Run], unique: Unique, waiting: Mapping[str, int]) -> Found:
    """The bugs that triage made of what the campaigns found: those that show, and need none of our utility nodes."""
    by_run = {(run.arm.name, run.seed): run for run in filter(has_campaign, runs)}
    counted = {bug.id: _kind_of(bug) for bug in unique.bugs.values() if bug.is_new}
    for sight, settled in sorted(unique.settled.items()):
        kind, run = counted.get(settled.bug_id), by_run.get((sight.arm, sight.seed))
        if kind is not None and run is not None:
            kind.sighted(run, sight.at)
            kind.ledger = kind.ledger or (_called(settled.declared) if settled.exact else "")
    return Found(BUGS, _begun(runs), [kind for kind in counted.values() if kind.seen], _first(runs), waiting)


def _kind_of(bug: Bug) -> Kind:
    entry = first_entry(bug)
    converter = bug.blame.role.startswith("converter")
    return Kind(clean(bug.title), bug.signature.symptom, clean(entry.library), "", tuple(entry.trigger), converter)


def _called(defect: str) -> str:
    """What the ledger calls a defect; one that it no longer has is a bug of then."""
    entry = defects().get(defect)
    return "" if not defect else "bug" if entry is None else entry.kind


def _begun(runs: Sequence[Run]) -> dict[str, list[int]]:
    begun: dict[str, list[int]] = {}
    for run in filter(has_campaign, runs):
        begun.setdefault(run.arm.name, []).append(run.seed)
    return begun


def _first(runs: Sequence[Run]) -> str:
    return next((run.arm.name for run in runs if has_campaign(run)), "")


def grids(found: Found) -> dict[str, Grid]:
    """All tables of what was found, by title."""
    what = found.what
    return {
        f"{what} by arm": arm_grid(found),
        f"{what} by library (the paper's, confirmed)": library_grid(found),
        **({f"{what} by trigger (the paper's)": trigger_grid(found)} if what == BUGS else {}),
        f"{what} found by exactly these arms": shared_grid(found),
        f"{what} of {found.ours} against the others": against_grid(found),
        f"first sight of {what}: cases, CPU seconds (runs)": sight_grid(found),
    }


def arm_grid(found: Found) -> Grid:
    """Each arm: how many in all and by run, and how they show."""
    symptoms = sorted({kind.symptom for kind in found.kinds})
    columns = ["arm", "n", found.what, "not in ledger", "limits", "of converters", "alone", "median of a run"]
    columns += [*symptoms, *(["not looked into"] if found.what == BUGS else [])]
    cells = []
    for arm in found.runs:
        of, shows = found.of(arm), Counter(kind.symptom for kind in found.of(arm))
        limits = sum(kind.ledger in ("limit", "choice") for kind in of)
        numbers = [len(found.runs[arm]), len(of), sum(not kind.ledger for kind in of), limits]
        numbers += [sum(kind.converter for kind in of), found.shared[arm,]]
        left = [str(found.waiting.get(arm, 0))] if found.what == BUGS else []
        shown = [str(shows[each]) for each in symptoms]
        cells.append([arm, *map(str, numbers), f"{median(found.by_run(arm)):g}", *shown, *left])
    return columns, cells


def library_grid(found: Found) -> Grid:
    """By library and arm, with the paper's beside."""
    titles = {kind.library: library_named(kind.library).title for kind in found.kinds}
    lacking = [title for title in DETECTED if title not in titles.values()]
    counts = {arm: Counter(titles[kind.library] for kind in found.of(arm)) for arm in found.runs}
    rows = [
        [title, *(str(counts[arm][title]) for arm in found.runs), _published(title)]
        for title in [*dict.fromkeys(titles[name] for name in sorted(titles)), *lacking]
    ]
    beside = ["(published) is", *("" for _ in found.runs), "of 2021 and 2022, as developers told them apart"]
    return ["library", *found.runs, "published"], [*rows, beside]


def _published(title: str) -> str:
    theirs = DETECTED.get(title)
    return "" if theirs is None else f"{theirs.total} ({theirs.confirmed})"


def trigger_grid(found: Found) -> Grid:
    """By what it takes; a bug may take several things."""
    theirs = Counter(trigger for _, _, triggers in TRIGGERED for trigger in triggers)
    counts = {arm: Counter(each for kind in found.of(arm) for each in kind.triggers) for arm in found.runs}
    rows = [[name, *(str(counts[arm][name]) for arm in found.runs), str(theirs[name])] for name in TRIGGERS]
    return ["trigger", *found.runs, "published"], [
        *rows,
        ["(published) is", *("" for _ in found.runs), "of 21 confirmed"],
    ]


def shared_grid(found: Found) -> Grid:
    """An upset plot as a table: how many which arms have found, the largest groups first."""
    groups = found.shared.most_common()
    rows = [[*("x" if arm in arms else "" for arm in found.runs), str(count)] for arms, count in groups]
    return [*found.runs, found.what], rows


def against_grid(found: Found) -> Grid:
    """How many a run finds, ours against each other arm."""
    cells = [
        [
            *(arm, f"{each.ours:g}", f"{each.theirs:g}", f"{each.runs[0]}, {each.runs[1]}", f"{each.a12:.2f}"),
            *(each.size, "" if each.p is None else f"{each.p:.4f}{'*' * each.is_significant}"),
        ]
        for arm, each in found.comparisons.items()
    ]
    return ["against", found.ours, "theirs", "n", "A12", "effect", "p (Holm)"], cells


def sight_grid(found: Found) -> Grid:
    """Each of them: after how many cases, and CPU seconds, each arm saw it first, medians of the runs that did."""
    rows = []
    for kind in found.kinds:
        cells = []
        for arm in found.runs:
            first, spent = kind.seen.get(arm, {}), kind.seconds.get(arm, {})
            when = f"{median([1.0 + index for index in first.values()]):g}, " if first else ""
            cells.append(when + (f"{median(list(spent.values())):.0f} s ({len(first)})" if first else ""))
        rows.append([kind.name, kind.symptom, *cells])
    return [found.what, "symptom", *found.runs], rows


def as_plain(everything: Sequence[Found], command: str) -> dict[str, Any]:
    """The form of `--json`: what was counted in each way."""
    told = {found.what: found.as_plain() for found in everything}
    return {
        "experiment": "rq2",
        "command": command,
        "machine": machine(),
        **told,
        "published": PUBLISHED,
        "not_comparable": list(NOT_COMPARABLE),
    }
