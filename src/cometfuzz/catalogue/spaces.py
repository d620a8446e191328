"""Spaces: the values that a parameter may take.

A space judges a value (`problem`), brings it into the one form that is stored (`canonical`), draws one, and knows
its `simplest` value: Keras' own default where there is one, so that a reduced case names as few arguments as
possible. Initialisers are the exception: their simplest is "zeros", because weights are set explicitly anyway and a
random initialiser costs a compilation on JAX.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import FLOATS

Effect = Literal["forward", "build", "train"]
"""Where a value can show: in a forward pass, only while a layer is built, or only in training."""

RARE = 0.02
"""How often a legal but unusual value (zero units, a zero-size dimension) is drawn."""

NO_NAME = "no_such_name"
"""A name that nothing has."""

LARGE = 2**20
"""What a size or a factor may be in a graph that somebody else made; what we draw is far smaller."""


class Space:
    """Base of all spaces. `x` is the layer's input type (a tuple of them where it takes several)."""

    simplest: Any
    effect: Effect = "forward"
    numeric: bool = False

    def canonical(self, value: Any) -> Any:
        """The stored form of `value`; values of the wrong kind come back as they are."""
        return value

    def problem(self, value: Any) -> str | None:
        """What was expected instead of `value`, or None if it belongs to the space."""
        raise NotImplementedError

    def draw(self, draw: Draw, x: Any, p: Params) -> Any:
        """A value for input `x`; `p` holds the parameters drawn so far."""
        raise NotImplementedError

    def wrong(self) -> tuple[Any, ...]:
        """A few small values that no library can make sense of; none where our limits are narrower than theirs."""
        return ()

    def options(self) -> tuple[Any, ...] | None:
        """All values if they can be listed (then each counts as covered by itself), else None."""
        return None

    def size(self) -> int | None:
        """How many values there are, None for too many to tell."""
        options = self.options()
        return None if options is None else len(options)

    def describe(self) -> str:
        """The space as a person reads it."""
        raise NotImplementedError


class Choice(Space):
    """One of the listed values; the first is the simplest unless another is named."""

    def __init__(self, *values: Any, simplest: Any = ..., effect: Effect = "forward") -> None:
        self.values = values
        self.simplest = values[0] if simplest is ... else simplest
        self.effect = effect
        self._known = frozenset((type(value), value) for value in values)

    def problem(self, value: Any) -> str | None:
        try:
            known = (type(value), value) in self._known
        except TypeError:
            known = False
        return None if known else self.describe()

    def draw(self, draw: Draw, x: Any, p: Params) -> Any:
        if self.effect != "forward" and not draw.chance(0.3):
            return self.simplest
        return draw.choice(self.values)

    def wrong(self) -> tuple[Any, ...]:
        names = all(value is None or isinstance(value, str) for value in self.values)
        shows = self.effect == "forward" and not set(self.values) <= {*FLOATS, None}
        return (NO_NAME,) if names and shows else ()

    def options(self) -> tuple[Any, ...]:
        return self.values

    def describe(self) -> str:
        return "one of " + ", ".join("null" if value is None else str(value) for value in self.values)


class Seldom(Choice):
    """A choice of which one value is drawn seldom: some library does not take it, or it changes little."""

    def __init__(self, *values: Any, seldom: Any, chance: float) -> None:
        super().__init__(*values)
        self._seldom, self._chance = seldom, chance
        self._common = tuple(value for value in values if value != seldom)

    def draw(self, draw: Draw, x: Any, p: Params) -> Any:
        return self._seldom if draw.chance(self._chance) else draw.choice(self._common)


class Ints(Space):
    """An integer from low to high; values in `rare` are legal too, and seldom drawn."""

    numeric = True

    def __init__(
        self,
        low: int,
        high: int,
        simplest: int | None = None,
        rare: Sequence[int] = (),
        effect: Effect = "forward",
        limit: int = LARGE,
    ) -> None:
        """Values above `high` and up to `limit` are valid (imported models have them) but never drawn."""
        self.low, self.high, self.rare, self.limit = low, high, tuple(rare), limit
        self.simplest = low if simplest is None else simplest
        self.effect = effect

    def problem(self, value: Any) -> str | None:
        if type(value) is int and (self.low <= value <= self.limit or value in self.rare):
            return None
        return self.describe()

    def draw(self, draw: Draw, x: Any, p: Params) -> int:
        if self.rare and draw.chance(RARE):
            return draw.choice(self.rare)
        return draw.integer(self.low, self.high)

    def wrong(self) -> tuple[Any, ...]:
        return tuple(value for value in (0, -1) if value < self.low and value not in self.rare)

    def size(self) -> int:
        return self.high - self.low + 1 + len(self.rare)

    def describe(self) -> str:
        return f"an integer from {self.low}, drawn up to {self.high}" + "".join(f", or {value}" for value in self.rare)


