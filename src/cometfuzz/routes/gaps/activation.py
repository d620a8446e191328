"""Gaps of activations, by name in any layer, and of activation layers."""

from collections.abc import Iterator
from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap
from cometfuzz.routes.gaps.initialising import first

NOT_IN_KERAS2 = (
    *("hard_silu", "hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink", "squareplus", "celu", "glu"),
    *("log_sigmoid", "sparse_plus", "sparsemax", "sparse_sigmoid"),
)


def activations(p: Params) -> Iterator[str | None]:
    """The activations that a layer names; what a wrapper holds is judged by itself."""
    return (p[name] for name in ("activation", "recurrent_activation") if name in p)


def _names(x: Any, p: Params, *wanted: str) -> bool:
    return any(name in wanted for name in activations(p))


def _shares_wrong_axis(x: TensorType, p: Params) -> bool:
    """Whether Keras' reading of the axes gives a weight of another shape than the documented one, or none at all."""
    sizes = x.shape[1:]
    documented, keras = list(sizes), list(sizes)
    for axis in p.shared_axes:
        documented[axis % x.rank - 1] = 1
        if not -len(sizes) <= axis - 1 < len(sizes):
            return True
        keras[axis - 1] = 1
    return documented != keras


def _alternations(x: TensorType, p: Params) -> int:
    """How often broadcast and other axes take turns: TensorFlow merges neighbours, and has five at most."""
    shared = {0, *(axis % x.rank for axis in p.shared_axes or ())}
    turns = [axis in shared for axis, size in enumerate(x.shape) if size > 1]
    return sum(index == 0 or turn != turns[index - 1] for index, turn in enumerate(turns))


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-torch",),
        layers=(),
        when=lambda x, p: _names(x, p, "gelu") and first(x).dtype == "float32",
        symptom="value",
        always=False,
        kind="bug",
        evidence="torch gelu of float32 is 14 u off at -2.904762 in a long tensor, 1.4 u element by element",
        witness=(-2.904761791229248,),
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=(),
        when=lambda x, p: _names(x, p, "sparsemax"),
        symptom="value",
        always=False,
        kind="bug",
        evidence="keras.activations.sparsemax([[0.1, 0.2, 0.3]]) does not sum to 1: it adds up partial sums",
    ),
    Gap(
        routes=("keras2-tf",),
        layers=(),
        when=lambda x, p: _names(x, p, *NOT_IN_KERAS2),
        raises="ValueError",
        evidence="Unknown activation function 'hard_silu' cannot be deserialized",
    ),
    Gap(
        routes=("keras2-tf",),
        layers=(),
        when=lambda x, p: _names(x, p, "hard_sigmoid"),
        symptom="value",
        always=False,
        evidence="Keras 2 documents hard_sigmoid as clip(0.2 x + 0.5, 0, 1), Keras 3 as clip(x / 6 + 0.5, 0, 1)",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=(),
        when=lambda x, p: _names(x, p, "leaky_relu", "gelu") and first(x).dtype == "float64",
        symptom="value",
        always=False,
        kind="bug",
        evidence="tf.nn.leaky_relu and tf.nn.gelu round their constant to float32 for float64 inputs",
    ),
    Gap(
        routes=("keras-tf",),
        layers=("LeakyReLU",),
        when=lambda x, p: x.dtype == "float64",
        symptom="value",
        always=False,
        kind="bug",
        evidence="tf.nn.leaky_relu rounds alpha to float32 for float64 inputs",
    ),
    Gap(
        routes=("keras-tf",),
        layers=("ReLU",),
        when=lambda x, p: x.dtype == "float64" and p.max_value is not None and bool(x.elements),
        symptom="value",
        always=False,
        kind="bug",
        evidence="ReLU(2.32, dtype='float64') clips at float32(2.32)",
    ),
    Gap(
        routes=("keras2-tf",),
        layers=("LeakyReLU", "ReLU", "ELU", "ThresholdedReLU"),
        when=lambda x, p: x.dtype == "float64",
        symptom="value",
        always=False,
        kind="bug",
        evidence="the constructor rounds its numbers with backend.cast_to_floatx, so to float32",
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=("Activation",),
        when=lambda x, p: p.activation == "glu" and x.shape[-1] > 0,
        raises="StaticTypeMismatch",
        kind="bug",
        evidence='keras.layers.Activation("glu")(keras.Input((4,))).shape is (None, 4), the result is (None, 2)',
    ),
    Gap(
        routes=(*KERAS3_ROUTES, "keras2-tf"),
        layers=("PReLU",),
        when=lambda x, p: any(axis < 0 for axis in p.shared_axes or ()) and _shares_wrong_axis(x, p),
        raises="Exception",
        kind="bug",
        evidence="PReLU(shared_axes=[-1]) shares axis -2: build() uses param_shape[i - 1]",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=("Softmax", "Activation", "Dense"),
        when=lambda x, p: (
            x.rank > 5
            and x.dtype in ("float32", "bfloat16")
            and (p.get("activation") == "softmax" or isinstance(p.get("axis"), int))
        ),
        raises="AbortedError",
        kind="bug",
        evidence="oneDNN's softmax in TensorFlow: Input dims must be <= 5 and >=1",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=("PReLU",),
        when=lambda x, p: _alternations(x, p) > 5,
        raises="UnimplementedError",
        evidence="Broadcast between [2,1,5,1,4] and [3,2,6,5,5,4] is not supported yet: shared_axes=[2, 4] of rank 6",
    ),
)
