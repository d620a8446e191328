"""`cometfuzz generate`: let a strategy make cases, and show what they would cover."""

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from cometfuzz.catalogue.files import save
from cometfuzz.cli.output import print_json
from cometfuzz.errors import UnknownName
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.search.strategies import STRATEGIES, WINDOW, Comet, Feedback
from cometfuzz.seeds.small import SMALL


def generate(
    strategy: Annotated[str, typer.Option(help=f"One of {', '.join(STRATEGIES)}.")] = "comet",
    cases: Annotated[int, typer.Option(min=1, help="How many cases.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same cases.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write each case to a file here, named by its id.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Generate models from the four small published ones, without running them on any library.

    Coverage counts what is generated, as if every case executed.

    Example: cometfuzz generate --cases 888 --seed 1
    """
    if strategy not in STRATEGIES:
        raise UnknownName(f"expected one of {', '.join(STRATEGIES)}; received strategy={strategy!r}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    chosen = STRATEGIES[strategy](seed, [make() for make in SMALL.values()])
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    began, nodes, done = time.process_time(), 0, 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("generating", total=cases)

        def show(case: Case) -> None:
            nonlocal nodes, done
            nodes, done = nodes + len(case.graph.nodes), done + 1
            if out is not None:
                save(case, out / f"{case_id(case)}.json")
            if done % 10 == 0:
                progress.update(bar, completed=done, description=_line(chosen, done / (time.process_time() - began)))

        interrupted = run(chosen, cases, show)
    result = {
        "cases": done,
        "cpu_s": round(time.process_time() - began, 3),
        "mean_nodes": round(nodes / max(done, 1), 1),
        "coverage": {coverage.space.name: coverage.summary() for coverage in chosen.coverages},
        "operators": {
            name: {"attempts": record.attempts, "applied": record.applied, "fitness": round(record.fitness, 3)}
            for name, record in chosen.metropolis.records.items()
        },
    }
    if as_json:
        print_json(result)
    else:
        _print(result)
    if interrupted:
        raise KeyboardInterrupt


def run(strategy: Comet, cases: int, show: Callable[[Case], None]) -> bool:
    """Propose cases; each is taken as executed a window later. True if the user interrupted."""
    flying: deque[Case] = deque()
    interrupted = False
    try:
        for _ in range(cases):
            if len(flying) == WINDOW:
                strategy.learn(flying.popleft(), Feedback(executed=True))
            flying.append(strategy.propose())
            show(flying[-1])
    except KeyboardInterrupt:
        interrupted = True
    for case in flying:
        strategy.learn(case, Feedback(executed=True))
    return interrupted


def _line(strategy: Comet, rate: float) -> str:
    parts = []
    for coverage in strategy.coverages:
        shares = [f"{counts['covered'] / counts['total']:.0%}" for counts in coverage.summary().values()]
        parts.append(f"{coverage.space.name} {'/'.join(shares)}")
    return f"{rate:.0f} cases/s, {', '.join(parts)}, pool {len(strategy.pool)}"


def _print(result: dict[str, Any]) -> None:
    console = Console()
    table = Table("space", "criterion", "covered", "of all", "of the reachable")
    for space, criteria in result["coverage"].items():
        for criterion, counts in criteria.items():
            covered = counts["covered"]
            shares = f"{covered / counts['total']:.1%}", f"{covered / counts['reachable']:.1%}"
            table.add_row(space, criterion, f"{covered} of {counts['total']}", *shares)
    console.print(table)
    operators = Table("mutation", "attempts", "applied", "fitness")
    for name, record in result["operators"].items():
        operators.add_row(name, str(record["attempts"]), str(record["applied"]), f"{record['fitness']:.2f}")
    console.print(operators)
    console.print(
        f"{result['cases']} cases of {result['mean_nodes']} nodes on average in {result['cpu_s']} CPU seconds."
    )
