"""Numbers, arrays and calls as Python text."""

import math
import re
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import NUMPY, Array
from cometfuzz.ir.types import FLOATS
from cometfuzz.reference.bound import Expected
from cometfuzz.reference.run import narrow

WIDTH = 100
_DIGITS = {"float16": 6, "bfloat16": 5, "float32": 9, "float64": 17}
"""Enough of an expected value that what is left out is far below the error bound."""

_NESTED = 16
"""Up to how many elements an array of more than one axis is written as nested lists."""


def number(value: float | int | bool, dtype: str = "float64", digits: int = 0) -> str:
    """A number, as short as it can be and still be read back as the same value of its dtype; or in some digits."""
    if dtype == "bool":
        return str(bool(value))
    if dtype not in FLOATS:
        return str(int(value))
    wide = float(value)
    if not math.isfinite(wide):
        return "np.nan" if math.isnan(wide) else "np.inf" if wide > 0 else "-np.inf"
    if digits:
        return _with_point(f"{wide:.{digits}g}")
    kind = NUMPY[dtype].type
    if dtype != "bfloat16":
        return _with_point(str(kind(wide)))
    return next(_with_point(text) for text in (f"{wide:.{size}g}" for size in range(1, 9)) if kind(text) == kind(wide))


def _with_point(text: str) -> str:
    return text if "." in text or "e" in text or "n" in text else f"{text}.0"


def array(values: Array, dtype: str, named: str = "", digits: int = 0) -> str:
    """An expression for an array; `named` is the dtype to say, if any. May be long: see `assign`."""
    suffix = f', "{named}"' if named else ""
    texts = _numbers(values.tobytes(), values.dtype, dtype, digits)
    shape = tuple(values.shape)
    if not texts:
        return f"np.zeros({shape}{suffix})"
    if shape and len(set(texts)) == 1 and (len(texts) > 2 or texts[0] in ("0.0", "1.0")):
        plain = {"0.0": "zeros", "1.0": "ones"}.get(texts[0])
        return f"np.{plain}({shape}{suffix})" if plain else f"np.full({shape}, {texts[0]}{suffix})"
    if not shape:
        return f"np.array({texts[0]}{suffix})"
    if len(shape) == 1 or len(texts) <= _NESTED:
        return f"np.array({_nested(texts, shape)}{suffix})"
    return f"np.array([{', '.join(texts)}]{suffix}).reshape{shape}"


@lru_cache(64)
def _numbers(content: bytes, kind: np.dtype[Any], dtype: str, digits: int) -> tuple[str, ...]:
    """The numbers of an array as text; kept, since every way to write a script has the same arrays."""
    return tuple(number(value, dtype, digits) for value in np.frombuffer(content, kind).tolist())


def _nested(texts: Sequence[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return texts[0]
    size = len(texts) // shape[0]
    parts = [_nested(texts[at * size : (at + 1) * size], shape[1:]) for at in range(shape[0])]
    return f"[{', '.join(parts)}]"


def expected_array(expected: Expected) -> str:
    """What an output should be, as an expression; what overflows in its dtype is infinite."""
    narrowed = narrow(expected.value, expected.dtype)
    if expected.dtype not in FLOATS:
        return array(narrowed, expected.dtype, named=expected.dtype)
    shown = np.where(np.isinf(narrowed.astype(np.float64)), narrowed.astype(np.float64), expected.value)
    return array(shown, "float64", digits=_DIGITS[expected.dtype])


def assign(name: str, expression: str, comment: str = "") -> list[str]:
    """`name = expression`, broken into lines where it is long."""
    return wrap(f"{name} = {expression}" + (f"  # {comment}" if comment else ""))


def wrap(line: str, width: int = WIDTH) -> list[str]:
    """A statement, or an element of a list, in lines of bearable length: what is in its first brackets is set apart."""
    return [line] if len(line) <= width else list(_wrapped(line, width))


@lru_cache(64)
def _wrapped(line: str, width: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    body, mark, note = line.partition("  # ")
    marks = _depths(body)
    start = next((at for at, depth in enumerate(marks) if depth > 0), None)
    if start is None:
        return [line]
    end = next((at for at in range(start, len(marks)) if marks[at] == 0), len(body) - 1)
    if body[start : start + 2] == "([" and body[end - 1 : end + 1] == "])" and marks[end - 1] == 1:
        start, end = start + 1, end - 1
    inner = indent + "    "
    parts = textwrap.wrap(
        _glued(body[start + 1 : end]),
        width,
        initial_indent=inner,
        subsequent_indent=inner,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [body[: start + 1], *(part.replace(_BLANK, " ") for part in parts), indent + body[end:] + mark + note]


_BLANK = "\x00"
"""Stands for a blank at which a line is not broken."""


_BRACKETS_AND_QUOTES = re.compile(r"[\"'()\[\]{}]")


def _depths(text: str) -> list[int]:
    """For each sign, how many brackets are open after it; quoted ones do not count."""
    depth, quote = 0, ""
    depths: list[int] = []
    for found in _BRACKETS_AND_QUOTES.finditer(text):
        sign, at = found.group(), found.start()
        depths += [depth] * (at - len(depths))
        if quote:
            quote = "" if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        else:
            depth += 1 if sign in "([{" else -1
        depths.append(depth)
    return depths + [depth] * (len(text) - len(depths))


def _glued(text: str) -> str:
    """The text with only those blanks left at which it may be broken: after commas, and before `for`."""
    parts = re.split(r"(\"[^\"]*\")", text)
    for at, part in enumerate(parts):
        kept = re.sub(r"(?<!,) (?!for )", _BLANK, part)
        parts[at] = kept if at % 2 == 0 else part.replace(" ", _BLANK)
    return "".join(parts)


def comment(text: str, width: int = WIDTH, most: int | None = None) -> list[str]:
    """Text of any origin as comment lines, `most` of them: none can end the comment, or be read as an encoding."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    line = " ".join(part for part in "".join(sign if sign.isprintable() else " " for sign in text).split(" ") if part)
    line = re.sub(r"(coding)([:=])", r"\1 \2", line)
    wrapper = textwrap.TextWrapper(width, "# ", "# ", break_on_hyphens=False, max_lines=most, placeholder=" ...")
    return wrapper.wrap(line)


def indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]


def without_us(text: str) -> str:
    """Text of a library without where it is installed here, and without our code that called it, also as a frame of
    what TensorFlow calls user code."""
    text = re.sub(
        r'File "[^"]*cometfuzz[^"]*"(?:.*?(?=File ")|, line \d+, in \S+(?: \*+)?\s*)', "", text, flags=re.DOTALL
    )
    text = re.sub(r'File "/[^"]*$', "...", text)  # a path that was cut off
    return re.sub(r"[^\s\"'(,]*/site-packages/|cometfuzz[\w.<>]*(::)?", "", text)
