"""Gaps of Dense and EinsumDense."""

from cometfuzz.catalogue.einsum import output_shape, parse, weights
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.merging import adds_along_another_axis

KERAS3_ROUTES = ("keras-tf", "keras-torch", "keras-jax")


def _reverses(x: TensorType, p: Params) -> bool:
    """Keras puts the axes behind an ellipsis on the left in reverse order into the output's shape."""
    e = parse(p.equation)
    elided = x.shape[1 : x.rank - len(e.inputs)] if e.ellipsis == "left" else ()
    return elided != elided[::-1]


GAPS: tuple[Gap, ...] = (
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
)
