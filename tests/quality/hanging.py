"""A library that never comes back, for the test of how commands end: no Python code runs while it is at it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def start(options: Mapping[str, str]) -> "Hanging":
    return Hanging()


class Hanging:
    """Says that it is busy by making the file $BUSY."""

    def versions(self) -> dict[str, str]:
        return {"hanging": "1"}

    def run(self, work: Any, value: None) -> None:
        work.enter("run")
        Path(os.environ["BUSY"]).touch()
        sum(range(10**18))
