"""Audee's change of parameters, as COMET's authors took it over, and its changes of weights and inputs."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import draw_inputs, draw_weights, expected_tensors, to_tensor
from cometfuzz.catalogue.spaces import Choice
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.ir.types import FLOATS
from cometfuzz.mutation.base import Inapplicable
from cometfuzz.search.baselines.editing import layers_of, replaced
from cometfuzz.search.baselines.lemon_operators import Manner
from cometfuzz.search.baselines.weight_rules import MOST_ELEMENTS
from cometfuzz.search.pool import Model

LAYERS = (
    *("Conv2D", "DepthwiseConv2D", "SeparableConv2D", "MaxPooling2D", "AveragePooling2D", "GlobalMaxPooling2D"),
    *("GlobalAveragePooling2D", "ZeroPadding2D", "Flatten", "Dense", "Activation", "ReLU", "LeakyReLU", "PReLU"),
    *("ELU", "ThresholdedReLU", "BatchNormalization", "SimpleRNN", "LSTM", "GRU", "Embedding", "Dropout"),
    *("GaussianNoise", "ConvLSTM2D", "Conv2DTranspose"),
)
"""The 25 whose parameters change."""

PARAMETERS = (
    *("activation", "recurrent_activation", "kernel_initializer", "alpha_initializer", "filters", "kernel_size"),
    *("strides", "pool_size", "units", "padding", "data_format", "dropout", "recurrent_dropout", "rate", "stddev"),
    *("implementation", "unit_forget_bias", "mask_zero"),
)
MOST_PARAMETERS = 3
LARGE = 1e3


def change_parameters(model: Model, draw: Draw, manner: Manner) -> Model:
    """One to three parameters of one layer get other values, by even chance. What stands behind stays as it is."""
    able = [node for node in layers_of(model.graph) if node.layer in LAYERS and changeable(node)]
    if not able:
        raise Inapplicable("no layer whose parameters change")
    node = draw.choice(able)
    count = draw.integer(1, min(MOST_PARAMETERS, len(changeable(node))))
    changes = {name: other_value(model.graph, node, name, draw) for name in draw.shuffled(changeable(node))[:count]}
    graph = replaced(model.graph, node, node.layer, CATALOGUE[node.layer].complete({**node.params, **changes}))
    kept = {key: tensor for key, tensor in model.data.items() if not key.startswith(f"{node.id}/")}
    return replace(model, graph=graph, data=kept)


def changeable(node: Node) -> list[str]:
    """The parameters of a node that have another value to take."""
    spaces = {name: space for name, space in CATALOGUE[node.layer].params.items() if name in PARAMETERS}
    return [name for name, space in spaces.items() if not isinstance(space, Choice) or len(space.values) > 1]


def other_value(graph: Graph, node: Node, name: str, draw: Draw) -> Any:
    """A value that a parameter does not have."""
    spec = CATALOGUE[node.layer]
    space, x = spec.params[name], spec.view(graph.input_types(node))
    if isinstance(space, Choice):
        return draw.choice([value for value in space.values if repr(value) != repr(node.params[name])])
    for _ in range(10):
        value = space.canonical(space.draw(draw, x, node.params))
        if value != node.params[name]:
            return value
    raise Inapplicable(f"{name} has one value only")


def change_weights(model: Model, draw: Draw, manner: Manner) -> Model:
    """A share of one weight array gets noise, or becomes large."""
    return _changed(model, draw, [key for key in _keys(model) if "/" in key], manner.ratio)


def change_inputs(model: Model, draw: Draw, manner: Manner) -> Model:
    """A share of one input gets noise, or becomes large."""
    return _changed(model, draw, [key for key in _keys(model) if "/" not in key], manner.ratio)


def _changed(model: Model, draw: Draw, keys: list[str], ratio: float) -> Model:
    if not keys:
        raise Inapplicable("nothing to change")
    key = draw.choice(keys)
    node, _, name = key.partition("/")
    array = draw_weights(model.case, model.graph.by_id[node])[name] if name else draw_inputs(model.case)[node]
    scale = draw.choice((1.0, LARGE))
    chosen = draw.uniforms(array.shape) < ratio
    values = array.astype(np.float64) + np.where(chosen, scale * draw.bells(array.shape), 0.0)
    if name.endswith("variance"):
        values = np.abs(values)
    return replace(model, data={**model.data, key: to_tensor(values.astype(array.dtype))})


def _keys(model: Model) -> list[str]:
    """The tensors of floats that are not too large for a case's file."""
    expected = expected_tensors(model.graph)
    return [key for key, (dtype, shape) in expected.items() if dtype in FLOATS and math.prod(shape) <= MOST_ELEMENTS]
