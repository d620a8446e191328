"""What a shell completes: names of routes, strategies and environments, also behind commas.

They are read off declarations. Nothing that they lead to is imported: somebody waits for it at a prompt.
"""

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from cometfuzz import plugins
from cometfuzz.config import DEFAULT, MAX_BYTES
from cometfuzz.errors import CometfuzzError, InvalidConfig
from cometfuzz.execution import environments
from cometfuzz.reading import read_regular


def complete_route(incomplete: str) -> list[str]:
    """Routes, those of a cometfuzz.toml among them."""
    return _beginning(incomplete, [*_declared("cometfuzz.routes"), *_configured("routes")])


def complete_routes(incomplete: str) -> list[str]:
    """The same for a list with commas: what stands before the last comma stays."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [f"{before}{comma}{name}" for name in complete_route(last) if name not in taken]


def complete_strategy(incomplete: str) -> list[str]:
    """Strategies."""
    return _beginning(incomplete, _declared("cometfuzz.strategies"))


def complete_environment(incomplete: str) -> list[str]:
    """Environments that we build, and interpreters of the user's own."""
    names: list[str] = []
    with suppress(CometfuzzError, OSError):
        names = environments.known_names()
    return _beginning(incomplete, [*names, *_configured("environments")])


def complete_side(incomplete: str) -> list[str]:
    """A side of a comparison: an environment, or routes."""
    return [*complete_environment(incomplete), *complete_routes(incomplete)]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _declared(group: str) -> list[str]:
    return [point.name for point in plugins.found(group)]


def _configured(section: str) -> list[str]:
    """Names that the configuration here declares; none if it cannot be read, which a command will say."""
    content: dict[str, Any] = {}
    with suppress(InvalidConfig, OSError, ValueError, RecursionError):
        content = tomllib.loads(read_regular(DEFAULT, MAX_BYTES, InvalidConfig).decode())
    named = content.get(section)
    return list(named) if isinstance(named, dict) else []
