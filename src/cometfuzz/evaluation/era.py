"""The paper's own versions: what our strategies cover there, what of Keras' code they reach, and which of its bugs they
find.

Runs are those of `running`, on the routes of `era.toml`, with an empty ledger: what is known of today's libraries is
not true of those.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cometfuzz.campaign.reached import BRANCHES, MAX_BYTES
from cometfuzz.campaign.records import Records
from cometfuzz.config import Config, decode
from cometfuzz.coverage.branches import PAPER_MODULES, Branches
from cometfuzz.errors import CometfuzzError
from cometfuzz.evaluation.paper_bugs import SHOWS, Sighting, Verdict, counted, verdicts
from cometfuzz.evaluation.running import CAMPAIGN, Run
from cometfuzz.evaluation.tables import Result, machine, markdown, pipes
from cometfuzz.execution.configuring import configured, lacking
from cometfuzz.places import Place
from cometfuzz.reports.text import clean
from cometfuzz.routes import Route

ARMS = "directed,comet,odd"
FILE = Path(__file__).with_name("era.toml")
OBSERVED = {"keras.layers.convolutional": (173, 356), "tensorflow.python.ops.array_ops": (133, 462)}
"""Of the modules that the paper names: how many branches COMET reached, of how many."""

NOT_COMPARABLE = (
    "The paper has Keras 2.8.0 on a TensorFlow that its authors built between 2.8 and 2.9; here both are 2.8.0, from "
    "PyPI. tf2onnx is 1.9.3, ONNX Runtime 1.10.0, PyTorch 1.10.0, MXNet 1.9.0, Keras-MXNet 2.2.4.3; onnx2pytorch 0.4.1 "
    "has none of the authors' four patches.",
    "Branches are counted by coverage.py in the paper's 56 files of Python; its 65 files of C++ are left out. "
    "array_ops has 459 branches in TensorFlow 2.8.0, 462 in the authors' build.",
    "A bug counts as found only if a finding has its route, layer, symptom and parameters. Of the paper's 32, ten are "
    "known to show on a CPU with these versions; of the others nobody can tell, or they need a GPU.",
    "Findings are not triaged, and the ledger is empty: among them is also what Keras 2 means otherwise, such as "
    "hard_sigmoid, which is 0.2 x + 0.5 there and relu6(x + 3) / 6 in Keras 3 and in the reference.",
)


def configuration(own: Config) -> Config:
    """That of the era, with the limits of the user's own."""
    era = decode(FILE.read_bytes(), str(FILE), Config)
    return msgspec.structs.replace(era, limits=own.limits)


def routes_of(config: Config) -> dict[str, Route]:
    """The routes of the era; an error in one line if an environment has not been built."""
    found = {name: route for name, route in configured(config).items() if name in config.routes}
    missing = sorted({name for route in found.values() for name in lacking(route)})
    if missing:
        raise CometfuzzError(
            f"expected the environments of the paper's versions; received none of {', '.join(missing)}: "
            f"`cometfuzz env create {' '.join(missing)}`"
        )
    return found


@dataclass(frozen=True)
class Era:
    """All that the campaigns came to. reached: branches by arm and module, of how many; `all` is what the arms reached
    together. findings: how many there are by arm, those that claim a fault, and kinds of them."""

    result: Result
    reached: Mapping[str, Mapping[str, tuple[int, int]]]
    verdicts: Sequence[Verdict]
    findings: Mapping[str, tuple[int, int]]

    def as_plain(self) -> dict[str, Any]:
        """The form of `--json`."""
        return {
            **self.result.as_plain(),
            "not_comparable": [*self.result.as_plain()["not_comparable"], *NOT_COMPARABLE],
            "branches": {
                arm: {module: list(each) for module, each in modules.items()} for arm, modules in self.reached.items()
            },
            "published_branches": {module: list(each) for module, each in OBSERVED.items()},
            "findings": {arm: {"findings": each[0], "kinds": each[1]} for arm, each in self.findings.items()},
            "bugs": {
                "found": counted(self.verdicts)[0],
                "of": counted(self.verdicts)[1],
                "found_of_those_that_show": counted(self.verdicts, SHOWS)[0],
                "that_show": counted(self.verdicts, SHOWS)[1],
                "rows": [verdict.as_plain() for verdict in self.verdicts],
            },
        }


