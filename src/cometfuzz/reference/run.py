"""Run a whole graph on the reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cometfuzz.catalogue.data import NUMPY, Data
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.ir.types import FLOATS, POLICIES, POLICY, TensorType
from cometfuzz.reference.call import Array, Call, Freedom, Judging, Mask, evaluate, output_masks


@dataclass(frozen=True)
class Run:
    """The float64 value of every edge, the largest magnitude a sum reached at each node, and distances from steps.

    overflowed: the nodes within which a sum was not finite, on finite inputs or not. undecided: the elements that have
    several right answers. freedoms: what layers that read NaN or Inf, or put it in, leave to the library. given: the
    numbers that nodes put in by themselves, by node.
    """

    values: Mapping[Edge, Array]
    peaks: Mapping[str, float]
    overflowed: frozenset[str]
    steps: Sequence[tuple[str, Array]]
    undecided: Mapping[Edge, Mask]
    freedoms: frozenset[Freedom]
    given: Mapping[str, Sequence[float]]


def wide(array: Array) -> Array:
    """Floats as float64; integers and booleans as they are."""
    return array.astype(np.float64) if array.dtype.kind not in "ib" else array


def narrow(array: Array, dtype: str) -> Array:
    """A float64 result rounded to a real dtype."""
    with np.errstate(all="ignore"):
        return array.astype(NUMPY[dtype])


def run(graph: Graph, data: Data, judging: Judging | None = None) -> Run:
    """Every edge's value. With `judging`, inputs and weights are perturbed by it as well."""
    values: dict[Edge, Array] = {}
    masks: dict[Edge, Mask | None] = {}
    peaks: dict[str, float] = {}
    overflowed: list[str] = []
    steps: list[tuple[str, Array]] = []
    undecided: dict[Edge, Mask] = {}
    freedoms: set[Freedom] = set()
    given: dict[str, Sequence[float]] = {}
    for node in graph.nodes:
        if node.layer == INPUT:
            value = wide(data.inputs[node.id])
            values[Edge(node.id)] = judging.perturb(value) if judging else value
            masks[Edge(node.id)] = None
            continue
        local = Judging() if judging is None else judging
        stored = data.weights.get(node.id, {})
        inputs, weights, types = autocast(graph, node, [values[edge] for edge in node.inputs], stored)
        call = Call(
            layer=node.layer,
            params=node.params,
            inputs=inputs,
            masks=[masks[edge] for edge in node.inputs],
            weights={name: local.perturb(array) for name, array in weights.items()},
            types=types,
            outputs=node.outputs,
            judging=local,
        )
        results = evaluate(call)
        for index, (value, mask) in enumerate(zip(results, output_masks(call), strict=True)):
            values[Edge(node.id, index)] = value if local.within else local.perturb(value)
            masks[Edge(node.id, index)] = mask
        peaks[node.id] = local.peak
        if local.overflowed:
            overflowed.append(node.id)
            local.overflowed = False
        steps += [(node.id, distance) for distance in local.steps]
        local.steps.clear()
        undecided |= {Edge(node.id, index): elements for index, elements in local.undecided.items()}
        local.undecided.clear()
        if _meets_nonfinite(call):
            freedoms |= local.freedoms
        if local.given:
            given[node.id] = tuple(local.given)
            local.given.clear()
    return Run(values, peaks, frozenset(overflowed), steps, undecided, frozenset(freedoms), given)


def autocast(
    graph: Graph, node: Node, inputs: Sequence[Array], weights: Mapping[str, Array]
) -> tuple[Sequence[Array], Mapping[str, Array], Sequence[TensorType]]:
    """Inputs and weights as a layer computes on them, in float64: rounded to the dtype of its policy, if it has one."""
    types = graph.input_types(node)
    if POLICY not in node.params:
        return inputs, {name: wide(array) for name, array in weights.items()}, types
    spec, compute = CATALOGUE[node.layer], POLICIES[node.params[POLICY]][0]
    seen = spec.cast(types, node.params)
    cast = [
        value if kind.dtype == was.dtype else wide(narrow(value, kind.dtype))
        for value, kind, was in zip(inputs, seen, types, strict=True)
    ]
    weights = {name: narrow(array, compute) if spec.autocast == "all" else array for name, array in weights.items()}
    return cast, {name: wide(array) for name, array in weights.items()}, seen


def _meets_nonfinite(call: Call) -> bool:
    """Whether there is NaN or Inf among what a layer reads, or among the numbers that it has put in by itself."""
    arrays = (*call.inputs, *call.weights.values(), np.array(call.judging.given))
    return not all(np.isfinite(array).all() for array in arrays)


def roundoff(dtype: str) -> float:
    """The unit roundoff of a float dtype."""
    return {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}[dtype]


def largest(dtype: str) -> float:
    """The largest finite number of a float dtype."""
    return {"float16": 65504.0, "bfloat16": 3.3895e38, "float32": 3.4028e38, "float64": 1.797e308}[dtype]


def smallest(dtype: str) -> float:
    """The smallest normal number of a float dtype: libraries may flush what is below it to zero."""
    return {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}[dtype]


assert set(FLOATS) == {"float16", "bfloat16", "float32", "float64"}
