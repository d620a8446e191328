"""`cometfuzz evaluate`: the paper's experiments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cometfuzz.campaign.triaging import Progress as Step
from cometfuzz.cli.evaluate_era import era
from cometfuzz.cli.evaluating import (
    BOXES,
    ROUTES,
    WHICH,
    AsJson,
    Cases,
    CpuSeconds,
    Executed,
    Out,
    Routes,
    Seeds,
    evaluate,
    listed,
    on_keras,
    tell,
)
from cometfuzz.cli.numbers import MOST_MINUTES, at_most
from cometfuzz.cli.output import expect_place, make_folder, writing
from cometfuzz.cli.progress import progress
from cometfuzz.config import load as load_config
from cometfuzz.errors import CometfuzzError
from cometfuzz.evaluation import arms as all_arms
from cometfuzz.evaluation import beside, published, running, uncovered
from cometfuzz.evaluation import page as pages
from cometfuzz.evaluation import rq2 as faults
from cometfuzz.evaluation import rq3 as seeding
from cometfuzz.evaluation.pictures import boxes
from cometfuzz.evaluation.running import Bounds, Run
from cometfuzz.evaluation.tables import Comparisons, Grid, worth_grid
from cometfuzz.evaluation.tables import Table as Points
from cometfuzz.evaluation.unique import Unique, triage_runs, waiting
from cometfuzz.execution.configuring import configured
from cometfuzz.places import Place
from cometfuzz.reports.text import clean
from cometfuzz.search.ablation import STAYS
from cometfuzz.seeds import published as published_models

app = typer.Typer(
    no_args_is_help=True,
    help="Make the paper's experiments anew.",
    epilog="Example: cometfuzz evaluate rq1 --generated --seeds 3 --cases 300",
)

app.command(epilog="Example: cometfuzz evaluate era --cpu-seconds 300 --arms directed")(era)


@app.command(epilog="Example: cometfuzz evaluate rq1 --generated --seeds 3 --cases 300 --out evaluations/small")
def rq1(
    out: Out = None,
    seeds: Seeds = 7,
    cases: Cases = published.MODELS,
    cpu_seconds: CpuSeconds = 400.0,
    arms: Annotated[str, listed(WHICH, all_arms.RQ1)] = all_arms.RQ1,
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
    evaluate("rq1", out, chosen, seeds, bounds, published.RQ1, routes if executed else "", as_json)


@app.command(epilog="Example: cometfuzz evaluate rq2 --out evaluations/rq1 --seeds 3 --minutes 30")
def rq2(
    out: Annotated[Path, typer.Option(help="The folder of RQ1, whose models were executed.")] = Path("evaluations/rq1"),
    seeds: Seeds = 7,
    arms: Annotated[str, listed(WHICH, all_arms.RQ1)] = all_arms.RQ1,
    triage: Annotated[bool, typer.Option(help="Make bugs of findings; else count rough kinds of them.")] = True,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.0, callback=at_most(MOST_MINUTES), help="Stop the triage after so many minutes; call again."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Which bugs has each arm found? Made of the findings of `evaluate rq1`.

    The findings of all campaigns are triaged together, as `cometfuzz triage` does it but with an empty ledger: a bug
    that two arms found is one bug, and what is known beforehand helps nobody. Ctrl-C or --minutes ends it; the same
    command goes on. Tables of bugs, and of rough kinds, are written into the folder, as rq2.md and rq2.json.
    """
    runs = list(running.runs(out, all_arms.chosen(arms), range(1, seeds + 1), True))
    found = [faults.gather(runs)]
    if not found[0].runs:
        raise CometfuzzError(f"{out}: expected campaigns of `cometfuzz evaluate rq1 --out {out}`; received none")
    interrupted = triage and _triage(runs, out, minutes, as_json)
    unique = Unique.of(Place(out))
    if unique.settled:
        found.insert(0, faults.unique_bugs(runs, unique, waiting(runs, unique)))
    plain = faults.as_plain(found, f"cometfuzz evaluate rq2 --out {out} --seeds {seeds} --arms {arms}")
    grids = {title: each for every in found for title, each in faults.grids(every).items()}
    tell(out, "rq2", plain, grids, [faults.PUBLISHED], faults.NOT_COMPARABLE, as_json)
    if interrupted:
        raise KeyboardInterrupt


def _triage(runs: Sequence[Run], out: Path, minutes: float | None, quiet: bool) -> bool:
    """Triage with a progress bar, and a line for each new bug. True if interrupted."""
    routes = configured(load_config(None))
    with progress("triage", quiet=quiet) as shown:

        def show(step: Step) -> None:
            shown.update(step.done, step.total, step.step)
            if step.bug is not None and not quiet:
                shown.say(f"{'bug' if step.bug.is_new else 'not shown'} {step.bug.id}: {clean(step.bug.title)}")

        try:
            triage_runs(runs, Place(out), routes, show, None if minutes is None else 60 * minutes)
        except KeyboardInterrupt:
            return True
    return False


