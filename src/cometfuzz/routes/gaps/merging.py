"""Gaps of merging layers."""

from collections.abc import Iterator
from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import Gap

Shape = tuple[int, ...]

ELEMENTWISE = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")
MOST_GROUPS = 5


def _groups(left: Shape, right: Shape) -> int:
    """How many axes are left when TensorFlow has joined neighbours that broadcast alike."""
    kinds = [
        (a == 1, b == 1) if a != b else (False, False) for a, b in zip(left, right, strict=True) if (a, b) != (1, 1)
    ]
    return sum(1 for before, kind in zip([None, *kinds], kinds, strict=False) if before != kind)


def _steps(x: Any) -> Iterator[tuple[Shape, Shape, Shape]]:
    """(shape so far, next input's shape, result's shape) for each step from input to input."""
    rank = max(kind.rank for kind in x)
    shapes = [(*kind.shape[:1], *[1] * (rank - kind.rank), *kind.shape[1:]) for kind in x]
    so_far = shapes[0]
    for shape in shapes[1:]:
        result = tuple(b if a == 1 else a for a, b in zip(so_far, shape, strict=True))
        yield so_far, shape, result
        so_far = result


def _broadcasts_too_wildly(x: Any, p: Params) -> bool:
    """Whether a step has more broadcast groups than TensorFlow has kernels for."""
    return any(0 not in result and _groups(left, right) > MOST_GROUPS for left, right, result in _steps(x))


def adds_along_another_axis(left: Shape, right: Shape) -> bool:
    """Whether Keras on TensorFlow takes `right` for a bias and adds it along the last axis or axis 1 of `left`.

    It does so wherever one axis of `right` is left when those of size 1 are gone, and the size fits.
    """
    long = [axis - len(right) for axis, size in enumerate(right) if size > 1]
    if len(long) != 1 or len(left) < 2 or right[long[0]] not in (left[1], left[-1]):
        return False
    taken = -1 if left[-1] == right[long[0]] else 1 - len(left)
    return taken != long[0]


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=ELEMENTWISE,
        when=_broadcasts_too_wildly,
        raises="UnimplementedError",
        evidence="Broadcast between [3,1,6,4,2,3] and [3,4,6,1,2,1] is not supported yet.",
    ),
    Gap(
        routes=("keras-tf",),
        layers=("Add", "Average"),
        when=lambda x, p: any(adds_along_another_axis(left, right) for left, right, _ in _steps(x)),
        symptom="result",
        always=False,
        kind="bug",
        evidence="keras.ops.add(zeros[2, 2, 2], [[[1.]], [[2.]]]) adds along the last axis: it is taken for a bias",
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
