"""Local judgement: the reference applied to a route's own inputs of one node.

A cheap gate end to end raises a suspicion. Then the route runs again with the output of every node, and each node is
judged on what it really got, so that rounding upstream excuses nothing and accuses nobody. If no node is wrong by
itself, what is fused may be: windows of two and three nodes are run and judged as models of their own.
"""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cometfuzz.catalogue.data import Array, Data
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import select_outputs, with_all_outputs
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.finding import Symptom
from cometfuzz.oracles.windows import Window, Windows, digest_of
from cometfuzz.reference.bound import Expected, Verdict, judge, lost_digits, plainly_right
from cometfuzz.reference.run import Run, narrow, roundoff, smallest, wide

if TYPE_CHECKING:
    from cometfuzz.oracles.bench import Rerun

GATE = 64.0
"""The gate, in units of roundoff of the coarsest dtype on the way; `cometfuzz calibrate` says how many pass it."""

MARGIN = 4.0
"""How many bounds a value must be off to be reported: the bound is statistical, and clean runs reach 1.3 of it,
attention over hundreds of keys up to 3.9 (`cometfuzz calibrate`)."""

ACCURACY = "accuracy"
CLEARLY = 8.0
"""How many times more than half of its digits an element must have lost: a few last bits of a tanh, which x - tanh(x)
brings to light, lose half of them in one library and not quite half in the next, and neither is wrong."""

LARGEST_WINDOW = 3


@dataclass(frozen=True)
class Suspect:
    """A route and the outputs that are beyond the gate; none if only some elements seem to have lost digits, which
    another route keeps.

    fuses: whether the route may compute several nodes as one, so that windows are judged too.
    """

    route: str
    outcome: Outcome
    edges: tuple[Edge, ...]
    fuses: bool


@dataclass(frozen=True)
class WrongNode:
    """A node, or a window that ends in it, that is wrong on a route by its own inputs."""

    route: str
    outcome: Outcome
    node: Node
    window: tuple[Node, ...]
    verdict: Verdict
    symptom: Symptom
    seen: Array
    expected: Expected


def same_types(graph: Graph, outcome: Outcome) -> bool:
    """Whether a route gave the outputs that the catalogue predicts, as far as shapes and dtypes go."""
    kinds = [(kind.dtype, kind.shape) for kind in map(graph.type_of, graph.outputs)]
    return kinds == [(tensor.dtype, tensor.shape) for tensor in outcome.outputs]


