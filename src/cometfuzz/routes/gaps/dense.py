"""Gaps of Dense and EinsumDense."""

from cometfuzz.catalogue.einsum import output_shape, parse, weights
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap
from cometfuzz.routes.gaps.merging import adds_along_another_axis, adds_nothing


def _reverses(x: TensorType, p: Params) -> bool:
    """Keras puts the axes behind an ellipsis on the left in reverse order into the output's shape."""
    e = parse(p.equation)
    elided = x.shape[1 : x.rank - len(e.inputs)] if e.ellipsis == "left" else ()
    return elided != elided[::-1]


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=KERAS3_ROUTES,
        layers=("Dense",),
        when=lambda x, p: p.units == 0,
        raises="ValueError",
        evidence="expected a positive integer. Received: units=0; Keras 2 takes it",
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=("EinsumDense",),
        when=_reverses,
        raises="StaticTypeMismatch",
        kind="bug",
        evidence='EinsumDense("...a,ab->...b", 4) on shape (1, 5, 3, 2) states the shape (1, 3, 5, 4)',
    ),
    Gap(
        routes=("keras-tf",),
        layers=("EinsumDense",),
        when=lambda x, p: (
            p.bias_axes is not None and adds_along_another_axis(output_shape(x, p), weights(x, p)["bias"])
        ),
        symptom="value",
        always=False,
        kind="bug",
        evidence="keras.ops.add(x[1, 5, 5, 1], bias[5, 1]) adds along axis 1, not 2",
    ),
    Gap(
        routes=("keras-tf",),
        layers=("EinsumDense",),
        when=lambda x, p: p.bias_axes is not None and adds_nothing(output_shape(x, p), weights(x, p)["bias"]),
        raises="InvalidArgumentError",
        kind="bug",
        evidence="keras.ops.add(x[1, 0, 6], bias[0, 6]): Biases must be 1D: [0,6]",
    ),
    Gap(
        routes=("keras-tf",),
        layers=("EinsumDense",),
        when=lambda x, p: (
            p.activation == "softmax" and len(output_shape(x, p)) > 5 and x.dtype in ("float32", "bfloat16")
        ),
        raises="AbortedError",
        kind="bug",
        evidence="oneDNN's softmax in TensorFlow: Input dims must be <= 5 and >=1",
    ),
)
