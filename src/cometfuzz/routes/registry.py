"""Every route by name, found by entry point: a package from outside adds one under "cometfuzz.routes".

An entry point names a Route. What its module imports in the parent must be no library under test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from cometfuzz.errors import UnknownName, near
from cometfuzz.plugins import found
from cometfuzz.routes import Library, Route, Step, Turn
from cometfuzz.routes.switches import MARK, plain_name, route_named

GROUP = "cometfuzz.routes"


def _load() -> tuple[dict[str, Route], dict[str, str]]:
    routes, broken = {}, {}
    for point in found(GROUP):
        try:
            route = point.load()
        except (ImportError, AttributeError) as error:
            broken[point.name] = f"{point.value}: {error}"
            continue
        if objection := _objection(route, point.name):
            broken[point.name] = f"{point.value}: {objection}"
        else:
            routes[route.name] = route
    return routes, broken


def _objection(route: object, name: str) -> str:
    """What is wrong with a route from outside, so that it does not stop everything else later on."""
    if not isinstance(route, Route) or route.name != name or MARK in name:
        return f"expected a Route of that name, without {MARK} in it; received {route!r}"
    strange = [stage.owner for stage in route.stages if not isinstance(stage.owner, Library)]
    if strange:
        return f"expected a Library in each Stage; received {strange[0]!r}"
    turns = get_args(Turn)
    return "" if route.turn in turns else f"expected a turn out of {turns}; received turn={route.turn!r}"


ROUTES, BROKEN = _load()
"""The routes, and the entry points that do not lead to one, each with the reason."""

LIBRARIES = {stage.library: stage.owner for route in reversed(ROUTES.values()) for stage in reversed(route.stages)}
"""The libraries that stages name, each as the first route that has it says."""


def library_named(name: str) -> Library:
    """What is known of a library, which may be nothing."""
    return LIBRARIES.get(name, Library(name))


def with_turn(turn: Turn) -> tuple[str, ...]:
    """The routes that are in a list of the policy."""
    return tuple(route.name for route in ROUTES.values() if route.turn == turn)


def base_of(name: str) -> str | None:
    """The route that runs the same model without any detour: keras-tf for all that goes on from its model.

    Where a first step leaves no model behind but a file, there is none.
    """
    route = ROUTES.get(plain_name(name))
    if route is None or not route.steps[0].live:
        return None
    same = [other for other in ROUTES.values() if other.steps[0] == route.steps[0]]
    shortest = min(same, key=lambda other: len(other.steps), default=route)
    return None if shortest is route or shortest is None else shortest.name


def moved(base: Route, name: str, environment: str, steps: Sequence[str] = (), speaks: str | None = None) -> Route:
    """The same route in another environment: all of its steps, or those that are named."""
    known = [step.name for step in base.steps]
    for wanted in steps:
        if wanted not in known:
            raise UnknownName(f"route {name}: expected steps out of {', '.join(known)}; received step={wanted!r}")
    speaks = base.speaks if speaks is None else speaks
    whole = not steps and speaks == base.speaks  # else its forms may not be there
    forms = {form: tuple(_move(step, environment) for step in each) for form, each in base.forms.items() if whole}
    return replace(
        base,
        name=name,
        like=base.like or base.name,
        path=f"{base.path}, in environment {environment}",
        speaks=speaks,
        steps=tuple(_move(step, environment) if not steps or step.name in steps else step for step in base.steps),
        forms=forms,
    )


def _move(step: Step, environment: str) -> Step:
    group = replace(step.group, name=f"{step.group.name}@{environment}", environment=environment)
    return replace(step, group=group)


def choose(names: str, routes: Mapping[str, Route]) -> list[Route]:
    """The routes of a list with commas, each perhaps with a switch, or all of them."""
    chosen = []
    for name in list(routes) if names == "all" else names.split(","):
        route = route_named(name, routes)
        if route is None:
            raise UnknownName(
                f"expected `all` or routes out of {', '.join(routes)}; received route={name!r}{near(name, routes)}"
            )
        chosen.append(route)
    return chosen
