"""Every route by name, found by entry point: a package from outside adds one under "cometfuzz.routes".

An entry point names a Route. What its module imports in the parent must be no library under test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cometfuzz.errors import UnknownName
from cometfuzz.plugins import found
from cometfuzz.routes import Route, Step

GROUP = "cometfuzz.routes"


def _load() -> tuple[dict[str, Route], dict[str, str]]:
    routes, broken = {}, {}
    for point in found(GROUP):
        try:
            route = point.load()
        except (ImportError, AttributeError) as error:
            broken[point.name] = f"{point.value}: {error}"
            continue
        if isinstance(route, Route) and route.name == point.name:
            routes[route.name] = route
        else:
            broken[point.name] = f"expected a Route of that name at {point.value}; received {route!r}"
    return routes, broken


ROUTES, BROKEN = _load()
"""The routes, and the entry points that do not lead to one, each with the reason."""


def base_of(name: str) -> str | None:
    """The route that runs the same model without any detour: keras-tf for all that goes on from its model."""
    route = ROUTES.get(name)
    same = [other for other in ROUTES.values() if route is not None and other.steps[0] == route.steps[0]]
    shortest = min(same, key=lambda other: len(other.steps), default=route)
    return None if shortest is route or shortest is None else shortest.name


def moved(base: Route, name: str, environment: str, steps: Sequence[str] = (), speaks: str | None = None) -> Route:
    """The same route in another environment: all of its steps, or those that are named."""
    known = [step.name for step in base.steps]
    for wanted in steps:
        if wanted not in known:
            raise UnknownName(f"route {name}: expected steps out of {', '.join(known)}; received step={wanted!r}")
    return replace(
        base,
        name=name,
        like=base.like or base.name,
        path=f"{base.path}, in environment {environment}",
        speaks=base.speaks if speaks is None else speaks,
        steps=tuple(_move(step, environment) if not steps or step.name in steps else step for step in base.steps),
    )


def _move(step: Step, environment: str) -> Step:
    group = replace(step.group, name=f"{step.group.name}@{environment}", environment=environment)
    return replace(step, group=group)


def choose(names: str, routes: Mapping[str, Route]) -> list[Route]:
    """The routes of a list with commas, or all of them."""
    wanted = list(routes) if names == "all" else names.split(",")
    for name in wanted:
        if name not in routes:
            raise UnknownName(f"expected `all` or routes out of {', '.join(routes)}; received route={name!r}")
    return [routes[name] for name in wanted]
