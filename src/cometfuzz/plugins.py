"""What installed packages add: entry points of our groups, ours in the order of pyproject.toml, then others by name.

A package from outside cannot take the place of what is ours: of two with one name the first stays. With
COMETFUZZ_PLUGINS=none only ours are there, so that published numbers can be had on any machine.

A child runs in another environment, where nothing of this is installed: it is told of layers (`told`), and imports them
from their files, so that no folder of other packages gets onto its path.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Generic, TypeVar

from cometfuzz.errors import InvalidPlugin

SWITCH = "COMETFUZZ_PLUGINS"
TOLD = "COMETFUZZ_LAYERS"
"""The variable by which a child is told of layers."""

OURS = "cometfuzz"
PROJECT = Path(__file__).with_name("pyproject.toml")
"""Where a wheel has it; not there in a checkout."""

Loaded = TypeVar("Loaded")


def found(group: str) -> list[EntryPoint]:
    """The entry points of a group, each name once."""
    points = list(entry_points(group=group))
    ours = in_declared_order(group, [point for point in points if is_ours(point)])
    others = [] if os.environ.get(SWITCH) == "none" else [point for point in points if not is_ours(point)]
    first: dict[str, EntryPoint] = {}
    for point in ours + sorted(others, key=lambda point: point.name):
        first.setdefault(point.name, point)
    return list(first.values())


def in_declared_order(group: str, ours: list[EntryPoint], project: Path = PROJECT) -> list[EntryPoint]:
    """Ours in the order of pyproject.toml. What builds a wheel sorts them by name, so a wheel has that file with it; in
    a checkout they are in order."""
    if not ours or not project.is_file():
        return ours
    tomllib = import_module("tomllib")  # not in Python 3.9, where a child runs and nothing of ours is installed
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["entry-points"]
    order = list(declared[group])
    return sorted(ours, key=lambda point: order.index(point.name))


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


def told(modules: list[str], builders: Mapping[str, str], simplest: Mapping[str, Mapping[str, Any]]) -> str:
    """What a child must know of layers: of those from outside the files of their modules and what builds each in Keras;
    of all of them the simplest values of their parameters."""
    files = {}
    for module in dict.fromkeys([*modules, *(place.partition(":")[0] for place in builders.values())]):
        top = find_spec(module.partition(".")[0])
        files[module] = "" if top is None or top.origin is None else top.origin
    return json.dumps({"modules": modules, "files": files, "builders": dict(builders), "simplest": simplest})


def import_told(module: str) -> Any:
    """Import a module of which the parent has told us."""
    top, file = module.partition(".")[0], _heard()["files"][module]
    if top not in sys.modules and file:
        folder = [str(Path(file).parent)] if Path(file).name == "__init__.py" else None
        spec = spec_from_file_location(top, file, submodule_search_locations=folder)
        if spec is None or spec.loader is None:
            raise ImportError(f"expected a module of Python; received {file}")
        sys.modules[top] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[top])
    return import_module(module)


def told_modules() -> list[str] | None:
    """The modules with layers of which the parent has told us; None if we are the parent."""
    return list(_heard()["modules"]) if TOLD in os.environ else None


def builder_of(layer: str) -> Callable[[Any], Any] | None:
    """In a child: what gives the class of a layer from outside, given the package keras; None for a layer of Keras."""
    place = _heard()["builders"].get(layer)
    if place is None:
        return None
    module, _, name = place.partition(":")
    found: Callable[[Any], Any] = getattr(import_told(module), name)
    return found


def simplest_of(layer: str) -> Mapping[str, Any]:
    """In a child: the simplest value of each parameter of a layer, which is its default where there is one."""
    found: Mapping[str, Any] = _heard()["simplest"].get(layer, {})
    return found


@cache
def _heard() -> Mapping[str, Any]:
    nothing = '{"modules": [], "files": {}, "builders": {}, "simplest": {}}'
    heard: Mapping[str, Any] = json.loads(os.environ.get(TOLD) or nothing)
    return heard
