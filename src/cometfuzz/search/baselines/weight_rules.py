"""LEMON's five rules for weights: the graph stays, some of its weights are no longer those that are drawn."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from cometfuzz.catalogue.data import Array, draw_weights, to_tensor, weight_shapes
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Node
from cometfuzz.search.baselines.editing import layers_of
from cometfuzz.search.pool import Model

NEURONS = (
    *("Dense", "Conv1D", "Conv2D", "Conv3D", "DepthwiseConv2D", "Conv2DTranspose", "Conv3DTranspose"),
    *("MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D"),
    *("LeakyReLU", "ELU", "ThresholdedReLU", "Softmax", "ReLU"),
)
"""The layers of which neurons may be changed, if they have exactly two weights: those without any never do."""

SHUFFLED = ("Conv2D", "Dense")
NOISE = 0.1
"""The deviation of the noise, in deviations of what it is added to."""

MOST_ELEMENTS = 2**18
"""Of the weights of a layer that is changed, since what is not drawn is written into the case's file; those of a larger
layer stay as they are."""


def fuzz(model: Model, draw: Draw, ratio: float, compounded: bool) -> Model:
    """GF: noise on a share of each weight array of any layer. compounded: the deviation of one array also scales the
    noise of the next, as in the published code."""
    node = draw.choice(layers_of(model.graph))
    arrays, factor = weights_of(model, node), NOISE
    changed = {}
    for name, array in arrays.items():
        values = array.astype(np.float64)
        deviation = factor * float(values.std()) if values.size else 0.0
        chosen = draw.uniforms(values.shape) < ratio
        changed[name] = _as(values + np.where(chosen, deviation * draw.bells(values.shape), 0.0), array)
        factor = deviation if compounded else factor
    return _with_weights(model, node, changed)


def shuffle(model: Model, draw: Draw, ratio: float) -> Model:
    """WS: in a share of the output channels of a convolution or Dense layer, the values trade places."""
    node = _one(model, draw, [node for node in layers_of(model.graph) if node.layer in SHUFFLED])
    if node is None:
        return model
    kernel = weights_of(model, node).get("kernel")
    if kernel is None:
        return model
    columns = kernel.reshape(-1, kernel.shape[-1]).copy()
    for channel in _some(draw, columns.shape[1], ratio):
        columns[:, channel] = columns[draw.shuffled(range(columns.shape[0])), channel]
    return _with_weights(model, node, {"kernel": columns.reshape(kernel.shape)})


def block(model: Model, draw: Draw, ratio: float) -> Model:
    """NEB: a share of the neurons of a layer gives 0."""
    return _scaled(model, draw, ratio, 0.0)


def invert(model: Model, draw: Draw, ratio: float) -> Model:
    """NAI: a share of the neurons of a layer gives the opposite."""
    return _scaled(model, draw, ratio, -1.0)


def switch(model: Model, draw: Draw) -> Model:
    """NS: two neurons of the first layer that has two trade places."""
    for node in layers_of(model.graph):
        arrays = _neurons(model, node)
        if arrays is not None and (count := next(iter(arrays.values())).shape[-1]) >= 2:
            one, two = draw.shuffled(range(count))[:2]
            order = list(range(count))
            order[one], order[two] = two, one
            return _with_neurons(model, node, {name: array[..., order] for name, array in arrays.items()})
    return model


WeightRule = Callable[[Model, Draw, float], Model]
RULES: Mapping[str, WeightRule] = MappingProxyType(
    {
        "WS": shuffle,
        "NEB": block,
        "NAI": invert,
        "NS": lambda model, draw, ratio: switch(model, draw),
    }
)


def _scaled(model: Model, draw: Draw, ratio: float, factor: float) -> Model:
    for node in draw.shuffled(layers_of(model.graph)):
        arrays = _neurons(model, node)
        if arrays is None:
            continue
        scale = np.ones(next(iter(arrays.values())).shape[-1])
        scale[_some(draw, len(scale), ratio)] = factor
        return _with_neurons(
            model, node, {name: _as(array.astype(np.float64) * scale, array) for name, array in arrays.items()}
        )
    return model


def weights_of(model: Model, node: Node) -> Mapping[str, Array]:
    """The weights of a node; none where they are too many to be written down."""
    shapes = weight_shapes(model.graph, node).values()
    return draw_weights(model.case, node) if sum(map(math.prod, shapes)) <= MOST_ELEMENTS else {}


def _neurons(model: Model, node: Node) -> dict[str, Array] | None:
    """The two weights of a node with neurons along their last axis; None if it has not exactly two that are so."""
    arrays = weights_of(model, node) if node.layer in NEURONS else {}
    if len(arrays) != 2:
        return None
    (kernel, weights), (bias, offsets) = arrays.items()
    moved = _last(node, weights)
    return {kernel: moved, bias: offsets} if offsets.size and moved.shape[-1] == offsets.size else None


def _last(node: Node, kernel: Array) -> Array:
    """A kernel with its output channels last: those of a transposed convolution come before its input channels, those
    of a depthwise one are spread over two axes."""
    if node.layer.endswith("Transpose"):
        return np.swapaxes(kernel, -1, -2)
    return kernel.reshape(*kernel.shape[:-2], -1) if node.layer.startswith("Depthwise") else kernel


def _with_neurons(model: Model, node: Node, arrays: Mapping[str, Array]) -> Model:
    first, *rest = arrays
    shape = weights_of(model, node)[first].shape
    kernel = arrays[first]
    kernel = np.swapaxes(kernel, -1, -2) if node.layer.endswith("Transpose") else kernel.reshape(shape)
    return _with_weights(model, node, {first: kernel, **{name: arrays[name] for name in rest}})


def _with_weights(model: Model, node: Node, arrays: Mapping[str, Array]) -> Model:
    tensors = {f"{node.id}/{name}": to_tensor(np.ascontiguousarray(array)) for name, array in arrays.items()}
    return replace(model, data={**model.data, **tensors})


def _as(values: Array, like: Array) -> Array:
    return values.astype(like.dtype)


def _some(draw: Draw, count: int, ratio: float) -> list[int]:
    """A share of so many things, at least one if there is any."""
    return draw.shuffled(range(count))[: max(1, int(count * ratio))]


def _one(model: Model, draw: Draw, nodes: Sequence[Node]) -> Node | None:
    return draw.choice(nodes) if nodes else None
