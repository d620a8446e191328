"""Activations as operators: of each number by itself, or along axes."""

from functools import partial
from typing import Any

from cometfuzz.catalogue.operators import AXIS_EXISTS, RANKS, axes_space, axis_space, draw_dtype, operator
from cometfuzz.catalogue.spaces import BOOLEAN_TRUE, Computed, Floats
from cometfuzz.catalogue.spec import Ours, Shape, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

_activation = partial(operator, shape=lambda x, p: x.shape)

SIMPLE = (
    *("relu", "relu6", "sigmoid", "silu", "selu", "log_sigmoid", "hard_sigmoid", "hard_silu", "hard_tanh"),
    *("tanh_shrink", "softplus", "softsign", "sparse_plus", "sparse_sigmoid"),
)
"""Activations without parameters, which are those of the same names in layers."""

for _name in SIMPLE:
    _activation(_name, doc=f"The activation {_name} of each number.")
_activation("leaky_relu", params={"negative_slope": Floats(0.0, 1.0, 0.2, step=0.05)}, doc="x, below 0 a part of it.")
_activation("elu", params={"alpha": Floats(0.0, 3.0, 1.0, step=0.25)}, doc="x, below 0 alpha (exp(x) - 1).")
_activation("celu", params={"alpha": Floats(0.25, 3.0, 1.0, step=0.25)}, doc="x, below 0 alpha (exp(x / alpha) - 1).")
_activation(
    "gelu",
    params={"approximate": BOOLEAN_TRUE},
    doc="x times the probability that a normal number is below it, or what a tanh makes of that.",
)
_activation("squareplus", params={"b": Floats(0.0, 8.0, 4.0, step=0.5)}, doc="(x + sqrt(x^2 + b)) / 2.")
_activation("hard_shrink", params={"threshold": Floats(0.0, 2.0, 0.5, step=0.1)}, doc="x, near 0 0.")
_activation("soft_shrink", params={"threshold": Floats(0.0, 2.0, 0.5, step=0.1)}, doc="x, nearer to 0 by a threshold.")
_activation(
    "threshold",
    params={"threshold": Floats(-2.0, 2.0, 0.0, step=0.1), "default_value": Floats(-3.0, 3.0, 0.0, step=0.5)},
    doc="x above a threshold, else a fixed number.",
)


def _draw_halves(draw: Draw) -> tuple[TensorType, ...]:
    """A tensor in which one axis at least has an even size."""
    shape = list(draw_shape(draw, draw.choice(RANKS)))
    shape[draw.integer(0, len(shape) - 1)] = 2 * draw.integer(1, 4)
    return (TensorType(draw_dtype(draw, FLOATS), tuple(shape)),)


def _half(x: TensorType, p: Params) -> Shape:
    axis = p.axis % x.rank
    return (*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :])


_activation(
    "glu",
    params={"axis": axis_space()},
    rules={**AXIS_EXISTS, "the axis has two halves": lambda x, p: not _exists(x, p) or x.shape[p.axis] % 2 == 0},
    shape=_half,
    inputs=_draw_halves,
    doc="The first half along an axis, times the sigmoid of the second.",
)


def _exists(x: Any, p: Params) -> bool:
    return bool(-x.rank <= p.axis < x.rank)


def _draw_axes(draw: Draw, x: TensorType, p: Params) -> Any:
    """Mostly one axis; Keras takes several where tensors are no symbols, which is all that can be said for them."""
    if draw.chance(0.9):
        return None if draw.chance(0.15) else draw.integer(-x.rank, x.rank - 1)
    return axes_space(none=False).draw(draw, x, p)


_AXES = Computed(
    "an axis, several of them, or null for all",
    simplest=-1,
    check=lambda value: axes_space().problem(value) is None,
    draw=_draw_axes,
)
_NOT_EMPTY = {"there is something to weigh": Ours(lambda x, p: x.elements > 0)}
for _name, _text in (("softmax", "exp(x) / sum(exp(x))"), ("log_softmax", "x - log(sum(exp(x)))")):
    _activation(
        _name,
        params={"axis": _AXES},
        rules={**AXIS_EXISTS, **_NOT_EMPTY},
        doc=f"{_text} along an axis, several or all.",
    )
_activation(
    "sparsemax",
    params={"axis": axis_space()},
    rules={**AXIS_EXISTS, **_NOT_EMPTY},
    doc="The nearest point of the probability simplex along an axis.",
)
