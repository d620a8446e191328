"""Are planted faults found, reduced and blamed? All of them, in one campaign, beside clean routes.

    .venv/bin/python experiments/planted_faults.py [--cases 400] [--seed 1] [--points 3,4] [--no-triage] [--json]

A fault is one mistake in one stage of one route (tests/quality/faults). They stand by points: what it takes to find
them. NumPy only; no library is needed. Then a campaign over the routes without a fault, or with known ones only, which
must say nothing. `--seed from-commit` takes two seeds from the digits of the hash of the commit at hand, so that nobody
has tried them before.
"""

import argparse
import json
import statistics
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).parents[1]
QUALITY = ROOT / "tests" / "quality"
FROM_COMMIT = "from-commit"
REFUSAL = 5
"""The point of faults that only a call which breaks a rule can show."""

DIGITS = 4
"""How many digits of a hash make a seed: of its forty characters some twenty-five are digits."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--clean", type=int, default=400, help="cases of the campaign without faults")
    parser.add_argument("--seed", default="1", help=f"a number, or {FROM_COMMIT}")
    parser.add_argument("--points", default="", help="only the faults of these points, such as 3,4")
    parser.add_argument("--minutes", type=float, help="end each campaign after so long; `cases` says how far it came")
    parser.add_argument("--no-triage", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, str(QUALITY))
    harness = import_module("harness")
    wanted = arguments.points.split(",") if arguments.points else [*map(str, harness.POINTS)]
    faults = [fault for fault in harness.all_faults() if str(fault.point) in wanted]
    seeds = from_digits(commit()) if arguments.seed == FROM_COMMIT else [int(arguments.seed)]
    summaries = [measure(harness, faults, seed, arguments) for seed in seeds]
    if arguments.json:
        print(json.dumps(summaries, indent=2))
        return
    for summary in summaries:
        show(summary)


def commit() -> str:
    """The hash of the commit at hand."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def from_digits(digest: str) -> list[int]:
    """Two seeds: the first digits of a hash, and those after them."""
    digits = "".join(character for character in digest if character.isdecimal())
    return [int(digits[:DIGITS]), int(digits[DIGITS : 2 * DIGITS])]


def measure(harness: Any, faults: Any, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """A campaign with faults and one without."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(f"hunting, seed {seed}", total=arguments.cases + arguments.clean)
        found = harness.Hunt([])
        for strategy, some in batches(faults).items():
            if some:
                hunted = harness.hunt(
                    some,
                    arguments.cases,
                    seed,
                    with_triage=not arguments.no_triage,
                    minutes=arguments.minutes,
                    report=lambda index: progress.update(bar, completed=index),
                    strategy=strategy,
                )
                found.add(hunted)
                found.cases = hunted.cases
        clean = harness.hunt(
            [],
            arguments.clean,
            seed,
            minutes=arguments.minutes,
            report=lambda index: progress.update(bar, completed=arguments.cases + index),
        )
    return {"seed": seed, **summarise(harness, found, clean)}


def batches(faults: Any) -> dict[str, list[Any]]:
    """Which strategy hunts for which faults: calls that break a rule come in batches of their own."""
    refusing = [fault for fault in faults if fault.point == REFUSAL]
    return {"refuse": refusing, "directed": [fault for fault in faults if fault.point != REFUSAL]}


def show(summary: dict[str, Any]) -> None:
    """What was found by point, then fault by fault, then in numbers."""
    console = Console()
    table = Table("point", "planted", "found", "missed", title=f"seed {summary['seed']}")
    for row in summary["points"]:
        table.add_row(row["point"], str(row["planted"]), str(row["found"]), ", ".join(row["missed"]))
    console.print(table)
    table = Table("fault", "first case", "bugs", "small", "blamed right", "s")
    for row in summary["faults"]:
        table.add_row(*(str(row[name]) for name in ("fault", "case", "bugs", "small", "right", "seconds")))
    console.print(table)
    for row in summary["faults"]:
        for key in row["keys"]:
            console.print(f"{row['fault']}: {key}", markup=False, highlight=False)
    console.print({name: value for name, value in summary.items() if name not in ("faults", "points")})


def summarise(harness: Any, found: Any, clean: Any) -> dict[str, Any]:
    """The numbers: by point, by fault, and in sum."""
    rows = []
    for fault in found.faults:
        bugs = found.bugs.get(fault.name, [])
        rows.append(
            {
                "fault": fault.name,
                "point": fault.point,
                "case": found.found.get(fault.name),
                "bugs": len(bugs),
                "small": sum(map(harness.is_small, bugs)),
                "right": sum(harness.is_right(fault.name, bug) for bug in bugs),
                "seconds": [round(bug.triage_s, 1) for bug in bugs],
                "keys": [f"{bug.signature.key} [{bug.shown}/{bug.runs}]" for bug in bugs],
            }
        )
    times = [bug.triage_s for bugs in found.bugs.values() for bug in bugs]
    return {
        "points": by_point(harness, rows),
        "faults": rows,
        "cases": found.cases,
        "clean_cases": clean.cases,
        "planted": len(found.faults),
        "found": len(found.found),
        "missed": found.missed,
        "reduced_and_blamed": len(found.well_done),
        "bugs": sum(map(len, found.bugs.values())),
        "duplicate_bugs": found.duplicates,
        "median_triage_s": round(statistics.median(times), 2) if times else None,
        "largest_duplicate_s": round(max(found.duplicate_s, default=0.0), 2),
        "duplicates_over_half_a_second": sum(value > 0.5 for value in found.duplicate_s),
        "duplicate_findings": len(found.duplicate_s),
        "false_alarms": [alarm.key for alarm in (*found.alarms, *clean.alarms)],
    }


def by_point(harness: Any, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each point how many faults there are, how many of them were found, and which were missed."""
    table = []
    for point, text in harness.POINTS.items():
        mine = [row for row in rows if row["point"] == point]
        missed = [row["fault"] for row in mine if row["case"] is None]
        if mine:
            found = len(mine) - len(missed)
            table.append({"point": f"{point} {text}", "planted": len(mine), "found": found, "missed": missed})
    return table


if __name__ == "__main__":
    main()
