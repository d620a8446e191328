"""`cometfuzz profile`: where the time of a campaign went."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.campaign.profile import profile_of
from cometfuzz.campaign.records import Records
from cometfuzz.cli.output import print_json
from cometfuzz.reports.text import visible


def profile(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign, which may be running.")],
    stages: Annotated[int, typer.Option(min=1, help="List so many stages, the dearest first.")] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead: all stages, shares by tenth.")] = False,
) -> None:
    """Show where the CPU time of a campaign went: by route, and by stage.

    What several routes share (one Keras model, one ONNX file) is done once and charged to them in equal parts. "Least"
    and "most" are the route's shares of the CPU time in the tenth of the campaign where it got least, and most.

    Example: cometfuzz profile DIR --stages 5
    """
    with Records(folder) as records:
        plain = profile_of(records).as_plain()
    if as_json:
        print_json(plain)
        return
    console = Console()
    console.print(_routes(plain["routes"]))
    console.print(_stages(plain["stages"][:stages]))
    cpu_s, elapsed_s = plain["library_cpu_s"], plain["elapsed_s"]
    console.print(f"{cpu_s:.0f} CPU seconds of the libraries in {elapsed_s:.0f} seconds")


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for name in columns:
        named = name in ("route", "stage", "library")
        table.add_column(name, justify="left" if named else "right", overflow="fold", no_wrap=not named)
    return table


def _routes(rows: list[Mapping[str, Any]]) -> Table:
    table = _table("route", "models", "done", "CPU s", "share", "least", "most", "ms/model")
    for row in rows:
        counts = (str(row["models"]), str(row["completed"]), f"{row['cpu_s']:.1f}")
        shares = (f"{row['share']:.1%}", f"{min(row['tenths']):.1%}", f"{max(row['tenths']):.1%}")
        table.add_row(visible(row["route"]), *counts, *shares, f"{row['cpu_ms_per_model']:.1f}")
    return table


def _stages(rows: list[Mapping[str, Any]]) -> Table:
    table = _table("library", "stage", "runs", "CPU s", "share", "ms/run")
    for row in rows:
        numbers = (str(row["runs"]), f"{row['cpu_s']:.1f}", f"{row['share']:.1%}", f"{row['cpu_ms_per_run']:.1f}")
        table.add_row(visible(row["library"]), visible(row["stage"]), *numbers)
    return table
