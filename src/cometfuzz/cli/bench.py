"""`cometfuzz bench`: how fast our own code is, in CPU time."""

import time
from typing import Annotated

import typer

from cometfuzz.campaign.judging import Judged, Part, judge
from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.validate import type_call, validate
from cometfuzz.cli.completing import complete_route, complete_routes
from cometfuzz.cli.numbers import MOST_SECONDS, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.draw import Draw
from cometfuzz.execution.configuring import usable
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.measuring import measure, measure_branches, measure_sharing
from cometfuzz.execution.measuring_direct import measure_direct
from cometfuzz.execution.outcome import Trial
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.routes.registry import ROUTES, choose
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.small import SMALL

WARM = 300
"""Mutants before the clock starts: a campaign is longer than its beginning."""

EXECUTED = "keras-tf,keras-torch,onnxruntime,openvino"

app = typer.Typer(
    no_args_is_help=True, help="Measure our own code in CPU time.", epilog="Example: cometfuzz bench graph --json"
)


@app.command(epilog="Example: cometfuzz bench graph --nodes 40 --json")
def graph(
    nodes: Annotated[int, typer.Option(min=2, help="Nodes in each graph.")] = 40,
    graphs: Annotated[int, typer.Option(min=1, help="How many different graphs.")] = 100,
    seconds: Annotated[
        float, typer.Option(min=0.1, callback=at_most(MOST_SECONDS), help="CPU seconds to spend.")
    ] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Decode drawn graphs of all layers, over and over; decoding types and validates every node."""
    texts = [encode(Case(draw_graph(Draw("bench", index), nodes), index)) for index in range(graphs)]
    done, began = 0, time.process_time()
    while (spent := time.process_time() - began) < seconds:
        type_call.cache_clear()  # in a campaign most calls are remembered; here every one is new
        decode(texts[done % len(texts)])
        done += 1
    result = {
        "graphs_per_cpu_s": round(done / spent, 1),
        "nodes": nodes,
        "graphs": done,
        "cpu_s": round(spent, 3),
        "mean_bytes": round(sum(map(len, texts)) / len(texts)),
    }
    if as_json:
        print_json(result)
    else:
        typer.echo(f"{result['graphs_per_cpu_s']} graphs of {nodes} nodes per CPU second")


@app.command(epilog="Example: cometfuzz bench mutate --json")
def mutate(
    cases: Annotated[int, typer.Option(min=1, help="How many mutants to make.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make mutants with the strategy comet at steady state, its search and its coverage accounting included."""
    strategy = make_strategy("comet", Options(1, [make() for make in SMALL.values()]))
    rehearse(strategy, WARM)
    sizes: list[int] = []
    valid: list[bool] = []
    began = time.process_time()
    rehearse(strategy, cases, lambda case: sizes.append(len(case.graph.nodes)))
    spent = time.process_time() - began
    rehearse(strategy, 50, lambda case: valid.append(not validate(case.graph)))
    result = {
        "mutants_per_cpu_s": round(cases / spent, 1),
        "mean_nodes": round(sum(sizes) / len(sizes), 1),
        "valid": sum(valid) / len(valid),
    }
    if as_json:
        print_json(result)
    else:
        typer.echo(f"{result['mutants_per_cpu_s']} mutants of {result['mean_nodes']} nodes per CPU second")


@app.command(epilog="Example: cometfuzz bench execute --models 20 --json")
def execute(
    models: Annotated[int, typer.Option(min=1, help="How many models.")] = 100,
    layers: Annotated[int, typer.Option(min=1, help="Layers in each model.")] = 12,
    routes: Annotated[
        str,
        typer.Option(
            autocompletion=complete_routes, help="Routes, with commas.", show_default=EXECUTED.replace(",", ", ")
        ),
    ] = EXECUTED,
    sharing: Annotated[int, typer.Option(min=0, help="Models on all readers of one ONNX file; 0 for none.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run drawn models on real libraries: our CPU time, in parent and workers, beside the libraries' own.

    sharing: the six routes that read one ONNX file together, against one of them plus the other runtimes alone.
    """
    chosen = usable(routes, ROUTES)
    with progress("running models", models + sharing, quiet=as_json) as shown:
        result = measure(chosen, models, layers, shown.advance)
        if sharing:
            result["sharing"] = measure_sharing(sharing, layers, shown.advance)
    if as_json:
        print_json(result)
        return
    typer.echo(
        f"{models} models of {layers} layers, {len(chosen)} routes: {result['models_per_cpu_s']} models per CPU second,"
        f" ours {result['own_cpu_s']} s, the libraries' {result['library_cpu_s']} s ({result['overhead']:.1%}),"
        f" {result['own_ms_per_route']} ms per model and route"
    )


@app.command(epilog="Example: cometfuzz bench branches --models 20 --json")
def branches(
    models: Annotated[int, typer.Option(min=1, help="How many models.")] = 50,
    layers: Annotated[int, typer.Option(min=1, help="Layers in each model.")] = 12,
    rounds: Annotated[int, typer.Option(min=1, help="How often each model is run on warm workers.")] = 4,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run drawn models on Keras with TensorFlow, branches observed and not: start-up, and CPU time when warm.

    startup: without the observer, with nothing in its cache, with its cache filled.
    """
    with progress("running models", models * (1 + rounds), quiet=as_json) as shown:
        result = measure_branches(models, layers, rounds, shown.advance)
    if as_json:
        print_json(result)
        return
    start, share = result["startup_cpu_s"], result["branches"]
    typer.echo(
        f"{result['slowdown']:.3f} times the CPU time when warm; start-up {start['off']} CPU s without,"
        f" {start['first']} the first time, {start['cached']} from then on;"
        f" {share['covered']} of {share['total']} branches in {result['modules']} modules ({share['percent']}%)"
    )


@app.command(epilog="Example: cometfuzz bench direct --models 200 --json")
def direct(
    models: Annotated[int, typer.Option(min=1, help="How many models.")] = 200,
    nodes: Annotated[int, typer.Option(min=2, help="Nodes in each model.")] = 12,
    route: Annotated[
        str, typer.Option(autocompletion=complete_route, help="A route that reads the ONNX that we write.")
    ] = "direct-onnxruntime",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write drawn models as ONNX, check and run them: CPU time of these stages, and with all that lies between.

    models_per_cpu_s: writer, checker and reader alone. with_transport: with the drawing of tensors, and all that
    parent and children do to hand them over. end_to_end: with the drawing of the models, and their judgement as in a
    campaign.
    """
    (chosen,) = choose(route, ROUTES)
    with progress("running models", models, quiet=as_json) as shown:
        result = measure_direct(chosen, models, nodes, _judge, shown.advance)
    if as_json:
        print_json(result)
        return
    each = ", ".join(f"{stage} {spent} ms" for stage, spent in result["ms_per_model"].items())
    typer.echo(
        f"{result['models_per_cpu_s']} models of {nodes} nodes per CPU second ({each});"
        f" {result['models_per_cpu_s_with_transport']} with transport,"
        f" {result['models_per_cpu_s_end_to_end']} with drawing and judging;"
        f" {result['completed']} of {models} completed"
    )


def _judge(trial: Trial, executor: Executor) -> Judged:
    """As a campaign judges it."""
    return judge(Part(trial.case, tuple(trial.outcomes)), trial, executor.run, executor.view)