def suspects(
    graph: Graph, completed: Mapping[str, Outcome], reference: Run, fusing: Container[str] = ()
) -> list[Suspect]:
    """The routes that do not pass the gate."""
    units = units_of(graph)
    typed = {name: outcome for name, outcome in completed.items() if same_types(graph, outcome)}
    beyond: dict[str, list[Edge]] = {name: [] for name in typed}
    faint: set[str] = set()
    for place, edge in enumerate(graph.outputs):
        given: dict[bytes, list[str]] = {}  # many routes give the very same
        for name, outcome in typed.items():
            given.setdefault(outcome.outputs[place].data, []).append(name)
        want, dtype, lost = reference.values[edge], graph.type_of(edge).dtype, list[Array]()
        for names in given.values():
            seen = array_of(typed[names[0]].outputs[place])
            lost.append(lost_digits(want, seen, dtype, units[edge.node]))
            if not _passes(want, seen, dtype, units[edge.node]):
                for name in names:
                    beyond[name].append(edge)
        lost_by_all = np.logical_and.reduce(lost)  # what nobody computes better is no suspicion
        for names, mine in zip(given.values(), lost, strict=True):
            faint.update(names if (mine & ~lost_by_all).any() else ())
    return [
        Suspect(name, outcome, tuple(beyond[name]), name in fusing)
        for name, outcome in typed.items()
        if beyond[name] or name in faint
    ]


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
    given, narrowed = seen.astype(np.float64), narrow(want, dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        finite = np.isfinite(want)
        scale = float(np.sqrt(np.mean(np.square(want), where=finite))) if finite.any() else 0.0
        near = np.abs(given - want) <= GATE * unit * (np.abs(want) + scale) + smallest(dtype)
    same = (np.isnan(given) & np.isnan(narrowed)) | (given == narrowed)
    return bool((same | near).all())


def values_within(case: Case, data: Data, found: Sequence[Suspect], rerun: "Rerun") -> dict[str, dict[Edge, Array]]:
    """The values of all edges on the routes that are suspects, as far as these give them."""
    seen = {suspect.route: suspect.outcome for suspect in found}
    if set(with_all_outputs(case.graph).outputs) <= set(case.graph.outputs):
        seen = {name: select_outputs(outcome, case.graph, case.graph) for name, outcome in seen.items()}
    else:
        seen = dict(rerun(case, list(seen), intermediates=True).outcomes)
    inputs = {Edge(name): array for name, array in data.inputs.items()}
    return {
        name: {**{edge: array_of(tensor) for edge, tensor in outcome.nodes.items()}, **inputs}
        for name, outcome in seen.items()
        if outcome.status == "completed" and outcome.nodes
    }


def find_wrong_nodes(
    case: Case, windows: Windows, found: Sequence[Suspect], within: Mapping[str, Mapping[Edge, Array]], rerun: "Rerun"
) -> list[WrongNode]:
    """Where each suspect goes wrong: the first wrong nodes on the ways to its outputs; `within`: the values there."""
    wrong, judged = list[WrongNode](), dict[bytes, list[WrongNode]]()
    for suspect in found:
        values = within.get(suspect.route)
        if values is None:
            continue
        key = digest_of(values)
        if key not in judged:
            judged[key] = list(_judge_nodes(case.graph, windows, values, suspect))
        nodes = [replace(place, route=suspect.route, outcome=suspect.outcome) for place in judged[key]]
        if all(place.symptom == ACCURACY for place in nodes) and suspect.edges and suspect.fuses:
            nodes += _judge_windows(case, windows, values, suspect, rerun)
        wrong += nodes
    return wrong


def _judge_nodes(graph: Graph, windows: Windows, values: Mapping[Edge, Array], suspect: Suspect) -> Iterator[WrongNode]:
    """Every node on its own inputs; what stands on a wrong one is not judged."""
    spoiled: set[str] = set()
    for node in graph.nodes:
        if node.layer == INPUT:
            continue
        if any(edge.node in spoiled for edge in node.inputs):
            spoiled.add(node.id)
            continue
        part = windows.on([node], values)
        if part is None:
            continue
        for found in _wrong(part, (node,), values, suspect):
            if found.symptom != ACCURACY:
                spoiled.add(node.id)
            yield found
            break


def _wrong(
    part: Window, nodes: tuple[Node, ...], values: Mapping[Edge, Array], suspect: Suspect
) -> Iterator[WrongNode]:
    graph, exact = part.graph, part.exact
    if all(plainly_right(exact[edge], values[edge], graph.type_of(edge).dtype) for edge in graph.outputs):
        return  # whatever the bound, which takes eight more runs
    if part.leaves_range:
        return
    for edge, expected in part.expected.items():
        verdict = judge(expected, values[edge])
        if not verdict.ok:
            symptom = symptom_of(expected, values[edge])
            if expected.bound is None or symptom != "value" or verdict.worst > margin_of(part.given.inputs.values()):
                seen = values[edge], expected
                yield WrongNode(suspect.route, suspect.outcome, nodes[-1], nodes, verdict, symptom, *seen)
                return
    yield from _inaccurate(part, nodes, values, suspect)


def _inaccurate(
    part: Window, nodes: tuple[Node, ...], values: Mapping[Edge, Array], suspect: Suspect
) -> Iterator[WrongNode]:
    """The outputs of a window that are right as a whole, with elements that have lost their digits."""
    for edge, expected in part.digits.items():
        verdict = judge(expected, values[edge])
        if verdict.worst > CLEARLY and np.isfinite(values[edge].astype(np.float64)).all():
            seen = values[edge], expected
            yield WrongNode(suspect.route, suspect.outcome, nodes[-1], nodes, verdict, ACCURACY, *seen)


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
    want, given = narrow(expected.value, expected.dtype).astype(np.float64), seen.astype(np.float64)
    same = (want == given) | (np.isnan(want) & np.isnan(given))  # NaN instead of Inf is not the same
    if expected.tied is not None:
        same |= expected.tied
    return "nonfinite" if (~same & ~(np.isfinite(want) & np.isfinite(given))).any() else "value"


def _judge_windows(
    case: Case, windows: Windows, values: Mapping[Edge, Array], suspect: Suspect, rerun: "Rerun"
) -> Iterator[WrongNode]:
    """The smallest window before a suspicious output that is wrong when it runs as a model of its own.

    Only of outputs that are others where all nodes are asked for theirs, which keeps them apart: where it makes no
    difference whether nodes are computed as one, what each of them is by itself has been said.
    """
    graph, units = case.graph, units_of(case.graph)
    together = dict(zip(graph.outputs, suspect.outcome.outputs, strict=True))
    for edge in suspect.edges:
        apart, fused = wide(values[edge]), array_of(together[edge])
        if apart.shape == fused.shape and _passes(apart, fused, graph.type_of(edge).dtype, units[edge.node]):
            continue
        chain = [graph.by_id[edge.node]]
        while len(chain) < LARGEST_WINDOW:
            before = [graph.by_id[each.node] for each in chain[0].inputs]
            before = [node for node in before if node.layer != INPUT]
            if not before:
                break
            chain.insert(0, before[0])
            part = windows.on(chain, values)
            if part is None:
                continue
            outcome = rerun(part.alone(case.rng_seed), [suspect.route]).outcomes[suspect.route]
            if outcome.status != "completed" or not same_types(part.graph, outcome):
                continue
            seen = dict(values)
            seen.update({at: array_of(one) for at, one in zip(part.graph.outputs, outcome.outputs, strict=True)})
            found = list(_wrong(part, tuple(chain), seen, suspect))
            if found:
                yield found[0]
                break
