"""What the commands of `cometfuzz evaluate` share: their options, how runs are made, what is written and printed."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.cli.output import folding, make_folder, print_json, writing
from cometfuzz.cli.progress import progress
from cometfuzz.config import load as load_config
from cometfuzz.errors import UnknownName
from cometfuzz.evaluation import published, running
from cometfuzz.evaluation import rq3 as seeding
from cometfuzz.evaluation.arms import Arm
from cometfuzz.evaluation.page import section
from cometfuzz.evaluation.pictures import draw, page
from cometfuzz.evaluation.running import Bounds, Moment, Run
from cometfuzz.evaluation.tables import (
    STATISTICS,
    Grid,
    More,
    Result,
    comparison_grids,
    grid,
    intro,
    markdown,
    pipes,
    rows_csv,
    summarise,
)
from cometfuzz.execution.configuring import configured

Out = Annotated[
    Path | None, typer.Option(help="The folder of the runs, which go on where they were; by default evaluations/NAME.")
]
Seeds = Annotated[int, typer.Option(min=1, max=100, help="Each arm runs with the seeds from 1 to this.")]
Cases = Annotated[int, typer.Option(min=1, help="A run ends after so many cases.")]
CpuSeconds = Annotated[
    float | None, typer.Option("--cpu-seconds", min=0.0, help="Or after so many CPU seconds, whichever comes first.")
]
Executed = Annotated[bool, typer.Option("--executed/--generated", help="Run the models, or only make them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

ROUTES = "keras-tf,keras-torch,keras2-tf"


def listed(help_: str, default: str) -> Any:
    """An option for names with commas between them; of its default, a terminal shows all, in several lines."""
    return typer.Option(help=help_, show_default=default.replace(",", ", "))


Routes = Annotated[str, listed("Where models run, with commas between them.", ROUTES)]
WHICH = "Which strategies, with commas between them; ours first."

BOXES = "synthesis-times.png"
"""The picture of RQ3 that is not a curve."""

SHORT = 24
"""Signs of a name that stays on one line of a table."""

Carry = Callable[[Run, Bounds, running.Show], None]
"""How a run is made, or gone on with."""


def evaluate(
    name: str,
    out: Path | None,
    arms: Sequence[Arm],
    seeds: int,
    bounds: Bounds,
    known: Mapping[str, Mapping[str, float]],
    routes: str,
    as_json: bool,
    carry: Carry | None = None,
    more: More = lambda tables, comparisons: {},
) -> None:
    """Make, or go on with, all runs of an experiment, and write what they came to, also when interrupted."""
    folder = out or Path("evaluations") / name
    make_folder(folder)
    make = carry or carry_on(routes)
    runs = list(running.runs(folder, arms, range(1, seeds + 1), bool(routes)))
    interrupted = False
    with progress(name, len(runs) * bounds.cases, quiet=as_json) as shown:
        for place, run in enumerate(runs):

            def show(run: Run, moment: Moment, place: int = place) -> None:
                shown.update(place * bounds.cases + moment.cases, at=f"{run.arm.name}, seed {run.seed}")

            try:
                if not run.is_done(bounds):
                    make(run, bounds, show)
            except KeyboardInterrupt:
                interrupted = True
                break
            shown.update((place + 1) * bounds.cases)
    command = f"cometfuzz evaluate {name.replace('-', ' --')} --seeds {seeds} --cases {bounds.cases}"
    command += f" --cpu-seconds {bounds.cpu_s:g}" if bounds.cpu_s is not None else ""
    command += f" --arms {','.join(arm.name for arm in arms)}" if name in ("rq1", "rq4") else ""
    command += (" --executed" if routes else " --generated") if name != "rq3" else ""
    result = summarise(name, runs, arms[0].name, known, command, more)
    write(folder, result, runs)
    if as_json:
        print_json(result.as_plain())
    else:
        print_result(result)
        Console(stderr=True).print(f"Written to {folder}: index.html, tables.md, result.json, moments.csv and curves.")
    if interrupted:
        raise KeyboardInterrupt


def carry_on(routes: str) -> Carry:
    """Campaigns on some routes; without one, cases are only made."""
    if not routes:
        return running.generate
    config = load_config(None)
    usable, wanted = configured(config), routes.split(",")
    if unknown := [each for each in wanted if each not in usable]:
        raise UnknownName(f"expected routes out of {', '.join(usable)}; received routes={','.join(unknown)!r}")
    chosen = {each: usable[each] for each in wanted}
    return lambda run, bounds, show: running.execute(run, bounds, chosen, config, show)


def write(folder: Path, result: Result, runs: Sequence[Run]) -> None:
    if not any(run.moments for run in runs):
        return
    with writing(folder):
        pictures = draw(runs, folder)
        pictures += [BOXES] if (folder / BOXES).is_file() else []
        (folder / "tables.md").write_text(markdown(result))
        (folder / "result.json").write_text(json.dumps(result.as_plain(), indent=2) + "\n")
        (folder / "moments.csv").write_text(rows_csv(runs))
        (folder / "index.html").write_text(page(result, pictures))
        tables = {table.title: grid(table) for table in result.tables}
        tables |= {**comparison_grids(result), **result.more}
        texts = [intro(result), *([STATISTICS] if result.comparisons else [])]
        compared_with = published.NOT_COMPARABLE
        section(result.name, result.command, result.machine, tables, texts, compared_with).save(folder)


def print_result(result: Result) -> None:
    console = Console()
    for each in result.tables:
        print_grid(console, f"{each.title}; % of the paper's space (published)", *grid(each, brief=True))
    for title, grids in {**comparison_grids(result), **result.more}.items():
        print_grid(console, title, *grids)
    for text in published.NOT_COMPARABLE:
        console.print(f"- {text}", highlight=False)
    console.print(result.machine, highlight=False)


def print_grid(console: Console, title: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    names_are_short = all(len(row[0]) <= SHORT for row in cells)
    headers = [folding(column) for column in columns]
    headers[0].no_wrap = names_are_short
    table = Table(*headers, title=title, title_justify="left", box=box.SIMPLE, padding=0, pad_edge=False)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def on_keras(run: Run, bounds: Bounds, show: running.Show) -> None:
    """A run on Keras with TensorFlow alone, with branches, where nothing is judged."""
    seeding.carry_out(run, bounds, seeding.KerasOnTensorFlow, show)


def tell(
    folder: Path,
    name: str,
    plain: Mapping[str, Any],
    grids: Mapping[str, Grid],
    said: Sequence[str],
    not_comparable: Sequence[str],
    as_json: bool,
) -> None:
    """Write what an experiment came to into its folder, as NAME.md, NAME.json and its section of the page; print it."""
    with writing(folder):
        parts = [f"# {name}", f"`{plain['command']}`; {plain['machine']}"]
        parts += [f"## {title}\n\n{pipes(*each)}" for title, each in grids.items()]
        parts += [f"- {text}" for text in (*said, *not_comparable)]
        (folder / f"{name}.md").write_text("\n\n".join(parts) + "\n")
        (folder / f"{name}.json").write_text(json.dumps(plain, indent=1) + "\n")
        section(name, plain["command"], plain["machine"], grids, said, not_comparable).save(folder)
    if as_json:
        print_json(plain)
        return
    console = Console()
    for title, each in grids.items():
        print_grid(console, title, *each)
    for text in (*said, *not_comparable):
        console.print(f"- {text}", highlight=False)