@app.command(epilog="Example: cometfuzz evaluate rq4 --switches --seeds 3 --cases 200")
def rq4(
    out: Out = None,
    seeds: Seeds = 10,
    cases: Cases = published.MODELS,
    cpu_seconds: CpuSeconds = None,
    arms: Annotated[str, listed(WHICH, all_arms.RQ4)] = all_arms.RQ4,
    switches: Annotated[bool, typer.Option("--switches", help="Instead, comet with one of its parts off.")] = False,
    mutations: Annotated[bool, typer.Option("--mutations", help="Instead, comet without one mutation.")] = False,
    executed: Executed = False,
    routes: Routes = ROUTES,
    as_json: AsJson = False,
) -> None:
    """What are the parts of the search worth: its mutations, the choice among them, and each by itself?

    With --executed, switches and left out mutations run on Keras with TensorFlow alone, and nothing is judged; only
    there can the reward for new branches be switched off.
    """
    if switches or mutations:
        chosen = all_arms.single_switches(executed) if switches else all_arms.without_one()
        name, bounds = "rq4-switches" if switches else "rq4-mutations", Bounds(cases, cpu_seconds)
        where, carry = (seeding.MODERN_ROUTE, on_keras) if executed else ("", None)
        evaluate(name, out, chosen, seeds, bounds, {}, where, as_json, carry, _worth)
        return
    chosen, bounds = all_arms.chosen(arms), Bounds(cases, cpu_seconds)
    evaluate("rq4", out, chosen, seeds, bounds, published.RQ4, routes if executed else "", as_json)


def _worth(tables: Sequence[Points], compared: Comparisons) -> dict[str, Grid]:
    """Which parts of the search earn their place, after as many cases as all arms have."""
    return {"what each part is worth": worth_grid("comet", compared, STAYS)}


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
    bounds, where = Bounds(cases, cpu_seconds), routes if executed else ""
    evaluate("sigma", out, all_arms.sigmas(), seeds, bounds, {}, where, as_json, None, _over_sigma)


def _over_sigma(tables: Sequence[Points], compared: Comparisons) -> dict[str, Grid]:
    """The least and the largest share over all sigmas at equal cases, as the paper tells them."""
    rows = []
    for criterion, (least, most) in published.SIGMA.items():
        ours = [row.shares[criterion][0] for row in tables[0].rows if criterion in row.shares]
        told = f"{min(ours):.1f} to {max(ours):.1f}" if ours else "nothing ran"
        rows.append([criterion, told, f"{least:.1f} to {most:.1f}"])
    return {"from sigma 5 to 55": (["criterion", "ours", "published, after six hours"], rows)}


@app.command(epilog="Example: cometfuzz evaluate nnsmith --seeds 1 --cpu-seconds 20")
def nnsmith(
    out: Out = None,
    seeds: Seeds = 5,
    cpu_seconds: Annotated[float, typer.Option(min=0.0, help="For each arm and seed.")] = 120.0,
    routes: Annotated[str, listed("Routes that read one ONNX file.", beside.READERS)] = beside.READERS,
    strategy: Annotated[str, typer.Option(help="What makes our models.")] = "directed",
    nodes: Annotated[int, typer.Option(min=1, max=100, help="Operators in a model of NNSmith's.")] = 10,
    as_json: AsJson = False,
) -> None:
    """How do our ONNX files compare with NNSmith's, on the same readers and for the same CPU seconds?

    NNSmith makes ONNX files and no layers: operators, their pairs and what readers do with the files are compared, and
    nothing else. It has an environment of its own: `cometfuzz env create nnsmith`. `--routes direct-onnxruntime,...` is
    our own writer of ONNX instead of tf2onnx. Ctrl-C loses the seed that is under way; the same command goes on.
    """
    folder, setting = out or Path("evaluations/nnsmith"), beside.Setting(routes, strategy, nodes, cpu_seconds)
    make_folder(folder)
    every, interrupted = [], False
    with progress("nnsmith", round(2 * seeds * cpu_seconds), quiet=as_json) as shown:
        for seed in range(1, seeds + 1):
            before = round(2 * (seed - 1) * cpu_seconds)

            def show(arm: beside.Arm, before: int = before, seed: int = seed) -> None:
                second = arm.name == beside.THEIRS
                spent = min(arm.cpu_s, cpu_seconds) + second * cpu_seconds
                shown.update(before + round(spent), at=f"{arm.name}, seed {seed}")

            try:
                every.append(beside.compared(setting, seed, folder, show))
            except KeyboardInterrupt:
                interrupted = True
                break
    if every:
        _tell_nnsmith(folder, every, setting, as_json)
    if interrupted:
        raise KeyboardInterrupt


def _tell_nnsmith(folder: Path, every: Sequence[beside.Stored], setting: beside.Setting, as_json: bool) -> None:
    command = (
        f"cometfuzz evaluate nnsmith --seeds {len(every)} --cpu-seconds {setting.cpu_s:g} --routes {setting.routes}"
    )
    plain = beside.as_plain(every, f"{command} --strategy {setting.strategy} --nodes {setting.nodes}")
    grids = {"on the same readers": beside.comparison_grid(every), "signatures": beside.finding_grid(every)}
    tell(folder, "nnsmith", plain, grids, (), beside.NOT_COMPARABLE, as_json)


