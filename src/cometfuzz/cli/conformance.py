"""`cometfuzz conformance`: does each library accept what we accept, and compute what the reference computes?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.catalogue import COUNTED
from cometfuzz.catalogue.files import save
from cometfuzz.cli.completing import complete_routes
from cometfuzz.cli.numbers import LARGEST_SEED, MOST_JOBS, at_most
from cometfuzz.cli.output import make_folder, print_json, writing
from cometfuzz.cli.progress import progress
from cometfuzz.errors import UnknownName
from cometfuzz.execution.configuring import usable
from cometfuzz.execution.conformance import Report, conform, layers_of
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES, with_turn

BASE_ROUTES = ",".join(with_turn("base"))


def conformance(
    layers: Annotated[str, typer.Option(help="Layers, with commas between them; all by default.")] = "",
    routes: Annotated[
        str, typer.Option(autocompletion=complete_routes, help=f"Routes, with commas, or `all`: {', '.join(ROUTES)}.")
    ] = BASE_ROUTES,
    draws: Annotated[int, typer.Option(min=1, help="Draws of each layer on each route.")] = 10,
    seed: Annotated[
        int, typer.Option(min=0, callback=at_most(LARGEST_SEED), help="Another seed gives other draws.")
    ] = 1,
    jobs: Annotated[int, typer.Option(min=1, callback=at_most(MOST_JOBS), help="Workers for each group of steps.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write the case of each undeclared difference here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    policies: Annotated[
        bool, typer.Option("--policies", help="Each call under a dtype policy of Keras 3, such as mixed_float16.")
    ] = False,
) -> None:
    """Run drawn calls of every layer on real libraries and hold the results against the reference.

    A draw that meets a known defect must fail as the ledger says; any other must be accepted, with the predicted shape
    and dtype and a value within the error bound. What differs otherwise is undeclared, and the exit code is 1.

    refused: refused or typed differently, as known. said: refused by what stands behind a front end, saying itself that
    it does not do such a thing. accepted: of the other draws. typed, right: shape and dtype, and value, are as
    predicted. bugs: computed wrongly, as declared.

    Example: cometfuzz conformance --layers Conv2D,LSTM --routes keras-jax --draws 20
    """
    chosen = usable(routes, ROUTES)
    wanted = [each for name in layers.split(",") if name for each in _named(name)]
    make_folder(out)
    report = Report()
    interrupted = _run(chosen, wanted, draws, seed, jobs, report, policies)
    if out is not None:
        for result in report.undeclared:
            with writing(out):
                save(result.case, out / f"{result.route}-{result.layer}-{result.index}.json")
    if as_json:
        print_json(report.as_plain())
    else:
        print_report(report)
    if interrupted:
        raise KeyboardInterrupt
    if report.undeclared:
        raise typer.Exit(1)


def _named(name: str) -> list[str]:
    """A layer or an operator, or all of a family, as "pooling" or "operators"."""
    found = [name] if name in COUNTED else []
    found = found or [each for each, spec in COUNTED.items() if name in (spec.family, spec.family.split(".")[0])]
    if not found:
        raise UnknownName(
            f"expected layers, operators or families of the catalogue (see `cometfuzz layers`); received layer={name!r}"
        )
    return found


def _run(
    routes: Sequence[Route],
    layers: Sequence[str],
    draws: int,
    seed: int,
    jobs: int,
    report: Report,
    policies: bool,
) -> bool:
    """True if the user interrupted, with what was done so far in the report."""
    names = [name for name in COUNTED if not layers or name in layers]
    with progress("drawn calls", sum(len(layers_of(route, layers)) * draws for route in routes)) as shown:
        try:
            for result in conform(routes, names, draws, seed, jobs, policies=policies):
                report.add(result)
                shown.advance(f"{result.layer} on {result.route}")
        except KeyboardInterrupt:
            return True
    return False


def print_report(report: Report) -> None:
    """The closing table, and every undeclared difference."""
    console = Console()
    headings = ("route", "draws", "refused", "said", "accepted", "typed", "right", "bugs", "undeclared")
    table = Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in table.columns:
        column.no_wrap = True
    for route in report.by_layer:
        total = report.total(route)
        rest = max(total.draws - total.refused - total.said, 1)
        refused, accepted = f"{total.refused / total.draws:.1%}", f"{total.accepted / rest:.1%}"
        counts = (total.shape_ok, total.value_ok, total.bugs, total.undeclared)
        table.add_row(route, str(total.draws), refused, str(total.said), accepted, *map(str, counts))
    console.print(table)
    for result in report.undeclared:
        console.print(f"{result.route} {result.layer} draw {result.index}: {result.undeclared}", markup=False)
    if not report.undeclared:
        console.print("Nothing undeclared. `cometfuzz ledger` lists what is known.")
