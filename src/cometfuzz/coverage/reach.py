"""Whether a parameter value can be reached at all: some input and some other parameters must go with it."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Any

from cometfuzz.catalogue.spec import LayerSpec, spec_of
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

INPUTS = 30

REMEMBERED = 1_000
"""Calls of which it is known: each space asks for itself, soon after each other."""


def idle_parameters(spec: LayerSpec, types: Sequence[TensorType], params: Params) -> Collection[str]:
    """The parameters of weights that this call does not have, as bias_* without use_bias."""
    return _idle(spec.name, tuple(types), params) if _of_weights(spec.name) else ()


@lru_cache(maxsize=REMEMBERED)
def _idle(layer: str, types: tuple[TensorType, ...], params: Params) -> tuple[str, ...]:
    spec = spec_of(layer)
    present = tuple(spec.weights(spec.view(types, params), params))
    named = _of_weights(layer)
    return tuple(name for name, weight in named if not any(has.startswith(weight) for has in present))


@cache
def _of_weights(layer: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a layer that belong to a weight, with that weight."""
    return tuple(
        (name, name.rsplit("_", 1)[0])
        for name in spec_of(layer).params
        if name.endswith(("_initializer", "_regularizer", "_constraint")) and name != "activity_regularizer"
    )


def why_unreachable(spec: LayerSpec, parameter: str, value: Any) -> str | None:
    """The rule that stands against a value whatever the input is, or None if a valid call with it was found."""
    space = spec.params[parameter]
    stored = space.canonical(value)
    if space.problem(stored) is not None and type(value) is int:
        stored = (value,)
    if (expected := space.problem(stored)) is not None:
        return f"expected {expected}"
    broken: Counter[str] = Counter()
    for index in range(INPUTS):
        draw = Draw("reach", spec.name, parameter, str(value), index)
        types = spec.inputs(draw)
        params = spec.draw_params(draw, types, {parameter: stored}, tries=12)
        if params is not None and parameter not in idle_parameters(spec, types, params):
            return None
        broken.update(spec.broken_rules(types, spec.complete({parameter: stored})))
    return "; ".join(name for name, _ in broken.most_common(1)) or "no valid call was found"
