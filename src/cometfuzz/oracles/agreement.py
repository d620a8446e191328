"""Agreement: the outputs of routes against each other, where no reference says what is right.

A value is compared as campaigns compare it (`judge`, `symptom_of`), with another route in the place of the reference,
and with a bound that is relative to the largest output.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding, Symptom
from cometfuzz.oracles.local import GATE, symptom_of, units_of
from cometfuzz.oracles.shape import type_difference
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.bound import Expected, judge
from cometfuzz.reference.run import smallest
from cometfuzz.routes.keras import KERAS_TF

BASE = KERAS_TF.name
"""The route that others are held against if nothing else decides: it runs the model as it was built."""

TOLERANCE = 2.0**14
"""How far routes may be apart over a whole model, in units of roundoff times the largest output."""

Difference = tuple[Symptom, str]
"""How an output differs, and the words for it."""


def differences(
    graph: Graph, base: Outcome, other: Outcome, factor: float = TOLERANCE
) -> dict[Edge | None, Difference]:
    """The outputs in which two completed routes differ; under None a difference of types.

    factor: the bound, in units of roundoff of the coarsest dtype on the way, times the largest output.
    """
    types = [[(tensor.dtype, tensor.shape) for tensor in outcome.outputs] for outcome in (base, other)]
    if types[0] != types[1]:
        symptom, _, text = type_difference(graph, *types)
        return {None: (symptom, text)}
    units, found = units_of(graph), dict[Edge | None, Difference]()
    for edge, want, seen in zip(graph.outputs, base.outputs, other.outputs, strict=True):
        expected = _expected(want, units[edge.node], factor)
        verdict = judge(expected, array_of(seen))
        if not verdict.ok:
            found[edge] = symptom_of(expected, array_of(seen)), verdict.detail
    return found


def _expected(tensor: WireTensor, unit: float, factor: float) -> Expected:
    array = array_of(tensor)
    if tensor.dtype not in FLOATS:
        return Expected(tensor.dtype, array)
    value = array.astype(np.float64)
    largest = float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))
    # Of zeros nobody knows how large the numbers were that they come from: ordinary ones, as inputs and weights are.
    bound = (factor * largest or GATE) * unit + smallest(tensor.dtype)
    return Expected(tensor.dtype, value, np.asarray(bound))


def distance(base: Outcome, other: Outcome) -> float | None:
    """The largest difference, relative to the largest output of the base; None if there is none that is a number."""
    farthest = 0.0
    if len(base.outputs) != len(other.outputs):
        return None
    for one, two in zip(base.outputs, other.outputs, strict=True):
        want, seen = (array_of(tensor).astype(np.float64) for tensor in (one, two))
        if want.shape != seen.shape or not np.array_equal(np.isfinite(want), np.isfinite(seen)):
            return None
        finite = np.isfinite(want)
        scale = float(np.max(np.abs(want), initial=0.0, where=finite)) or 1.0
        with np.errstate(all="ignore"):
            apart = np.abs(want - seen)
        farthest = max(farthest, float(np.max(apart, initial=0.0, where=finite)) / scale)
    return farthest


def comparable(outcomes: Mapping[str, Outcome]) -> bool:
    """Whether completed routes can be held against each other: against the base, or with two libraries among them."""
    return len(outcomes) > 1 and (BASE in outcomes or len(_libraries(outcomes, outcomes)) > 1)


def agreement(bench: Bench, outcomes: Mapping[str, Outcome]) -> Iterator[Finding]:
    """One finding for each answer that some of these completed routes give, except the one that is taken for right.

    That is the answer of most libraries; where as many give another one, the base's, and the finding says that either
    may be wrong.
    """
    camps = sorted(_camps(bench.graph, outcomes), key=lambda camp: -len(_libraries(outcomes, camp)))
    for right, camp in ((camps[0], camp) for camp in camps[1:]):
        found = differences(bench.graph, outcomes[right[0]], outcomes[camp[0]])
        symptom, text = next(iter(found.values()))
        tied = len(_libraries(outcomes, camp)) == len(_libraries(outcomes, right))
        doubt = "; either may be wrong" if tied else ""
        outcome = outcomes[camp[0]]
        yield Finding(
            oracle="agreement",
            symptom=symptom,
            data_kind=bench.data_kind(),
            camps=(Camp(tuple(camp), text), Camp(tuple(right), "agree with each other")),
            stage=outcome.stage,
            library=outcome.library,
            detail=f"differs from {', '.join(right[:3])}{doubt}: {text}",
            evidence={"against": "some routes"},
        )


def _libraries(outcomes: Mapping[str, Outcome], names: Iterable[str]) -> set[str]:
    return {outcomes[name].library for name in names}


def _camps(graph: Graph, outcomes: Mapping[str, Outcome]) -> list[list[str]]:
    """Routes that give the same answer as the first of their camp; the base's camp comes first."""
    camps: list[list[str]] = []
    for name in sorted(outcomes, key=lambda name: name != BASE):
        for camp in camps:
            if not differences(graph, outcomes[camp[0]], outcomes[name]):
                camp.append(name)
                break
        else:
            camps.append([name])
    return camps
