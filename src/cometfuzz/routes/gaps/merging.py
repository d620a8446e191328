"""Gaps of merging layers."""

from collections.abc import Iterator
from typing import Any

from cometfuzz.catalogue.merging import dot_axes
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


def _taken_for_bias(left: Shape, right: Shape) -> int | None:
    """The axis of `right`, from the end, that makes Keras on TensorFlow take it for a bias: the only one above 1.

    Its size has to be that of the last axis or of axis 1 of `left`, wherever it lies itself.
    """
    long = [axis - len(right) for axis, size in enumerate(right) if size > 1]
    return long[0] if len(long) == 1 and len(left) > 1 and right[long[0]] in (left[1], left[-1]) else None


def adds_along_another_axis(left: Shape, right: Shape) -> bool:
    """Whether such a bias is added along the last axis or axis 1 although it lies along another."""
    axis = _taken_for_bias(left, right)
    return axis is not None and 0 not in right and axis != (-1 if left[-1] == right[axis] else 1 - len(left))


def adds_nothing(left: Shape, right: Shape) -> bool:
    """Whether such a bias is empty: then an axis of size 0 is left beside its own."""
    return _taken_for_bias(left, right) is not None and 0 in right


def _half_masked(x: Any, p: Params) -> bool:
    """Whether masks of size 1 along the features have to meet masks of their full size, off the features' axis."""
    masked = {kind.masked for kind in x}
    return len(masked) == 2 and p.axis % x[0].rank != x[0].rank - 1 and x[0].shape[-1] != 1


def _dot_of_nothing(x: Any, p: Params) -> bool:
    """Whether Keras flattens an input of rank above 3 to (batch, summed axis, -1) where one of them is 0."""
    axes = dot_axes(x, p) or (1, 1)
    return any(kind.rank > 3 for kind in x) and 0 in (x[0].shape[0], x[0].shape[axes[0]])


GAPS: tuple[Gap, ...] = (
    *(
        Gap(
            routes=(route,),
            layers=("Dot",),
            when=_dot_of_nothing,
            raises=raises,
            kind="bug",
            evidence="cannot reshape tensor of 0 elements into shape [0, 2, -1]; the size is known, but given as -1",
        )
        for route, raises in (("keras-torch", "RuntimeError"), ("keras-jax", "ZeroDivisionError"))
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=ELEMENTWISE,
        when=_broadcasts_too_wildly,
        raises="UnimplementedError",
        evidence="Broadcast between [3,1,6,4,2,3] and [3,4,6,1,2,1] is not supported yet.",
    ),
    Gap(
        routes=("keras2-tf",),
        layers=("Multiply", "Maximum", "Minimum"),
        when=lambda x, p: any(kind.masked for kind in x),
        symptom="value",
        always=False,
        evidence="Keras 2 multiplies and compares what is masked like anything else; only Keras 3 leaves it out",
    ),
    Gap(
        routes=("keras2-tf",),
        layers=ELEMENTWISE,
        when=lambda x, p: len({kind.shape[1] for kind in x if kind.masked}) > 1,
        raises="ValueError",
        kind="bug",
        evidence="Add of masked [2,4,4] and masked [2,1,4]: the masks [2,4] and [2,1] are stacked, not broadcast",
    ),
    Gap(
        routes=("keras2-tf",),
        layers=("Concatenate",),
        when=_half_masked,
        raises="ValueError",
        kind="bug",
        evidence="Concatenate(axis=1) of an input with and one without a mask: shapes of masks are [3,5,1], [3,5,4]",
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
        routes=("keras-tf",),
        layers=("Add", "Average"),
        when=lambda x, p: any(adds_nothing(left, right) for left, right, _ in _steps(x)),
        raises="InvalidArgumentError",
        kind="bug",
        evidence="keras.ops.add(zeros[1, 0, 6], zeros[1, 0, 6]): Biases must be 1D: [0,6]",
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
        routes=("keras-tf", "keras-torch", "keras-jax", "keras2-tf"),
        layers=("Dot",),
        when=lambda x, p: p.normalize and x[0].dtype == "float16" and any(kind.masked for kind in x),
        symptom="value",
        always=False,
        kind="bug",
        evidence="Dot(1, normalize=True) of zeros in float16 is NaN: epsilon is 1e-7, and 1 / epsilon is inf there",
    ),
)
