"""The routes of a configuration: those that are registered, and copies of them in other environments."""

from collections.abc import Iterable, Mapping

from cometfuzz.config import Config
from cometfuzz.errors import UnknownName, near
from cometfuzz.execution import environments
from cometfuzz.execution.environments import default_names, find, known_names
from cometfuzz.execution.interpreters import own_interpreter
from cometfuzz.routes import Route
from cometfuzz.routes.registry import BROKEN, ROUTES, choose, moved
from cometfuzz.routes.switches import MARK


def configured(config: Config) -> dict[str, Route]:
    """All routes: those of the entry points, and those that the configuration adds. Every name in it is known."""
    declare(config)
    routes = dict(ROUTES)
    for name, entry in config.routes.items():
        if name in routes or MARK in name:
            raise UnknownName(f"[routes]: expected a new name for a route, without {MARK}; received route={name!r}")
        place = f"[routes.{name}]"
        _expect(place, "base", entry.base, ROUTES)
        _expect(place, "environment", entry.environment, known_names())
        routes[name] = moved(ROUTES[entry.base], name, entry.environment, entry.steps, entry.speaks)
    for field, names in config.policy.names.items():
        for name in names:
            _expect("[policy]", field, name, [*routes, *BROKEN])
    return routes


def declare(config: Config) -> None:
    """Make the interpreters of a configuration environments, for as long as it is in use."""
    environments.declare(
        {name: own_interpreter(each.python, each.environ) for name, each in config.environments.items()}
    )


def usable(names: str, routes: Mapping[str, Route]) -> list[Route]:
    """The routes of a list with commas, as `choose` has them; `all` are those that lack no environment on demand."""
    return [route for route in choose(names, routes) if names != "all" or not lacking(route)]


def lacking(route: Route) -> list[str]:
    """The environments on demand of a route that have not been built."""
    return [name for name in on_demand(route) if not find(name).ready]


def on_demand(route: Route) -> list[str]:
    """The environments of a route that set-up leaves out."""
    known = {*known_names()}.difference(default_names())
    return [name for name in dict.fromkeys(step.group.environment for step in route.steps) if name in known]


def _expect(place: str, field: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise UnknownName(f"{place}: expected one of {', '.join(known)}; received {field}={name!r}{near(name, known)}")
