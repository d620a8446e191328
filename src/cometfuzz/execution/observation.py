"""The parent's side of an observer: what it adds to, and what a child must be told to begin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cometfuzz.coverage.branches import Branches
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution import environments
from cometfuzz.execution.interpreters import unobserved
from cometfuzz.routes import Group


def default_cache() -> Path:
    """Where instrumented code is kept: beside the environments, since it is made from what is in them."""
    return environments.cache_folder().parent / "branches"


def obstacle(group: Group) -> str:
    """Why no branches can be observed in the child of a group; nothing if they can."""
    try:
        version = environments.find(group.environment).python_version
    except CometfuzzError as error:
        return str(error)
    return unobserved(version)


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
