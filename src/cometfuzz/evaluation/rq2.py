"""RQ2: which faults does each arm find? Read from the campaigns of RQ1, whose models were executed.

A kind is what the ledger names as one defect or, where it names none, findings with one rough key: what is likely one
fault. The ledger hides nothing here: what it declares counts as found. Nothing is triaged, so kinds may be fewer or
more than bugs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cometfuzz.campaign.records import Records
from cometfuzz.evaluation.running import CAMPAIGN, Run
from cometfuzz.evaluation.statistics import Comparison, compare, median
from cometfuzz.evaluation.tables import machine
from cometfuzz.reports.text import clean

PUBLISHED = (
    "The paper's COMET found 32 faults: 23 crashes (13 confirmed), 8 NaN (7 confirmed), 1 inconsistency (confirmed). "
    "By library, found and confirmed: ONNX Runtime 4 and 4, MXNet 5 and 1, Keras-MXNet 1 and 0, tf2onnx 5 and 4, "
    "onnx2pytorch 4 and 1, Keras 12 and 10, TensorFlow 1 and 1, PyTorch none. It gives no number for any other tool."
)
NOT_COMPARABLE = (
    "Published faults are those that developers could tell apart; kinds here are rough, and not triaged.",
    "Their libraries are of 2021 and 2022; these are today's, after what was reported has been mended.",
    "Values here are judged against a reference and node by node; theirs by crashes, NaN and D_MAD above 0.4.",
)


@dataclass
class Kind:
    """Findings that are likely one fault. seen: for each arm, by seed, the index of the first case that shows it."""

    name: str
    symptom: str
    library: str
    declared: bool
    seen: dict[str, dict[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What the arms have found."""

    runs: Mapping[str, Sequence[int]]
    kinds: Sequence[Kind]
    ours: str

    def of(self, arm: str) -> list[Kind]:
        return [kind for kind in self.kinds if arm in kind.seen]

    def by_run(self, arm: str) -> list[float]:
        """How many kinds each run of an arm has found."""
        return [float(sum(seed in kind.seen.get(arm, {}) for kind in self.kinds)) for seed in self.runs[arm]]

    @property
    def comparisons(self) -> dict[str, Comparison]:
        return compare(self.by_run(self.ours), {arm: self.by_run(arm) for arm in self.runs if arm != self.ours})

    @property
    def shared(self) -> Counter[tuple[str, ...]]:
        """How many kinds exactly these arms have found."""
        return Counter(tuple(arm for arm in self.runs if arm in kind.seen) for kind in self.kinds)

    def as_plain(self) -> dict[str, Any]:
        """The form of `--json`."""
        return {
            "machine": machine(),
            "arms": {
                arm: {
                    "runs": len(self.runs[arm]),
                    "kinds": len(self.of(arm)),
                    "not_declared": sum(not kind.declared for kind in self.of(arm)),
                    "median_by_run": median(self.by_run(arm)),
                    "by_library": dict(Counter(kind.library for kind in self.of(arm))),
                    "by_symptom": dict(Counter(kind.symptom for kind in self.of(arm))),
                }
                for arm in self.runs
            },
            "found_by_exactly": [{"arms": list(arms), "kinds": count} for arms, count in self.shared.most_common()],
            "comparisons": {
                "ours": self.ours,
                **{arm: {**vars(each), "size": each.size} for arm, each in self.comparisons.items()},
            },
            "kinds": [vars(kind) for kind in self.kinds],
            "published": PUBLISHED,
            "not_comparable": list(NOT_COMPARABLE),
        }


def gather(runs: Sequence[Run]) -> Found:
    """What the campaigns of some runs have found; those that have none yet are left out."""
    kinds: dict[str, Kind] = {}
    begun: dict[str, list[int]] = {}
    for run in runs:
        if not (run.folder / CAMPAIGN).is_dir():
            continue
        begun.setdefault(run.arm.name, []).append(run.seed)
        with Records(run.folder / CAMPAIGN) as records:
            for found in records.findings():
                finding = found.finding
                if finding.claims:
                    name = clean(finding.defect or finding.key)
                    fresh = Kind(name, finding.symptom, clean(finding.library), bool(finding.defect))
                    seeds = kinds.setdefault(name, fresh).seen.setdefault(run.arm.name, {})
                    seeds.setdefault(run.seed, found.index)
    return Found(begun, list(kinds.values()), next(iter(begun), ""))


def arm_grid(found: Found) -> tuple[list[str], list[list[str]]]:
    """Each arm: kinds in all and by run, and how they show."""
    symptoms = sorted({kind.symptom for kind in found.kinds})
    columns = ["arm", "n", "kinds", "not declared", "alone", "median of a run", *symptoms]
    cells = []
    for arm in found.runs:
        of, shows = found.of(arm), Counter(kind.symptom for kind in found.of(arm))
        numbers = [len(found.runs[arm]), len(of), sum(not kind.declared for kind in of), found.shared[arm,]]
        typical = f"{median(found.by_run(arm)):g}"
        cells.append([arm, *map(str, numbers), typical, *(str(shows[each]) for each in symptoms)])
    return columns, cells


def library_grid(found: Found) -> tuple[list[str], list[list[str]]]:
    """Kinds by library and arm."""
    libraries = sorted({kind.library for kind in found.kinds})
    counts = {arm: Counter(kind.library for kind in found.of(arm)) for arm in found.runs}
    return ["library", *found.runs], [[name, *(str(counts[arm][name]) for arm in found.runs)] for name in libraries]


def shared_grid(found: Found) -> tuple[list[str], list[list[str]]]:
    """How many kinds which arms have found, the largest groups first."""
    groups = found.shared.most_common()
    rows = [[*("x" if arm in arms else "" for arm in found.runs), str(count)] for arms, count in groups]
    return [*found.runs, "kinds"], rows


def sight_grid(found: Found) -> tuple[list[str], list[list[str]]]:
    """Each kind: after how many cases each arm saw it first, the median of the runs that did, and how many did."""
    rows = []
    for kind in found.kinds:
        firsts = [kind.seen.get(arm, {}).values() for arm in found.runs]
        cells = [f"{median([1.0 + index for index in first]):g} ({len(first)})" if first else "" for first in firsts]
        rows.append([kind.name, kind.symptom, *cells])
    return ["kind", "symptom", *found.runs], rows
