"""Whether a check can tell anything: does the output of a model depend on its input?

Where two drawn inputs give the same output, up to what the judgement takes for rounding, every route agrees whatever
it computes. Then other scales of the input are tried, and, if the weights are untrained, other kernels.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cometfuzz.catalogue.data import NUMPY, Array, draw_data, draw_inputs, expected_tensors, to_array, to_tensor
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Edge
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.agreement import BASE, differences
from cometfuzz.oracles.bench import Rerun
from cometfuzz.routes import Route

SCALES = (-8, -6, -4, -2, 2, 4, 6, 8)
"""Powers of 2 that inputs are multiplied with."""

GAINS = (2.0, 1.0, 4.0, 8.0)
"""Variances of drawn kernels, times their number of inputs: 2 keeps numbers as large as they are through ReLU."""

TRIES = 8
KERNELS = ("kernel", "embeddings")
CONSTANTS = ("bias", "gamma", "beta", "mean", "variance", "scale")
"""Weights that Keras begins with zeros or ones, by a part of their names."""


@dataclass(frozen=True)
class Varied:
    """A case, and how it came about. scale: of the inputs; gain: of drawn kernels, 0 for the weights that were given.

    constant: the outputs that did not depend on the input; None if no route could tell. tries: how many others it took.
    """

    case: Case
    scale: float = 1.0
    gain: float = 0.0
    constant: tuple[Edge, ...] | None = None
    tries: int = 0


def untrained(case: Case) -> bool:
    """Whether the weights of a case carry nothing that was learned.

    Drawn weights do not. Of stored ones: every bias, gamma, beta and moving statistic is exactly 0 or 1, as Keras
    initialises them; one step of training moves them all. If there is none of them, nobody can tell, and the weights
    are left as they are.
    """
    inputs = {node.id for node in case.graph.inputs}
    names = [key for key in expected_tensors(case.graph) if key not in inputs]
    if not any(key in case.data for key in names):
        return bool(names)
    begun = [case.data[key] for key in names if key in case.data and _is(key, CONSTANTS)]
    return bool(begun) and all(np.isin(to_array(tensor).astype(np.float64), (0, 1)).all() for tensor in begun)


def _is(key: str, parts: Sequence[str]) -> bool:
    return any(part in key.rpartition("/")[2] for part in parts)


def vary(
    case: Case, rerun: Rerun, routes: Sequence[Route], factor: float, report: Callable[[str], None] = lambda text: None
) -> Varied:
    """A case like the given one whose outputs depend on its inputs, as far as one can be found in a few tries.

    factor: how far outputs must be apart, see `agreement.differences`. The first route that completes tells.
    """
    fixed = replace(case, data=_tensors(case))
    report("does the output depend on the input?")
    told = ((name, _constant(fixed, 1.0, rerun, name, factor)) for name in _fronts(routes))
    route, constant = next(((name, found) for name, found in told if found is not None), ("", None))
    best = Varied(fixed, constant=constant)
    tried = 0
    for scale, gain in _tries(case) if constant else ():
        tried += 1
        report(f"it does not; try {tried} of at most {TRIES}")
        other = _changed(fixed, scale, gain, tried)
        constant = _constant(other, scale, rerun, route, factor)
        if constant is not None and best.constant is not None and len(constant) < len(best.constant):
            best = Varied(other, scale, gain, constant)
        if not best.constant:
            break
    return replace(best, tries=tried)


def _fronts(routes: Sequence[Route]) -> list[str]:
    """For each way to build the model the shortest route, the base's first: one that fails there fails behind it."""
    shortest: dict[str, Route] = {}
    for route in sorted(routes, key=lambda route: (route.name != BASE, len(route.steps))):
        shortest.setdefault(route.steps[0].name, route)
    return [route.name for route in shortest.values()]


def _constant(case: Case, scale: float, rerun: Rerun, route: str, factor: float) -> tuple[Edge, ...] | None:
    """The outputs that are the same for other inputs; None if the route does not complete.

    An empty one is not among them: all that there is of it is its type.
    """
    other = _with_inputs(case, _seed(case, "other"), scale)
    first, second = (rerun(each, [route]).outcomes[route] for each in (case, other))
    if first.status != "completed" or second.status != "completed":
        return None
    varying = differences(case.graph, first, second, factor)
    kinds = {edge: case.graph.type_of(edge) for edge in case.graph.outputs}
    return tuple(edge for edge, kind in kinds.items() if kind.elements and not varying.keys() & {edge, None})


def _tries(case: Case) -> list[tuple[float, float]]:
    """Scales and gains: of a trained model eight scales, else scales and gains by turns."""
    scales = [2.0**power for power in Draw(case.rng_seed, "scales").shuffled(SCALES)]
    if not untrained(case):
        return [(scale, 0.0) for scale in scales[:TRIES]]
    turns = [((scale, 0.0), (1.0, gain)) for scale, gain in zip(scales[: len(GAINS)], GAINS, strict=True)]
    return [each for turn in turns for each in turn][:TRIES]


def _changed(case: Case, scale: float, gain: float, number: int) -> Case:
    """The case with other inputs, and with drawn kernels if there is a gain."""
    other = _with_inputs(case, _seed(case, f"try {number}"), scale)
    if not gain:
        return other
    data, inputs = dict(other.data), {node.id for node in case.graph.inputs}
    for key, tensor in other.data.items():
        if _is(key, KERNELS) and key not in inputs:
            values = Draw(case.rng_seed, "kernel", number, key).bells(tensor.shape)
            values *= math.sqrt(gain / _inputs_of(key, tensor.shape))
            data[key] = to_tensor(values.astype(NUMPY[tensor.dtype]))
    return replace(other, data=data)


def _inputs_of(key: str, shape: Sequence[int]) -> int:
    """How many numbers a kernel adds up for one output."""
    if _is(key, ("embeddings",)):
        return 1
    return max(1, math.prod(shape[:-2] if _is(key, ("depthwise",)) else shape[:-1]))


def _with_inputs(case: Case, seed: int, scale: float) -> Case:
    inputs = {node.id for node in case.graph.inputs}
    weights = {key: tensor for key, tensor in case.data.items() if key not in inputs}
    drawn = draw_inputs(Case(case.graph, seed))
    return replace(case, data={**weights, **{name: to_tensor(_scaled(array, scale)) for name, array in drawn.items()}})


def _scaled(array: Array, scale: float) -> Array:
    floats = [NUMPY[name] for name in FLOATS]
    return (array.astype(np.float64) * scale).astype(array.dtype) if array.dtype in floats else array


def _seed(case: Case, name: str) -> int:
    return Draw(case.rng_seed, "inputs", name).integer(0, 2**31 - 1)


def _tensors(case: Case) -> dict[str, Tensor]:
    """All that a case is run on, drawn or not: another seed for its inputs leaves the weights as they are."""
    data = draw_data(case)
    weights = {f"{node}/{name}": array for node, arrays in data.weights.items() for name, array in arrays.items()}
    return {key: to_tensor(array) for key, array in {**data.inputs, **weights}.items()}
