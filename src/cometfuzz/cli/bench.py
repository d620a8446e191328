"""`cometfuzz bench`: how fast our own code is, in CPU time."""

import time
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.catalogue.validate import assemble
from cometfuzz.cli.output import print_json
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.ir.types import TensorType

app = typer.Typer(
    no_args_is_help=True, help="Measure our own code in CPU time.", epilog="Example: cometfuzz bench graph --json"
)


@app.callback()
def _group() -> None:
    pass


@app.command(epilog="Example: cometfuzz bench graph --nodes 40 --json")
def graph(
    nodes: Annotated[int, typer.Option(min=2, help="Nodes in each graph.")] = 40,
    graphs: Annotated[int, typer.Option(min=1, help="How many different graphs.")] = 100,
    seconds: Annotated[float, typer.Option(min=0.1, help="CPU seconds to spend.")] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Decode drawn graphs of all layers, over and over; decoding types and validates every node."""
    texts = [encode(Case(draw_graph(Draw("bench", index), nodes), index)) for index in range(graphs)]
    done, began = 0, time.process_time()
    while (spent := time.process_time() - began) < seconds:
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


def draw_graph(draw: Draw, nodes: int) -> Graph:
    """A valid graph with exactly `nodes` nodes: layers of any family, each on an edge that it accepts."""
    kinds: dict[Edge, TensorType] = {}
    drafts: list[Draft] = []

    def add(layer: str, params: Mapping[str, Any], inputs: tuple[Edge, ...], types: tuple[TensorType, ...]) -> None:
        node = f"n{len(drafts)}"
        drafts.append(Draft(node, layer, params, inputs))
        kinds.update({Edge(node, index): kind for index, kind in enumerate(types)})

    def add_input(kind: TensorType) -> None:
        params = {"dtype": kind.dtype, "shape": kind.shape, "high": kind.high}
        add(INPUT, params, (), (kind,))

    names = list(LAYERS)
    while len(drafts) < nodes:
        spec = spec_of(draw.choice(names))
        if spec.arity != (1, 1):
            continue
        fitting = [edge for edge, kind in kinds.items() if kind.rank in spec.ranks and kind.dtype in spec.dtypes]
        if not fitting:
            kind = spec.inputs(draw)[0]
            if len(drafts) < nodes - 1 and kind.elements:
                add_input(kind)
            continue
        edge = draw.choice(fitting)
        params = spec.draw_params(draw, [kinds[edge]])
        if params is not None:
            outputs = spec.outputs([kinds[edge]], params)
            if all(0 < output.elements < 10_000 for output in outputs):
                add(spec.name, params, (edge,), outputs)
    return assemble(drafts, list(kinds)[-1:])
