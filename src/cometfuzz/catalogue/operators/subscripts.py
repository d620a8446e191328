"""The subscripts of keras.ops.einsum: what they say of shapes, and how some are drawn for given inputs."""

import math
import re
import string
from functools import lru_cache
from typing import NamedTuple

from cometfuzz.catalogue.operators import Types, broadcast
from cometfuzz.catalogue.spec import Shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params

DOTS = "..."
_TERM = r"[a-zA-Z]*(?:\.\.\.)?[a-zA-Z]*"
_FORM = re.compile(rf"{_TERM}(?:,{_TERM}){{0,2}}(?:->{_TERM})?")
_MOST_LETTERS = 12


class Subscripts(NamedTuple):
    """The terms of an equation, spaces left out; `output` is said also where the equation leaves it open."""

    operands: tuple[str, ...]
    output: str

    @property
    def equation(self) -> str:
        """The same with everything said."""
        return f"{','.join(self.operands)}->{self.output}"


SIMPLEST = Subscripts(("ij", "jk"), "ik")
COMMON = (
    *("i,j->ij", "ij,j->i", "ij,jk->ik", "ij,kj->ik", "bti,ij->btj", "bti,ji->btj", "bti,ihd->bthd", "bti,hid->bthd"),
    *("bti,hdi->bthd", "bhti,bhij->bhtj", "bhti,bhji->bhtj", "bihd,bhie->bdhe", "bhti,bihe->bthe", "bthd,bshd->bhts"),
    *("bthd,bshd->bhst", "bthd,hde->bte", "bthd,hed->bte", "bthd,ehd->bte", "btkhs,bskd->bhktd", "btkhd,bskd->bkhts"),
)
"""What layers make of einsum, attention above all: backends have ways of their own for many of these."""


def are_subscripts(value: object) -> bool:
    """Whether it has the form of subscripts, with each letter at most once in the output."""
    return isinstance(value, str) and _parsed(value) is not None


def parse(text: str) -> Subscripts:
    """The terms of subscripts that their space has let pass."""
    return _parsed(text) or SIMPLEST


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Subscripts | None:
    compact = text.replace(" ", "")
    letters = [letter for letter in compact.partition("->")[0] if letter.isalpha()]
    if not _FORM.fullmatch(compact) or len(set(letters)) > _MOST_LETTERS:
        return None
    given, arrow, output = compact.partition("->")
    if not arrow:
        once = sorted(letter for letter in letters if letters.count(letter) == 1)
        output = (DOTS if DOTS in given else "") + "".join(once)
    kept = output.replace(DOTS, "")
    if len(set(kept)) < len(kept) or not set(kept) <= set(letters) or (DOTS in given) != (DOTS in output):
        return None
    return Subscripts(tuple(given.split(",")), output)


class Sizes(NamedTuple):
    """What letters and dots stand for."""

    letters: dict[str, int]
    dots: Shape


def sizes(x: Types, subscripts: Subscripts) -> Sizes | None:
    """The sizes of letters and of what dots stand for; None if the inputs contradict them or each other."""
    if len(x) != len(subscripts.operands):
        return None
    letters: dict[str, int] = {}
    elided: list[Shape] = [()]
    for kind, term in zip(x, subscripts.operands, strict=True):
        before, dots, after = term.partition(DOTS)
        left = kind.rank - len(before) - len(after)
        if left < 0 or (left > 0 and not dots):
            return None
        elided.append(kind.shape[len(before) : len(before) + left])
        named = kind.shape[: len(before)] + kind.shape[len(before) + left :]
        for letter, size in zip(before + after, named, strict=True):
            if letters.setdefault(letter, size) != size:
                return None
    dotted = broadcast(*elided)
    return None if dotted is None else Sizes(letters, dotted)


def fits(x: Types, p: Params) -> bool:
    """Whether there is a letter, or dots, for each axis, and equal letters have equal sizes."""
    return sizes(x, parse(p.subscripts)) is not None


def products(x: Types, p: Params) -> int:
    """How many products are made."""
    found = sizes(x, parse(p.subscripts))
    return 0 if found is None else math.prod(found.letters.values()) * math.prod(found.dots)


def output_shape(x: Types, p: Params) -> Shape:
    """The shape of the result; only asked for where the subscripts fit."""
    subscripts = parse(p.subscripts)
    letters, dots = sizes(x, subscripts) or Sizes({}, ())
    before, _, after = subscripts.output.partition(DOTS)
    return (*(letters.get(each, 0) for each in before), *dots, *(letters.get(each, 0) for each in after))


def draw_subscripts(draw: Draw, x: Types, p: Params) -> str:
    """Subscripts that fit the inputs: axes of one size often have one letter, also within an input (a diagonal)."""
    common = [text for text in COMMON if sizes(x, parse(text)) is not None]
    if common and draw.chance(0.5):
        return draw.choice(common)
    names = draw.shuffled(string.ascii_letters if draw.chance(0.1) else string.ascii_lowercase[:12])
    dotted = draw.chance(0.35)
    known: list[tuple[str, int]] = []
    terms = []
    for kind in x:
        elided = draw.integer(0, kind.rank) if dotted and draw.chance(0.8) else 0
        place = draw.choice((0, 0, draw.integer(0, kind.rank - elided)))
        term = ""
        here: list[tuple[str, int]] = []
        for size in kind.shape[:place] + kind.shape[place + elided :]:
            same = [letter for letter, other in known if other == size and (letter, size) not in here]
            twice = [letter for letter, other in here if other == size]
            if same and draw.chance(0.7):
                letter = draw.choice(same)
            elif twice and draw.chance(0.25):
                letter = draw.choice(twice)
            else:
                letter = names.pop()
            here.append((letter, size))
            term += letter
        known += here
        terms.append(term[:place] + DOTS + term[place:] if elided or (dotted and draw.chance(0.7)) else term)
    return _written(draw, terms)


def draw_common_shapes(draw: Draw) -> list[Shape]:
    """The shapes of inputs that some common subscripts fit."""
    terms = parse(draw.choice(COMMON)).operands
    known = {letter: draw.integer(1, 5) for letter in dict.fromkeys("".join(terms))}
    return [tuple(known[letter] for letter in term) for term in terms]


def _written(draw: Draw, terms: list[str]) -> str:
    """Terms with an output, which is left open now and then, and with spaces, as the documentation has them."""
    comma, arrow = (", ", " -> ") if draw.chance(0.1) else (",", "->")
    given = comma.join(terms)
    if draw.chance(0.15):
        return given
    letters = list(dict.fromkeys(letter for letter in given if letter.isalpha()))
    kept = [letter for letter in letters if draw.chance(0.6)][:6]
    kept = draw.shuffled(kept) if draw.chance(0.5) else kept
    dots = [DOTS] if DOTS in given else []
    place = draw.choice((0, 0, draw.integer(0, len(kept))))
    return given + arrow + "".join([*kept[:place], *dots, *kept[place:]])
