"""The upper ends of what options take; the lower ones stand with the options. What is outside is wrong usage."""

from collections.abc import Callable
from typing import TypeVar

import typer

from cometfuzz.config import MOST_JOBS as MOST_JOBS

MOST_CASES = 10**9
MOST_MINUTES = 10**6
MOST_SECONDS = 10**6
MOST_SIGMA = 1000
MOST_WINDOW = 1000
LARGEST_SEED = 2**63 - 1

Number = TypeVar("Number", int, float, int | None, float | None)


def at_most(limit: int) -> Callable[[Number], Number]:
    """A callback for an option. NaN is refused too: it is in no range."""

    def check(value: Number) -> Number:
        if value is not None and not value <= limit:
            raise typer.BadParameter(f"expected at most {limit}; received {value}.")
        return value

    return check