WIDE = (15, 16, 17, 32, 64)
"""Channels and units at which libraries change their ways: kernels that take blocks of 16 (ONNX Runtime's NCHWc, most
of oneDNN's) never run on small models, and one less or one more leaves a remainder."""


class Sizes(Ints):
    """Channels or units: an integer from low to high, or where sizes are wide, one of those that matter."""

    def draw(self, draw: Draw, x: Any, p: Params) -> int:
        return draw.choice(WIDE) if draw.wide else super().draw(draw, x, p)

    def describe(self) -> str:
        return f"{super().describe()}, seldom {WIDE[0]} to {WIDE[-1]}"


class Floats(Space):
    """A finite number from low to high, drawn as a short decimal."""

    numeric = True

    def __init__(
        self,
        low: float,
        high: float,
        simplest: float,
        *,
        step: float = 0.0,
        effect: Effect = "forward",
        limit: float | None = None,
    ) -> None:
        """`step` is the grid on which values are drawn; by default a hundredth of the range.

        With a `limit`, values above `high` (and, where `low` is negative, below it) are valid up to it but never drawn.
        """
        self.low, self.high, self.simplest, self.effect = low, high, float(simplest), effect
        self.step = step or (high - low) / 100
        self._most = high if limit is None else limit
        self._least = -limit if limit is not None and low < 0 else low

    def canonical(self, value: Any) -> Any:
        return float(value) if type(value) is int and abs(value) < 2**53 else value

    def problem(self, value: Any) -> str | None:
        return None if type(value) is float and self._least <= value <= self._most else self.describe()

    def draw(self, draw: Draw, x: Any, p: Params) -> float:
        if self.effect != "forward" and draw.chance(0.5):
            return float(self.simplest)
        steps = int((self.high - self.low) / self.step + 1e-9)
        return min(self.high, float(f"{self.low + self.step * draw.integer(0, steps):.6g}"))

    def describe(self) -> str:
        wider = "" if self._most == self.high else f", valid up to {self._most:g}"
        return f"a number from {self.low:g} to {self.high:g}{wider}"


class PerAxis(Space):
    """One value of `each` for every spatial axis; a single value stands for all of them."""

    numeric = True

    def __init__(self, axes: int, each: Space) -> None:
        self.axes, self.each = axes, each
        self.simplest = (each.simplest,) * axes
        self.effect = each.effect

    def canonical(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.each.canonical(item) for item in value)
        return (self.each.canonical(value),) * self.axes

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, tuple) or len(value) != self.axes:
            return self.describe()
        return next((self.describe() for item in value if self.each.problem(item)), None)

    def draw(self, draw: Draw, x: Any, p: Params) -> tuple[Any, ...]:
        if draw.chance(0.5):
            return (self.each.draw(draw, x, p),) * self.axes
        return tuple(self.each.draw(draw, x, p) for _ in range(self.axes))

    def wrong(self) -> tuple[Any, ...]:
        """A wrong value along the last axis, and one axis too many."""
        last = [(*self.simplest[:-1], value) for value in self.each.wrong()]
        return (*last, (*self.simplest, self.each.simplest))

    def size(self) -> int | None:
        each = self.each.size()
        return None if each is None else each**self.axes

    def describe(self) -> str:
        return f"for each of {self.axes} axes {self.each.describe()}"


class Optional(Space):
    """null or a value of `inner`; null is the simplest unless another is named."""

    def __init__(self, inner: Space, simplest: Any = None) -> None:
        self.inner, self.simplest = inner, simplest
        self.effect, self.numeric = inner.effect, inner.numeric

    def canonical(self, value: Any) -> Any:
        return None if value is None else self.inner.canonical(value)

    def problem(self, value: Any) -> str | None:
        return None if value is None or self.inner.problem(value) is None else self.describe()

    def draw(self, draw: Draw, x: Any, p: Params) -> Any:
        return None if draw.chance(0.5) else self.inner.draw(draw, x, p)

    def wrong(self) -> tuple[Any, ...]:
        return self.inner.wrong()

    def options(self) -> tuple[Any, ...] | None:
        options = self.inner.options()
        return None if options is None else (None, *options)

    def size(self) -> int | None:
        size = self.inner.size()
        return None if size is None else size + 1

    def describe(self) -> str:
        return f"null or {self.inner.describe()}"


