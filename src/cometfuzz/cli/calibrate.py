"""`cometfuzz calibrate`: how much room the error bound and the gate leave on clean runs."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cometfuzz.catalogue.utility import SPECIAL_NODES
from cometfuzz.cli.completing import complete_routes
from cometfuzz.cli.numbers import LARGEST_SEED, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.config import load as load_config
from cometfuzz.execution.configuring import configured, usable
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.oracles.calibration import PERCENTILES, Calibration
from cometfuzz.routes.registry import with_turn
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.published import names, synthesised


def calibrate(
    cases: Annotated[int, typer.Option(min=1, help="How many models to run.")] = 100,
    routes: Annotated[
        str, typer.Option(autocompletion=complete_routes, help="Routes, with commas between them.")
    ] = ",".join(with_turn("base")),
    seed: Annotated[int, typer.Option(min=0, callback=at_most(LARGEST_SEED), help="Same seed, same models.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure how far libraries stray from the reference when nothing is wrong, in units of the error bound.

    Every node of every model is judged on its own inputs: first the tensor as a whole, then the digits of each element.
    One layer of each model is held against itself. What is beyond 1 is a bug or a bound that is too tight. What the
    oracles claim of these models is counted by class.

    Example: cometfuzz calibrate --cases 200 --routes keras-tf,keras-torch,onnxruntime
    """
    chosen = usable(routes, configured(load_config(None)))
    strategy = make_strategy("directed", Options(seed, [synthesised(name) for name in names()]))
    made: list[Case] = []
    rehearse(strategy, cases, made.append)
    calibration = Calibration()
    with Executor(chosen) as executor, progress("running", len(made), quiet=as_json) as shown:
        for case in made:
            shown.advance()
            dialect = usual_dialects().of(case.graph).name
            speaking = [route.name for route in chosen if route.speaks in (dialect, "")]
            clean = not any(node.layer in SPECIAL_NODES for node in case.graph.nodes)
            if speaking and clean:
                calibration.add(case, speaking, executor.run, executor.view)
    result = calibration.as_plain()
    if as_json:
        print_json(result)
    else:
        _print(result)


def _print(result: dict[str, Any]) -> None:
    console = Console()
    headings = {
        "routes": "the tensor as a whole",
        "digits": "the digits of each element",
        "relations": "a layer against itself",
    }
    for name, heading in headings.items():
        table = Table("route", "dtype", "nodes", *(f"{share:g}%" for share in PERCENTILES), "largest", title=heading)
        for route, dtypes in result[name].items():
            for dtype, measures in dtypes.items():
                shares = [f"{measures[f'p{share:g}']:.3f}" for share in PERCENTILES]
                table.add_row(route, dtype, str(measures["nodes"]), *shares, f"{measures['largest']:.3g}")
        console.print(table)
    console.print(
        f"{result['beyond']} of {result['nodes']} node outputs are beyond the bound, {result['beyond_digits']} have "
        f"elements that lost their digits; the gate suspects {result['suspected']} of {result['runs']} runs."
    )
    claims = ", ".join(f"{name} {count}" for name, count in result["claims"].items())
    console.print(f"Claims that nothing known explains, by class: {claims}.")
    for wrong in result["wrong"][:20]:
        where = f"{wrong['symptom']}: {wrong['route']} {wrong['layer']} {wrong['dtype']}"
        console.print(f"{where}: {wrong['detail']}", markup=False)
