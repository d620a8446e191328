"""Are planted faults found, reduced and blamed? All of them, in one campaign, beside three routes without any.

    .venv/bin/python experiments/planted_faults.py [--cases 300] [--seed 1] [--clean 300] [--no-triage] [--json]

A fault is one mistake in one stage of one route (tests/quality/faults.py). NumPy only; no library is needed. Then a
campaign over the clean routes alone, which must say nothing.
"""

import argparse
import json
import statistics
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

QUALITY = Path(__file__).parents[1] / "tests" / "quality"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--clean", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-triage", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, str(QUALITY))
    harness = import_module("harness")
    faults = harness.all_faults()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("hunting", total=arguments.cases + arguments.clean)
        found = harness.hunt(
            faults,
            arguments.cases,
            arguments.seed,
            with_triage=not arguments.no_triage,
            report=lambda index: progress.update(bar, completed=index),
        )
        clean = harness.hunt(
            [],
            arguments.clean,
            arguments.seed,
            report=lambda index: progress.update(bar, completed=arguments.cases + index),
        )
    summary = summarise(harness, found, clean)
    if arguments.json:
        print(json.dumps(summary, indent=2))
        return
    table = Table("fault", "first case", "bugs", "small", "blamed right", "s")
    for row in summary["faults"]:
        table.add_row(*(str(row[name]) for name in ("fault", "case", "bugs", "small", "right", "seconds")))
    Console().print(table)
    for row in summary["faults"]:
        for key in row["keys"]:
            Console().print(f"{row['fault']}: {key}", markup=False, highlight=False)
    Console().print({name: value for name, value in summary.items() if name != "faults"})


def summarise(harness: Any, found: Any, clean: Any) -> dict[str, Any]:
    """The numbers that the issues ask for."""
    rows = []
    for fault in found.faults:
        bugs = found.bugs.get(fault.name, [])
        rows.append(
            {
                "fault": fault.name,
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
        "faults": rows,
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


if __name__ == "__main__":
    main()
