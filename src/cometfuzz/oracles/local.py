"""Local judgement (DESIGN, "Judging values"): the reference applied to a route's own inputs of one node.

A cheap gate end to end raises a suspicion. Then the route runs again with the output of every node, and each node is
judged on what it really got, so that rounding upstream excuses nothing and accuses nobody. If no node is wrong by
itself, what is fused may be: windows of two and three nodes are run and judged as models of their own.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cometfuzz.catalogue.data import Array, Data, to_array, to_tensor
from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import select_outputs, with_all_outputs
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Node
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.finding import Symptom
from cometfuzz.reference.bound import Expected, Verdict, expect, judge, plainly_right
from cometfuzz.reference.run import Run, narrow, roundoff, run, smallest

if TYPE_CHECKING:
    from cometfuzz.oracles.bench import Rerun

GATE = 64.0
"""The gate, in units of roundoff of the coarsest dtype on the way; `cometfuzz calibrate` says how many pass it."""

MARGIN = 4.0
"""How many bounds a value must be off to be reported: the bound is statistical, and clean runs reach 1.3 of it,
attention over hundreds of keys up to 3.9 (`cometfuzz calibrate`)."""

LARGEST_WINDOW = 3
FUSING = ("tf-graph", "tf-xla", "onnxruntime", "openvino", "litert", "torch-onnx", "keras-jax")
"""Routes that may compute several nodes as one: only there a window can be wrong while its nodes are right."""


@dataclass(frozen=True)
class Suspect:
    """A route and the outputs that are beyond the gate."""

    route: str
    outcome: Outcome
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class WrongNode:
    """A node, or a window that ends in it, that is wrong on a route by its own inputs."""

    route: str
    outcome: Outcome
    node: Node
    window: tuple[Node, ...]
    verdict: Verdict
    symptom: Symptom


def same_types(graph: Graph, outcome: Outcome) -> bool:
    """Whether a route gave the outputs that the catalogue predicts, as far as shapes and dtypes go."""
    kinds = [(kind.dtype, kind.shape) for kind in map(graph.type_of, graph.outputs)]
    return kinds == [(tensor.dtype, tensor.shape) for tensor in outcome.outputs]


def suspects(graph: Graph, completed: Mapping[str, Outcome], reference: Run) -> list[Suspect]:
    """The routes that do not pass the gate."""
    units = units_of(graph)
    found = []
    for name, outcome in completed.items():
        if not same_types(graph, outcome):
            continue
        edges = tuple(
            edge
            for edge, tensor in zip(graph.outputs, outcome.outputs, strict=True)
            if not _passes(reference.values[edge], array_of(tensor), tensor.dtype, units[edge.node])
        )
        if edges:
            found.append(Suspect(name, outcome, edges))
    return found


def units_of(graph: Graph) -> dict[str, float]:
    """For each node the largest roundoff of all dtypes that it stands on."""
    units: dict[str, float] = {}
    for node in graph.nodes:
        own = [roundoff(kind.dtype) for kind in node.outputs if kind.dtype in FLOATS]
        units[node.id] = max([*own, *(units[edge.node] for edge in node.inputs)], default=0.0)
    return units


def _passes(want: Array, seen: Array, dtype: str, unit: float) -> bool:
    if dtype not in FLOATS:
        return bool((want == seen).all())
    wide, narrowed = seen.astype(np.float64), narrow(want, dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        finite = np.isfinite(want)
        scale = float(np.sqrt(np.mean(np.square(want), where=finite))) if finite.any() else 0.0
        near = np.abs(wide - want) <= GATE * unit * (np.abs(want) + scale) + smallest(dtype)
    same = (np.isnan(wide) & np.isnan(narrowed)) | (wide == narrowed)
    return bool((same | near).all())


def find_wrong_nodes(case: Case, data: Data, found: Sequence[Suspect], rerun: "Rerun") -> list[WrongNode]:
    """Where each suspect goes wrong: the first wrong nodes on the ways to its outputs."""
    seen = {suspect.route: suspect.outcome for suspect in found}
    if set(with_all_outputs(case.graph).outputs) <= set(case.graph.outputs):
        seen = {name: select_outputs(outcome, case.graph, case.graph) for name, outcome in seen.items()}
    else:
        seen = dict(rerun(case, list(seen), intermediates=True).outcomes)
    wrong: list[WrongNode] = []
    for suspect in found:
        outcome = seen[suspect.route]
        if outcome.status != "completed" or not outcome.nodes:
            continue
        values = {edge: array_of(tensor) for edge, tensor in outcome.nodes.items()}
        values.update({Edge(name): array for name, array in data.inputs.items()})
        nodes = list(_judge_nodes(case.graph, data, values, suspect))
        if not nodes and suspect.route in FUSING:
            nodes = list(_judge_windows(case, data, values, suspect, rerun))
        wrong += nodes
    return wrong


def _judge_nodes(graph: Graph, data: Data, values: Mapping[Edge, Array], suspect: Suspect) -> Iterator[WrongNode]:
    """Every node on its own inputs; what stands on a wrong one is not judged."""
    spoiled: set[str] = set()
    for node in graph.nodes:
        if node.layer == INPUT:
            continue
        if any(edge.node in spoiled for edge in node.inputs):
            spoiled.add(node.id)
            continue
        part = window(graph, [node], values)
        if part is None:
            continue
        for found in _wrong(part, (node,), data, values, suspect):
            spoiled.add(node.id)
            yield found
            break


def _wrong(
    part: Case, nodes: tuple[Node, ...], data: Data, values: Mapping[Edge, Array], suspect: Suspect
) -> Iterator[WrongNode]:
    weights = {node.id: data.weights[node.id] for node in part.graph.nodes if node.id in data.weights}
    inputs = {node.id: to_array(part.data[node.id]) for node in part.graph.inputs}
    given = Data(inputs, weights)
    exact = run(part.graph, given).values
    if all(plainly_right(exact[edge], values[edge], part.graph.type_of(edge).dtype) for edge in part.graph.outputs):
        return  # whatever the bound, which takes eight more runs
    if _leaves_range(part.graph, exact):
        return
    expected = expect(part.graph, given)
    for edge in part.graph.outputs:
        verdict = judge(expected[edge], values[edge])
        if not verdict.ok:
            symptom = symptom_of(expected[edge], values[edge])
            if expected[edge].bound is None or symptom != "value" or verdict.worst > margin_of(inputs.values()):
                yield WrongNode(suspect.route, suspect.outcome, nodes[-1], nodes, verdict, symptom)


def _leaves_range(graph: Graph, exact: Mapping[Edge, Array]) -> bool:
    """Whether numbers leave the range of their dtype within a window: Inf is right there, and the reference, which
    knows no range, says nothing of what follows."""
    for node in graph.nodes:
        for index, kind in enumerate(node.outputs):
            edge = Edge(node.id, index)
            if edge in graph.outputs or kind.dtype not in FLOATS:
                continue
            value = exact[edge]
            if (np.isfinite(value) & ~np.isfinite(narrow(value, kind.dtype).astype(np.float64))).any():
                return True
    return False


def margin_of(inputs: Iterable[Array]) -> float:
    """How many bounds a value must be off to be reported, by the largest input.

    The bound is of errors that differ in sign. Those of equal terms do not, and add up with the number of terms.
    """
    largest = max((array.size for array in inputs), default=0)
    return MARGIN * max(1.0, math.sqrt(largest) / 8.0)


def symptom_of(expected: Expected, seen: Array) -> Symptom:
    """How a tensor is wrong, where that is evidence. Its shape may be, though that of the output is right."""
    if seen.shape != expected.value.shape:
        return "shape"
    want, wide = narrow(expected.value, expected.dtype).astype(np.float64), seen.astype(np.float64)
    same = (want == wide) | (np.isnan(want) & np.isnan(wide))  # NaN instead of Inf is not the same
    if expected.tied is not None:
        same |= expected.tied
    return "nonfinite" if (~same & ~(np.isfinite(want) & np.isfinite(wide))).any() else "value"


def _judge_windows(
    case: Case, data: Data, values: Mapping[Edge, Array], suspect: Suspect, rerun: "Rerun"
) -> Iterator[WrongNode]:
    """The smallest window before a suspicious output that is wrong when it runs as a model of its own."""
    for edge in suspect.edges:
        chain = [case.graph.by_id[edge.node]]
        while len(chain) < LARGEST_WINDOW:
            before = [case.graph.by_id[each.node] for each in chain[0].inputs]
            before = [node for node in before if node.layer != INPUT]
            if not before:
                break
            chain.insert(0, before[0])
            part = window(case.graph, chain, values, outputs_of=chain[-1])
            if part is None:
                continue
            part = replace(part, rng_seed=case.rng_seed, data={**part.data, **_weights(part.graph, data)})
            outcome = rerun(part, [suspect.route]).outcomes[suspect.route]
            if outcome.status != "completed" or not same_types(part.graph, outcome):
                continue
            seen = dict(values)
            seen.update({at: array_of(one) for at, one in zip(part.graph.outputs, outcome.outputs, strict=True)})
            found = list(_wrong(part, tuple(chain), data, seen, suspect))
            if found:
                yield found[0]
                break


def window(
    graph: Graph, nodes: Sequence[Node], values: Mapping[Edge, Array], outputs_of: Node | None = None
) -> Case | None:
    """Some nodes as a case of their own that reads the given values; None if it does not stand alone, or they have
    not the shapes that it takes.

    A mask travels unseen, so what an input has its mask from belongs to the window too.
    """
    kept = {node.id for node in nodes}
    waiting = list(nodes)
    while waiting:
        for edge in waiting.pop().inputs:
            if graph.type_of(edge).masked and edge.node not in kept:
                kept.add(edge.node)
                waiting.append(graph.by_id[edge.node])
    drafts: list[Draft] = []
    data: dict[str, Tensor] = {}
    sources: dict[Edge, Edge] = {}
    for node in graph.nodes:
        if node.id not in kept:
            continue
        for edge in node.inputs:
            if edge.node not in kept and edge not in sources:
                if values[edge].shape != graph.type_of(edge).shape:
                    return None
                name = f"cut_{edge.node}_{edge.output}"
                drafts.append(Draft(name, INPUT, input_params(graph.type_of(edge)), ()))
                sources[edge] = Edge(name)
                data[name] = to_tensor(values[edge])
        drafts.append(node.draft._replace(inputs=tuple(sources.get(edge, edge) for edge in node.inputs)))
    end = outputs_of or nodes[-1]
    try:
        part = assemble(drafts, [Edge(end.id, index) for index in range(len(end.outputs))])
    except InvalidCase:
        return None
    return Case(part, 0, data)


def _weights(graph: Graph, data: Data) -> dict[str, Tensor]:
    return {
        f"{node.id}/{name}": to_tensor(array)
        for node in graph.nodes
        for name, array in data.weights.get(node.id, {}).items()
    }
