"""The parent's side of an observer: what it adds to, and what a child must be told to begin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cometfuzz.coverage.branches import Branches
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution import environments
from cometfuzz.execution.interpreters import OBSERVED, unobserved
from cometfuzz.routes import Group

TRACED_BY = ("coverage", "5.")
"""The package that observes branches on an interpreter whose bytecode the observer does not know, and its release: what
it calls a branch is then what the paper did."""


def default_cache() -> Path:
    """Where instrumented code is kept: beside the environments, since it is made from what is in them."""
    return environments.cache_folder().parent / "branches"


def obstacle(group: Group) -> str:
    """Why no branches can be observed in the child of a group; nothing if they can."""
    try:
        environment = environments.find(group.environment)
    except CometfuzzError as error:
        return str(error)
    why, (package, release) = unobserved(environment.python_version), TRACED_BY
    return "" if environment.packages.get(package, "").startswith(release) else why


def observer_of(group: Group) -> str:
    """The module that observes branches in the child of a group: where bytecode is another, coverage.py has to do."""
    version = environments.find(group.environment).python_version
    return f"cometfuzz.execution.{'observer' if version[:2] == OBSERVED else 'tracing'}"


@dataclass(frozen=True)
class Observation:
    """Branches to add to, and the folder for instrumented code. All workers of a group share one. module: the observer
    in the child."""

    branches: Branches
    cache: Path = field(default_factory=default_cache)
    module: str = "cometfuzz.execution.observer"

    @property
    def options(self) -> Mapping[str, Any]:
        """For `execution.observer.start`, in the child."""
        return {"module": self.module, "modules": self.branches.patterns, "cache": str(self.cache)}
