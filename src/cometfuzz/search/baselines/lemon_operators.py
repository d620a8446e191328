"""LEMON's twelve operators: five rules for weights, two for activations, five for layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from cometfuzz.catalogue.data import to_tensor, weight_shapes
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Inapplicable
from cometfuzz.mutation.dialect import Dialect
from cometfuzz.search.baselines import weight_rules
from cometfuzz.search.baselines.bundles import bundles
from cometfuzz.search.baselines.editing import input_type, inserted, layers_of, removed, replaced, swapped
from cometfuzz.search.pool import Model
from cometfuzz.seeds.small import ChainedLayer, call

T = TypeVar("T")
ACTIVATIONS = ("relu", "tanh", "sigmoid", "leaky_relu")


@dataclass(frozen=True)
class Manner:
    """How the operators are applied. ratio: how much of the weights a rule changes. dialect: which layers there are to
    add. as_written: as in the published code where that is plainly not what was meant; see `bundles` and `fuzz`."""

    dialect: Dialect
    ratio: float = 0.3
    as_written: bool = False


Operator = Callable[[Model, Draw, Manner], Model]
"""Makes a model out of another: perhaps the same one, where a rule finds nothing to change, which is a case all the
same. Inapplicable or InvalidCase if nothing can be made."""


def remove_activation(model: Model, draw: Draw, manner: Manner) -> Model:
    """ARem: the activation of a layer becomes the identity."""
    return _activated(model, draw, "linear")


def replace_activation(model: Model, draw: Draw, manner: Manner) -> Model:
    """ARep: the activation of a layer becomes another one. The slope of a leaky one is that of the name, 0.2; 0.01 in
    the tool."""
    return _activated(model, draw, draw.choice(ACTIVATIONS))


def _activated(model: Model, draw: Draw, activation: str) -> Model:
    able = [
        node
        for node in layers_of(model.graph)[:-1]
        if "activation" in node.params and node.params.activation != "softmax"
    ]
    node = _choose(able, draw, "a layer with an activation")
    return replace(model, graph=replaced(model.graph, node, node.layer, node.params.replace(activation=activation)))


def open_layers(graph: Graph) -> list[Node]:
    """All layers before the first one with a softmax, without the last one."""
    found = []
    for node in layers_of(graph)[:-1]:
        if node.params.get("activation") == "softmax" or node.layer == "Softmax":
            break
        found.append(node)
    return found


def keeping(graph: Graph) -> list[Node]:
    """The open layers with one input and one output of the same type."""
    return [
        node
        for node in open_layers(graph)
        if len(node.inputs) == len(node.outputs) == 1 and input_type(graph, node) == node.outputs[0]
    ]


def remove_layer(model: Model, draw: Draw, manner: Manner) -> Model:
    """LR: a layer that keeps the shape is taken out."""
    node = _choose(keeping(model.graph), draw, "a layer that keeps the shape")
    return _tidied(replace(model, graph=removed(model.graph, node)))


def copy_layer(model: Model, draw: Draw, manner: Manner) -> Model:
    """LC: a layer that keeps the shape stands twice in a row, with the same weights."""
    node = _choose(keeping(model.graph), draw, "a layer that keeps the shape")
    graph, (name,) = inserted(model.graph, node, [ChainedLayer(node.layer, node.params)])
    weights = weight_rules.weights_of(model, node)
    if not weights and weight_shapes(model.graph, node):
        raise Inapplicable("more weights than a case's file should have")
    copied = {f"{name}/{weight}": to_tensor(array) for weight, array in weights.items()}
    return replace(model, graph=graph, data={**model.data, **copied})


def switch_layers(model: Model, draw: Draw, manner: Manner) -> Model:
    """LS: two layers with the same types of input and output trade places."""
    graph = model.graph
    able = [node for node in open_layers(graph) if len(node.inputs) == len(node.outputs) == 1]
    pairs = [
        (one, two)
        for place, one in enumerate(able)
        for two in able[place + 1 :]
        if (input_type(graph, one), one.outputs) == (input_type(graph, two), two.outputs)
    ]
    one, two = _choose(pairs, draw, "two layers of the same types")
    return replace(model, graph=swapped(graph, one, two))


def add_layer(model: Model, draw: Draw, manner: Manner) -> Model:
    """LA: one of 22 layers that keep the shape is put behind a layer."""
    return _added(model, draw, manner, lambda kind: [[each] for each in single_layers(kind)])


def add_layers(model: Model, draw: Draw, manner: Manner) -> Model:
    """MLA: one of 21 bundles of layers, which change the shape and bring it back, is put behind a layer."""
    return _added(model, draw, manner, lambda kind: bundles(kind, manner.as_written))


def _added(
    model: Model, draw: Draw, manner: Manner, offer: Callable[[TensorType], Sequence[Sequence[ChainedLayer]]]
) -> Model:
    able = [node for node in open_layers(model.graph) if len(node.outputs) == 1]
    node = _choose(able, draw, "a layer before the last one")
    offered = [calls for calls in offer(node.outputs[0]) if all(manner.dialect.has(each.layer) for each in calls)]
    graph, _ = inserted(model.graph, node, _choose(offered, draw, "a layer to add"))
    return replace(model, graph=graph)


def single_layers(kind: TensorType) -> list[ChainedLayer]:
    """What LA may add behind a tensor: filters and units as many as there are channels, windows of 3, stride 1, padding
    that keeps the size; all else is default."""
    sizes, last = kind.shape[1:-1], kind.shape[-1]
    found = [call("Dense", units=last)] if kind.rank == 2 else []
    if kind.rank in (3, 4, 5) and min(sizes) >= (3 if kind.rank < 5 else 1):
        axes, same = kind.rank - 2, {"padding": "same", "kernel_size": 3}
        filters = {3: ("Conv1D", "SeparableConv1D"), 4: ("Conv2D", "SeparableConv2D", "Conv2DTranspose")}
        found += [call(name, filters=last, **same) for name in filters.get(kind.rank, ("Conv3D", "Conv3DTranspose"))]
        found += [call("DepthwiseConv2D", **same)] if kind.rank == 4 else []
        pool = {"pool_size": 3, "strides": 1, "padding": "same"}
        found += [call(f"{name}Pooling{axes}D", **pool) for name in ("Max", "Average")]
    anywhere = ("BatchNormalization", "LeakyReLU", "PReLU", "ELU", "ThresholdedReLU", "Softmax")
    found += [call(name) for name in anywhere if kind.rank in CATALOGUE[name].ranks]
    return [*found, call("ReLU", max_value=1.0)]


def _tidied(model: Model) -> Model:
    """Without the weights of layers that are gone."""
    data = {key: tensor for key, tensor in model.data.items() if key.split("/")[0] in model.graph.by_id}
    return replace(model, data=data)


def _choose(options: Sequence[T], draw: Draw, wanted: str) -> T:
    if not options:
        raise Inapplicable(f"expected {wanted}; received none")
    return draw.choice(options)


def _weight_rule(name: str) -> Operator:
    rule = weight_rules.RULES[name]
    return lambda model, draw, manner: rule(model, draw, manner.ratio)


LEMON: Mapping[str, Operator] = MappingProxyType(
    {
        "GF": lambda model, draw, manner: weight_rules.fuzz(model, draw, manner.ratio, manner.as_written),
        **{name: _weight_rule(name) for name in weight_rules.RULES},
        "ARem": remove_activation,
        "ARep": replace_activation,
        "LR": remove_layer,
        "LC": copy_layer,
        "LS": switch_layers,
        "LA": add_layer,
        "MLA": add_layers,
    }
)
