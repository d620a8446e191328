"""Gaps of merging layers."""

from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import Gap

ELEMENTWISE = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")
MOST_GROUPS = 5


def _groups(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """How many axes are left when TensorFlow has joined neighbours that broadcast alike."""
    kinds = [(a == 1, b == 1) if a != b else (False, False) for a, b in zip(left, right, strict=True) if (a, b) != (1, 1)]
    return sum(1 for before, kind in zip([None, *kinds], kinds, strict=False) if before != kind)


def _broadcasts_too_wildly(x: Any, p: Params) -> bool:
    """Whether one of the steps from input to input has more broadcast groups than TensorFlow has kernels for."""
    rank = max(kind.rank for kind in x)
    shapes = [(*kind.shape[:1], *[1] * (rank - kind.rank), *kind.shape[1:]) for kind in x]
    so_far = shapes[0]
    for shape in shapes[1:]:
        result = tuple(b if a == 1 else a for a, b in zip(so_far, shape, strict=True))
        if 0 not in result and _groups(so_far, shape) > MOST_GROUPS:
            return True
        so_far = result
    return False


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=ELEMENTWISE,
        when=_broadcasts_too_wildly,
        raises="UnimplementedError",
        evidence="Broadcast between [3,1,6,4,2,3] and [3,4,6,1,2,1] is not supported yet.",
    ),
    Gap(
        routes=("keras-torch",),
        layers=("Maximum", "Minimum", "Dot"),
        when=lambda x, p: x[0].dtype == "float64",
        symptom="result",
        always=False,
        kind="bug",
        evidence="keras.ops.maximum(float64, float64) is float32 on PyTorch: it asks result_type",
    ),
    Gap(
        routes=("keras-tf", "keras-torch", "keras-jax"),
        layers=("Dot",),
        when=lambda x, p: p.normalize and x[0].dtype == "float16" and any(kind.masked for kind in x),
        symptom="value",
        always=False,
        kind="bug",
        evidence="Dot(1, normalize=True) of zeros in float16 is NaN: epsilon is 1e-7, and 1 / epsilon is inf there",
    ),
)
