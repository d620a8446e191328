"""The same campaign on 1, 2 and 4 nodes in network namespaces, with TLS: are the cases the same? As root.

    .venv/bin/python experiments/cluster_same.py [--cases 300] [--nodes 1,2,4] [--window 12] [--json]
    .venv/bin/python experiments/cluster_same.py --cases 24 --nodes 1,2 --routes keras-torch,onnxruntime

One window for all. Ids, statuses and digests of outputs of every part on every route must be the same; each folder
must be sound, and its coverage what a recount gives. Stops with an AssertionError if not. Without --routes they are
stand-ins for libraries (tests/cluster/standin.py); with them, environments of this machine. `efficiency` is how many
times as fast so many nodes were as the first number of them, for each node: a ratio of one run, on the cores there are.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

TESTS = Path(__file__).parents[1] / "tests" / "cluster"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--nodes", default="1,2,4")
    parser.add_argument("--window", type=int, default=12)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--routes", default="one,two")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    with TemporaryDirectory() as folder, Console(stderr=True).status("running"):
        found = measure(Path(folder), given)
    print(json.dumps(found) if given.json else found)


def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Campaigns on more and more nodes; what they came to, once for all since it must be the same."""
    nodes = import_module("nodes")
    counts = [int(each) for each in given.nodes.split(",")]
    # Most of a real campaign's routes are left out: what is written here is the whole policy.
    base = [name for name in given.routes.split(",") if name.startswith("keras") or name in ("one", "two")]
    rows: list[tuple[object, ...]] = []
    seconds: list[float] = []
    with nodes.cluster(folder, 0, base, wait_s=300.0, patience_s=600.0) as made:
        for count in counts:
            while len(made.addresses) - 2 < count:
                made.start_node(f"node{len(made.addresses) - 2}")
            out = f"on-{count}"
            command = ["run", "--seed", str(given.seed), "--cases", str(given.cases), "--window", str(given.window)]
            command += ["--json", "--routes", given.routes, "--cluster", made.address, "--out", out]
            began = time.monotonic()
            ended = made.run(*command, timeout=3600)
            seconds.append(time.monotonic() - began)
            assert ended.returncode == 0, ended.stderr
            ran = nodes.what_ran(folder / out)
            assert not rows or ran == rows, _first_difference(rows, ran)
            rows = ran
            took_part = nodes.took_part(folder / out)
            assert took_part == count, f"{took_part} of {count} nodes had a part"
    efficiency = [
        round(seconds[0] * counts[0] / (each * count), 3) for each, count in zip(seconds, counts, strict=True)
    ]
    return {
        "cases": given.cases,
        "outcomes": len(rows),
        "statuses": Counter(str(row[-2]) for row in rows),
        "with_digests": sum(bool(row[-1]) for row in rows),
        "nodes": counts,
        "seconds": [round(each, 1) for each in seconds],
        "efficiency": efficiency,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def _first_difference(one: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> str:
    pairs = zip(one, other, strict=False)
    return next((f"{a} and {b}" for a, b in pairs if a != b), f"{len(one)} and {len(other)} outcomes")


if __name__ == "__main__":
    main()
