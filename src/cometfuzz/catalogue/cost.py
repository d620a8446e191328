"""What a layer call costs, roughly: enough to keep a graph from growing beyond what a worker can run in a moment."""

import math
from functools import lru_cache
from typing import NamedTuple

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.ir.graph import Graph, Params
from cometfuzz.ir.types import TensorType

ITEM_BYTES = {"float64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "bool": 1}


class Cost(NamedTuple):
    """Floating-point operations, and bytes of weights and outputs."""

    flops: int
    bytes: int


@lru_cache(maxsize=10_000)
def cost_of(layer: str, types: tuple[TensorType, ...], params: Params, outputs: tuple[TensorType, ...]) -> Cost:
    """The cost of a valid call.

    Every weight is used once at every position of the larger side, every element once for each place of a window.
    Layers of several inputs may let every element meet every step of the others, as attention does.
    """
    elements = sum(kind.elements for kind in (*types, *outputs))
    window = math.prod(_sizes(params.get("pool_size", 1)))
    meets = max((kind.shape[1] for kind in types if kind.rank > 1), default=1) if len(types) > 1 else 1
    positions = max((kind.elements // max((1, *kind.shape[-1:])) for kind in (*types[:1], *outputs)), default=1)
    weights = _weights(layer, types, params)
    held = sum(kind.elements * ITEM_BYTES[kind.dtype] for kind in outputs) + weights * ITEM_BYTES[outputs[0].dtype]
    return Cost(elements * max(window, meets) + positions * weights, held)


def weights_of(graph: Graph) -> int:
    """The number of weights of a whole graph."""
    return sum(_weights(node.layer, graph.input_types(node), node.params) for node in graph.nodes)


def _weights(layer: str, types: tuple[TensorType, ...], params: Params) -> int:
    if not types:
        return 0
    spec = CATALOGUE[layer]
    return sum(math.prod(shape) for shape in spec.weights(spec.view(types, params), params).values())


def _sizes(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)
