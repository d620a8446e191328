"""What did the oracles leave out, and what do they say now? A stored campaign, run and judged again.

    .venv/bin/python experiments/recall.py campaigns/monday [--most 500] [--json]

Every finding that counts today is held against the older judgement, in which whatever is known of a front end excused
all that is behind it, one node was one finding whatever the answers, and NaN or Inf that was put in was nobody's fault.
Both columns are of the same trials, and of claims that no triage has looked at yet.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from cometfuzz.campaign.records import Records
from cometfuzz.config import load
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.relations import SAMPLE
from cometfuzz.oracles.symptoms import RELATION
from cometfuzz.routes.switches import with_switches

SAME, FRONT, SWALLOWED, ANSWERS, SPECIAL = (
    "reported",
    "excused by a defect of the front end",
    "swallowed by a known defect of another library",
    "one of several answers at a node",
    "dropped by a rule for NaN and Inf",
)
OLDER = ("crash", "death", "hang", "shape", "dtype", "value", "nonfinite", "nondeterminism")
"""The symptoms that there were before; others are what was not looked for."""


def main() -> None:
    """Run, judge, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="how many trials at most")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with Records(given.folder) as records:
        trials = list(_trials(records))[: given.most]
        routes = with_switches(route for name, route in configured(load(None)).items() if name in records.routes)
    counts = Counter(dict.fromkeys((SAME, FRONT, SWALLOWED, ANSWERS, SPECIAL), 0))
    known = 0
    with Executor(routes) as executor:
        for case, names in track(trials, "judging", console=Console(stderr=True), transient=True):
            bench = Bench(executor.run(case, names), executor.run, view=executor.view, thorough=False, relations=SAMPLE)
            found = list(examine(bench))
            counts.update(_before(bench, each, found) for each in found if each.counts)
            known += sum(bool(each.defect) for each in found)
    rows = [(name, count if name == SAME else 0, count) for name, count in counts.items()]
    rows.append(("all that counts", counts[SAME], counts.total()))
    result = {
        "trials": len(trials),
        "known": known,
        "findings": {name: {"before": before, "now": now} for name, before, now in rows},
    }
    if given.json:
        print(json.dumps(result, indent=2))
        return
    table = Table("what the older judgement did", "before", "now", title=f"{len(trials)} trials")
    for name, before, now in rows:
        table.add_row(name, str(before), str(now))
    Console().print(table)
    Console().print(f"{known} findings more are known, before and now.")


def _trials(records: Records) -> Iterator[tuple[Case, list[str]]]:
    """The cases of a campaign with the routes that each ran on; calls that break a rule are left out."""
    sql = "SELECT t.case_id, o.route FROM trials t JOIN outcomes o USING (case_index, part) ORDER BY case_index, part"
    routes: dict[str, list[str]] = {}
    for row in records.select(sql):
        routes.setdefault(row["case_id"], []).append(row["route"])
    for name, ran in routes.items():
        case = records.case(name)
        if not case.breaks:
            yield case, list(dict.fromkeys(ran))


def _before(bench: Bench, found: Finding, every: list[Finding]) -> str:
    """What became of a finding in the older judgement."""
    if found.symptom == "special" or (found.symptom == RELATION.name and found.data_kind == "special"):
        return SPECIAL
    if found.symptom not in OLDER:
        return f"not looked for: {found.symptom}"
    node = bench.graph.by_id.get(found.node)
    rules = [rule for name in found.camps[0].routes for rule in bench.rules(name, node)]
    if any(rule.inherited for rule in rules):
        return FRONT
    beside = [each for each in every if (each.node, each.symptom) == (found.node, found.symptom) and found.node]
    if any(each.defect for each in beside):
        return SWALLOWED
    return ANSWERS if beside and beside[0] is not found else SAME


if __name__ == "__main__":
    main()
