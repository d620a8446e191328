"""Odd numbers: one layer at a time on them, as a strategy, and some of the cases of every campaign once more on them.

What is drawn is of ordinary size. Digits that are lost near zero, what overflows, and NaN or Inf that a library treats
otherwise show on other numbers only.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from cometfuzz.catalogue import COUNTED
from cometfuzz.catalogue.cutting import taken_apart
from cometfuzz.catalogue.data import Array, draw_inputs, expected_tensors, to_tensor
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.types import FLOATS
from cometfuzz.search.metropolis import Record, as_plain
from cometfuzz.search.strategies import Feedback, Options, Search

TRIES = 200
WIDE_SHARE = 0.2
"""How often a layer is drawn with sizes that matter."""

ONE_IN = 5
"""How many cases of any strategy there are for one that runs once more on odd numbers."""

APART_ONE_IN = 4
"""How many cases of any strategy there are for one whose layers run side by side as well."""

Oddity = Callable[[Array, Draw], Array]

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 65504.0, 1e38)
CONSTANTS = (0.0, -0.0, 1.0, -1.0, 0.5, 100.0, 1e5)


def _special(values: Array, draw: Draw) -> Array:
    """A few numbers that are none, or hardly any."""
    changed = values.copy()
    for _ in range(draw.integer(1, 3) if changed.size else 0):
        changed.flat[draw.integer(0, changed.size - 1)] = draw.choice(SPECIAL)
    return changed


def _not_finite(values: Array, draw: Draw) -> Array:
    """NaN or Inf at a few places."""
    changed = values.copy()
    for _ in range(draw.integer(1, 3) if changed.size else 0):
        changed.flat[draw.integer(0, changed.size - 1)] = draw.choice((np.nan, np.inf, -np.inf))
    return changed


def _spread(values: Array, draw: Draw) -> Array:
    """Small numbers beside large ones, none so large that a dtype cannot hold it: half of float32's digits are
    lost where 2^-12 is added to 1, all of them at 2^-24."""
    return np.asarray(np.ldexp(values, np.floor(31 * draw.uniforms(values.shape) - 24).astype(int)))


ODDITIES: Mapping[str, Oddity] = MappingProxyType(
    {
        "special": _special,
        "large": lambda values, draw: values * 10.0 ** draw.integer(1, 30),
        "small": lambda values, draw: values * 10.0 ** -draw.integer(3, 42),
        "mixed": lambda values, draw: np.ldexp(values, np.floor(53 * draw.uniforms(values.shape) - 26).astype(int)),
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
            wide = draw.chance(WIDE_SHARE)
            case = draw_layer(draw.choice(tuple(COUNTED)), self.seed, draw.integer(0, 2**32), wide).case
            graph = self.dialects.simplified(case.graph)
            if graph is None or not self.dialects.is_clear(graph):
                continue
            if not (wide and self.limits.widened().excess(graph)):
                oddity = draw.choice(tuple(ODDITIES))
                return self.launch(graph, oddity, draw, data=_odd_inputs(replace(case, graph=graph), oddity, draw))
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


def oddly(seed: int, index: int, case: Case) -> Case | None:
    """Case `index` of a campaign, or a part of it, with odd inputs, if it is its turn: one in every block of cases, the
    same for the same seed. No case is another one because of it."""
    turn = Draw(seed, "odd block", index // ONE_IN).integer(0, ONE_IN - 1)
    if index % ONE_IN != turn:
        return None
    draw = Draw(seed, "odd", index)
    odd = _odd_inputs(case, draw.choice(tuple(ODDITIES)), draw)
    return replace(case, data={**case.data, **odd}) if odd else None


def side_by_side(seed: int, index: int, case: Case) -> Case | None:
    """The layers of case `index` of a campaign, or of a part of it, side by side, each on odd numbers of its own, if it
    is its turn: in the model they see what the first ones leave of them. No case is another one because of it."""
    turn = Draw(seed, "apart block", index // APART_ONE_IN).integer(0, APART_ONE_IN - 1)
    graph = taken_apart(case.graph) if index % APART_ONE_IN == turn else None
    if graph is None:
        return None
    draw = Draw(seed, "apart", index)
    wanted = expected_tensors(graph)
    kept = {name: tensor for name, tensor in case.data.items() if wanted.get(name) == (tensor.dtype, tensor.shape)}
    alone = replace(case, graph=graph, data=kept)
    data = dict(kept)
    for name, value in draw_inputs(alone).items():
        if wanted[name][0] in FLOATS:
            odd = draw.choice((_not_finite, _spread, draw.choice(tuple(ODDITIES.values()))))
            data[name] = made_odd(odd, value, draw)
    return replace(alone, data=data)


def _odd_inputs(case: Case, oddity: str, draw: Draw) -> dict[str, Tensor]:
    """The inputs of a case that are floats, made odd."""
    given = {node.id: node.outputs[0].dtype for node in case.graph.inputs}
    values = {name: value for name, value in draw_inputs(case).items() if given[name] in FLOATS}
    return {name: made_odd(ODDITIES[oddity], value, draw) for name, value in values.items()}


def made_odd(odd: Oddity, value: Array, draw: Draw) -> Tensor:
    """Ordinary numbers made odd in one way."""
    with np.errstate(all="ignore"):
        return to_tensor(odd(value.astype(np.float64), draw).astype(value.dtype))
