"""Shape and dtype: a route gave another number of outputs, or another shape or dtype, than the catalogue predicts."""

from collections.abc import Iterator, Sequence

from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import Graph
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.crash import STATIC
from cometfuzz.oracles.finding import Camp, Finding, Symptom, template
from cometfuzz.oracles.stages import excuses_types

Types = Sequence[tuple[str, tuple[int, ...]]]
"""Dtype and shape of each output."""


def shape(bench: Bench) -> Iterator[Finding]:
    """One finding for each way of being different."""
    want = [(kind.dtype, kind.shape) for kind in map(bench.graph.type_of, bench.graph.outputs)]
    different: dict[tuple[Symptom, str, str], list[Outcome]] = {}
    agreeing: list[str] = []
    for outcome in bench.trial.outcomes.values():
        if outcome.failure is not None and outcome.failure.type == STATIC:
            different.setdefault(("shape", "", outcome.failure.message), []).append(outcome)
        if outcome.status != "completed":
            continue
        seen = [(tensor.dtype, tensor.shape) for tensor in outcome.outputs]
        if seen == want:
            agreeing.append(outcome.route)
            continue
        different.setdefault(type_difference(bench.graph, want, seen), []).append(outcome)
    for (symptom, name, text), outcomes in different.items():
        node = bench.graph.by_id.get(name)
        camps = [Camp(tuple(outcome.route for outcome in outcomes), text)]
        if agreeing:
            camps.append(Camp(tuple(agreeing), "as predicted"))
        known = [
            rule.id
            for outcome in outcomes
            for rule in bench.rules(outcome.route)
            if (rule.symptom in ("shape", "result", "any") or rule.raises == STATIC)
            and excuses_types(bench, rule, outcome)
        ]
        yield Finding(
            oracle="shape",
            symptom=symptom,
            data_kind=bench.data_kind(node),
            camps=tuple(camps),
            stage=outcomes[0].stage,
            library=outcomes[0].library,
            detail=text,
            node=name,
            layer=node.layer if node is not None else text.partition(":")[0] if outcomes[0].failure else "",
            defect=known[0] if known else "",
            failure=template(text) if outcomes[0].failure else "",
        )


def type_difference(graph: Graph, want: Types, seen: Types) -> tuple[Symptom, str, str]:
    """The first difference between outputs that are not of the same types: symptom, node and words."""
    if len(want) != len(seen):
        return "shape", "", f"expected {len(want)} outputs; received {len(seen)}"
    for edge, expected, received in zip(graph.outputs, want, seen, strict=True):
        if expected != received:
            symptom: Symptom = "shape" if expected[1] != received[1] else "dtype"
            texts = [f"{dtype}{list(sizes)}" for dtype, sizes in (expected, received)]
            return symptom, edge.node, f"expected {texts[0]}; received {texts[1]}"
    raise AssertionError("expected a difference; received none")
