"""The routes of a configuration: those that are registered, and copies of them in other environments."""

from collections.abc import Iterable

from cometfuzz.config import Config
from cometfuzz.errors import UnknownName
from cometfuzz.execution import environments
from cometfuzz.execution.environments import known_names
from cometfuzz.execution.interpreters import own_interpreter
from cometfuzz.routes import Route
from cometfuzz.routes.registry import BROKEN, ROUTES, moved
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


def _expect(place: str, field: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise UnknownName(f"{place}: expected one of {', '.join(known)}; received {field}={name!r}")
