"""The answer that an ML engineer wants of a trial: for each route, whether the model survived it.

A small model is judged as campaigns do it, by all oracles. Of a large one the oracles judge what needs no reference:
failures, shapes and dtypes. In both, what is left over is compared with each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from cometfuzz.catalogue.cost import cost_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.oracles.agreement import BASE, TOLERANCE, agreement, comparable, distance
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.crash import crash
from cometfuzz.oracles.finding import DataKind, Finding
from cometfuzz.oracles.hang import hang
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.local import GATE
from cometfuzz.oracles.shape import shape
from cometfuzz.routes.registry import base_of

LARGEST_FLOPS = 2 * 10**8
"""Above this the reference, which is written to be right and not to be quick, is left out."""

Verdict = Literal["agrees", "disagrees", "failed", "not judged"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "disagrees", "failed", "not judged")

ALONE = f"nothing to compare it with; a model of this size takes {BASE}, or routes to two libraries, that complete"


@dataclass(frozen=True)
class Answer:
    """What became of the model on one route; finding: the claim against it, if an oracle makes one.

    difference: the largest to the base, relative to its largest output.
    """

    route: str
    verdict: Verdict
    text: str
    difference: float | None = None
    finding: Finding | None = None


@dataclass(frozen=True)
class _WithoutReference(Bench):
    """A bench for models that take the reference too long."""

    def data_kind(self, node: Node | None = None) -> DataKind:
        kinds = [kind for each in self.graph.nodes for kind in each.outputs]
        return "empty" if any(kind.elements == 0 for kind in kinds) else "ordinary"


def is_large(graph: Graph) -> bool:
    """Whether a model is judged without the reference."""
    costs = (cost_of(node.layer, graph.input_types(node), node.params, node.outputs) for node in graph.nodes)
    return sum(cost.flops for cost in costs) > LARGEST_FLOPS


def resolution(graph: Graph) -> float:
    """How far outputs must be apart to be told from rounding, in units of roundoff times the largest output."""
    return TOLERANCE if is_large(graph) else GATE


def check_model(bench: Bench) -> list[Answer]:
    """One answer for each route."""
    large = is_large(bench.graph)
    if large:
        bench = _WithoutReference(bench.trial, bench.rerun, view=bench.view)
    blamed: dict[str, Finding] = {}
    for finding in chain(crash(bench), hang(bench), shape(bench)) if large else examine(bench):
        for route in finding.camps[0].routes:
            blamed.setdefault(route, finding)
    rest = {name: outcome for name, outcome in bench.completed.items() if name not in blamed}
    compared = comparable(rest)
    for finding in agreement(bench, rest) if compared else ():
        blamed.update(dict.fromkeys(finding.camps[0].routes, finding))
    base = bench.completed.get(BASE) or next(iter(rest.values()), None)
    answers = []
    for name, outcome in bench.trial.outcomes.items():
        claim = blamed.get(name)
        if outcome.status != "completed":  # of what fails already where the model comes from, only that is a finding
            claim = claim or blamed.get(base_of(name) or "")
        answers.append(_answer(outcome, claim, base, judged=compared or not large))
    return answers


def _answer(outcome: Outcome, finding: Finding | None, base: Outcome | None, judged: bool) -> Answer:
    if outcome.status == "unavailable" or (outcome.failure is not None and outcome.failure.disk_full):
        return Answer(outcome.route, "not judged", str(outcome))
    if outcome.status != "completed":
        return Answer(outcome.route, "failed", str(outcome), finding=finding)
    difference = None if base is None else distance(base, outcome)
    if finding is not None:
        text = " ".join(part for part in (f"{finding.symptom}:", finding.layer, finding.detail) if part)
        return Answer(outcome.route, "disagrees", text, difference, finding)
    return Answer(outcome.route, *(("agrees", "") if judged else ("not judged", ALONE)), difference)


def count(answers: Sequence[Answer]) -> dict[Verdict, int]:
    """How many routes came to each verdict."""
    return {verdict: sum(answer.verdict == verdict for answer in answers) for verdict in VERDICTS}


def exit_code(answers: Sequence[Answer]) -> int:
    """0: all agree. 1: some disagree or fail. 3: some are not judged; also beside failures, if nothing is judged."""
    counts = count(answers)
    if counts["not judged"] and not (counts["agrees"] or counts["disagrees"]):
        return 3
    if counts["disagrees"] or counts["failed"]:
        return 1
    return 3 if counts["not judged"] else 0
