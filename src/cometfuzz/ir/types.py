"""Tensor types: what is known of an edge before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cometfuzz.compat import SLOTS

FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = (*FLOATS, "int32", "bool")
BYTES_OF = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int32": 4, "bool": 1}
MAX_RANK = 8
POLICY = "policy"
"""The parameter that names a Keras dtype policy; every layer that computes in floats may have it, and most do not."""

POLICIES = {
    "mixed_float16": ("float16", "float32"),
    "mixed_bfloat16": ("bfloat16", "float32"),
    **{dtype: (dtype, dtype) for dtype in FLOATS},
}
"""Name of a policy -> the dtype in which a layer computes, and that of its weights."""


@dataclass(frozen=True, **SLOTS)
class TensorType:
    """The type of one edge.

    `shape` is concrete and includes the batch. `masked` says that a Keras mask of shape (batch, steps) travels
    along. `high` is the exclusive upper bound of an int32 tensor whose values are known to lie in [0, high), as
    inputs and casts promise it; None where nobody promises anything.
    """

    dtype: str
    shape: tuple[int, ...]
    masked: bool = False
    high: int | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]" + (" masked" if self.masked else "")


UNKNOWN = TensorType("unknown", ())
"""What comes out of a call that breaks a rule: nobody can say."""
