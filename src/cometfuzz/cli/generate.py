"""`cometfuzz generate`: let a strategy make cases, and show what they would cover."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cometfuzz.catalogue.files import save
from cometfuzz.cli.completing import complete_strategy
from cometfuzz.cli.numbers import LARGEST_SEED, MOST_SIGMA, at_most
from cometfuzz.cli.output import expect_place, make_folder, print_json, writing
from cometfuzz.cli.progress import progress
from cometfuzz.cli.run import MUTATIONS
from cometfuzz.config import load as load_config
from cometfuzz.coverage.gain import summary_of
from cometfuzz.coverage.layers import SIGMA, SPACE_NAMES
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.mutation import with_others
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.reports.summary import coverage_table
from cometfuzz.search.rehearsal import Curve, rehearse
from cometfuzz.search.strategies import Options, Strategy, make_strategy, strategies
from cometfuzz.seeds.published import names, synthesised
from cometfuzz.seeds.small import SMALL

LISTED = 20
"""Missing items that the table shows; --json has them all."""

PICTURES = (".png", ".svg", ".pdf")
"""How the name of a plot may end."""


def generate(
    strategy: Annotated[
        str, typer.Option(autocompletion=complete_strategy, help=f"One of {', '.join(sorted(strategies()))}.")
    ] = "comet",
    cases: Annotated[int, typer.Option(min=1, help="How many cases.")] = 100,
    seed: Annotated[int, typer.Option(min=0, callback=at_most(LARGEST_SEED), help="Same seed, same cases.")] = 1,
    sigma: Annotated[
        int, typer.Option(min=1, callback=at_most(MOST_SIGMA), help="How many values of a numeric parameter count.")
    ] = SIGMA,
    mutations: Annotated[str, typer.Option(help=MUTATIONS)] = "",
    config: Annotated[
        Path | None, typer.Option("--config", help="A TOML file; its section `graphs` says how large a model may get.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write each case to a file here, named by its id.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw coverage over cases into this file: PNG, SVG or PDF.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    small: Annotated[
        bool, typer.Option("--small", help="Start from the four small published models as they are instead.")
    ] = False,
) -> None:
    """Generate models from the ten synthesised ones, as `run` does, without running them on any library.

    Coverage counts what is generated, as if every case executed.

    Example: cometfuzz generate --strategy directed --cases 888 --plot coverage.png
    """
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise CometfuzzError(f"expected a file that ends in {', '.join(PICTURES)}; received plot={str(plot)!r}")
    expect_place(plot)
    make_folder(out)
    limits = ModelLimits.of(load_config(config).graphs)
    seeds = [make() for make in SMALL.values()] if small else [synthesised(name) for name in names()]
    options = Options(seed, seeds, limits, sigma, mutations=with_others(mutations))
    chosen = make_strategy(strategy, options)
    curve, every = Curve(chosen), max(1, cases // 200)
    curve.note(0)
    began, nodes, done = time.process_time(), 0, 0
    with progress("generating", cases, quiet=as_json) as shown:

        def show(case: Case) -> None:
            nonlocal nodes, done
            nodes, done = nodes + len(case.graph.nodes), done + 1
            if out is not None:
                with writing(out):
                    save(case, out / f"{case_id(case)}.json")
            if plot is not None and done % every == 0:
                curve.note(done)
            if done % 10 == 0:
                shown.update(done, at=_line(chosen, done / (time.process_time() - began)))

        interrupted = rehearse(chosen, cases, show)
    result = {
        "cases": done,
        "cpu_s": round(time.process_time() - began, 3),
        "mean_nodes": round(nodes / max(done, 1), 1),
        "coverage": summary_of(chosen.coverages),
        "operators": chosen.operators(),
        "missing": _missing(chosen),
    }
    if plot is not None:
        curve.note(done)
        _draw(curve, plot, f"{strategy}, seed {seed}")
    if as_json:
        print_json(result)
    else:
        _print(result)
    if interrupted:
        raise KeyboardInterrupt


def _missing(strategy: Strategy) -> list[dict[str, str]]:
    """Everything that is not covered, each item with the reason."""
    explain = getattr(strategy, "why_missing", lambda item: "no case has covered it yet")
    return [
        {"space": coverage.space.name, **item._asdict(), "reason": reason or explain(item)}
        for coverage in strategy.coverages
        for item, reason in coverage.missing().items()
    ]


def _line(strategy: Strategy, rate: float) -> str:
    parts = []
    for coverage in strategy.coverages:
        shares = [f"{counts['covered'] / counts['total']:.0%}" for counts in coverage.summary().values()]
        parts.append(f"{coverage.space.name} {'/'.join(shares)}")
    return f"{rate:.0f}/s, {', '.join(parts)}"


def _draw(curve: Curve, file: Path, title: str) -> None:
    from matplotlib.figure import Figure  # half a second that only --plot pays

    figure = Figure(figsize=(12, 4), layout="constrained")
    axes = figure.subplots(1, len(SPACE_NAMES), sharey=True)
    for axis, space in zip(axes, SPACE_NAMES, strict=True):
        for (name, criterion), shares in curve.shares.items():
            if name == space:
                axis.plot(curve.cases, [100 * share for share in shares], label=criterion)
        axis.set(title=f"{space} space", xlabel="cases", ylim=(0, 100))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("covered, % of all items")
    axes[0].legend()
    figure.suptitle(title)
    with writing(file):
        figure.savefig(file, dpi=120)


def _print(result: dict[str, Any]) -> None:
    console = Console()
    console.print(coverage_table(result["coverage"]))
    operators = Table("operator", "attempts", "applied", "fitness")
    for name, record in result["operators"].items():
        operators.add_row(name, str(record["attempts"]), str(record["applied"]), f"{record['fitness']:.2f}")
    console.print(operators)
    console.print(
        f"{result['cases']} cases of {result['mean_nodes']} nodes on average in {result['cpu_s']} CPU seconds."
    )
    missing = result["missing"]
    console.print(f"{len(missing)} items are not covered; --json lists them all, each with the reason.")
    if 0 < len(missing) <= LISTED:
        rest = Table("space", "criterion", "item", "reason")
        for item in missing:
            rest.add_row(
                item["space"], item["criterion"], f"{item['layer']} {item['name']} {item['value']}", item["reason"]
            )
        console.print(rest)
