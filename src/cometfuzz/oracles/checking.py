"""The answer that an ML engineer wants of a trial: for each route, whether the model survived it."""

from dataclasses import dataclass

import numpy as np

from cometfuzz.catalogue.cost import cost_of
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.judging import examine
from cometfuzz.reference.run import roundoff

LARGEST_FLOPS = 2 * 10**8
"""Above this the reference, which is written to be right and not to be quick, is left out."""

TOLERANCE = 2.0**14
"""How far a large model may be from the base route, in units of roundoff times the largest output."""

BASE = "keras-tf"


@dataclass(frozen=True)
class Answer:
    """What became of the model on one route; difference: the largest to the base, relative to its largest output."""

    route: str
    ok: bool
    text: str
    difference: float | None


def check_model(bench: Bench) -> list[Answer]:
    """One answer for each route."""
    base = bench.completed.get(BASE)
    small = _flops(bench) <= LARGEST_FLOPS
    wrong: dict[str, str] = {}
    if small:
        for finding in examine(bench):
            for route in finding.camps[0].routes:
                wrong.setdefault(route, f"{finding.symptom}: {finding.layer} {finding.detail}".replace("  ", " "))
    answers = []
    for name, outcome in bench.trial.outcomes.items():
        if outcome.status != "completed":
            answers.append(Answer(name, False, str(outcome), None))
            continue
        difference = None if base is None else _difference(base, outcome)
        text = wrong.get(name, "")
        if not small and difference is not None and difference > _tolerance(base or outcome):
            text = "another answer than Keras on TensorFlow"
        answers.append(Answer(name, not text, text or "agrees", difference))
    return answers


def _flops(bench: Bench) -> int:
    graph = bench.graph
    return sum(cost_of(node.layer, graph.input_types(node), node.params, node.outputs).flops for node in graph.nodes)


def _tolerance(outcome: Outcome) -> float:
    return TOLERANCE * max(
        (roundoff(tensor.dtype) for tensor in outcome.outputs if tensor.dtype in FLOATS), default=0.0
    )


def _difference(base: Outcome, outcome: Outcome) -> float | None:
    """The largest difference to the base, relative to its largest output; None if the outputs do not compare."""
    largest = 0.0
    for one, two in zip(base.outputs, outcome.outputs, strict=False):
        if one.shape != two.shape:
            return None
        want, seen = (array_of(tensor).astype(np.float64) for tensor in (one, two))
        with np.errstate(all="ignore"):
            apart = np.where((want == seen) | (np.isnan(want) & np.isnan(seen)), 0.0, np.abs(want - seen))
            scale = float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want))) or 1.0
        largest = max(largest, float(np.max(apart, initial=0.0)) / scale)
    return largest
