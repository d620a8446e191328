"""Is anything lost by kill -9? A real campaign is killed at random moments, resumed each time, and checked.

    .venv/bin/python experiments/kill_drill.py [--kills 30] [--most 12] [--routes ...] [--seed 1] [--json]

Each life finishes 1 to `most` cases more and is then killed within half a second. After each kill: no case that the
campaign said was finished is missing, none is there twice or was run again, the database's integrity check passes, and
coverage equals a recount from the stored cases; after all of them no process is left. In the end the campaign must have
the cases and outcomes of one that nobody killed. Stops with an AssertionError if one of these does not hold.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import Progress

from cometfuzz.draw import Draw

ROUTES = Path(__file__).parents[1] / "tests" / "routes"
_GRACE_S = 5
"""Workers look once a second whether their parent is gone."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--most", type=int, default=12)
    parser.add_argument("--routes", default="keras-tf,keras-torch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    began = time.monotonic()
    with (
        TemporaryDirectory() as folder,
        Progress(console=Console(stderr=True), transient=True, disable=arguments.json) as progress,
    ):
        bar = progress.add_task("killing", total=arguments.kills + 1)
        summary = drill(Path(folder), arguments, lambda number: progress.update(bar, completed=number))
    summary["seconds"] = round(time.monotonic() - began)
    print(json.dumps(summary) if arguments.json else summary)


def drill(folder: Path, arguments: argparse.Namespace, show: Callable[[int], None]) -> dict[str, object]:
    """Kill, resume and compare; the numbers."""
    sys.path.insert(0, str(ROUTES))
    killing = import_module("killing")
    token = f"drill-of-{os.getpid()}"
    os.environ["COMETFUZZ_DRILL"] = token
    cometfuzz = [sys.executable, "-m", "cometfuzz"]
    run = [*cometfuzz, "run", "--routes", arguments.routes, "--seed", str(arguments.seed), "--no-branches", "--json"]
    killed, whole = folder / "killed", folder / "whole"
    resume = [*cometfuzz, "resume", str(killed), "--json"]
    campaign = killing.Killed(killed, begin=[*run, "--out", str(killed)], go_on=resume)
    killing.kill_often(campaign, arguments.kills, arguments.most, Draw("kill drill", arguments.seed), show)
    cases = campaign.done[-1] + arguments.most
    campaign.finish([*resume, "--cases", str(cases)])
    unharmed = killing.Killed(whole, begin=[], go_on=[])
    unharmed.finish([*run, "--out", str(whole), "--cases", str(cases)])
    ran = killing.what_ran(killed)
    assert ran == killing.what_ran(whole), "a campaign that nobody killed has other cases or outcomes"
    time.sleep(_GRACE_S)
    left = [path for path in killing.living(token) if path.parent.name != str(os.getpid())]
    assert not left, f"processes that outlived their campaign: {left}"
    return {"kills": arguments.kills, "cases": cases, "done_at_kills": campaign.done[:-1], "outcomes": len(ran)}


if __name__ == "__main__":
    main()
