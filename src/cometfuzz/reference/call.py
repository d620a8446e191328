"""What a meaning receives, and the registry of meanings.

A meaning is the NumPy function that says what a layer computes, in float64, in inference mode, written from the
documented meaning of the layer. It states where rounding happens: `call.rounded(value)` around an intermediate that a
library would round (a recurrent state, a variance, scores before a softmax) lets the error bound perturb it, and
`call.contract` records how large the sums of absolute terms get, and lets long ones stray farther. It also states what
is no evidence: `call.step` where the result jumps, `call.leave` what is up to the library where NaN or Inf is given. So
the judge (`bound.py`) knows no layer; it reads what was declared.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.errors import UnknownName
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

Array = NDArray[Any]
Mask = NDArray[np.bool_]


class Freedom(Enum):
    """What a layer leaves to the library where NaN or Inf is given; its meaning declares it by `Call.leave`."""

    SUM = "it may add up products in any order, also those with a factor of 0, so that NaN comes of an Inf"
    COMPARISON = "it compares what it has computed with bounds, so that a NaN in there need not be seen behind it"
    WEIGHT = "it computes weights: one that should be 0 may be 1e-8, and makes much of an Inf or NaN"


@dataclass
class Judging:
    """Perturbs what a library would round, and remembers what meanings declare.

    within: whether roundings within a layer are perturbed too, or inputs, weights and outputs of layers only. peak: the
    largest magnitude that a sum can reach on its way. overflowed: a sum was not finite. steps: see
    `Call.step`. undecided: see `Call.undecided`. freedoms: see `Call.leave`. given: see `Call.give`.
    """

    roundoff: float = 0.0
    smallest: float = 0.0
    draw: Draw | None = None
    within: bool = True
    peak: float = 0.0
    overflowed: bool = False
    steps: list[Array] = field(default_factory=list)
    undecided: dict[int, Mask] = field(default_factory=dict)
    freedoms: set[Freedom] = field(default_factory=set)
    given: list[float] = field(default_factory=list)

    def perturb(self, value: Array) -> Array:
        if self.draw is None or self.roundoff == 0.0 or value.dtype.kind != "f":
            return value
        noise = self.roundoff * (2.0 * self.draw.uniforms(value.shape) - 1.0)
        tiny = (value != 0) & (np.abs(value) < self.smallest)  # there, rounding is not relative, or leaves nothing
        left = np.where(noise < 0, 0.0, np.abs(value) + noise * self.smallest)
        with np.errstate(over="ignore"):
            return np.where(tiny, np.copysign(left, value), value * (1.0 + noise))

    def note(self, magnitude: Array) -> None:
        if magnitude.size:
            finite = np.isfinite(magnitude)
            self.peak = max(self.peak, float(np.max(magnitude, initial=0.0, where=finite)))
            self.overflowed |= not finite.all()


@dataclass(frozen=True)
class Call:
    """One layer call: float64 inputs and weights (int32 and bool inputs as they are), masks, parameters, types."""

    layer: str
    params: Params
    inputs: Sequence[Array]
    masks: Sequence[Mask | None]
    weights: Mapping[str, Array]
    types: Sequence[TensorType]
    outputs: Sequence[TensorType]
    judging: Judging = field(default_factory=Judging)

    @property
    def x(self) -> Array:
        return self.inputs[0]

    @property
    def mask(self) -> Mask | None:
        return self.masks[0]

    def rounded(self, value: Array) -> Array:
        """`value`, as a library would have it after rounding it to the layer's dtype."""
        self.judging.note(np.abs(value))
        return self.judging.perturb(value) if self.judging.within else value

    def step(self, distance: Array) -> None:
        """Say how far each element is from a place where the result jumps; near 0, either side of it is right."""
        self.judging.steps.append(distance)

    def undecided(self, elements: Mask, output: int = 0) -> None:
        """Say which elements of an output have several right answers: which index of equal numbers it is, for one.

        Unlike a step, that is so whoever computes what the layer reads, and no rounding decides it.
        """
        self.judging.undecided[output] = elements

    def leave(self, freedom: Freedom) -> None:
        """Say what is up to the library where NaN or Inf is given."""
        self.judging.freedoms.add(freedom)

    def give(self, value: float) -> None:
        """Say that the layer puts a number into its output that is none of its inputs, and may be NaN or Inf."""
        self.judging.given.append(value)

    def contract(self, equation: str, *arrays: Array, strict: bool = False) -> Array:
        """einsum of arrays, rounded; the sum of absolute terms goes into the peak.

        strict: NaN is right only where the formula has it, also if an Inf is among the terms.
        """
        if not strict:
            self.leave(Freedom.SUM)
        result = np.asarray(np.einsum(equation, *arrays, optimize=True))
        if self.judging.draw is not None and not self.judging.within:
            return result
        many = summed(equation, *arrays) / FEW
        if self.judging.draw is not None and many <= 1:
            return self.judging.perturb(result)
        terms = np.asarray(np.einsum(equation, *map(np.abs, arrays), optimize=True))
        if self.judging.draw is None:
            self.judging.note(terms)
            return result
        with np.errstate(invalid="ignore"):
            drift = many * (self.judging.perturb(terms) - terms)
        return self.judging.perturb(result) + np.where(np.isfinite(drift), drift, 0.0)

    def add_up(self, terms: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        """The sum of terms along axes, rounded as `contract` does it."""
        self.leave(Freedom.SUM)
        result = np.asarray(np.sum(terms, axis=axis, keepdims=keepdims))
        if terms.dtype.kind != "f" or (self.judging.draw is not None and not self.judging.within):
            return result
        magnitude = np.asarray(np.sum(np.abs(terms), axis=axis, keepdims=keepdims))
        if self.judging.draw is None:
            self.judging.note(magnitude)
            return result
        many = terms.size / max(1, result.size) / FEW
        with np.errstate(invalid="ignore"):
            drift = max(1.0, many) * (self.judging.perturb(magnitude) - magnitude)
        return self.judging.perturb(result) + np.where(np.isfinite(drift), drift, 0.0)

    def inner(self, layer: str, params: Params, **changes: Any) -> "Call":
        """The same call for the layer inside a wrapper."""
        return replace(self, layer=layer, params=params, **changes)


FEW = 8
"""Of more terms than that the error of a sum may grow as they do, since terms that are alike are rounded alike; four
times the span of what is moved by n/8 u is about the textbook's n u."""


def summed(equation: str, *arrays: Array) -> int:
    """How many products an einsum of arrays adds up for one element."""
    given, _, kept = equation.partition("->")
    sizes: dict[str, int] = {}
    for letters, array in zip(given.split(","), arrays, strict=True):
        before, dots, after = letters.partition("...")
        sizes.update(zip(before, array.shape, strict=not dots))
        sizes.update(zip(reversed(after), reversed(array.shape), strict=False))
    return math.prod(size for letter, size in sizes.items() if letter not in kept)


Meaning = Callable[[Call], Array | list[Array]]
MEANINGS: dict[str, Meaning] = {}
MASKS: dict[str, Callable[[Call], Mask | None]] = {}


def meaning(*layers: str) -> Callable[[Meaning], Meaning]:
    """Register what the named layers compute."""

    def register(function: Meaning) -> Meaning:
        for name in layers:
            if name in MEANINGS:
                raise ValueError(f"expected one meaning per layer; received layer={name!r} twice")
            MEANINGS[name] = function
        return function

    return register


def take_formula(spec: LayerSpec) -> None:
    """Register what a block of the catalogue says by a formula, if it does."""
    formula, step = spec.formula, spec.step
    if formula is None:
        return

    @meaning(spec.name)
    def compute(call: Call) -> Array | list[Array]:
        if step is not None:
            call.step(np.asarray(step(*call.inputs, **call.params)))
        result = formula(*call.inputs, **call.params)
        return [np.asarray(part) for part in result] if isinstance(result, list | tuple) else np.asarray(result)


def mask_of(*layers: str) -> Callable[[Callable[[Call], Mask | None]], Callable[[Call], Mask | None]]:
    """Register how the named layers make their output's mask; all others hand on the first input's."""

    def register(function: Callable[[Call], Mask | None]) -> Callable[[Call], Mask | None]:
        for name in layers:
            MASKS[name] = function
        return function

    return register


def evaluate(call: Call) -> list[Array]:
    """The outputs of one layer call."""
    if call.layer not in MEANINGS:
        raise UnknownName(f"expected a layer with a meaning; received layer={call.layer!r}")
    with np.errstate(all="ignore"):
        result = MEANINGS[call.layer](call)
    return result if isinstance(result, list) else [result]


def output_masks(call: Call) -> list[Mask | None]:
    """The masks that travel with the outputs, where the types say that they do."""
    masks: list[Mask | None] = []
    for output in call.outputs:
        if not output.masked:
            masks.append(None)
        elif call.layer in MASKS:
            masks.append(MASKS[call.layer](call))
        else:
            masks.append(next((mask for mask in call.masks if mask is not None), None))
    return masks
