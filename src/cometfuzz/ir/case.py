"""Cases: a graph with everything that is needed to run it again anywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cometfuzz.compat import SLOTS, zip_strictly
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Graph
from cometfuzz.ir.types import BYTES_OF


@dataclass(frozen=True, **SLOTS)
class Tensor:
    """Values as raw little-endian bytes in C order; bfloat16 as its 16 bits."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def __post_init__(self) -> None:
        expected = math.prod(self.shape) * BYTES_OF[self.dtype]
        if len(self.data) != expected:
            raise InvalidCase(
                f"expected {expected} bytes for {self.dtype}{list(self.shape)}; received bytes={len(self.data)}"
            )


Exporter = Literal["", "from_keras", "export"]
"""Who makes an ONNX or LiteRT file of a model: the converter, of a function that calls the model ("") or of the model
itself; or Keras' own `export`."""


@dataclass(frozen=True)
class Manner:
    """How the model of a case is written and handed on, which changes nothing of what it computes.

    opset: of ONNX files; 0 for what each exporter writes usually. sequential: a Sequential, not a functional model.
    inside: nodes that lie in a model inside the model. shared: nodes that are one layer, called several times, which
    have all the weights of the first one. named: inputs and outputs are dictionaries. explicit: calls of recurrent
    layers say what is so anyway, an initial state of zeros and, where no mask arrives, one of ones. opened: the axes of
    inputs that are built, exported and converted without a size. before: sizes of these axes at which the model has
    run, one after the other, before it runs at the case's own.
    """

    opset: int = 0
    exporter: Exporter = ""
    sequential: bool = False
    inside: tuple[str, ...] = ()
    shared: tuple[tuple[str, ...], ...] = ()
    named: bool = False
    explicit: bool = False
    opened: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    before: tuple[Mapping[str, tuple[int, ...]], ...] = ()

    def shape(self, name: str, shape: tuple[int, ...]) -> tuple[int | None, ...]:
        """The shape with which an input is declared."""
        axes = self.opened.get(name, ())
        return tuple(None if axis in axes else size for axis, size in enumerate(shape))

    def earlier(self, name: str, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The shapes that an input has before it has its own."""
        axes = self.opened.get(name, ())
        sizes = [dict(zip_strictly(axes, each[name])) if axes else {} for each in self.before]
        return [tuple(each.get(axis, size) for axis, size in enumerate(shape)) for each in sizes]

    @property
    def first_of(self) -> Mapping[str, str]:
        """For each node that shares a layer, the node whose layer it is."""
        return {name: names[0] for names in self.shared for name in names}


PLAIN = Manner()


@dataclass(frozen=True)
class Case:
    """A graph, the seed from which its weights and inputs are drawn, and the tensors that are not drawn.

    A key of `data` is "NODE" for a graph input and "NODE/WEIGHT" for a weight. `breaks` is the one rule that the last
    node breaks on purpose, to see whether libraries refuse it; nothing is broken in any other case. `manner`: see
    there; a case in another manner is another case.
    """

    graph: Graph
    rng_seed: int
    data: Mapping[str, Tensor] = field(default_factory=dict)
    breaks: str = ""
    manner: Manner = PLAIN
