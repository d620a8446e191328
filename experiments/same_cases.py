"""The ids of the first cases of strategies and of a campaign, held against a golden file: did a change move them?

    .venv/bin/python experiments/same_cases.py            # the strategies alone, without libraries
    .venv/bin/python experiments/same_cases.py --run      # a campaign on four routes too (minutes)
    .venv/bin/python experiments/same_cases.py --run --write

A change that is only a move leaves every id as it was. One that means to change what is searched renews the file, in a
commit of its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from cometfuzz.campaign.records import Records
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.small import SMALL

GOLDEN = Path(__file__).parent.parent / "tests" / "snapshots" / "same-cases.json"
STRATEGIES = ("comet", "directed", "odd")
CASES, SEED = 200, 1
ROUTES = "keras-tf,keras-torch,onnxruntime,openvino"


def generated(strategy: str) -> list[str]:
    """The ids of the cases that a strategy makes, as `cometfuzz generate --small` does."""
    ids: list[str] = []

    def note(case: Case) -> None:
        ids.append(case_id(case))

    graphs = [make() for make in SMALL.values()]
    rehearse(make_strategy(strategy, Options(SEED, graphs, ModelLimits())), CASES, note)
    return ids


def executed() -> list[str]:
    """The ids of all that a campaign runs, cuts for converters included, in order."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "campaign"
        flags = ["--cases", str(CASES), "--seed", str(SEED), "--routes", ROUTES, "--no-branches", "--quiet"]
        command = [sys.executable, "-m", "cometfuzz", "run", "--out", str(out), *flags]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with Records(out) as records:
            rows = records.select("SELECT case_index, part, case_id FROM trials ORDER BY case_index, part")
            return [f"{row['case_index']}.{row['part']} {row['case_id']}" for row in rows]


def main() -> None:
    """Compare, or write the golden file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--run", action="store_true", help="a campaign with libraries too")
    parser.add_argument("--write", action="store_true", help="write the golden file anew")
    given = parser.parse_args()
    seen = {strategy: generated(strategy) for strategy in STRATEGIES}
    if given.run:
        seen["run"] = executed()
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if given.write:
        GOLDEN.write_text(json.dumps({**known, **seen}, indent=1) + "\n")
        return
    changed = {name: sum(a != b for a, b in zip(ids, known[name], strict=False)) for name, ids in seen.items()}
    for name, count in changed.items():
        lengths = f"{len(seen[name])} of {len(known[name])}"
        print(f"{name}: {count} ids differ ({lengths} compared)")
    sys.exit(any(changed.values()) or any(len(seen[name]) != len(known[name]) for name in seen))


if __name__ == "__main__":
    main()
