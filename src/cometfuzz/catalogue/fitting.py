"""Spaces whose draws look at the input, where a blind draw would seldom satisfy the rules."""

from collections.abc import Callable, Sequence
from typing import Any

from cometfuzz.catalogue.spaces import Choice, Ints
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

Fit = Callable[[TensorType, Params], Sequence[Any]]
"""The values to draw from, for an input and the parameters drawn so far; empty where any value will do."""


class FittingChoice(Choice):
    """A choice that draws among what fits; a value may stand there several times to be drawn more often."""

    def __init__(self, *values: Any, fit: Fit, simplest: Any = ...) -> None:
        super().__init__(*values, simplest=simplest)
        self._fit = fit

    def draw(self, draw: Draw, x: Any, p: Params) -> Any:
        return draw.choice(self._fit(x, p) or self.values)


class FittingInts(Ints):
    """Integers drawn among those that fit."""

    def __init__(self, low: int, high: int, *, fit: Fit) -> None:
        super().__init__(low, high)
        self._fit = fit

    def draw(self, draw: Draw, x: Any, p: Params) -> int:
        values = self._fit(x, p)
        return int(draw.choice(values)) if values else super().draw(draw, x, p)
