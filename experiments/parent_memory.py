"""Does the parent process grow? A real campaign, and its resident memory every 100 cases once it is warm.

    .venv/bin/python experiments/parent_memory.py [--cases 2500] [--warm 500] [--routes ...] [--seed 1] [--json]

The growth per 1000 cases is the slope of the straight line nearest to the samples (least squares).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from rich.console import Console
from rich.progress import Progress

EVERY = 100
_MB = 10**6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2500)
    parser.add_argument("--warm", type=int, default=500)
    parser.add_argument("--routes", default="keras-tf,keras-torch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    began = time.monotonic()
    samples: dict[int, float] = {}
    with (
        TemporaryDirectory() as folder,
        Progress(console=Console(stderr=True), transient=True, disable=arguments.json) as progress,
    ):
        bar = progress.add_task("running", total=arguments.cases)
        options = ["--cases", str(arguments.cases), "--routes", arguments.routes, "--seed", str(arguments.seed)]
        command = [sys.executable, "-m", "cometfuzz", "run", *options, "--no-branches", "--json", "--out"]
        with subprocess.Popen([*command, str(Path(folder, "campaign"))], stdout=subprocess.PIPE, text=True) as campaign:
            assert campaign.stdout is not None
            for done in _done(campaign.stdout):
                progress.update(bar, completed=done)
                if done % EVERY == 0:
                    samples[done] = _resident_mb(campaign.pid)
    warm = {done: size for done, size in samples.items() if done >= arguments.warm}
    summary = {
        "cases": max(samples),
        "resident_mb": {done: round(size, 1) for done, size in samples.items()},
        "growth_mb_per_1000_cases": round(
            1000 * statistics.linear_regression(list(warm), list(warm.values())).slope, 2
        ),
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps(summary) if arguments.json else summary)


def _done(lines: IO[str]) -> Iterator[int]:
    """How many cases are done, after each."""
    for line in lines:
        event = json.loads(line)
        if event["event"] == "case":
            yield event["index"] + 1


def _resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MB


if __name__ == "__main__":
    main()
