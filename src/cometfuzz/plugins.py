"""What installed packages add: entry points of our groups, ours in the order of pyproject.toml, then others by name.

A package from outside cannot take the place of what is ours: of two with one name the first stays. With
COMETFUZZ_PLUGINS=none only ours are there, so that published numbers can be had on any machine.
"""

import os
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from cometfuzz.errors import InvalidPlugin

SWITCH = "COMETFUZZ_PLUGINS"
OURS = "cometfuzz"
Loaded = TypeVar("Loaded")


def found(group: str) -> list[EntryPoint]:
    """The entry points of a group, each name once."""
    points = list(entry_points(group=group))
    ours = [point for point in points if is_ours(point)]
    others = [] if os.environ.get(SWITCH) == "none" else [point for point in points if not is_ours(point)]
    first: dict[str, EntryPoint] = {}
    for point in ours + sorted(others, key=lambda point: point.name):
        first.setdefault(point.name, point)
    return list(first.values())


def is_ours(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == OURS


def load(point: EntryPoint) -> Any:
    """What an entry point leads to, or one line that names it."""
    try:
        return point.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        raise InvalidPlugin(
            f"{point.group}: expected {point.name!r} at {point.value}; received {type(error).__name__}: {error}"
        ) from error


class Plugins(Mapping[str, Loaded], Generic[Loaded]):
    """The entry points of a group by name. Names are known at once; a module is imported when it is asked for."""

    def __init__(self, group: str) -> None:
        self._points = {point.name: point for point in found(group)}
        self._loaded: dict[str, Loaded] = {}

    def __getitem__(self, name: str) -> Loaded:
        if name not in self._loaded:
            self._loaded[name] = load(self._points[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._points

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)
