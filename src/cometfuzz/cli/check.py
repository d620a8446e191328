"""`cometfuzz check`: does a user's own model survive every conversion?"""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.catalogue.files import load as load_case
from cometfuzz.cli.output import print_json
from cometfuzz.config import load as load_config
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import Limits
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.checking import Answer, check_model
from cometfuzz.reports.text import clean
from cometfuzz.routes.registry import choose, configured
from cometfuzz.seeds.importing import import_model


def check(
    model: Annotated[Path, typer.Argument(metavar="MODEL.keras", help="A .keras file, or a case file.")],
    routes: Annotated[
        str, typer.Option(help="Routes, with commas between them; by default all that speak Keras 3.")
    ] = "",
    open_size: Annotated[
        int | None, typer.Option(min=1, help="The size of axes that the file leaves open, the batch apart (it is 1).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="What the inputs are drawn from.")] = 0,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run your own model, with its weights and drawn inputs, on all routes, and say which of them disagree.

    The exit code is 1 if a route fails or gives another answer. Small models are judged layer by layer against the
    reference; large ones by how far a route is from Keras on TensorFlow.

    Example: cometfuzz check mine.keras --routes keras-tf,onnxruntime,litert
    """
    keras_file = model.suffix == ".keras"
    case = import_model(model, weights=True, open_size=open_size, rng_seed=seed) if keras_file else load_case(model)
    settings = load_config(config)
    known = configured(settings)
    chosen = choose(routes, known) if routes else [route for route in known.values() if route.speaks == "keras3"]
    with (
        Console(stderr=True).status("running"),
        Executor(chosen, limits=Limits.of(settings.limits), pause_after=0) as executor,
    ):
        answers = check_model(Bench(executor.run(case), executor.run, view=executor.view))
    if as_json:
        print_json({"model": str(model), "agrees": all(answer.ok for answer in answers), "routes": _plain(answers)})
    else:
        _print(answers)
    if not all(answer.ok for answer in answers):
        raise typer.Exit(1)


def _plain(answers: list[Answer]) -> list[dict[str, Any]]:
    return [
        {"name": answer.route, "ok": answer.ok, "answer": answer.text, "largest_difference": answer.difference}
        for answer in answers
    ]


def _print(answers: list[Answer]) -> None:
    table = Table("route", "answer", "largest difference", box=box.SIMPLE_HEAD, pad_edge=False)
    for answer in answers:
        difference = "" if answer.difference is None else f"{answer.difference:.2g}"
        table.add_row(answer.route, clean(answer.text), difference)
    console = Console()
    console.print(table)
    wrong = sum(not answer.ok for answer in answers)
    console.print(f"{wrong} of {len(answers)} routes disagree." if wrong else "All routes agree.")
