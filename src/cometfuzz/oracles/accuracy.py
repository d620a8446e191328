"""Accuracy: a node loses half of the digits of small elements, which another library keeps.

What nobody computes better is left alone: it is the formula that all libraries have chosen. And one answer may be right
by luck, where an error happens to round away. So the node runs again on a few other inputs of the same size: whoever
loses digits must lose them nearly always, and whoever keeps them always.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.data import Array, draw_data, to_array, to_tensor
from cometfuzz.draw import Draw
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Edge
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.oracles.local import ACCURACY, same_types
from cometfuzz.oracles.value import findings
from cometfuzz.reference.bound import Expected, expect_digits, judge

VARIATIONS, NEARLY_ALWAYS = 6, 4
"""On how many other inputs a node runs, and on how many of them it must lose digits to be accused."""

ASIDE = 0.25
"""How far these inputs are from the first ones, as a share of each number: near enough that nothing else happens."""


def accuracy(bench: Bench) -> Iterator[Finding]:
    """One finding for each node that loses digits again and again, where another route does not."""
    for found in findings(bench, ACCURACY, ACCURACY):
        failing, *others = found.camps
        keeping = _keeping(bench, found, failing.routes[0], [name for camp in others for name in camp.routes])
        if keeping:
            yield replace(found, camps=(failing, Camp(keeping, "with all their digits")))


def _keeping(bench: Bench, found: Finding, failing: str, others: Sequence[str]) -> tuple[str, ...]:
    """The routes that keep the digits of all variations; none if the failing one keeps them too, often enough."""
    values = bench.values_of(failing)
    part = bench.windows.on([bench.graph.by_id[found.node]], values) if values and others else None
    if part is None:
        return ()
    lost, keeping = 0, list(others)
    for index in range(VARIATIONS):
        case = _varied(part.alone(bench.trial.case.rng_seed), index)
        expected = expect_digits(case.graph, draw_data(case))
        outcomes = bench.rerun(case, [failing, *keeping]).outcomes
        lost += not _keeps(case, expected, outcomes[failing])
        keeping = [name for name in keeping if _keeps(case, expected, outcomes[name])]
        if not keeping or lost + VARIATIONS - index - 1 < NEARLY_ALWAYS:
            return ()
    return tuple(keeping)


def _varied(case: Case, index: int) -> Case:
    """The case with each float of its inputs a little to the side."""
    data = dict(case.data)
    for node in case.graph.inputs:
        data[node.id] = _moved(data[node.id], Draw("accuracy", index, node.id))
    return replace(case, data=data)


def _moved(tensor: Tensor, draw: Draw) -> Tensor:
    if tensor.dtype not in FLOATS:
        return tensor
    array: Array = to_array(tensor)
    factors = 1.0 + ASIDE * (2.0 * draw.uniforms(array.shape) - 1.0)
    with np.errstate(all="ignore"):
        return to_tensor((array.astype(np.float64) * factors).astype(array.dtype))


def _keeps(case: Case, expected: dict[Edge, Expected], outcome: Outcome) -> bool:
    if outcome.status != "completed" or not same_types(case.graph, outcome):
        return False
    seen = dict(zip(case.graph.outputs, outcome.outputs, strict=True))
    return all(judge(one, array_of(seen[edge])).ok for edge, one in expected.items())
