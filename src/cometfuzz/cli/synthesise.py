"""`cometfuzz synthesise`: small models that cover what large ones cover."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.cli.numbers import LARGEST_SEED, at_most
from cometfuzz.cli.output import make_folder, print_json, save_graphs
from cometfuzz.cli.progress import progress
from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.errors import UnknownName
from cometfuzz.ir.graph import Graph
from cometfuzz.seeds import published
from cometfuzz.seeds.importing import read_model
from cometfuzz.seeds.saved import SUFFIXES
from cometfuzz.synthesis.measure import measure, summarise
from cometfuzz.synthesis.synthesise import BUDGET


def synthesise(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Published models by name (all ten by default), .keras files or case files."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, callback=at_most(LARGEST_SEED), help="The seed of the first run; the next run has the next one."
        ),
    ] = 1,
    runs: Annotated[int, typer.Option(min=1, help="How often to synthesise each model.")] = 20,
    budget: Annotated[int, typer.Option(min=1, help="Steps for each synthesis.")] = BUDGET,
    out: Annotated[Path | None, typer.Option(help="Write each model of the first run to a case file here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Build small models with the same layer inputs, parameter values and sequences as large ones.

    kept is the share of the original's diversity that every run covers; sizes (filters, units, shapes) shrink, so as
    many different ones are kept as the coverage spaces count. No library is needed. The seeds of the package are made
    by `cometfuzz synthesise --runs 1 --out src/cometfuzz/seeds/synthesised`.

    Example: cometfuzz synthesise InceptionResNetV2 mine.keras --runs 5 --out small
    """
    make_folder(out)
    originals = {_label(name): _original(name) for name in models or published.names()}
    with progress("synthesising", len(originals) * runs, quiet=as_json) as shown:
        results = measure(originals, seed, runs, shown.advance, budget)
    if out is not None:
        save_graphs(out, {name: timed[0].synthesis.graph for name, timed in results.items()})
    result = summarise(originals, results)
    if as_json:
        print_json(result)
    else:
        _print(result)


def _label(name: str) -> str:
    return Path(name).stem if Path(name).suffix in (*SUFFIXES, ".json") else name


def _original(name: str) -> Graph:
    if name in published.PAPER:
        return published.original(name)
    path = Path(name)
    if path.suffix in (*SUFFIXES, ".json"):
        return read_model(path).graph
    known = ", ".join(published.PAPER)
    raise UnknownName(f"expected a .keras or .h5 file, a case file (.json), or one of {known}; received name={name!r}")


def _print(result: dict[str, Any]) -> None:
    console = Console()
    heads = ("layers", "weights", "inputs", "param.", "seq.", "kept")
    table = Table("model", *heads, "CPU s", box=box.SIMPLE, padding=0, pad_edge=False)
    for name, model in result["models"].items():
        counts = [f"{model[size]['original']} > {model[size]['mean']:.3g}" for size in ("layers", *CRITERIA)]
        weights = f"{_short(model['weights']['original'])} > {_short(model['weights']['mean'])}"
        table.add_row(name, counts[0], weights, *counts[1:], _share(model["kept"]), f"{model['cpu_s']['mean']:.2f}")
    console.print(table)
    total = result["total"]
    names = ("layers", "weights", *CRITERIA)
    together = Table("together", *heads, box=box.SIMPLE, padding=0, pad_edge=False)
    together.add_row("original", *(_short(total["original"][name]) for name in names), "")
    means = [f"{_short(total[name])} ± {_short(total['spread'][name])}" for name in names]
    together.add_row("synthesised", *means, _share(total["kept"]))
    if "paper" in total:
        paper = total["paper"]["original"]
        counts = [str(paper[name]) for name in CRITERIA]
        together.add_row("paper's original", str(paper["layers"]), f"{paper['weights_millions']} M", *counts, "")
        rows = total["paper"]["synthesised"]
        means = [f"{_short(rows[name]['mean'])} ± {_short(rows[name]['spread'])}" for name in names]
        together.add_row("paper's synth.", *means, "100%")
    console.print(together)
    console.print(
        f"{total['runs']} runs; at most {total['cpu_s_max']:.2f} CPU seconds a model, {total['memory_mb']} MB in all."
    )
    for name, model in result["models"].items():
        for fact in model["missing"]:
            console.print(f"{name} misses {' '.join(fact)}")


def _share(kept: dict[str, float]) -> str:
    return f"{min(kept.values()):.0%}"


def _short(value: float) -> str:
    """A number in five characters or so."""
    if value >= 1e6:
        return f"{value / 1e6:.0f} M"
    return f"{value / 1e3:.1f} K" if value >= 2500 else f"{value:.4g}"
