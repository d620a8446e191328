"""Normalisation: by moving statistics, along axes, in groups, to unit length."""

from typing import Any

from cometfuzz.catalogue.spaces import (
    BOOLEAN_TRUE,
    Choice,
    Computed,
    Floats,
    Space,
    build_params,
    initialiser,
)
from cometfuzz.catalogue.spec import KERAS3, NO_FLOATS, Ours, Rule, Shape, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

RANKS = range(2, 7)
AXIS = Choice(-1, -2, -3, -4, 1, 2, 3, 4, 5)
SEVERAL = (*AXIS.values, (-1,), (-2, -1), (-3, -2, -1), (-3, -1), (1,), (1, 2), (1, 3), (1, 2, 3))
"""One axis or several; several count from the same end, because Keras orders the weights by the numbers as given."""


class LastAxes(Choice):
    """Axes, mostly the last ones: off them, Keras on PyTorch fails, and that should not be all that is tested."""

    def draw(self, draw: Draw, x: TensorType, p: Any) -> Any:
        fitting = [value for value in self.values if axes_exist(x, Params({"axis": value}))]
        last = [value for value in fitting if are_last(value, x.rank)]
        return draw.choice(last if draw.chance(0.85) else fitting)


def epsilon(simplest: float) -> Floats:
    """What is added to a variance."""
    return Floats(1e-12, 1.0, simplest)


def are_last(axis: Any, rank: int) -> bool:
    """Whether the axes are the last ones."""
    axes = sorted(positive(axis, rank))
    return axes == list(range(rank - len(axes), rank))


def affine_params() -> dict[str, Space]:
    """Whether there are an offset and a scale, and how they are made."""
    return {"center": BOOLEAN_TRUE, "scale": BOOLEAN_TRUE, **build_params("beta", "gamma", activity=False)}


def positive(axis: Any, rank: int) -> Shape:
    """The axes as numbers from 0, as given."""
    return tuple(number % rank for number in (axis if isinstance(axis, tuple) else (axis,)))


def axes_exist(x: TensorType, p: Any) -> bool:
    """Whether all axes exist, each once."""
    given = p.axis if isinstance(p.axis, tuple) else (p.axis,)
    return all(-x.rank <= axis < x.rank for axis in given) and len(set(positive(p.axis, x.rank))) == len(given)


def spares_the_batch(x: TensorType, p: Any) -> bool:
    """Whether the batch is not among the axes; weights along the batch would tie a model to its size."""
    return 0 not in positive(p.axis, x.rank)


def sizes(x: TensorType, p: Any) -> Shape:
    """The sizes of the axes; total, so that it may be asked before the rules are."""
    return tuple(x.shape[axis] for axis in positive(p.axis, x.rank))


def affine_weights(x: TensorType, p: Any) -> dict[str, Shape]:
    """gamma and beta, over all of the axes."""
    shape = sizes(x, p)
    return {**({"gamma": shape} if p.scale else {}), **({"beta": shape} if p.center else {})}


def _draw_groups(draw: Draw, x: TensorType, p: Any) -> int:
    (size,) = sizes(x, p)
    return draw.choice([-1, *(groups for groups in range(1, size + 1) if size % groups == 0)])


def _groups_fit(x: TensorType, p: Any) -> bool:
    (size,) = sizes(x, p)
    return size >= 1 and (p.groups == -1 or size % p.groups == 0)


AXIS_RULES: dict[str, Rule] = {"axes exist": axes_exist, "axes spare the batch": Ours(spares_the_batch)}

layer(
    "BatchNormalization",
    as_floats=NO_FLOATS,
    autocast="inputs",
    ranks=RANKS,
    params={
        "axis": AXIS,
        "momentum": Floats(0, 1, 0.99, effect="train"),
        "epsilon": epsilon(1e-3),
        **affine_params(),
        "moving_mean_initializer": initialiser(),
        "moving_variance_initializer": initialiser(),
    },
    rules={**AXIS_RULES, "a mask has one axis less than the input": lambda x, p: not x.masked or x.rank == 3},
    shape=lambda x, p: x.shape,
    weights=lambda x, p: {
        **affine_weights(x, p),
        "moving_mean": sizes(x, p),
        "moving_variance": sizes(x, p),
    },
    mask=lambda x, p: x.masked,
    excluded={
        "renorm": "training only, and adds weights that inference does not read",
        "renorm_clipping": "training only",
        "renorm_momentum": "training only",
        "synchronized": "distributed training only",
    },
    doc="gamma (x - moving mean) / sqrt(moving variance + epsilon) + beta along one axis.",
)

layer(
    "LayerNormalization",
    autocast="nothing",
    ranks=RANKS,
    params={"axis": LastAxes(*SEVERAL), "epsilon": epsilon(1e-3), **affine_params()},
    rules=AXIS_RULES,
    shape=lambda x, p: x.shape,
    weights=affine_weights,
    mask=lambda x, p: x.masked,
    doc="gamma (x - mean) / sqrt(variance + epsilon) + beta, with the mean and the variance over the axes.",
)

layer(
    "GroupNormalization",
    autocast="nothing",
    ranks=RANKS,
    params={
        "axis": AXIS,
        "groups": Computed(
            "-1 or a divisor of the axis' size",
            simplest=32,
            check=lambda value: type(value) is int and (value >= 1 or value == -1),
            draw=_draw_groups,
            wrong=(0, -2),
        ),
        "epsilon": epsilon(1e-3),
        **affine_params(),
    },
    rules={**AXIS_RULES, "groups divide the channels": _groups_fit},
    shape=lambda x, p: x.shape,
    weights=affine_weights,
    mask=lambda x, p: x.masked,
    libraries=(KERAS3,),
    doc="As LayerNormalization, over everything but the batch in groups of neighbouring channels; -1: one each.",
)

layer(
    "RMSNormalization",
    ranks=RANKS,
    params={"axis": LastAxes(*SEVERAL), "epsilon": epsilon(1e-6)},
    rules=AXIS_RULES,
    shape=lambda x, p: x.shape,
    weights=lambda x, p: {"scale": sizes(x, p)},
    libraries=(KERAS3,),
    doc="scale x / sqrt(mean of squares + epsilon) over the axes.",
)

layer(
    "UnitNormalization",
    ranks=RANKS,
    params={"axis": Choice(*SEVERAL, 0, (0, 1), (0, -1))},
    rules={"axes exist": axes_exist},
    shape=lambda x, p: x.shape,
    mask=lambda x, p: x.masked,
    libraries=(KERAS3,),
    doc="x / max(its Euclidean norm over the axes, 1e-12).",
)
