"""Whether a parameter value can be reached at all: some input and some other parameters must go with it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

INPUTS = 30


def is_idle(spec: LayerSpec, types: Sequence[TensorType], params: Params, parameter: str) -> bool:
    """Whether a parameter belongs to a weight that this call does not have, as bias_* without use_bias."""
    for kind in ("_initializer", "_regularizer", "_constraint"):
        if parameter.endswith(kind) and parameter != "activity_regularizer":
            weight = parameter.removesuffix(kind)
            return not any(name.startswith(weight) for name in spec.weights(spec.view(types), params))
    return False


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
        if params is not None and not is_idle(spec, types, params, parameter):
            return None
        broken.update(spec.broken_rules(types, spec.complete({parameter: stored})))
    return "; ".join(name for name, _ in broken.most_common(1)) or "no valid call was found"
