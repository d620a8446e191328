"""`cometfuzz evaluate era`: the paper's own versions of the libraries."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.cli.output import folding, make_folder, print_json, writing
from cometfuzz.cli.progress import progress
from cometfuzz.cli.run import ask_libraries
from cometfuzz.config import Config
from cometfuzz.config import load as load_config
from cometfuzz.evaluation import arms as all_arms
from cometfuzz.evaluation import era as experiment
from cometfuzz.evaluation import published, running
from cometfuzz.evaluation.era import Era
from cometfuzz.evaluation.page import Section, section
from cometfuzz.evaluation.running import Bounds, Moment, Run
from cometfuzz.evaluation.tables import grid, rows_csv, summarise
from cometfuzz.ledger.matching import without_ledger
from cometfuzz.routes import Route


def era(
    out: Annotated[
        Path, typer.Option(help="The folder of the runs, which go on where they were, and of the tables.")
    ] = Path("evaluations/era"),
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Each arm runs with the seeds from 1 to this.")] = 1,
    cases: Annotated[int, typer.Option(min=1, help="A run ends after so many cases.")] = published.MODELS,
    cpu_seconds: Annotated[
        float | None,
        typer.Option("--cpu-seconds", min=0.0, help="Or after so many CPU seconds, whichever comes first."),
    ] = 2400.0,
    arms: Annotated[
        str, typer.Option("--arms", help="Which strategies, with commas between them; ours first.")
    ] = experiment.ARMS,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """What do our strategies find on the paper's own versions: Keras and TensorFlow 2.8, ONNX Runtime 1.10 and others?

    First `cometfuzz env create era era-mxnet` (Python 3.9 must be there, and 3 GB). Tables of coverage, of branches in
    the files that the paper observes, and of its 32 bugs by issue number are printed, and written into the folder as
    era.md, era.json and bugs.csv. Ctrl-C saves: the same command goes on.
    """
    chosen, bounds = all_arms.chosen(arms), Bounds(cases, cpu_seconds)
    make_folder(out)
    config = experiment.configuration(load_config(None))
    routes = experiment.routes_of(config)
    runs = list(running.runs(out, chosen, range(1, seeds + 1), True))
    with without_ledger():
        ask_libraries(list(routes.values()), as_json)
        interrupted = _run_all(runs, bounds, routes, config, as_json)
        command = f"cometfuzz evaluate era --seeds {seeds} --cases {cases} --arms {arms}"
        command += f" --cpu-seconds {cpu_seconds:g}" if cpu_seconds is not None else ""
        found = experiment.gather(summarise("era", runs, chosen[0].name, published.RQ1, command), runs)
    with writing(out):
        (out / "era.md").write_text(experiment.as_markdown(found))
        (out / "era.json").write_text(json.dumps(found.as_plain(), indent=2) + "\n")
        (out / "bugs.csv").write_text(experiment.bugs_csv(found))
        (out / "moments.csv").write_text(rows_csv(runs))
        _section(found, command).save(out)
    if as_json:
        print_json(found.as_plain())
    else:
        _print(found)
    if interrupted:
        raise KeyboardInterrupt


def _section(found: Era, command: str) -> Section:
    """What the page of all experiments has of this one."""
    tables = {
        **{table.title: grid(table) for table in found.result.tables},
        "branches in the paper's files": experiment.branch_grid(found),
        "the paper's bugs": experiment.bug_grid(found),
        "all findings": experiment.finding_grid(found),
    }
    beside = (*published.NOT_COMPARABLE, *experiment.NOT_COMPARABLE)
    return section("era", command, found.result.machine, tables, [experiment.headline(found)], beside)


def _run_all(runs: Sequence[Run], bounds: Bounds, routes: dict[str, Route], config: Config, quiet: bool) -> bool:
    """Make, or go on with, all runs; whether that was interrupted."""
    with progress("era", len(runs) * bounds.cases, quiet=quiet) as shown:
        for place, run in enumerate(runs):

            def show(run: Run, moment: Moment, place: int = place) -> None:
                shown.update(place * bounds.cases + moment.cases, at=f"{run.arm.name}, seed {run.seed}")

            try:
                if not run.is_done(bounds):
                    running.execute(run, bounds, routes, config, show)
            except KeyboardInterrupt:
                return True
            shown.update((place + 1) * bounds.cases)
    return False


def _print(found: Era) -> None:
    console = Console()
    for each in found.result.tables:
        _print_grid(console, f"{each.title}; % of the paper's space (published)", *grid(each, brief=True))
    _print_grid(console, "branches in the paper's files", *experiment.branch_grid(found))
    _print_grid(console, "the paper's bugs", *experiment.bug_grid(found))
    _print_grid(console, "all findings", *experiment.finding_grid(found))
    console.print(experiment.headline(found), highlight=False)
    for text in (*published.NOT_COMPARABLE, *experiment.NOT_COMPARABLE):
        console.print(f"- {text}", highlight=False)
    console.print(found.result.machine, highlight=False)


def _print_grid(console: Console, title: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    table = Table(*map(folding, columns), title=title, title_justify="left", box=box.SIMPLE, padding=0, pad_edge=False)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)
