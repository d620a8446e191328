"""Fourier transforms; a complex tensor is a pair of real ones.

In float32 and float64: complex numbers of half precision are none of the dtypes that backends have.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from cometfuzz.catalogue.operators import RANKS, Types, draw_tensor, many, operator
from cometfuzz.catalogue.operators.algebra import WHOLE
from cometfuzz.catalogue.spaces import Ints, Optional
from cometfuzz.catalogue.spec import Ours, Rule, Shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params

_RULES: Mapping[str, Rule] = {
    "there is a signal": Ours(lambda x, p: all(kind.elements > 0 for kind in many(x))),
}
_PAIR: Mapping[str, Rule] = {
    "both parts have one shape": lambda x, p: x[0].shape == x[1].shape,
    **_RULES,
}


def _draw_pair(ranks: range) -> Any:
    def draw_inputs(draw: Draw) -> Types:
        kind = draw_tensor(draw, ranks, WHOLE)
        return kind, kind

    return draw_inputs


_complex = partial(operator, arity=(2, 2), dtypes=WHOLE, rules=_PAIR, shape=lambda x, p: [x[0].shape, x[0].shape])
_complex("fft", inputs=_draw_pair(range(1, 6)), doc="The discrete Fourier transform along the last axis.")
for _name, _text in (("fft2", "The discrete Fourier transform"), ("ifft2", "The inverse of that")):
    _complex(_name, ranks=range(2, 6), inputs=_draw_pair(range(2, 6)), doc=f"{_text} along the last two axes.")

_LENGTH = Optional(Ints(1, 12))


def _spectrum(x: Any, p: Params) -> list[Shape]:
    length = x.shape[-1] if p.fft_length is None else p.fft_length
    return [(*x.shape[:-1], length // 2 + 1)] * 2


operator(
    "rfft",
    dtypes=WHOLE,
    params={"fft_length": _LENGTH},
    rules=_RULES,
    shape=_spectrum,
    inputs=lambda draw: (draw_tensor(draw, RANKS, WHOLE),),
    doc="The first half of the transform of a real signal, which is cut or filled with zeros to a length.",
)


def signal_length(size: int, p: Params) -> int:
    """How long a signal is whose spectrum has `size` numbers."""
    return 2 * (size - 1) if p.fft_length is None else int(p.fft_length)


operator(
    "irfft",
    arity=(2, 2),
    dtypes=WHOLE,
    params={"fft_length": _LENGTH},
    rules={**_PAIR, "the signal has a length": Ours(lambda x, p: signal_length(x[0].shape[-1], p) >= 1)},
    shape=lambda x, p: (*x[0].shape[:-1], signal_length(x[0].shape[-1], p)),
    inputs=_draw_pair(range(1, 6)),
    doc="The real signal of a half spectrum, which is cut or filled with zeros.",
)
