"""`cometfuzz evaluate`: the paper's experiments."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.cli.numbers import LARGEST_SEED, at_most
from cometfuzz.cli.output import folding, make_folder, print_json, writing
from cometfuzz.cli.progress import progress
from cometfuzz.config import load as load_config
from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.errors import CometfuzzError, UnknownName
from cometfuzz.evaluation import arms as all_arms
from cometfuzz.evaluation import published, running
from cometfuzz.evaluation import rq2 as faults
from cometfuzz.evaluation import rq3 as experiment
from cometfuzz.evaluation.arms import Arm
from cometfuzz.evaluation.pictures import draw, page
from cometfuzz.evaluation.running import Bounds, Moment, Run
from cometfuzz.evaluation.tables import Result, comparison_grid, grid, machine, markdown, pipes, rows_csv, summarise
from cometfuzz.execution.configuring import configured

app = typer.Typer(
    no_args_is_help=True,
    help="Make the paper's experiments anew.",
    epilog="Example: cometfuzz evaluate rq1 --generated --seeds 3 --cases 300",
)

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


def _list(help_: str, default: str) -> Any:
    """An option for names with commas between them; of its default, a terminal shows all, in several lines."""
    return typer.Option(help=help_, show_default=default.replace(",", ", "))


Routes = Annotated[str, _list("Where models run, with commas between them.", ROUTES)]
WHICH = "Which strategies, with commas between them; ours first."

SHORT = 24
"""Signs of a name that stays on one line of a table."""


@app.command(epilog="Example: cometfuzz evaluate rq1 --generated --seeds 3 --cases 300 --out evaluations/small")
def rq1(
    out: Out = None,
    seeds: Seeds = 7,
    cases: Cases = published.MODELS,
    cpu_seconds: CpuSeconds = 400.0,
    arms: Annotated[str, _list(WHICH, all_arms.RQ1)] = all_arms.RQ1,
    executed: Executed = True,
    routes: Routes = ROUTES,
    as_json: AsJson = False,
) -> None:
    """How much do our strategies cover, and how much the tools that the paper compares with?

    Each arm runs with each seed in a folder of its own. Ctrl-C saves: the same command goes on. Tables (text, Markdown,
    JSON, CSV), curves and a page are written into the folder whenever the command ends.
    """
    chosen = all_arms.chosen(arms)
    bounds = Bounds(cases, cpu_seconds)
    _evaluate("rq1", out, chosen, seeds, bounds, published.RQ1, routes if executed else "", as_json)


@app.command(epilog="Example: cometfuzz evaluate rq2 --out evaluations/rq1 --seeds 3")
def rq2(
    out: Annotated[Path, typer.Option(help="The folder of RQ1, whose models were executed.")] = Path("evaluations/rq1"),
    seeds: Seeds = 7,
    arms: Annotated[str, _list(WHICH, all_arms.RQ1)] = all_arms.RQ1,
    as_json: AsJson = False,
) -> None:
    """Which kinds of faults has each arm found? Read from the campaigns of `evaluate rq1`; nothing runs.

    A kind is a defect of the ledger or, where it names none, a rough key: nothing is triaged. The tables are also
    written into the folder, as rq2.md and rq2.json.
    """
    found = faults.gather(list(running.runs(out, all_arms.chosen(arms), range(1, seeds + 1), True)))
    if not found.runs:
        raise CometfuzzError(f"{out}: expected campaigns of `cometfuzz evaluate rq1 --out {out}`; received none")
    grids = {
        "kinds by arm": faults.arm_grid(found),
        "kinds by library": faults.library_grid(found),
        "found by exactly these arms": faults.shared_grid(found),
        "cases until the first sight, median (runs)": faults.sight_grid(found),
    }
    texts = [faults.PUBLISHED, *faults.NOT_COMPARABLE]
    with writing(out):
        parts = [f"# rq2\n\n{machine()}", *(f"## {title}\n\n{pipes(*each)}" for title, each in grids.items())]
        (out / "rq2.md").write_text("\n\n".join([*parts, *(f"- {text}" for text in texts)]) + "\n")
        (out / "rq2.json").write_text(json.dumps(found.as_plain(), indent=2) + "\n")
    if as_json:
        print_json(found.as_plain())
        return
    console = Console()
    for title, each in grids.items():
        _print_grid(console, title, *each)
    for text in texts:
        console.print(f"- {text}", highlight=False)


@app.command(epilog="Example: cometfuzz evaluate rq4 --switches --seeds 3 --cases 200")
def rq4(
    out: Out = None,
    seeds: Seeds = 10,
    cases: Cases = published.MODELS,
    cpu_seconds: CpuSeconds = None,
    arms: Annotated[str, _list(WHICH, all_arms.RQ4)] = all_arms.RQ4,
    switches: Annotated[bool, typer.Option("--switches", help="Instead, comet with one of its parts off.")] = False,
    mutations: Annotated[bool, typer.Option("--mutations", help="Instead, comet without one mutation.")] = False,
    executed: Executed = False,
    routes: Routes = ROUTES,
    as_json: AsJson = False,
) -> None:
    """What are the parts of the search worth: its mutations, the choice among them, and each by itself?

    Switches and left out mutations are for generated models only.
    """
    if switches or mutations:
        chosen = all_arms.single_switches() if switches else all_arms.without_one()
        name = "rq4-switches" if switches else "rq4-mutations"
        _evaluate(name, out, chosen, seeds, Bounds(cases, cpu_seconds), {}, "", as_json)
        return
    chosen, bounds = all_arms.chosen(arms), Bounds(cases, cpu_seconds)
    _evaluate("rq4", out, chosen, seeds, bounds, published.RQ4, routes if executed else "", as_json)


@app.command(epilog="Example: cometfuzz evaluate sigma --seeds 3 --cases 200")
def sigma(
    out: Out = None,
    seeds: Seeds = 10,
    cases: Cases = published.MODELS,
    cpu_seconds: CpuSeconds = None,
    executed: Executed = False,
    routes: Routes = ROUTES,
    as_json: AsJson = False,
) -> None:
    """Does it matter up to how many values of a numeric parameter count? From 5 to 55, in steps of 5.

    The totals of parameters differ, so look at inputs and sequences; the paper has 29.3 to 39.5% of the latter.
    """
    bounds = Bounds(cases, cpu_seconds)
    _evaluate("sigma", out, all_arms.sigmas(), seeds, bounds, {}, routes if executed else "", as_json)


@app.command("all", epilog="Example: cometfuzz evaluate all --seeds 3 --cases 200")
def everything(
    out: Annotated[Path, typer.Option(help="A folder for each experiment goes below this one.")] = Path("evaluations"),
    seeds: Seeds = 7,
    cases: Cases = published.MODELS,
    cpu_seconds: CpuSeconds = 400.0,
    executed: Executed = True,
    routes: Routes = ROUTES,
) -> None:
    """All that there is, one experiment after the other: rq1 (and rq2, where models run), rq4 with its switches, sigma.

    Each goes on where it was, so several sessions of some hours will do. RQ3 is a command of its own.
    """
    rq1(out / "rq1", seeds, cases, cpu_seconds, all_arms.RQ1, executed, routes)
    if executed:
        rq2(out / "rq1", seeds, all_arms.RQ1)
    rq4(out / "rq4", seeds, cases, cpu_seconds, all_arms.RQ4, executed=executed, routes=routes)
    rq4(out / "rq4-switches", seeds, cases, None, switches=True)
    rq4(out / "rq4-mutations", seeds, cases, None, mutations=True)
    sigma(out / "sigma", seeds, cases, None)


def _evaluate(
    name: str,
    out: Path | None,
    arms: Sequence[Arm],
    seeds: int,
    bounds: Bounds,
    known: Mapping[str, Mapping[str, float]],
    routes: str,
    as_json: bool,
) -> None:
    """Make, or go on with, all runs of an experiment, and write what they came to, also when interrupted."""
    folder = out or Path("evaluations") / name
    make_folder(folder)
    config = load_config(None)
    usable = configured(config) if routes else {}
    wanted = routes.split(",") if routes else []
    if unknown := [each for each in wanted if each not in usable]:
        raise UnknownName(f"expected routes out of {', '.join(usable)}; received routes={','.join(unknown)!r}")
    chosen = {each: usable[each] for each in wanted}
    runs = list(running.runs(folder, arms, range(1, seeds + 1), bool(routes)))
    interrupted = False
    with progress(name, len(runs) * bounds.cases, quiet=as_json) as shown:
        for place, run in enumerate(runs):

            def show(run: Run, moment: Moment, place: int = place) -> None:
                shown.update(place * bounds.cases + moment.cases, at=f"{run.arm.name}, seed {run.seed}")

            try:
                if not run.is_done(bounds) and chosen:
                    running.execute(run, bounds, chosen, config, show)
                elif not run.is_done(bounds):
                    running.generate(run, bounds, show)
            except KeyboardInterrupt:
                interrupted = True
                break
            shown.update((place + 1) * bounds.cases)
    command = f"cometfuzz evaluate {name.replace('-', ' --')} --seeds {seeds} --cases {bounds.cases}"
    command += f" --cpu-seconds {bounds.cpu_s:g}" if bounds.cpu_s is not None else ""
    command += f" --arms {','.join(arm.name for arm in arms)}" if name in ("rq1", "rq4") else ""
    result = summarise(name, runs, arms[0].name, known, f"{command} {'--executed' if routes else '--generated'}")
    _write(folder, result, runs)
    if as_json:
        print_json(result.as_plain())
    else:
        _print(result)
        Console(stderr=True).print(f"Written to {folder}: index.html, tables.md, result.json, moments.csv and curves.")
    if interrupted:
        raise KeyboardInterrupt


def _write(folder: Path, result: Result, runs: Sequence[Run]) -> None:
    if not any(run.moments for run in runs):
        return
    with writing(folder):
        pictures = draw(runs, folder)
        (folder / "tables.md").write_text(markdown(result))
        (folder / "result.json").write_text(json.dumps(result.as_plain(), indent=2) + "\n")
        (folder / "moments.csv").write_text(rows_csv(runs))
        (folder / "index.html").write_text(page(result, pictures))


def _print(result: Result) -> None:
    console = Console()
    for each in result.tables:
        _print_grid(console, f"{each.title}; % of the paper's space (published)", *grid(each, brief=True))
    if result.comparisons:
        _print_grid(console, f"{result.ours} against the others", *comparison_grid(result))
    for text in published.NOT_COMPARABLE:
        console.print(f"- {text}", highlight=False)
    console.print(result.machine, highlight=False)


def _print_grid(console: Console, title: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    names_are_short = all(len(row[0]) <= SHORT for row in cells)
    headers = [folding(column) for column in columns]
    headers[0].no_wrap = names_are_short
    table = Table(*headers, title=title, title_justify="left", box=box.SIMPLE, padding=0, pad_edge=False)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


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
