"""Gaps of Dense and EinsumDense."""

from cometfuzz.catalogue.einsum import parse
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.gaps import Gap

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
)
