"""The tensors of a case: drawn from its rng_seed unless the case brings its own.

Each tensor has its own stream, named by node and weight, so that an edit of the graph leaves all others as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import INPUT, Graph, Node
from cometfuzz.ir.recent import Recent
from cometfuzz.ir.types import FLOATS, POLICIES, POLICY

Array = NDArray[Any]
NUMPY = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
    "int32": np.dtype(np.int32),
    "bool": np.dtype(np.bool_),
}
NAMES = {dtype: name for name, dtype in NUMPY.items()}


@dataclass(frozen=True)
class Data:
    """Arrays in their real dtypes: graph inputs by node, weights by node and then by name in Keras' order."""

    inputs: Mapping[str, Array]
    weights: Mapping[str, Mapping[str, Array]]

    @property
    def arrays(self) -> list[Array]:
        """All of them: inputs first, then each node's weights."""
        return [*self.inputs.values(), *(array for arrays in self.weights.values() for array in arrays.values())]


def weight_shapes(graph: Graph, node: Node) -> Mapping[str, tuple[int, ...]]:
    """What a node needs of weights, by name; a broken one keeps those that its library draws."""
    spec = CATALOGUE[node.layer]
    if node.is_broken:
        return {}
    return spec.weights(spec.view(graph.input_types(node), node.params), node.params)


def weight_dtype(node: Node) -> str:
    """Weights have the dtype that the layer's policy says, else that in which it computes: that of its first output."""
    return POLICIES[node.params[POLICY]][1] if POLICY in node.params else node.outputs[0].dtype


def expected_tensors(graph: Graph) -> dict[str, tuple[str, tuple[int, ...]]]:
    """What `Case.data` may override: key -> (dtype, shape)."""
    expected: dict[str, tuple[str, tuple[int, ...]]] = {}
    for node in graph.nodes:
        if node.layer == INPUT:
            expected[node.id] = (node.outputs[0].dtype, node.outputs[0].shape)
        for name, shape in weight_shapes(graph, node).items():
            expected[f"{node.id}/{name}"] = (weight_dtype(node), shape)
    return expected


def draw_data(case: Case) -> Data:
    """All inputs and weights of a case, drawn once while it is worked on, for all who ask; nobody may write to them."""
    return _recent(case)


def draw_inputs(case: Case) -> dict[str, Array]:
    """The inputs of a case alone: of one that is only a step on the way to another."""
    inputs = {}
    for node in case.graph.inputs:
        override = case.data.get(node.id)
        inputs[node.id] = _draw_input(case.rng_seed, node) if override is None else to_array(override)
    return inputs


def draw_weights(case: Case, node: Node) -> dict[str, Array]:
    """The weights of one node alone."""
    weights = {}
    for name, shape in weight_shapes(case.graph, node).items():
        override = case.data.get(f"{node.id}/{name}")
        weights[name] = (
            _draw_weight(Draw(case.rng_seed, node.id, name), name, shape, weight_dtype(node))
            if override is None
            else to_array(override)
        )
    return weights


def _draw_all(case: Case) -> Data:
    weights: dict[str, dict[str, Array]] = {}
    first_of = case.manner.first_of
    for node in case.graph.nodes:
        if first_of.get(node.id, node.id) != node.id:
            if first_of[node.id] in weights:
                weights[node.id] = weights[first_of[node.id]]
            continue
        if drawn := draw_weights(case, node):
            weights[node.id] = drawn
    data = Data(draw_inputs(case), weights)
    for array in data.arrays:
        array.setflags(write=False)
    return data


_recent = Recent(_draw_all, lambda data: sum(array.nbytes for array in data.arrays))


def to_array(tensor: Tensor) -> Array:
    return np.frombuffer(tensor.data, dtype=NUMPY[tensor.dtype]).reshape(tensor.shape)


def to_tensor(array: Array) -> Tensor:
    """An array of one of our dtypes as a case keeps it."""
    return Tensor(NAMES[array.dtype], array.shape, np.ascontiguousarray(array).tobytes())


def _draw_input(seed: int, node: Node) -> Array:
    draw, kind = Draw(seed, node.id), node.outputs[0]
    if kind.dtype == "int32":
        return np.floor(draw.uniforms(kind.shape) * (kind.high or 1)).astype(np.int32)
    if kind.dtype == "bool":
        return draw.uniforms(kind.shape) < 0.5
    values = draw.bells(kind.shape)
    if node.params.zero_steps:
        values = values * (draw.uniforms(kind.shape[:2]) > 1 / 3).reshape(*kind.shape[:2], *[1] * (len(kind.shape) - 2))
    return values.astype(NUMPY[kind.dtype])


def _draw_weight(draw: Draw, name: str, shape: tuple[int, ...], dtype: str) -> Array:
    """Kernels keep the magnitude of what flows through; variances are positive; scales are near one."""
    assert dtype in FLOATS, f"expected a float dtype for weight {name}; received dtype={dtype}"
    if name.endswith("variance"):
        values = 0.5 + draw.uniforms(shape)
    elif name.endswith(("gamma", "scale")):
        values = 1.0 + 0.25 * draw.bells(shape)
    else:
        fan_in = max(1, int(np.prod(shape[:-1]))) if len(shape) > 1 else 1
        values = draw.bells(shape) * float(np.sqrt(1.0 / fan_in)) * (1.0 if len(shape) > 1 else 0.5)
    return values.astype(NUMPY[dtype])
