"""`cometfuzz evaluate`: the paper's experiments."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.cli.numbers import LARGEST_SEED, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.evaluation import rq3 as experiment

app = typer.Typer(
    no_args_is_help=True,
    help="Make the paper's experiments anew.",
    epilog="Example: cometfuzz evaluate rq3 --cases 300 --json",
)


@app.callback()
def _group() -> None:
    pass


@app.command(epilog="Example: cometfuzz evaluate rq3 --cases 30")
def rq3(
    cases: Annotated[int, typer.Option(min=1, help="Cases of each search.")] = 300,
    seed: Annotated[
        int, typer.Option(min=0, callback=at_most(LARGEST_SEED), help="Another seed gives other cases.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Does the search gain from synthesised seeds? It runs from them and from the originals, with the same budget.

    Both searches are comet's; each case runs on Keras with TensorFlow in a child process, and its seconds are the CPU
    time of making, building and running it. The originals are models of up to 800 layers on images of 299 by 299:
    count some seconds for each of their cases.
    """
    with (
        experiment.KerasOnTensorFlow() as first,
        experiment.KerasOnTensorFlow() as second,
        progress("cases", 2 * cases, quiet=as_json) as shown,
    ):
        both = experiment.arms(seed, [first, second])
        interrupted = experiment.run(both, cases, lambda arms: shown.advance(_line(arms)))
    result = experiment.summarise(both)
    if as_json:
        print_json(result)
    else:
        _print_rq3(result)
    if interrupted:
        raise KeyboardInterrupt


def _line(arms: Sequence[experiment.Arm]) -> str:
    spent = [f"{arm.name} {arm.trace[-1].cpu_s / len(arm.trace):.1f} s/model" for arm in arms if arm.trace]
    return ", ".join(spent)


def _print_rq3(result: dict[str, Any]) -> None:
    table = Table(
        "seeds", "models", "executed", "CPU s", "s/model", *CRITERIA, box=box.SIMPLE, padding=0, pad_edge=False
    )
    for title, rows in (("equal cases", result["equal_cases"]), ("equal CPU time", result["equal_time"])):
        table.add_row(f"[bold]{title}[/]")
        for name in ("original", "synthesised"):
            if name in rows:
                table.add_row(f"  {name}", *_cells(rows[name]))
    table.add_row("[bold]the paper, six hours[/]")
    for name, row in result["paper"].items():
        shares = [f"{row['coverage'][criterion]:.1%}" for criterion in CRITERIA]
        table.add_row(f"  {name}", str(row["models"]), "", "", f"{row['cpu_s_per_model']:.2f}", *shares)
    Console().print(table)


def _cells(row: dict[str, Any]) -> list[str]:
    shares = [f"{row['coverage'][criterion]:.1%}" for criterion in CRITERIA]
    return [str(row["models"]), str(row["executed"]), f"{row['cpu_s']:g}", f"{row['cpu_s_per_model']:.2f}", *shares]
