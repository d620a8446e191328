"""Moves: calls that differ from a given one in one thing only.

Another value of one parameter, another dtype, policy, rank, size or mask, or one more layer in front of it or behind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from cometfuzz.catalogue import COUNTED
from cometfuzz.catalogue.precision import with_policy
from cometfuzz.catalogue.spaces import Space
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import POLICIES, POLICY, TensorType
from cometfuzz.mutation.base import Guide, ModelLimits, readers
from cometfuzz.search.planning import Plan, PlannedCall, followed

Kind = Literal["parameter", "dtype", "policy", "rank", "size", "mask", "before", "behind"]
KINDS: tuple[Kind, ...] = ("dtype", "policy", "rank", "size", "mask", "before", "behind")
"""All but that of parameters, which come by name."""

DRAWN = 3
"""How many values of a parameter are drawn where they cannot be listed."""

BESIDE = 16
"""How many layers are tried in front of a call or behind it: few take and give the very type that it reads."""

BOUND = 9
"""Below which integers are that take the place of floats."""

Types = tuple[TensorType, ...]


class Move(NamedTuple):
    """What is changed: one of KINDS, or a parameter by its name."""

    kind: Kind
    name: str = ""


def moves_of(call: PlannedCall, unseen: bool) -> list[Move]:
    """What may be changed of a call; `unseen`: also parameters that no forward pass shows, such as an initialiser: they
    matter where a model cannot be built."""
    names = [name for name, space in call.spec.params.items() if unseen or space.effect == "forward"]
    return [*(Move("parameter", name) for name in names), *map(Move, KINDS)]


def moved(call: PlannedCall, move: Move, guide: Guide, draw: Draw, limits: ModelLimits) -> Plan | None:
    """A valid call within the limits that differs by a move, one out of those that there are; None if there is none."""
    if move.kind in ("before", "behind"):
        return _beside(call, move.kind == "before", guide, draw, limits) if is_fit(call, limits) else None
    changed = draw.shuffled(list(_changed(call.spec, call.types, call.params, move, draw)))
    others = (PlannedCall(call.spec, *each) for each in changed if each != (call.types, call.params))
    return next(((other,) for other in others if is_fit(other, limits)), None)


def is_fit(call: PlannedCall, limits: ModelLimits) -> bool:
    """Whether a call is valid, offered, clear of known defects, and not too large."""
    spec, types, params = call.spec, call.types, call.params
    if not (limits.has(spec.name) and spec.accepts(types, params) and limits.within(spec, types, params) == params):
        return False
    kinds = (*types, *spec.outputs(types, params))
    return not limits.objection(spec.name, types, params) and all(kind.elements <= limits.elements for kind in kinds)


def _changed(spec: LayerSpec, types: Types, params: Params, move: Move, draw: Draw) -> Iterator[tuple[Types, Params]]:
    """Types and parameters after a move, valid or not; perhaps the same again."""
    first = types[0]
    match move.kind:
        case "parameter":
            for value in _values(spec.params[move.name], params[move.name], spec.view(types, params), params, draw):
                yield types, spec.complete({**params, move.name: value})
        case "dtype":
            for dtype in dict.fromkeys((*spec.dtypes, *spec.as_floats)):
                yield tuple(_of_dtype(kind, dtype) if kind.dtype == first.dtype else kind for kind in types), params
        case "policy":
            for policy in POLICIES if spec.takes_policy else ():
                if policy != first.dtype:  # that would compute what the plain call computes
                    yield types, with_policy(spec, params, policy)
            if POLICY in params:
                yield types, spec.complete({name: value for name, value in params.items() if name != POLICY})
        case "rank":
            for shape in ((1,), (2,)):
                yield _reshaped(types, lambda given, more=shape: (*given[:1], *more, *given[1:])), params
            if first.rank > 1:
                yield _reshaped(types, lambda given: (*given[:1], *given[2:])), params
        case "size":
            yield from ((changed, params) for changed in _resized(types))
        case "mask":
            if first.rank == 3 and first.is_float:
                yield (replace(first, masked=not first.masked), *types[1:]), params


def _values(space: Space, value: Any, x: Any, params: Params, draw: Draw) -> Iterator[Any]:
    """Other values of a parameter: all that are listed, or those next to this one and a few that are drawn."""
    listed = space.options()
    found: Sequence[Any] = listed if listed is not None else _next_to(value)
    drawn = [] if listed is not None else [space.draw(draw, x, params) for _ in range(DRAWN)]
    for other in map(space.canonical, (*found, *drawn)):
        if repr(other) != repr(value) and space.problem(other) is None:
            yield other


def _next_to(value: Any) -> list[Any]:
    """Numbers near to a number; for several of them, those with one that is moved."""
    if type(value) is int:
        return [value - 1, value + 1, 2 * value]
    if type(value) is float:
        return [value / 2, 2 * value, -value]
    if isinstance(value, tuple):
        return [
            (*value[:place], other, *value[place + 1 :]) for place, each in enumerate(value) for other in _next_to(each)
        ]
    return []


def _near(size: int) -> list[int]:
    """Sizes near to one; none of zero, which is a kind of its own, unless it is there."""
    return [other for other in dict.fromkeys((size - 1, size + 1, 1, 2 * size)) if other > 0 and other != size]


def _of_dtype(kind: TensorType, dtype: str) -> TensorType:
    floats = kind.masked and dtype not in ("int32", "bool")
    return TensorType(dtype, kind.shape, floats, BOUND if dtype == "int32" else None)


def _resized(types: Types) -> Iterator[Types]:
    """Types with another size: along one axis of one of them, along that axis of all that share the size, and wherever
    the size stands, since it may have to be the same along several axes."""
    for kind in types:
        for axis, size in enumerate(kind.shape):
            for other in _near(size):
                same = [each.rank == kind.rank and each.shape[axis] == size for each in types]
                yield tuple(_of_size(each, (axis,), other) if each is kind else each for each in types)
                yield tuple(
                    _of_size(each, (axis,), other) if has else each for each, has in zip(types, same, strict=True)
                )
                places = ([at for at, given in enumerate(each.shape) if given == size] for each in types)
                yield tuple(_of_size(each, at, other) for each, at in zip(types, places, strict=True))


def _of_size(kind: TensorType, axes: Sequence[int], size: int) -> TensorType:
    return replace(kind, shape=tuple(size if axis in axes else given for axis, given in enumerate(kind.shape)))


def _reshaped(types: Types, change: Any) -> Types:
    """Types of which those with the rank of the first have another shape."""
    rank = types[0].rank
    return tuple(replace(kind, shape=change(kind.shape)) if kind.rank == rank else kind for kind in types)


def _beside(call: PlannedCall, before: bool, guide: Guide, draw: Draw, limits: ModelLimits) -> Plan | None:
    """A call with one more layer: in front of it, if its first input stays what it is, or behind its first output."""
    read = call.types[0] if before else call.output
    reading = readers(read)
    names = [name for name in COUNTED if name in reading and limits.has(name)]
    for name in draw.shuffled(names)[:BESIDE]:
        other = followed(COUNTED[name], read, guide, draw, limits)
        if other is not None and (not before or other.output == read):
            return (other, call) if before else (call, other)
    return None
