"""The ten published models (the paper, table "Statistics of Original Models"), its numbers, and why ours differ.

The four small ones are written down in `small.py`. The six big ones were imported from keras.applications and lie in
`originals/` as case files, so that nobody needs a library to read them; `cometfuzz seeds --out` makes them anew. What a
campaign starts from are the small models in `synthesised/`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.errors import UnknownName
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.ir.plain import graph_to_plain, params_to_plain
from cometfuzz.seeds.keras_child import application
from cometfuzz.seeds.keras_config import translate
from cometfuzz.seeds.small import SMALL


@dataclass(frozen=True)
class Published:
    """One row of the paper's table, and why our numbers differ from it."""

    layers: int
    weights_millions: float
    inputs: int
    parameters: int
    sequences: int
    differences: tuple[str, ...] = ()


HEAD = (
    "layers and weights: the paper has one layer and 0.1 M weights more. One more Dense of 100 units behind the 1000 "
    "classes (100,100 weights) gives its numbers for all six, cut to three digits; keras.applications has none, and we "
    "add none"
)
KERNEL = (
    "parameters: the paper has one value less. The only ones that both Inceptions have and no other model has are the "
    "kernel sizes (1, 3), (3, 1), (1, 7) and (7, 1); one of them is not counted there, we cannot tell which"
)
SCALED = (
    "layers: CustomScaleLayer (40 times), which is not public, is written as the two layers that compute it, Rescaling "
    "and Add; neither is counted in the paper's space"
)
PAPER: Mapping[str, Published] = {
    "AlexNet": Published(17, 21.592, 22, 35, 5),
    "LSTM (SineWave)": Published(5, 0.071, 9, 22, 2),
    "LeNet": Published(9, 0.062, 14, 20, 3),
    "DenseNet121": Published(429, 8.162, 29, 45, 6, (HEAD,)),
    "InceptionResNetV2": Published(782, 55.973, 26, 46, 4, (HEAD, KERNEL, SCALED)),
    "InceptionV3": Published(313, 23.951, 30, 45, 4, (HEAD, KERNEL)),
    "ResNet50": Published(177, 25.736, 24, 40, 4, (HEAD,)),
    "Xception": Published(134, 23.010, 30, 54, 3, (HEAD,)),
    "LSTM (StockPrice)": Published(3, 0.026, 6, 21, 1),
    "MobileNetV2": Published(156, 3.639, 37, 54, 9, (HEAD,)),
}
PAPER_TOTAL_MILLIONS = 305.28
PAPER_TOGETHER = {"inputs": 116, "parameters": 122, "sequences": 25}
"""What the ten cover together. Of the inputs we count 80: the paper's space has five shapes for each layer, and it does
not say which shapes of which model it counts beyond them. Of the parameters 123: see KERNEL."""
TOTAL = "weights: the paper's rows add up to 162.22 M, but its table of the synthesis says 305.28 M; we cannot tell why"


def names() -> list[str]:
    """The ten models, in the order of the paper's table."""
    return list(PAPER)


@cache
def original(name: str) -> Graph:
    """A published model at its published size."""
    if name not in PAPER:
        raise UnknownName(f"expected one of {', '.join(PAPER)}; received name={name!r}")
    if name in SMALL:
        return SMALL[name]()
    return decode(files("cometfuzz.seeds").joinpath("originals", f"{slug(name)}.json").read_bytes()).graph


@cache
def synthesised(name: str) -> Graph:
    """A small model that covers what a published one covers; `cometfuzz synthesise --out` makes them anew."""
    if name not in PAPER:
        raise UnknownName(f"expected one of {', '.join(PAPER)}; received name={name!r}")
    return decode(files("cometfuzz.seeds").joinpath("synthesised", f"{slug(name)}.json").read_bytes()).graph


def import_applications(report: Callable[[str], None]) -> dict[str, Graph]:
    """The six big models, made anew by a Keras in a child process."""
    graphs = {}
    for name in PAPER:
        if name not in SMALL:
            report(name)
            graphs[name] = translate(application(name)).graph
    return graphs


def slug(name: str) -> str:
    """The name of a model as that of a file."""
    return name.replace(" (", "-").removesuffix(")")


def write(graph: Graph, path: Path) -> None:
    """A case file for people: one node a line, and only the parameters that differ from the simplest ones."""
    nodes = []
    for node, plain in zip(graph.nodes, graph_to_plain(graph)["nodes"], strict=True):
        nodes.append(json.dumps({**plain, "params": _named(node)}))
    outputs = json.dumps([list(edge) for edge in graph.outputs])
    text = ",\n".join(nodes)
    path.write_text(f'{{"version": 1, "rng_seed": 0, "graph": {{"outputs": {outputs}, "nodes": [\n{text}\n]}}}}\n')


def _named(node: Node) -> dict[str, Any]:
    simplest = CATALOGUE[node.layer].complete({})
    given = {name: value for name, value in node.params.items() if repr(value) != repr(simplest[name])}
    return params_to_plain(given)


def layer_count(graph: Graph) -> int:
    """The layers of a graph: utility nodes and inputs do not count."""
    return sum(node.layer in LAYERS for node in graph.nodes)
