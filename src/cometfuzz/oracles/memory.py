"""Memory: a route gives another answer if memory that it was given holds other bytes: it reads what was not written.

Asked of routes that look wrong or differ from run to run, and of a few others. The answer must follow the bytes there
and back, so that what differs from run to run by itself is not taken for it.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.memory import available
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import Edge, Node
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.protocol import WireTensor

ENDS = ("completed", "exception", "signal")
"""How a route may end that is an answer: a limit that was reached says nothing of memory."""


def memory(bench: Bench) -> Iterator[Finding]:
    """One finding for each node that reads uninitialised memory, if it is known, and each library in which it does."""
    asked = _asked(bench)
    if not asked or not available():
        return
    others = bench.rerun(bench.trial.case, asked, other_memory=True).outcomes
    reading = _confirmed(bench, [name for name in asked if _differ(bench.completed[name], others[name])], others)
    places: dict[tuple[str, str], list[str]] = {}
    for name in reading:
        node = _place(bench, name)
        places.setdefault((node.id if node is not None else "", bench.completed[name].library), []).append(name)
    same = tuple(name for name in bench.completed if name not in reading)
    for (place, library), names in places.items():
        first, node = bench.completed[names[0]], bench.graph.by_id.get(place)
        detail = _detail(bench, first, others[names[0]])
        yield Finding(
            oracle="memory",
            symptom="uninitialised",
            data_kind=bench.data_kind(node),
            camps=(Camp(tuple(names), detail), *([Camp(same, "does not depend on memory")] if same else [])),
            stage=first.stage,
            library=library,
            detail=detail,
            node=place,
            layer=node.layer if node is not None else "",
            defect=next(_known(bench, names, node), ""),
        )


def _asked(bench: Bench) -> list[str]:
    """The routes to try with other memory."""
    suspicious = {found.route for found in bench.wrong_nodes} | bench.unsteady.keys()
    return [name for name in bench.completed if bench.memory or name in suspicious]


def _confirmed(bench: Bench, names: Sequence[str], others: Mapping[str, Outcome]) -> list[str]:
    """Those whose answer is the first one again with the first bytes, and the other one again with the others."""
    if not names:
        return []
    back = bench.rerun(bench.trial.case, names).outcomes
    there = bench.rerun(bench.trial.case, names, other_memory=True).outcomes
    return [
        name
        for name in names
        if _answer(back[name]) == _answer(bench.completed[name]) and _answer(there[name]) == _answer(others[name])
    ]


def _answer(outcome: Outcome) -> tuple[object, ...]:
    """What a route said, bit by bit."""
    if outcome.failure is not None:
        return outcome.status, outcome.stage, outcome.failure.type
    return outcome.status, outcome.stage, *outcome.outputs


def _differ(one: Outcome, two: Outcome) -> bool:
    return two.status in ENDS and _answer(one) != _answer(two)


def _place(bench: Bench, name: str) -> Node | None:
    """The first node that gives another answer, where the route says what its nodes give."""
    case = bench.trial.case
    one = bench.rerun(case, [name], intermediates=True).outcomes[name].nodes
    two = bench.rerun(case, [name], intermediates=True, other_memory=True).outcomes[name].nodes
    for node in bench.graph.nodes:
        edges = [Edge(node.id, index) for index in range(len(node.outputs))]
        if any(one[edge] != two[edge] for edge in edges if edge in one and edge in two):
            return node
    return None


def _known(bench: Bench, names: Sequence[str], node: Node | None) -> Iterator[str]:
    """What the ledger has against a node, or any node, on these routes that shows in results of their own."""
    for name in names:
        for rule in bench.rules(name, node):
            if rule.by_chance or rule.symptom in ("value", "result") or (rule.symptom == "any" and not rule.inherited):
                yield rule.id


def _detail(bench: Bench, one: Outcome, two: Outcome) -> str:
    """What comes of the two fillings of memory, in words."""
    if two.status != "completed":
        return f"whether it completes depends on uninitialised memory: {two}"
    pairs = zip(bench.graph.outputs, one.outputs, two.outputs, strict=False)
    edge, first, second = next(pair for pair in pairs if pair[1] != pair[2])
    if (first.dtype, first.shape) != (second.dtype, second.shape):
        return f"{edge.node} is {first.dtype} {first.shape} or {second.dtype} {second.shape}, as memory happens to be"
    places = _other_elements(first, second)
    at = tuple(int(index) for index in np.unravel_index(places[0], first.shape))
    seen, other = array_of(first)[at], array_of(second)[at]
    count = f"{len(places)} of {array_of(first).size} elements"
    return f"{count} depend on uninitialised memory: {list(at)} is {seen} or {other}, as that memory happens to be"


def _other_elements(one: WireTensor, two: WireTensor) -> list[int]:
    """The places, in C order, where two tensors of one type have other bits."""
    count = array_of(one).size
    bits = [np.frombuffer(tensor.data, np.uint8).reshape(count, -1) for tensor in (one, two)]
    return [int(place) for place in np.flatnonzero((bits[0] != bits[1]).any(axis=1))]
