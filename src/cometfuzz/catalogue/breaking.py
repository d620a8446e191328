"""Calls that break one rule of their layer and no other, so that libraries should refuse them.

They are made of valid calls: another size, rank, bound or mask of an input, another value of a parameter, or the
parameters of one call on the inputs of another, until just the wanted rule is broken. Then everything that is not
needed for that becomes simple, so that there is nothing left to reduce.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.data import NUMPY, to_tensor
from cometfuzz.catalogue.drawing import layer_drafts
from cometfuzz.catalogue.spec import KERAS3, LayerSpec, Ours, spec_of
from cometfuzz.catalogue.validate import VALUE_OF, assemble_breaking, type_call
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Edge, Params
from cometfuzz.ir.types import TensorType

RANK = "rank"
TRIES = 300
"""Draws for one rule. Most take fewer than ten; what takes more seems to follow from the other rules."""

LARGEST = 9
"""Of sizes and numbers that take the place of others: a little more than what is drawn for valid calls."""


@dataclass(frozen=True)
class Target:
    """A rule of a layer."""

    layer: str
    rule: str


@dataclass(frozen=True)
class _Call:
    """A layer call; `ranked`: the valid inputs in whose place those of another rank have come, if that is broken."""

    types: tuple[TensorType, ...]
    params: Params
    ranked: tuple[TensorType, ...] = ()


@cache
def targets() -> tuple[Target, ...]:
    """All rules that libraries should insist on: those of the blocks that are not ours alone, the limits of parameters
    and the rank. Not the dtype: what a library can compute in is its own affair."""
    return tuple(
        Target(name, rule) for name, spec in LAYERS.items() if KERAS3 in spec.libraries for rule in _rules(spec)
    )


def _rules(spec: LayerSpec) -> Iterator[str]:
    yield from (name for name, rule in spec.rules.items() if type(rule) is not Ours)
    yield from (f"{VALUE_OF}{name}" for name, space in spec.params.items() if space.wrong())
    if _other_ranks(spec):
        yield RANK


def _other_ranks(spec: LayerSpec) -> list[int]:
    """One axis less than the least; one more only where the layer is made for a single rank, else the limit is ours."""
    more = [spec.ranks[0] + 1] if len(spec.ranks) == 1 else []
    return [rank for rank in (min(spec.ranks) - 1, *more) if rank >= 1]


def draw_breaking(target: Target, draw: Draw) -> Case | None:
    """A case whose last node breaks a rule; None if none was found."""
    spec = spec_of(target.layer)
    for attempt in range(TRIES):
        valid = _valid(spec, draw, empty=attempt > TRIES // 2)
        if valid is None:
            continue
        broken = _edited(spec, target.rule, valid, draw)
        if broken is not None and _breaks(spec, target.rule, broken):
            return _case(spec, target.rule, _simplified(spec, target.rule, broken), draw.integer(0, 2**32))
    return None


def _valid(spec: LayerSpec, draw: Draw, empty: bool) -> _Call | None:
    """A valid call; with sizes of zero only where it is asked for, since few rules are about them."""
    types = tuple(spec.inputs(draw))
    if not empty and any(kind.elements == 0 for kind in types):
        return None
    params = spec.draw_params(draw, types, tries=8)
    return None if params is None else _Call(types, params)


def _edited(spec: LayerSpec, rule: str, call: _Call, draw: Draw) -> _Call | None:
    """The call with something changed that may break the rule."""
    if rule.startswith(VALUE_OF):
        name = rule.removeprefix(VALUE_OF)
        return replace(call, params=call.params.replace(**{name: draw.choice(spec.params[name].wrong())}))
    first, *others = call.types
    if rule == RANK:
        rank = draw.choice(_other_ranks(spec))
        shape = (*first.shape, *(draw.integer(1, 4) for _ in range(rank - first.rank)))[:rank]
        return _Call((replace(first, shape=shape, masked=False), *others), call.params, call.types)
    kind = draw.integer(0, 3)
    if kind == 0:
        return replace(call, types=_other_input(call.types, draw))
    if kind == 1:
        return replace(call, params=_other_value(spec, call, draw))
    other = _valid(spec, draw, empty=False)
    if other is None or len(other.types) != len(call.types):
        return None
    if kind == 2:
        return _Call(call.types, other.params)
    return _Call(call.types, _other_value(spec, other, draw))


def _other_input(types: tuple[TensorType, ...], draw: Draw) -> tuple[TensorType, ...]:
    """One of the inputs with another size, a larger bound, or a mask."""
    place = draw.integer(0, len(types) - 1)
    kind = types[place]
    if kind.high is not None and draw.chance(0.5):
        kind = replace(kind, high=kind.high + draw.integer(1, LARGEST))
    elif kind.is_float and kind.rank == 3 and draw.chance(0.3):
        kind = replace(kind, masked=not kind.masked)
    else:
        axis = draw.integer(0, kind.rank - 1)
        kind = replace(kind, shape=(*kind.shape[:axis], draw.integer(0, LARGEST), *kind.shape[axis + 1 :]))
    return (*types[:place], kind, *types[place + 1 :])


def _other_value(spec: LayerSpec, call: _Call, draw: Draw) -> Params:
    """One parameter with a value that its space allows but that was not drawn for this input."""
    if not spec.params:
        return call.params
    shown = [name for name, space in spec.params.items() if space.effect == "forward"]
    name = draw.choice(shown if shown and draw.chance(0.7) else list(spec.params))
    space, options = spec.params[name], spec.params[name].options()
    if options is not None:
        changed = draw.choice(options)
    elif draw.chance(0.5):
        changed = space.draw(draw, spec.view(call.types), call.params)
    else:
        changed = _nudged(call.params[name], draw)
    return call.params if space.problem(changed) else call.params.replace(**{name: changed})


def _nudged(value: Any, draw: Draw) -> Any:
    """A number near another one; one of the numbers of a tuple."""
    if type(value) in (int, float):
        return value + draw.integer(-LARGEST, LARGEST)
    if isinstance(value, tuple) and value:
        place = draw.integer(0, len(value) - 1)
        return (*value[:place], _nudged(value[place], draw), *value[place + 1 :])
    return value


def _breaks(spec: LayerSpec, rule: str, call: _Call) -> bool:
    """Whether the call breaks the rule and no other. A value outside of its space is all that is judged of a call."""
    if rule.startswith(VALUE_OF):
        return True
    found = type_call(spec.name, call.types, spec.complete(call.params))
    return isinstance(found, list) and [name for name, _ in found] == [rule]


def _simplified(spec: LayerSpec, rule: str, call: _Call) -> _Call:
    """The call with each parameter as simple as the rule allows, without masks and in float32 if that will do."""
    kept = rule.removeprefix(VALUE_OF)
    for simple in (_without_mask, _in_float32):
        plain = _Call(tuple(map(simple, call.types)), call.params, tuple(map(simple, call.ranked)))
        if _stays(spec, rule, plain):
            call = plain
    for name, space in spec.params.items():
        simpler = replace(call, params=call.params.replace(**{name: space.simplest}))
        if name != kept and _stays(spec, rule, simpler):
            call = simpler
    return replace(call, params=spec.complete(call.params))


def _without_mask(kind: TensorType) -> TensorType:
    return replace(kind, masked=False)


def _in_float32(kind: TensorType) -> TensorType:
    return replace(kind, dtype="float32") if kind.is_float else kind


def _stays(spec: LayerSpec, rule: str, call: _Call) -> bool:
    """Whether a simpler call still breaks the rule and no other. The judge stops at a wrong value or rank, so the call
    is judged without it."""
    params = call.params
    if rule.startswith(VALUE_OF):
        name = rule.removeprefix(VALUE_OF)
        params = params.replace(**{name: spec.params[name].simplest})
    elif rule != RANK:
        return _breaks(spec, rule, call)
    return not isinstance(type_call(spec.name, call.ranked or call.types, spec.complete(params)), list)


def _case(spec: LayerSpec, rule: str, call: _Call, rng_seed: int) -> Case:
    drafts = layer_drafts(spec, call.types, call.params)
    graph = assemble_breaking(drafts, [Edge(drafts[-1].id)], rule)
    return Case(graph, rng_seed, {node.id: _plain_numbers(node.outputs[0]) for node in graph.inputs}, rule)


def _plain_numbers(kind: TensorType) -> Tensor:
    """Zeros, since values do not matter; of integers the largest that the bound allows, since an index beyond a table
    does."""
    return to_tensor(np.full(kind.shape, (kind.high or 1) - 1, NUMPY[kind.dtype]))
