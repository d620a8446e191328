"""Activation layers: elementwise, or along an axis."""

from typing import Any

from cometfuzz.catalogue.spaces import (
    ACTIVATION_NAMES,
    LARGE,
    Choice,
    Computed,
    Floats,
    Optional,
    build_params,
)
from cometfuzz.catalogue.spec import KERAS2, KERAS3, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

RANKS = range(2, 7)


def _draw_softmax_axis(draw: Draw, x: TensorType, p: Params) -> int | tuple[int, ...]:
    axes = list(range(1, x.rank))
    if x.rank > 2 and draw.chance(0.2):
        return tuple(sorted(draw.shuffled(axes)[:2]))
    return draw.choice([-1, -2] if x.rank > 2 else [-1]) if draw.chance(0.7) else draw.choice(axes)


def _is_axes(value: Any) -> bool:
    axes = value if isinstance(value, tuple) else (value,)
    return bool(axes) and all(type(axis) is int and -8 < axis < 8 for axis in axes)


def _axes_exist(x: TensorType, axes: Any) -> bool:
    """Whether all axes exist, none is the batch and none is named twice."""
    places = [axis % x.rank for axis in (axes if isinstance(axes, tuple) else (axes,)) if -x.rank <= axis < x.rank]
    return len(set(places)) == len(axes if isinstance(axes, tuple) else (axes,)) and 0 not in places


def _alpha_shape(x: TensorType, p: Params) -> tuple[int, ...]:
    shared = {axis % x.rank for axis in p.shared_axes or ()}
    return tuple(1 if axis in shared else size for axis, size in enumerate(x.shape))[1:]


layer(
    "Activation",
    ranks=RANKS,
    params={"activation": Choice(*ACTIVATION_NAMES)},
    rules={"glu halves an even axis": lambda x, p: p.activation != "glu" or x.shape[-1] % 2 == 0},
    shape=lambda x, p: x.shape if p.activation != "glu" else (*x.shape[:-1], x.shape[-1] // 2),
    mask=lambda x, p: x.masked,
    libraries=(KERAS3,),
    doc="An activation by name.",
)

layer(
    "ReLU",
    ranks=RANKS,
    params={
        "max_value": Optional(Floats(0, 8, 0, limit=LARGE)),
        "negative_slope": Floats(0, 2, 0, limit=LARGE),
        "threshold": Floats(0, 2, 0, limit=LARGE),
    },
    rules={"threshold is not above max_value": lambda x, p: p.max_value is None or p.threshold <= p.max_value},
    shape=lambda x, p: x.shape,
    mask=lambda x, p: x.masked,
    doc="x between threshold and max_value, max_value above, negative_slope * (x - threshold) below.",
)

layer(
    "LeakyReLU",
    ranks=RANKS,
    params={"negative_slope": Floats(0, 2, 0.3, limit=LARGE)},
    shape=lambda x, p: x.shape,
    mask=lambda x, p: x.masked,
    doc="x, but negative_slope * x where x < 0. Keras 2 calls the parameter alpha.",
)

layer(
    "PReLU",
    ranks=RANKS,
    params={
        "shared_axes": Optional(
            Computed(
                "a tuple of axes",
                simplest=(-1,),
                check=lambda value: isinstance(value, tuple) and _is_axes(value),
                draw=lambda draw, x, p: (
                    (draw.choice([-1, -2] if x.rank > 2 else [-1]),)
                    if draw.chance(0.2)
                    else tuple(sorted(draw.shuffled(range(1, x.rank))[: draw.integer(1, x.rank - 1)]))
                ),
            )
        ),
        **build_params("alpha", activity=False),
    },
    rules={"shared axes exist": lambda x, p: p.shared_axes is None or _axes_exist(x, p.shared_axes)},
    shape=lambda x, p: x.shape,
    weights=lambda x, p: {"alpha": _alpha_shape(x, p)},
    mask=lambda x, p: x.masked,
    doc="x, but alpha * x where x < 0, alpha being a weight for each element, or one along the shared axes.",
)

layer(
    "ELU",
    ranks=RANKS,
    params={"alpha": Floats(0, 4, 1, limit=LARGE)},
    shape=lambda x, p: x.shape,
    mask=lambda x, p: x.masked,
    doc="x, but alpha * (exp(x) - 1) where x < 0.",
)

layer(
    "ThresholdedReLU",
    ranks=RANKS,
    params={"theta": Floats(0, 3, 1)},
    shape=lambda x, p: x.shape,
    mask=lambda x, p: x.masked,
    libraries=(KERAS2,),
    doc="x where x > theta, else 0. Only Keras 2 has it.",
)

layer(
    "Softmax",
    ranks=RANKS,
    params={"axis": Computed("an axis, or a tuple of axes", simplest=-1, check=_is_axes, draw=_draw_softmax_axis)},
    rules={
        "axes exist": lambda x, p: _axes_exist(x, p.axis),
        "mask can be broadcast": lambda x, p: (
            not x.masked or (x.shape[0] in (1, x.shape[1]) and x.shape[1] in (1, x.shape[2]))
        ),
    },
    shape=lambda x, p: x.shape,
    mask=lambda x, p: x.masked,
    doc="exp(x) divided by its sum along the axes; a mask is broadcast from the right, as NumPy does.",
)
