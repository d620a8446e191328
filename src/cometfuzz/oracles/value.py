"""Value and non-finite: a node is wrong by its own inputs, beyond what rounding can explain."""

from collections.abc import Iterator

from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding, Symptom
from cometfuzz.oracles.local import WrongNode

UTILITY = "utility"


def value(bench: Bench) -> Iterator[Finding]:
    """One finding for each wrong node or window: finite numbers that are wrong, or a wrong shape within the model."""
    yield from _findings(bench, "value", "value")
    yield from _findings(bench, "value", "shape")


def nonfinite(bench: Bench) -> Iterator[Finding]:
    """One finding for each node that gives NaN or Inf where it should not, or the other way round."""
    yield from _findings(bench, "nonfinite", "nonfinite")


def _findings(bench: Bench, oracle: str, symptom: Symptom) -> Iterator[Finding]:
    wrong: dict[tuple[str, ...], list[WrongNode]] = {}
    for found in bench.wrong_nodes:
        if found.symptom == symptom:
            wrong.setdefault(tuple(node.id for node in found.window), []).append(found)
    for places in wrong.values():
        first = places[0]
        failing = tuple(place.route for place in places)
        elsewhere = {place.route for place in bench.wrong_nodes}
        agreeing = tuple(name for name in bench.completed if name not in elsewhere)
        camps = [Camp(failing, first.verdict.detail)]
        if agreeing:
            camps.append(Camp(agreeing, "within the bound"))
        known = [
            rule.id
            for place in places
            for node in place.window
            for rule in bench.rules(place.route, node)
            if rule.symptom in ("value", "result", "any")
        ]
        stage = first.outcome.times[-1] if first.outcome.times else None
        yield Finding(
            oracle=oracle,
            symptom=symptom,
            severity=bench.severity(first.node),
            camps=tuple(camps),
            stage=stage.stage if stage else first.outcome.stage,
            library=stage.library if stage else first.outcome.library,
            detail=first.verdict.detail,
            node=first.node.id,
            layer=" > ".join(node.layer for node in first.window),
            defect=known[0] if known else "",
            evidence={"worst": first.verdict.worst, "against": "some routes" if agreeing else "the reference"},
        )