def gather(result: Result, runs: Sequence[Run]) -> Era:
    """Read the campaigns of some runs."""
    begun = [run for run in runs if (run.folder / CAMPAIGN).is_dir()]
    sightings: dict[str, list[Sighting]] = {}
    findings: dict[str, list[str]] = {}
    for run in begun:
        with Records(run.folder / CAMPAIGN) as records:
            for found in records.findings():
                if found.finding.claims:
                    findings.setdefault(run.arm.name, []).append(found.finding.key)
                    sighting = Sighting.of(found.index, found.finding, records.case(found.case_id))
                    sightings.setdefault(run.arm.name, []).append(sighting)
    kinds = {arm: (len(keys), len(set(keys))) for arm, keys in findings.items()}
    return Era(result, _reached(begun), verdicts(sightings), kinds)


def _reached(runs: Sequence[Run]) -> dict[str, dict[str, tuple[int, int]]]:
    by_arm: dict[str, Branches] = {}
    for run in runs:
        place = Place(run.folder / CAMPAIGN)
        if place.kind(BRANCHES):
            plain = json.loads(place.read(BRANCHES, MAX_BYTES))
            for name in (run.arm.name, "all"):
                by_arm.setdefault(name, Branches(PAPER_MODULES)).merge(plain)
    return {
        arm: {
            **{name: _share(found, name) for name in OBSERVED},
            "all 56 files": (found.branch_share.covered, found.branch_share.total),
        }
        for arm, found in by_arm.items()
    }


def _share(found: Branches, module: str) -> tuple[int, int]:
    known = found.modules.get(module)
    return (0, 0) if known is None else (len(known.branches), known.all_branches)


def branch_grid(era: Era) -> tuple[list[str], list[list[str]]]:
    """Branches by arm, those of the modules that the paper names beside what it says."""
    columns = ["arm", *OBSERVED, "all 56 files"]
    published = [f"{covered} of {total}" for covered, total in OBSERVED.values()]
    rows = [
        [arm, *(f"{modules[name][0]} of {modules[name][1]}" for name in columns[1:])]
        for arm, modules in era.reached.items()
    ]
    return columns, [*rows, ["the paper", *published, ""]]


def bug_grid(era: Era) -> tuple[list[str], list[list[str]]]:
    """Each bug: whether it is known to show, which arm found it in which case, or why none did."""
    rows = []
    for verdict in era.verdicts:
        bug = verdict.bug
        seen = ", ".join(f"{clean(arm)}: case {index}" for arm, index in verdict.first.items())
        number = f"{bug.issue} (counts twice)" if bug.count == 2 else bug.issue
        rows.append([number, bug.what, bug.standing, seen or "no", verdict.reason])
    return ["issue", "what", "on a CPU", "found", "why not"], rows


def finding_grid(era: Era) -> tuple[list[str], list[list[str]]]:
    """How much was found in all: most of it is in no list of the paper."""
    return ["arm", "findings", "kinds"], [[arm, *map(str, each)] for arm, each in era.findings.items()]


def headline(era: Era) -> str:
    """How many bugs were found, in a line."""
    (found, total), (shown, known) = counted(era.verdicts), counted(era.verdicts, SHOWS)
    return f"Of the paper's {total} bugs {found} were found; of the {known} that are known to show on a CPU, {shown}."


def as_markdown(era: Era) -> str:
    """The tables as a page."""
    parts = [
        markdown(era.result),
        f"## Branches\n\n{pipes(*branch_grid(era))}",
        f"## The paper's bugs\n\n{headline(era)}\n\n{pipes(*bug_grid(era))}",
        f"## Findings\n\n{pipes(*finding_grid(era))}",
        "\n".join(f"- {text}" for text in NOT_COMPARABLE),
        machine(),
    ]
    return "\n\n".join(parts) + "\n"


def bugs_csv(era: Era) -> str:
    """The bugs, a line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns, rows = bug_grid(era)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
