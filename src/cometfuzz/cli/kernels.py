"""`cometfuzz kernels`: which kernels the models of a campaign led to."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.campaign.kernels import HEADINGS, Kernels, as_plain, kernels_of, write_kernels
from cometfuzz.campaign.records import Records
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.config import load
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.places import Place
from cometfuzz.reports.text import visible


def kernels(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign, which may be running.")],
    most: Annotated[int, typer.Option(min=1, help="Run so many of its cases again, evenly out of all.")] = 300,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead: every name, and since when.")] = False,
) -> None:
    """Show which kernels and rewritings of graphs the models of a campaign led to.

    Runs cases of it again with the logs of oneDNN (in TensorFlow and PyTorch), ONNX Runtime and OpenVINO on, and
    counts different kernels (with their dtypes), the same with the sizes that they had (by powers of two), and changes
    of ONNX Runtime to a graph. In brackets: how many of them the last 100 cases were the first to lead to. What is
    found is kept in the folder as kernels.json, for `cometfuzz report`. All of it depends on the CPU.

    Example: cometfuzz kernels DIR --most 100
    """
    config = load(None)
    with Records(folder) as records:
        routes = {name: route for name, route in configured(config).items() if name in records.routes}
        with progress("running cases again") as bar:
            found = kernels_of(records, routes, most, WorkerLimits.of(config.limits), bar.update)
    write_kernels(Place(folder), found)
    if as_json:
        print_json(as_plain(found))
        return
    console = Console()
    console.print(_table(found))
    console.print(f"{found.cases} cases run again on {visible(found.machine)}")


def _table(found: Kernels) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for name in ("route", "library", "cases", *HEADINGS.values()):
        named = name in ("route", "library")
        table.add_column(name, justify="left" if named else "right", overflow="fold")
    for (route, library), kinds in found.table.items():
        cases = next(iter(kinds.values())).cases
        counts = (str(kinds[kind]) if kind in kinds else "" for kind in HEADINGS)
        table.add_row(visible(route), visible(library), str(cases), *counts)
    return table
