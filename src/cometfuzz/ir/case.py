"""Cases: a graph with everything that is needed to run it again anywhere."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Graph
from cometfuzz.ir.types import BYTES_OF


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True)
class Case:
    """A graph, the seed from which its weights and inputs are drawn, and the tensors that are not drawn.

    A key of `data` is "NODE" for a graph input and "NODE/WEIGHT" for a weight.
    """

    graph: Graph
    rng_seed: int
    data: Mapping[str, Tensor] = field(default_factory=dict)
