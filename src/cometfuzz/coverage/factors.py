"""Factors: what a layer call chooses, and the names of what it may choose.

The factors of a call are its dtype, rank and kind of shape, every parameter that shows in a forward pass, how a window
lies on its input, and the regime of its data. Numbers count by class.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cometfuzz.catalogue.regimes import REGIMES
from cometfuzz.catalogue.spaces import Floats, Ints, Optional, PerAxis, Space
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.coverage.layers import text
from cometfuzz.coverage.reach import idle_parameters
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import POLICY, TensorType

DTYPE, RANK, SHAPE, DATA = "dtype", "rank", "shape", "data"
WINDOW, STEP, REST = "window to size", "stride to window", "size by stride"
SHAPES = ("empty", "with ones", "in blocks of 16", "even", "odd")
RELATIONS = ("smaller", "equal", "larger")
RESTS = ("no rest", "a rest")
INTEGERS = ("0", "1", "2", "even", "odd", "negative")
MIXED, NONE = "different", "none"
WINDOWS = ("kernel_size", "pool_size")
"""Parameters that say how large a window is."""

LISTED = 12
"""Choices with more values than this are counted by class, like numbers: each value is covered by itself anyway."""


class Factor(NamedTuple):
    """Something that a call chooses, and what it may be."""

    name: str
    values: tuple[str, ...]


def factors_of(spec: LayerSpec) -> Iterator[Factor]:
    """What a call of a layer chooses."""
    yield Factor(DTYPE, spec.dtypes)
    yield Factor(RANK, tuple(map(str, spec.ranks)))
    yield Factor(SHAPE, SHAPES)
    yield Factor(DATA, REGIMES)
    if _window_name(spec) is not None:
        yield Factor(WINDOW, RELATIONS)
        if "strides" in spec.params:
            yield Factor(STEP, RELATIONS)
            yield Factor(REST, RESTS)
    for name, space in spec.params.items():
        if space.effect == "forward":
            values = _values(space)
            if len(values) > 1:
                yield Factor(name, values)


def _window_name(spec: LayerSpec) -> str | None:
    return next((name for name in WINDOWS if name in spec.params), None)


def _values(space: Space) -> tuple[str, ...]:
    if isinstance(space, Optional):
        return tuple(dict.fromkeys((NONE, *_values(space.inner))))
    options = space.options()
    if options is not None and len(options) <= LISTED and not space.numeric:
        return tuple(dict.fromkeys(text(option) for option in options))
    if options is not None:
        return tuple(dict.fromkeys(class_of(option) for option in options))
    if isinstance(space, PerAxis):
        return (*_values(space.each), *((MIXED,) if space.axes > 1 else ()))
    if isinstance(space, Ints):
        return tuple(dict.fromkeys(map(class_of, (*range(space.low, space.high + 1), *space.rare))))
    if isinstance(space, Floats):
        grid = (space.low, space.high, 0.0, 0.5, 1.0, 1.5, (space.low + space.high) / 2)
        return tuple(dict.fromkeys(class_of(float(each)) for each in grid if space.low <= each <= space.high))
    return INTEGERS if type(space.simplest) is int else ()


def class_of(value: Any) -> str:
    """The class that a value counts as."""
    if value is None:
        return NONE
    if isinstance(value, Inner):
        return text(value.layer)
    if isinstance(value, tuple) and value and all(type(each) is int for each in value):
        return class_of(value[0]) if len(set(value)) == 1 else MIXED
    if type(value) is int:
        return "negative" if value < 0 else str(value) if value < 3 else ("odd" if value % 2 else "even")
    if type(value) is float:
        return "negative" if value < 0 else f"{value:.0f}" if value in (0, 1) else "below 1" if value < 1 else "above 1"
    return text(value)


def value_of(factor: Factor, value: Any) -> str:
    """The name of a parameter's value among those of its factor: as it is, or its class."""
    named = text(value.layer) if isinstance(value, Inner) else text(value)
    return named if named in factor.values else class_of(value)


def values_of(
    spec: LayerSpec, factors: Sequence[Factor], params: Params, types: tuple[TensorType, ...], regime: str | None
) -> dict[str, str]:
    """The value of each factor that says something in a call; without a regime, nothing is said of data."""
    first = spec.cast(types, params)[0]
    given = {DTYPE: first.dtype, RANK: str(first.rank), SHAPE: _shape(first), **_relations(spec, first, params)}
    if regime is not None:
        given[DATA] = regime
    idle = idle_parameters(spec, types, params)
    for factor in factors:
        name = factor.name
        if name not in given and name in params and name not in idle and name != POLICY:
            given[name] = value_of(factor, params[name])
    return given


def _shape(kind: TensorType) -> str:
    sizes = kind.shape[1:] or kind.shape
    if 0 in kind.shape:
        return SHAPES[0]
    if 1 in sizes:
        return SHAPES[1]
    if any(size % 16 == 0 for size in sizes):
        return SHAPES[2]
    return SHAPES[3] if sizes[-1] % 2 == 0 else SHAPES[4]


def _relations(spec: LayerSpec, first: TensorType, params: Params) -> dict[str, str]:
    """How a window lies on its input, and the steps between two of them: along the first axis that it has."""
    name = _window_name(spec)
    if name is None or name not in params:
        return {}
    window = _number(params[name])
    channels_first = params.get("data_format") == "channels_first"
    place = 2 if channels_first else 1
    found = {}
    if window is not None and first.rank > place:
        found[WINDOW] = _relation(window, first.shape[place])
        stride = _number(params.get("strides"))
        if stride is not None:
            found[STEP] = _relation(stride, window)
            found[REST] = RESTS[bool(first.shape[place] % stride)] if stride else RESTS[0]
    return found


def _number(value: Any) -> int | None:
    first = value[0] if isinstance(value, tuple) and value else value
    return first if type(first) is int else None


def _relation(one: int, two: int) -> str:
    return RELATIONS[0] if one < two else RELATIONS[1] if one == two else RELATIONS[2]
