"""The equations of EinsumDense: what they say of shapes, and how one is drawn for an input."""

import re
import string
from functools import lru_cache
from typing import Any, NamedTuple

from cometfuzz.catalogue.spec import Shape
from cometfuzz.draw import Draw
from cometfuzz.ir.types import TensorType


class Einsum(NamedTuple):
    """The letters of an equation; `ellipsis` is "left", "right" or ""."""

    inputs: str
    kernel: str
    outputs: str
    ellipsis: str

    @property
    def named(self) -> str:
        """The output's letters that `output_shape` speaks of: all but the batch."""
        return self.outputs if self.ellipsis == "left" else self.outputs[1:]


_FORMS = (
    ("", re.compile(r"([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]+)")),
    ("left", re.compile(r"\.\.\.([a-zA-Z]+),([a-zA-Z]+)->\.\.\.([a-zA-Z]+)")),
    ("right", re.compile(r"([a-zA-Z]{2,})\.\.\.,([a-zA-Z]+)->([a-zA-Z]+)\.\.\.")),
)
SIMPLEST = Einsum("ab", "bc", "ac", "")


def is_equation(value: object) -> bool:
    """Whether it has one of the three documented forms, with each letter once in each term."""
    return isinstance(value, str) and _parsed(value) is not None


def parse(equation: str) -> Einsum:
    """The letters of an equation that its space has let pass."""
    return _parsed(equation) or SIMPLEST


@lru_cache(maxsize=4096)
def _parsed(equation: str) -> Einsum | None:
    for ellipsis, form in _FORMS:
        found = form.fullmatch(equation)
        if found and all(len(set(term)) == len(term) for term in found.groups()):
            inputs, kernel, outputs = found.groups()
            return Einsum(inputs, kernel, outputs, ellipsis)
    return None


def letter_sizes(x: TensorType, p: Any) -> dict[str, int | None]:
    """The size of every letter; None where nothing says it, or two things say it differently."""
    e = parse(p.equation)
    start = max(0, x.rank - len(e.inputs)) if e.ellipsis == "left" else 0
    sizes: dict[str, int | None] = dict(zip(e.inputs, x.shape[start:], strict=False))
    for letter, size in zip(e.named, p.output_shape, strict=False):
        if letter not in e.inputs:
            sizes[letter] = size
        elif size is not None and sizes.get(letter) != size:
            sizes[letter] = None
    return sizes


def rank_fits(x: TensorType, p: Any) -> bool:
    """An ellipsis on the left stands at least for the batch."""
    e = parse(p.equation)
    elided = x.rank - len(e.inputs)
    return elided == 0 if not e.ellipsis else elided >= (e.ellipsis == "left")


def batch_stays(x: TensorType, p: Any) -> bool:
    """The batch is the output's first axis and no axis of the kernel."""
    e = parse(p.equation)
    return e.ellipsis == "left" or (e.outputs[0] == e.inputs[0] and e.inputs[0] not in e.kernel)


def letters_are_known(x: TensorType, p: Any) -> bool:
    """Output letters come from the input or the kernel, kernel letters from the input or the output."""
    e = parse(p.equation)
    return set(e.outputs) <= set(e.inputs + e.kernel) and set(e.kernel) <= set(e.inputs + e.outputs)


def output_shape_fits(x: TensorType, p: Any) -> bool:
    """One size for each letter, none in contradiction to the input, none left open."""
    return len(p.output_shape) == len(parse(p.equation).named) and None not in letter_sizes(x, p).values()


def weights_are_stated(x: TensorType, p: Any) -> bool:
    """Keras takes the sizes of weights from `output_shape` alone, even where the input would say them."""
    e = parse(p.equation)
    open_letters = {letter for letter, size in zip(e.named, p.output_shape, strict=False) if size is None}
    return not open_letters & set(e.kernel + (p.bias_axes or ""))


def bias_fits(x: TensorType, p: Any) -> bool:
    """Bias axes are axes of the output, each once, none of them the batch."""
    axes = p.bias_axes or ""
    return set(axes) <= set(parse(p.equation).named) and len(set(axes)) == len(axes)


def output_shape(x: TensorType, p: Any) -> Shape:
    """The output's shape."""
    e, sizes = parse(p.equation), letter_sizes(x, p)
    core, letters = tuple(sizes.get(letter) or 0 for letter in e.outputs), len(e.inputs)
    if e.ellipsis == "left":
        return (*x.shape[: x.rank - letters], *core)
    return (*core, *x.shape[letters:])


def weights(x: TensorType, p: Any) -> dict[str, Shape]:
    """The kernel; the bias reaches from its first axis to the last, with size 1 where it is the same for all."""
    e, sizes = parse(p.equation), letter_sizes(x, p)
    shapes: dict[str, Shape] = {"kernel": tuple(sizes.get(letter) or 0 for letter in e.kernel)}
    if p.bias_axes and bias_fits(x, p):
        reach = e.outputs[min(e.outputs.find(letter) for letter in p.bias_axes) :]
        bias = tuple((sizes.get(letter) or 0) if letter in p.bias_axes else 1 for letter in reach)
        elided = max(0, x.rank - len(e.inputs)) if e.ellipsis == "right" else 0
        shapes["bias"] = (*bias, *[1] * elided)
    return shapes


def draw_equation(draw: Draw, x: TensorType, p: Any) -> str:
    """An equation for the input's rank: some axes are summed over, some shared with the kernel, one or two are new."""
    letters, ellipsis = string.ascii_lowercase, draw.choice(("", "", "left", "right"))
    elided = {"": 0, "left": draw.integer(1, x.rank - 1), "right": draw.integer(0, x.rank - 2)}[ellipsis]
    inputs = letters[: x.rank - elided]
    free = inputs if ellipsis == "left" else inputs[1:]
    summed = [letter for letter in free if draw.chance(0.5)] or [free[-1]]
    shared = [letter for letter in free if letter not in summed and draw.chance(0.2)]
    new = list(letters[x.rank : x.rank + draw.integer(1, 2)])
    kernel, rest = [*summed, *shared, *new], [letter for letter in free if letter not in summed] + new
    kernel = draw.shuffled(kernel) if draw.chance(0.5) else kernel
    rest = draw.shuffled(rest) if draw.chance(0.3) else rest
    if ellipsis == "left":
        return f"...{inputs},{''.join(kernel)}->...{''.join(rest)}"
    dots = "..." if ellipsis else ""
    return f"{inputs}{dots},{''.join(kernel)}->{inputs[0]}{''.join(rest)}{dots}"


def draw_output_shape(draw: Draw, x: TensorType, p: Any) -> tuple[int | None, ...]:
    """Sizes of new letters, and those that the input says. None is never drawn: Keras takes it for an unknown size,
    even where the input says it, and most layers that follow need it."""
    e, known = parse(p.equation), letter_sizes(x, p.replace(output_shape=()))
    return tuple(draw.integer(1, 6) if letter not in e.inputs else known.get(letter) for letter in e.named)


def draw_bias_axes(draw: Draw, x: TensorType, p: Any) -> str | None:
    """Some of the output's letters whose size is stated."""
    pairs = zip(parse(p.equation).named, p.output_shape, strict=False)
    return "".join(a for a, size in pairs if size is not None and draw.chance(0.5)) or None