@dataclass(frozen=True, slots=True)
class _Computed:
    check: Callable[[Any], bool]
    draw: Callable[[Draw, Any, Params], Any]


class Computed(Space):
    """Values that depend on the input: a permutation, a target shape, an einsum equation.

    `check` says whether a value has the right form at all; whether it fits the input is the business of rules.
    """

    def __init__(
        self,
        text: str,
        *,
        simplest: Any,
        check: Callable[[Any], bool],
        draw: Callable[[Draw, Any, Params], Any],
        numeric: bool = True,
        wrong: Sequence[Any] = (),
    ) -> None:
        self.text, self.simplest, self.numeric, self._wrong = text, simplest, numeric, tuple(wrong)
        self._functions = _Computed(check, draw)

    def problem(self, value: Any) -> str | None:
        return None if self._functions.check(value) else self.text

    def draw(self, draw: Draw, x: Any, p: Params) -> Any:
        return self._functions.draw(draw, x, p)

    def wrong(self) -> tuple[Any, ...]:
        return self._wrong

    def describe(self) -> str:
        return self.text


class InnerLayer(Space):
    """A layer inside a wrapper. The wrapper's LayerSpec draws and checks it; see `catalogue.wrapping`."""

    def __init__(self, *layers: str, draw: Callable[[Draw, Any, Params], Inner], simplest: Inner) -> None:
        self.layers, self.simplest, self._draw = layers, simplest, draw

    def problem(self, value: Any) -> str | None:
        return None if isinstance(value, Inner) and value.layer in self.layers else self.describe()

    def size(self) -> int:
        return len(self.layers)  # coverage tells inner layers apart by their names

    def draw(self, draw: Draw, x: Any, p: Params) -> Inner:
        return self._draw(draw, x, p)

    def describe(self) -> str:
        return "a layer: one of " + ", ".join(self.layers)


BOOLEAN_TRUE = Choice(True, False)
BOOLEAN_FALSE = Choice(False, True)
DATA_FORMAT = Choice("channels_last", "channels_first")
SAME_OR_VALID = Choice("valid", "same")

ACTIVATION_NAMES = (
    *("linear", "relu", "relu6", "sigmoid", "tanh", "softmax", "elu", "selu", "softplus", "softsign", "exponential"),
    *("hard_sigmoid", "hard_silu", "hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink", "squareplus", "celu"),
    *("gelu", "glu", "leaky_relu", "log_sigmoid", "log_softmax", "mish", "silu", "sparse_plus", "sparsemax"),
    "sparse_sigmoid",
)
"""Every activation that Keras 3 takes by name alone (`threshold` needs arguments; swish is silu)."""

SHAPE_CHANGING_ACTIVATIONS = ("glu",)
"""These stand in the Activation layer only."""


def activations(simplest: str = "linear", *more: Any) -> Choice:
    """The `activation` argument of a layer: every named activation that keeps the shape, and `more`."""
    names = [name for name in ACTIVATION_NAMES if name not in SHAPE_CHANGING_ACTIVATIONS]
    return Choice(*names, *more, simplest=simplest)


INITIALISER_NAMES = (
    *("Zeros", "Ones", "Constant", "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling", "Orthogonal"),
    *("Identity", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform"),
)


def initialiser() -> Choice:
    """An initialiser by name. It runs when the layer is built, then the weights are overwritten."""
    return Choice(*INITIALISER_NAMES, effect="build")


def regulariser() -> Choice:
    """A regulariser by name; it never shows in a forward pass."""
    return Choice(None, "l1", "l2", "L1L2", effect="build")


def constraint() -> Choice:
    """A constraint by name; it acts after a gradient step only."""
    return Choice(None, "Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm", effect="build")


def build_params(*weights: str, activity: bool = True) -> dict[str, Space]:
    """Initialiser, regulariser and constraint of each named weight, and the activity regulariser."""
    kinds: tuple[tuple[str, Callable[[], Space]], ...] = (
        ("initializer", initialiser),
        ("regularizer", regulariser),
        ("constraint", constraint),
    )
    params = {f"{weight}_{kind}": make() for (kind, make), weight in itertools.product(kinds, weights)}
    return {**params, "activity_regularizer": regulariser()} if activity else params
