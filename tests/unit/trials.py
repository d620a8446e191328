"""Trials made by hand: what routes would have answered, without any library."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import NUMPY, Array, draw_data
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.executor import select_outputs, with_all_outputs
from cometfuzz.execution.outcome import Failure, Outcome, StageTime, Trial
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.run import narrow, run

Fault = Callable[[str, Array], Array]
"""(layer, its right output) -> what the route gives instead."""


def right(layer: str, value: Array) -> Array:
    return value


def chain(shape: Sequence[int], *layers: tuple[str, Mapping[str, Any]], dtype: str = "float32") -> Case:
    """A case whose layers n0, n1... follow each other."""
    drafts = [Draft("x", INPUT, {"shape": tuple(shape), "dtype": dtype}, ())]
    for number, (layer, params) in enumerate(layers):
        drafts.append(Draft(f"n{number}", layer, params, (Edge(drafts[-1].id),)))
    return Case(assemble(drafts, [Edge(drafts[-1].id)]), 7)


def answer(case: Case, fault: Fault = right, graph: Graph | None = None) -> list[WireTensor]:
    """The outputs of a route that computes as the reference does, but for a fault that goes on downstream."""
    graph = graph or case.graph
    data = draw_data(case)
    values: dict[Edge, Array] = {Edge(name): array for name, array in data.inputs.items()}
    for node in graph.nodes:
        if node.layer == INPUT:
            continue
        drafts = [Draft(f"i{i}", INPUT, _typed(graph, edge), ()) for i, edge in enumerate(node.inputs)]
        inputs = tuple(Edge(draft.id) for draft in drafts)
        single = assemble(
            [*drafts, node.draft._replace(inputs=inputs)], [Edge(node.id, i) for i in range(len(node.outputs))]
        )
        given = {draft.id: values[edge] for draft, edge in zip(drafts, node.inputs, strict=True)}
        weights = {node.id: data.weights[node.id]} if node.id in data.weights else {}
        seen = run(single, type(data)(given, weights)).values
        for index, kind in enumerate(node.outputs):
            values[Edge(node.id, index)] = fault(node.layer, narrow(seen[Edge(node.id, index)], kind.dtype))
    return [wire(values[edge]) for edge in graph.outputs]


def _typed(graph: Graph, edge: Edge) -> dict[str, Any]:
    kind = graph.type_of(edge)
    return {"dtype": kind.dtype, "shape": kind.shape, "high": kind.high}


def wire(array: Array) -> WireTensor:
    name = next(name for name, dtype in NUMPY.items() if dtype == array.dtype)
    return WireTensor(name, array.shape, np.ascontiguousarray(array).tobytes())


def completed(route: str, outputs: Sequence[WireTensor], wall_s: float = 0.1) -> Outcome:
    return Outcome(route, "completed", "run", route, tuple(outputs), times=(StageTime("run", route, wall_s, wall_s),))


def raised(route: str, kind: str, message: str, *frames: str, stage: str = "build", library: str = "keras") -> Outcome:
    return Outcome(route, "exception", stage, library, failure=Failure(kind, (kind, "Exception"), message, frames))


class Routes:
    """Routes with faults, as a Rerun: routes that are not named compute right."""

    def __init__(self, **faults: Fault) -> None:
        self.faults = {name.replace("_", "-"): fault for name, fault in faults.items()}

    def __call__(
        self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        graph = with_all_outputs(case.graph) if intermediates else case.graph
        outcomes = {}
        for name in routes:
            outcome = completed(name, answer(case, self.faults.get(name, right), graph))
            outcomes[name] = select_outputs(outcome, case.graph, graph) if intermediates else outcome
        return Trial(case, outcomes)
