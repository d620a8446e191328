"""What Python 3.9 lacks and child code needs: a child runs in whatever interpreter its libraries need, from 3.9 on.

Child code begins with `from __future__ import annotations`, and ruff reads it as Python 3.9 (pyproject.toml).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

SLOTS = {"slots": True} if sys.version_info >= (3, 10) else {}
"""For `@dataclass(frozen=True, **SLOTS)`: slots where dataclasses have them."""


@overload
def zip_strictly(first: Iterable[A], second: Iterable[B], /) -> Iterator[tuple[A, B]]: ...


@overload
def zip_strictly(first: Iterable[A], second: Iterable[B], third: Iterable[C], /) -> Iterator[tuple[A, B, C]]: ...


@overload
def zip_strictly(*columns: Iterable[A]) -> Iterator[tuple[A, ...]]: ...


def zip_strictly(*columns: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """As `zip(..., strict=True)`, but it looks at the lengths before it gives anything."""
    lists = [list(column) for column in columns]
    if len({len(each) for each in lists}) > 1:
        raise ValueError(f"expected one length; received lengths={[len(each) for each in lists]}")
    return zip(*lists)