@app.command("uncovered", epilog="Example: cometfuzz evaluate uncovered evaluations/rq1/directed")
def missed_branches(
    folder: Annotated[Path, typer.Argument(help="A campaign, or an experiment: its runs are taken together.")],
    most: Annotated[int, typer.Option(min=1, help="So many functions in the last table.")] = 25,
    as_json: AsJson = False,
) -> None:
    """Which branches of Keras and TensorFlow did no model reach, and why?

    Each of them is classed, from the sources alone: training or saving; another device or backend; not reachable from a
    layer; an error path; reachable and missed. For the last class the test is named that would have to come out
    otherwise. Tables and all branches are written into the folder, as uncovered.md and uncovered.json.
    """
    reached, files = uncovered.gathered(folder)
    found = uncovered.missed(uncovered.sources(reached), reached)
    plain = uncovered.as_plain(found, reached, files, f"cometfuzz evaluate uncovered {folder}")
    grids = {
        "branches by class": uncovered.class_grid(found, reached),
        "branches by part and class": uncovered.area_grid(found, reached),
        "reachable and missed": uncovered.remedy_grid(found, most),
    }
    tell(folder, "uncovered", plain, grids, (), uncovered.NOT_COMPARABLE, as_json)


@app.command("page", epilog="Example: cometfuzz evaluate page evaluations --out docs/evaluation.md")
def write_page(
    folder: Annotated[Path, typer.Argument(help="The folder of experiments, as `evaluate all` makes it.")],
    out: Annotated[Path | None, typer.Option(help="The file; by default evaluation.md in the folder.")] = None,
) -> None:
    """Write the page of all experiments that a folder has: every table with the command that made it.

    Published numbers stand beside ours, and what cannot be compared is said in the tables themselves.
    """
    found, file = pages.sections(folder), out or folder / "evaluation.md"
    expect_place(file)
    with writing(file):
        file.write_text(pages.page(found, f"cometfuzz evaluate page {folder.name} --out docs/evaluation.md"))
    Console(stderr=True).print(f"Written to {file}: {', '.join(each.name for each in found)}.")


@app.command("all", epilog="Example: cometfuzz evaluate all --seeds 3 --cases 200")
def everything(
    out: Annotated[Path, typer.Option(help="A folder for each experiment goes below this one.")] = Path("evaluations"),
    seeds: Seeds = 7,
    cases: Cases = published.MODELS,
    cpu_seconds: CpuSeconds = 400.0,
    executed: Executed = True,
    routes: Routes = ROUTES,
) -> None:
    """All that there is, one experiment after the other: rq1 (and rq2, rq3, where models run), rq4, sigma.

    Each goes on where it was, so several sessions of some hours will do.
    """
    rq1(out / "rq1", seeds, cases, cpu_seconds, all_arms.RQ1, executed, routes)
    if executed:
        rq2(out / "rq1", seeds, all_arms.RQ1)
        rq3(out / "rq3", seeds, cpu_seconds=cpu_seconds)
        missed_branches(out / "rq1")
    rq4(out / "rq4", seeds, cases, cpu_seconds, all_arms.RQ4, executed=executed, routes=routes)
    rq4(out / "rq4-switches", seeds, cases, None, switches=True)
    rq4(out / "rq4-mutations", seeds, cases, None, mutations=True)
    sigma(out / "sigma", seeds, cases, None)
    write_page(out)


@app.command(epilog="Example: cometfuzz evaluate rq3 --seeds 1 --cases 30 --syntheses 2")
def rq3(
    out: Out = None,
    seeds: Seeds = 7,
    cases: Cases = 300,
    cpu_seconds: CpuSeconds = 400.0,
    syntheses: Annotated[int, typer.Option(min=0, help="How often each of the ten models is synthesised anew.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Does the search gain from synthesised seeds? It runs from them and from the originals, with the same budget.

    Both searches are comet's; each case runs on Keras with TensorFlow in a child process, and its seconds are the CPU
    time of making, building and running it; nothing is judged. The originals are models of up to 800 layers on images
    of 299 by 299: count some seconds for each of their cases. How long a synthesis takes is a box plot beside.
    """
    folder = out or Path("evaluations/rq3")
    make_folder(folder)
    sizes: dict[str, Grid] = {}
    if syntheses:
        with progress("synthesising", syntheses * len(published_models.PAPER), quiet=as_json) as shown:
            made = seeding.synthesis(folder, syntheses, shown.advance)
        with writing(folder):
            boxes(made["seconds"], "Synthesis of a small model", folder / BOXES)
        sizes["the ten models together"] = seeding.size_grid(made)
    bounds, route = Bounds(cases, cpu_seconds), seeding.MODERN_ROUTE
    evaluate(
        "rq3",
        folder,
        seeding.ARMS,
        seeds,
        bounds,
        published.RQ3,
        route,
        as_json,
        on_keras,
        lambda tables, compared: sizes,
    )
