"""Localise: the first node that differs while its inputs agree; and CRADLE's R_L beside it.

Values are judged by the oracle, which knows the node. Types and bits are compared node by node, where a route gives
its intermediates. What fails altogether is found by cutting the graph. What is found is isolated: everything upstream
becomes a constant input with the values seen there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from cometfuzz.catalogue.cutting import open_ends, outputs_of
from cometfuzz.catalogue.data import Array
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Edge, Graph
from cometfuzz.oracles.symptoms import about
from cometfuzz.protocol import WireTensor
from cometfuzz.triage.confirm import Probe
from cometfuzz.triage.editing import Workpiece
from cometfuzz.triage.reduce import Reducer

EPSILON = 1e-7
"""What keeps R_L finite where nothing differs before a layer."""


@dataclass(frozen=True)
class Located:
    """Where a finding begins: the node, how it was found, and the values that the failing route has on its way."""

    node: str
    by: str
    values: Mapping[Edge, Array]
    r_l: str = ""


def localise(probe: Probe, reducer: Reducer, case: Case, node: str) -> Located:
    """The node in which a confirmed finding begins; `node` is what the oracle says, if it says anything."""
    target = probe.target
    record = about(target.symptom)
    if record.stops:
        return Located(_by_cutting(reducer, case), "cutting", {})
    trial = probe.executor.run(case, target.routes, intermediates=True)
    outcome = trial.outcomes[target.failing]
    if not outcome.nodes:
        return Located(node, "the outputs", {})
    other = trial.outcomes[target.agreeing].nodes if target.agreeing is not None else {}
    rates = change_rates(case.graph, outcome.nodes, other) if other else {}
    r_l = max(rates, key=lambda name: rates[name], default="")
    found = node
    if record.end == "types":
        found = _first_other_type(case.graph, outcome) or node
    elif record.end == "bits":
        found = _first_other_bits(probe.executor, case, outcome) or node
    values = {edge: array_of(tensor) for edge, tensor in outcome.nodes.items()}
    return Located(found, "intermediates", values, r_l)


def isolated(case: Case, located: Located) -> Iterator[Case]:
    """The case of the node alone: on the values of the reference, then on those that the failing route has there."""
    piece = Workpiece(case)
    if located.node not in case.graph.by_id or case.graph.by_id[located.node].layer == INPUT:
        return
    inputs = {Edge(name): array for name, array in piece.data.inputs.items()}
    for values in (piece.values, {**inputs, **located.values} if located.values else None):
        part = None
        if values is not None and _fit(case.graph, values):
            part = piece.alone(located.node, values)
        if part is not None:
            yield part
    above = piece.rebuilt(case.graph.drafts, outputs_of(case.graph, located.node))
    if above is not None:
        yield above


def _fit(graph: Graph, values: Mapping[Edge, Array]) -> bool:
    """Whether values have the shapes that the graph has; a route that went wrong may have others."""
    return all(
        values[edge].shape == graph.type_of(edge).shape
        for node in graph.nodes
        for edge in node.inputs
        if edge in values
    ) and all(edge in values for node in graph.nodes for edge in node.inputs)


def _first_other_type(graph: Graph, outcome: Outcome) -> str:
    for node in graph.nodes:
        for index, kind in enumerate(node.outputs):
            seen = outcome.nodes.get(Edge(node.id, index))
            if seen is not None and (seen.dtype, seen.shape) != (kind.dtype, kind.shape):
                return node.id
    return ""


def _first_other_bits(executor: Executor, case: Case, first: Outcome) -> str:
    second = executor.run(case, [first.route], intermediates=True).outcomes[first.route]
    for edge, tensor in first.nodes.items():
        if edge in second.nodes and second.nodes[edge].data != tensor.data:
            return edge.node
    return ""


def _by_cutting(reducer: Reducer, case: Case) -> str:
    """The last node of the shortest beginning of the graph that fails, found by halving."""
    layers = [node.id for node in case.graph.nodes if node.layer != INPUT]
    low, high = 0, len(layers)
    while high - low > 1 and not reducer.exhausted:
        middle = (low + high) // 2
        part = beginning(case, layers[:middle])
        if part is not None and reducer.show(part) is not None:
            high = middle
        else:
            low = middle
    return layers[high - 1]


def beginning(case: Case, names: list[str]) -> Case | None:
    """The given nodes, with an output wherever nobody reads on."""
    return Workpiece(case).rebuilt(case.graph.drafts, open_ends(case.graph, names))


def change_rates(graph: Graph, one: Mapping[Edge, WireTensor], two: Mapping[Edge, WireTensor]) -> dict[str, float]:
    """CRADLE's R_L of every layer: how much the mean distance of two routes grows in it, relative to before it.

    (d - b) / (b + epsilon), where d is the layer's mean absolute distance and b the largest of what it reads.
    """
    distances: dict[str, float] = {}
    rates: dict[str, float] = {}
    for node in graph.nodes:
        if node.layer == INPUT:
            distances[node.id] = 0.0
            continue
        distances[node.id] = max(_distance(one.get(edge), two.get(edge)) for edge in outputs_of(graph, node.id))
        before = max((distances[edge.node] for edge in node.inputs), default=0.0)
        if np.isfinite(before):
            rates[node.id] = (distances[node.id] - before) / (before + EPSILON)
    return rates


def _distance(one: WireTensor | None, two: WireTensor | None) -> float:
    if one is None or two is None or one.shape != two.shape:
        return float("inf")
    first, second = array_of(one).astype(np.float64), array_of(two).astype(np.float64)
    if not first.size:
        return 0.0
    with np.errstate(all="ignore"):
        apart = np.where((first == second) | (np.isnan(first) & np.isnan(second)), 0.0, np.abs(first - second))
    return float("inf") if np.isnan(apart).any() else float(np.mean(apart))
