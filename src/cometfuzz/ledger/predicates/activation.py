"""Conditions on activations and activation layers."""

from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.predicates import predicate
from cometfuzz.ledger.predicates.inputs import activations

_OF_KERAS_MXNET = (
    *(None, "softmax", "elu", "selu", "softplus", "softsign", "relu", "tanh", "sigmoid", "hard_sigmoid"),
    *("exponential", "linear"),
)


@predicate
def activation_unknown_to_keras_mxnet(x: Any, p: Params) -> bool:
    """It names an activation that Keras 2.2.4 does not have."""
    return any(name not in _OF_KERAS_MXNET for name in activations(p))


@predicate
def has_max_value(x: Any, p: Params) -> bool:
    """A ReLU that clips."""
    return p.max_value is not None


@predicate
def softmax_over_one_axis(x: Any, p: Params) -> bool:
    """A softmax, as a layer over a single axis or as an activation."""
    return p.get("activation") == "softmax" or isinstance(p.get("axis"), int)


@predicate
def over_several_axes(x: Any, p: Params) -> bool:
    """A layer that works along more than one axis."""
    return isinstance(p.axis, tuple) and len(p.axis) > 1


@predicate
def shares_axes(x: Any, p: Params) -> bool:
    """A PReLU that shares its weight along some axes."""
    return bool(p.shared_axes)


@predicate
def shares_negative_axes(x: Any, p: Params) -> bool:
    """A PReLU whose shared axes are counted from the end."""
    return any(axis < 0 for axis in p.shared_axes or ())


@predicate
def shares_wrong_axis(x: TensorType, p: Params) -> bool:
    """Keras' reading of the shared axes gives a weight of another shape than the documented one, or none at all."""
    sizes = x.shape[1:]
    documented, keras = list(sizes), list(sizes)
    for axis in p.shared_axes:
        documented[axis % x.rank - 1] = 1
        if not -len(sizes) <= axis - 1 < len(sizes):
            return True
        keras[axis - 1] = 1
    return documented != keras


@predicate
def shares_in_many_turns(x: TensorType, p: Params) -> bool:
    """Shared and other axes take turns more than five times: TensorFlow merges neighbours, and has five at most."""
    shared = {0, *(axis % x.rank for axis in p.shared_axes or ())}
    turns = [axis in shared for axis, size in enumerate(x.shape) if size > 1]
    return sum(index == 0 or turn != turns[index - 1] for index, turn in enumerate(turns)) > 5
