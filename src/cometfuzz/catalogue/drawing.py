"""Drawn layer calls and drawn graphs, for conformance, tests and benchmarks. The search has better ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.precision import under_policy
from cometfuzz.catalogue.spec import LayerSpec, spec_of
from cometfuzz.catalogue.validate import assemble
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Params
from cometfuzz.ir.types import TensorType

MASKED = 0.15
"""How often a layer that takes a sequence is drawn behind a Masking layer."""

GIVEN = 0.2
"""How often a layer that may be given its initial states is drawn with some."""

TARGET = "layer"
"""The id of the drawn node in the case of a layer call."""


@dataclass(frozen=True)
class LayerDraw:
    """A drawn layer call as a case; `x` and `params` are what the ledger looks at."""

    spec: LayerSpec
    case: Case
    x: Any
    params: Params


def draw_layer(name: str, seed: int, index: int, wide: bool = False) -> LayerDraw:
    """Draw number `index` of a layer: the same on every route and machine; `wide`: of sizes that matter."""
    spec, draw = spec_of(name), Draw(seed, "conformance", name, index, wide=wide)
    while True:
        types = list(spec.inputs(draw))
        if draw.chance(MASKED) and types[0].rank == 3 and types[0].is_float:
            types[0] = TensorType(types[0].dtype, types[0].shape, masked=True)
        params = spec.draw_params(draw, types)
        if params is not None:
            types = with_states(spec, types, params, Draw(seed, "states", name, index))
            return LayerDraw(spec, layer_case(spec, types, params, draw.integer(0, 2**32)), spec.view(types), params)


def with_states(
    spec: LayerSpec, types: Sequence[TensorType], params: Params, draw: Draw, chance: float = GIVEN
) -> list[TensorType]:
    """The inputs of a call, sometimes with initial states, where it takes them."""
    first = types[0]
    given = [*types, *(TensorType(first.dtype, shape) for shape in spec.given_states(types, params))]
    return given if len(given) > 1 and draw.chance(chance) and spec.accepts(given, params) else list(types)


def draw_precise(name: str, seed: int, index: int) -> LayerDraw | None:
    """The same call under a dtype policy, on inputs of other dtypes; None if the layer takes none."""
    drawn, spec = draw_layer(name, seed, index), spec_of(name)
    types = drawn.case.graph.input_types(drawn.case.graph.by_id[TARGET])
    found = under_policy(spec, types, drawn.params, Draw(seed, "precision", name, index))
    if found is None:
        return None
    types, params = found
    return LayerDraw(spec, layer_case(spec, types, params, drawn.case.rng_seed), spec.view(types, params), params)


def layer_case(spec: LayerSpec, types: Sequence[TensorType], params: Params, rng_seed: int) -> Case:
    """A case that is one layer call; a masked input comes out of a Masking layer."""
    count = len(spec.outputs(types, params))
    graph = assemble(layer_drafts(spec, types, params), [Edge(TARGET, index) for index in range(count)])
    return Case(graph, rng_seed)


def layer_drafts(spec: LayerSpec, types: Sequence[TensorType], params: Params) -> list[Draft]:
    """The nodes of a layer call, the call itself last."""
    drafts, edges = [], []
    for slot, kind in enumerate(types):
        source = f"x{slot}"
        drafts.append(Draft(source, INPUT, {**input_params(kind), "zero_steps": kind.masked}, ()))
        if kind.masked:
            drafts.append(Draft(f"mask{slot}", "Masking", {}, (Edge(source),)))
            source = f"mask{slot}"
        edges.append(Edge(source))
    drafts.append(Draft(TARGET, spec.name, params, tuple(edges)))
    return drafts


def input_params(kind: TensorType) -> dict[str, Any]:
    """The parameters of a graph input of this type."""
    return {"dtype": kind.dtype, "shape": kind.shape, "high": kind.high}


def draw_graph(draw: Draw, nodes: int, largest: int = 10_000) -> Graph:
    """A valid graph with exactly `nodes` nodes: layers of all families, each on edges that it accepts."""
    kinds: dict[Edge, TensorType] = {}
    drafts: list[Draft] = []

    def add(layer: str, params: Mapping[str, Any], inputs: tuple[Edge, ...], types: Sequence[TensorType]) -> None:
        node = f"n{len(drafts)}"
        drafts.append(Draft(node, layer, params, inputs))
        kinds.update({Edge(node, index): kind for index, kind in enumerate(types)})

    names = list(LAYERS)
    while len(drafts) < nodes:
        spec = spec_of(draw.choice(names))
        edges = _fitting(draw, spec, kinds)
        if not edges:
            wanted = spec.inputs(draw)
            if len(drafts) + len(wanted) < nodes and all(kind.elements > 0 for kind in wanted):
                for kind in wanted:
                    add(INPUT, input_params(kind), (), [kind])
            continue
        types = [kinds[edge] for edge in edges]
        params = spec.draw_params(draw, types, tries=8)
        if params is not None:
            outputs = spec.outputs(types, params)
            if all(0 < output.elements < largest and output.rank < 7 for output in outputs):
                add(spec.name, params, edges, outputs)
    return assemble(drafts, list(kinds)[-2:])


def _fitting(draw: Draw, spec: LayerSpec, kinds: Mapping[Edge, TensorType]) -> tuple[Edge, ...]:
    """Edges for one call: any that fits, as often as the layer needs inputs."""
    fits = [edge for edge, kind in kinds.items() if kind.rank in spec.ranks and kind.dtype in spec.dtypes]
    return (draw.choice(fits),) * spec.arity[0] if fits else ()
