"""Value and non-finite: a node is wrong by its own inputs, beyond what rounding can explain."""

from collections.abc import Iterator, Sequence

from cometfuzz.ir.graph import Node
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding, Symptom
from cometfuzz.oracles.local import ACCURACY, WrongNode
from cometfuzz.oracles.stages import explaining, together


def value(bench: Bench) -> Iterator[Finding]:
    """One finding for each wrong node or window and each way of being wrong: numbers, or a shape within the model."""
    yield from findings(bench, "value", "value")
    yield from findings(bench, "value", "shape")


def nonfinite(bench: Bench) -> Iterator[Finding]:
    """One finding for each node that gives NaN or Inf where it should not, or the other way round."""
    yield from findings(bench, "nonfinite", "nonfinite")


def findings(bench: Bench, oracle: str, symptom: Symptom) -> Iterator[Finding]:
    """One finding for each wrong node or window of a symptom, and each way of being wrong there."""
    wrong: dict[tuple[str, ...], list[WrongNode]] = {}
    for found in bench.wrong_nodes:
        if found.symptom == symptom:
            wrong.setdefault(tuple(node.id for node in found.window), []).append(found)
    for every in wrong.values():
        agreeing = _right_at(bench, every[0].node, symptom)
        yield from (_finding(bench, oracle, group, agreeing) for group in _groups(bench, every, agreeing))


def _right_at(bench: Bench, node: Node, symptom: Symptom) -> tuple[str, ...]:
    """The routes that are right at a node and before it; what is wrong elsewhere does not matter there."""
    above = bench.above(node)
    wrong = {
        place.route
        for place in bench.wrong_nodes
        if place.node.id in above and (symptom == ACCURACY or place.symptom != ACCURACY)
    }
    return tuple(name for name in bench.completed if name not in wrong)


def _finding(bench: Bench, oracle: str, places: Sequence[WrongNode], agreeing: tuple[str, ...]) -> Finding:
    first = places[0]
    failing = tuple(place.route for place in places)
    camps = [Camp(failing, first.verdict.detail)]
    if agreeing:
        camps.append(Camp(agreeing, "within the bound"))
    stage = first.outcome.times[-1] if first.outcome.times else None
    return Finding(
        oracle=oracle,
        symptom=first.symptom,
        data_kind=bench.data_kind(first.node),
        camps=tuple(camps),
        stage=stage.stage if stage else first.outcome.stage,
        library=stage.library if stage else first.outcome.library,
        detail=first.verdict.detail,
        node=first.node.id,
        layer=" > ".join(node.layer for node in first.window),
        defect=explaining(bench, first),
        evidence={"worst": first.verdict.worst, "against": "some routes" if agreeing else "the reference"},
    )


def _groups(bench: Bench, places: Sequence[WrongNode], agreeing: Sequence[str]) -> Iterator[list[WrongNode]]:
    defects = {place.route: explaining(bench, place) for place in places}
    return together(places, defects, agreeing, bench.view.routes)
