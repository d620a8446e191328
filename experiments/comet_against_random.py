"""Does Metropolis-Hastings help? The area under the coverage curve of comet and of comet-r, on several seeds.

    .venv/bin/python experiments/comet_against_random.py [--cases 888] [--seeds 5] [--json]

Nothing is executed: coverage counts what is generated, in the paper's space. An area is the mean height of the curve.
"""

import argparse
import json
import statistics

from rich.console import Console
from rich.progress import track
from rich.table import Table

from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.ir.case import Case
from cometfuzz.search.rehearsal import Curve, rehearse
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.small import SMALL

STRATEGIES = ("comet", "comet-r")
EVERY = 20


def areas(name: str, seed: int, cases: int) -> dict[str, float]:
    """The three areas of one run."""
    strategy = make_strategy(name, Options(seed, [make() for make in SMALL.values()]))
    curve, done = Curve(strategy), 0
    curve.note(0)

    def note(case: Case) -> None:
        nonlocal done
        done += 1
        if done % EVERY == 0:
            curve.note(done)

    rehearse(strategy, cases, note)
    curve.note(cases)
    return curve.areas("paper")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=888)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    runs = [(name, seed) for seed in range(1, arguments.seeds + 1) for name in STRATEGIES]
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in STRATEGIES}
    for name, seed in track(runs, "running", console=Console(stderr=True), transient=True):
        seen[name].append(areas(name, seed, arguments.cases))
    result = {
        criterion: {
            **{
                name: {
                    "mean": round(statistics.mean(run[criterion] for run in found), 4),
                    "spread": round(statistics.stdev(run[criterion] for run in found), 4) if len(found) > 1 else None,
                }
                for name, found in seen.items()
            },
            "comet_wins": sum(a[criterion] > b[criterion] for a, b in zip(*seen.values(), strict=True)),
            "seeds": arguments.seeds,
        }
        for criterion in CRITERIA
    }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    table = Table("criterion", *STRATEGIES, "seeds on which comet is ahead")
    for criterion, row in result.items():
        cells = [f"{row[name]['mean']:.1%} ± {row[name]['spread'] or 0:.1%}" for name in STRATEGIES]
        table.add_row(criterion, *cells, f"{row['comet_wins']} of {row['seeds']}")
    Console().print(table)


if __name__ == "__main__":
    main()
