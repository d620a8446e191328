"""Gaps of normalisation layers."""

from typing import Any

from cometfuzz.catalogue.normalisation import are_last, positive
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap

KERNEL = ("LayerNormalization", "RMSNormalization")
"""Layers that call a kernel of PyTorch which only normalises over the last axes."""


def _astray(x: TensorType, p: Params) -> bool:
    """Whether Keras on PyTorch calls that kernel for neighbouring axes that are not the last ones."""
    axes = sorted(positive(p.axis, x.rank))
    return not are_last(p.axis, x.rank) and axes == list(range(axes[0], axes[0] + len(axes)))


def _looks_right(x: TensorType, p: Params) -> bool:
    """Whether the last axes happen to have the sizes of the wanted ones, so that the kernel takes them."""
    axes = sorted(positive(p.axis, x.rank))
    return x.shape[x.rank - len(axes) :] == tuple(x.shape[axis] for axis in axes)


def _scale_broadcasts(x: TensorType, p: Params) -> bool:
    """Whether a scale that nobody reshaped broadcasts against the input's last axes."""
    axes = sorted(positive(p.axis, x.rank))
    pairs = [(x.shape[axis], x.shape[x.rank - len(axes) + slot]) for slot, axis in enumerate(axes)]
    return all(size == last or 1 in (size, last) for size, last in pairs)


def _unscaled(x: TensorType, p: Params) -> bool:
    return not are_last(p.axis, x.rank)


def _unscaled_on_torch(x: TensorType, p: Params) -> bool:
    return not are_last(p.axis, x.rank) and not _astray(x, p)


def _rms_gaps() -> tuple[Gap, ...]:
    def gap(route: str, when: Any, broadcasts: bool, raises: str) -> Gap:
        return Gap(
            routes=(route,),
            layers=("RMSNormalization",),
            when=lambda x, p: when(x, p) and _scale_broadcasts(x, p) == broadcasts,
            raises=raises,
            symptom="result" if broadcasts else "exception",
            always=not broadcasts,
            kind="bug",
            evidence="RMSNormalization(axis=1) multiplies by a scale of shape (n,) as if it lay along the last axis",
        )

    return tuple(
        gap(route, when, broadcasts, raises)
        for route, when, raises in (
            ("keras-tf", _unscaled, "InvalidArgumentError"),
            ("keras-torch", _unscaled_on_torch, "RuntimeError"),
            ("keras-jax", _unscaled, "ValueError"),
        )
        for broadcasts in (True, False)
    )


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-torch",),
        layers=KERNEL,
        when=lambda x, p: _astray(x, p) and not _looks_right(x, p),
        raises="RuntimeError",
        kind="bug",
        evidence="Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[1, 3, 1, 8]",
    ),
    Gap(
        routes=("keras-torch",),
        layers=KERNEL,
        when=lambda x, p: _astray(x, p) and _looks_right(x, p),
        symptom="value",
        always=False,
        kind="bug",
        evidence="LayerNormalization(axis=1) on shape (2, 4, 4) normalises over axis 2, without a word",
    ),
    *_rms_gaps(),
    Gap(
        routes=("keras-torch",),
        layers=(
            *("BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization"),
            "UnitNormalization",
        ),
        when=lambda x, p: x.dtype == "float64",
        symptom="value",
        always=False,
        kind="bug",
        evidence='result_type("float64", "float32") is "float32" on PyTorch: computed in single precision',
    ),
    *(
        Gap(
            routes=(route,),
            layers=("GroupNormalization",),
            when=lambda x, p: 0 in x.shape[1:],
            raises=raises,
            kind="bug",
            evidence="cannot reshape tensor of 0 elements into shape [-1, 0, 1, 2]; the batch is given as -1",
        )
        for route, raises in (("keras-torch", "RuntimeError"), ("keras-jax", "ZeroDivisionError"))
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=("UnitNormalization",),
        when=lambda x, p: x.dtype == "float16" and x.masked,
        symptom="value",
        always=False,
        kind="bug",
        evidence="UnitNormalization of zeros in float16 is NaN: its epsilon of 1e-12 is 0 there, 1 / epsilon is inf",
    ),
)
