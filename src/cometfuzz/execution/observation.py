"""The parent's side of an observer: what it adds to, and what a child must be told to begin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cometfuzz.coverage.branches import Branches
from cometfuzz.execution import environments


def default_cache() -> Path:
    """Where instrumented code is kept: beside the environments, since it is made from what is in them."""
    return environments.cache_folder().parent / "branches"


@dataclass(frozen=True)
class Observation:
    """Branches to add to, and the folder for instrumented code. All workers of a group share one."""

    branches: Branches
    cache: Path = field(default_factory=default_cache)

    @property
    def options(self) -> Mapping[str, Any]:
        """For `execution.observer.start`, in the child."""
        module = "cometfuzz.execution.observer"
        return {"module": module, "modules": self.branches.patterns, "cache": str(self.cache)}
