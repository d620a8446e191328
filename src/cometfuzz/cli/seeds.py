"""`cometfuzz seeds`: the ten published models, beside the paper's numbers."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.catalogue.cost import weights_of
from cometfuzz.cli.output import make_folder, print_json, save_graphs
from cometfuzz.cli.progress import working
from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.seeds import published
from cometfuzz.seeds.counting import as_the_authors_count


def seeds(
    out: Annotated[
        Path | None,
        typer.Option(help="Import the six big models anew, by a Keras in a child process, and write them here."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show the ten published models that everything starts from, beside the paper's numbers.

    inputs, parameters and sequences are counted as the paper's authors do; `cometfuzz space` explains them. Each
    difference from the paper is explained below the table. The big six of the package are made by
    `cometfuzz seeds --out src/cometfuzz/seeds/originals`.

    Example: cometfuzz seeds --json
    """
    make_folder(out)
    if out is not None:
        with working("importing", quiet=as_json) as tell:
            save_graphs(out, published.import_applications(tell))
    result = _measured()
    if as_json:
        print_json(result)
    else:
        _print(result)


def _measured() -> dict[str, Any]:
    models: dict[str, dict[str, Any]] = {}
    for name, paper in published.PAPER.items():
        graph = published.original(name)
        models[name] = {
            "layers": published.layer_count(graph),
            "weights": weights_of(graph),
            **as_the_authors_count(graph),
            "paper": {
                "layers": paper.layers,
                "weights_millions": paper.weights_millions,
                **{criterion: getattr(paper, criterion) for criterion in CRITERIA},
            },
            "differences": list(paper.differences),
        }
    total = {
        "layers": sum(model["layers"] for model in models.values()),
        "weights": sum(model["weights"] for model in models.values()),
        "paper": {
            "layers": sum(paper.layers for paper in published.PAPER.values()),
            "weights_millions": published.PAPER_TOTAL_MILLIONS,
        },
        "differences": [published.TOTAL],
    }
    return {"models": models, "total": total}


def _print(result: dict[str, Any]) -> None:
    table = Table("model", "layers", "weights, M", *CRITERIA, box=box.SIMPLE, padding=0, pad_edge=False)
    reasons: dict[str, list[str]] = {}
    for name, row in [*result["models"].items(), ("all", result["total"])]:
        paper = row["paper"]
        counts = [f"{row[criterion]} / {paper[criterion]}" if criterion in row else "" for criterion in CRITERIA]
        weights = f"{row['weights'] / 1e6:.3f} / {paper['weights_millions']:g}"
        table.add_row(name, f"{row['layers']} / {paper['layers']}", weights, *counts)
        for reason in row["differences"]:
            reasons.setdefault(reason, []).append(name)
    console = Console()
    console.print(table)
    console.print("Each cell: ours / the paper's.")
    for reason, models in reasons.items():
        console.print(f"{', '.join(models)}: {reason}.")
