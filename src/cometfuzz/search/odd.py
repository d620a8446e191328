"""One layer at a time on odd numbers: what other strategies meet only deep in a model, and by chance."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.data import Array, draw_data, to_tensor
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.types import FLOATS
from cometfuzz.search.metropolis import Record, as_plain
from cometfuzz.search.strategies import Feedback, Options, Search

TRIES = 200
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 65504.0, 1e38)
CONSTANTS = (0.0, -0.0, 1.0, -1.0, 0.5, 100.0, 1e5)


def _special(values: Array, draw: Draw) -> Array:
    """A few numbers that are none, or hardly any."""
    changed = values.copy()
    for _ in range(draw.integer(1, 3) if changed.size else 0):
        changed.flat[draw.integer(0, changed.size - 1)] = draw.choice(SPECIAL)
    return changed


ODDITIES: Mapping[str, Callable[[Array, Draw], Array]] = MappingProxyType(
    {
        "special": _special,
        "large": lambda values, draw: values * 10.0 ** draw.integer(1, 30),
        "small": lambda values, draw: values * 10.0 ** -draw.integer(3, 42),
        "mixed": lambda values, draw: values * 10.0 ** (16 * draw.uniforms(values.shape) - 8),
        "far from zero": lambda values, draw: values * draw.choice((1.0, 0.01)) + 10.0 ** draw.integer(1, 3),
        "constant": lambda values, draw: np.full(values.shape, draw.choice(CONSTANTS)),
        "whole": lambda values, draw: np.round(values),
    }
)
"""Ways to make ordinary numbers odd; what the dtype cannot hold becomes Inf or 0."""


class Odd(Search):
    """Draws a call of any layer, and makes each of its inputs odd in one way. It neither searches nor mutates."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        if options.mutations:
            raise CometfuzzError(f"expected no mutation for odd, which has no use for it; received {options.mutations}")
        self.records = {name: Record() for name in ODDITIES}

    def make(self, draw: Draw) -> Case:
        for _ in range(TRIES):
            case = draw_layer(draw.choice(tuple(LAYERS)), self.seed, draw.integer(0, 2**32)).case
            if self.dialects.is_clear(case.graph):
                oddity = draw.choice(tuple(ODDITIES))
                return self.launch(case.graph, oddity, draw, data=_odd_inputs(case, oddity, draw))
        raise CometfuzzError(f"expected a call that is clear of known defects; received none in {TRIES} draws")

    def learn(self, case: Case, feedback: Feedback) -> None:
        flight, gains = self.land(case, feedback)
        if flight.operator in self.records:
            record = self.records[flight.operator]
            record.attempts += 1
            record.applied += feedback.executed
            record.score += any(gains)

    def operators(self) -> Mapping[str, Mapping[str, float]]:
        return as_plain(self.records)


def _odd_inputs(case: Case, oddity: str, draw: Draw) -> dict[str, Tensor]:
    """The inputs of a case that are floats, made odd."""
    given = {node.id: node.outputs[0].dtype for node in case.graph.inputs}
    values = {name: value for name, value in draw_data(case).inputs.items() if given[name] in FLOATS}
    with np.errstate(all="ignore"):
        return {
            name: to_tensor(ODDITIES[oddity](value.astype(np.float64), draw).astype(value.dtype))
            for name, value in values.items()
        }
