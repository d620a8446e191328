"""What Keras says of symbolic tensors, held against the catalogue and against what it computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from cometfuzz.compat import zip_strictly
from cometfuzz.ir.graph import Node

Open = tuple[Optional[int], ...]
"""A shape of which some sizes may be open."""


class StaticTypeMismatch(Exception):
    """Keras' own static inference of a shape or dtype is not what the catalogue predicts."""


class ComputedTypeMismatch(Exception):
    """A result has another shape or dtype than Keras has told of it."""


def check_static_types(node: Node, seen: list[tuple[str, Open]]) -> None:
    """Hold what Keras says of symbolic tensors against the catalogue: layers built on top of them rely on it."""
    want = [(kind.dtype, kind.shape) for kind in node.outputs]
    alike = len(seen) == len(want) and all(
        dtype == expected_dtype and fits(shape, expected)
        for (dtype, shape), (expected_dtype, expected) in zip_strictly(seen, want)
    )
    if not alike:
        raise StaticTypeMismatch(f"{node.layer}: expected {want}; received {seen}")


def check_computed_shapes(node: Node, said: Sequence[Open], computed: Sequence[tuple[int, ...]]) -> None:
    """The same for a call that breaks a rule, of which only Keras itself says what it should give."""
    if not all(map(fits, said, computed)):
        raise StaticTypeMismatch(f"{node.layer}: it says {said}, and computes {computed}")


def fits(said: Open, shape: tuple[int, ...]) -> bool:
    """Whether a symbolic shape agrees with a real one, as far as it says anything."""
    return len(said) == len(shape) and all(a in (None, b) for a, b in zip_strictly(said, shape))
