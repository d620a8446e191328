"""Every route by name, found by entry point: a package from outside adds one under "cometfuzz.routes".

An entry point names a Route. What its module imports in the parent must be no library under test.
"""

from importlib.metadata import EntryPoint, entry_points

from cometfuzz.routes import Route

GROUP = "cometfuzz.routes"


def _found() -> list[EntryPoint]:
    """Ours in the order in which pyproject.toml declares them, then those of others by name."""
    points = list(entry_points(group=GROUP))
    ours = [point for point in points if point.dist is not None and point.dist.name == "cometfuzz"]
    return ours + sorted((point for point in points if point not in ours), key=lambda point: point.name)


def _load() -> tuple[dict[str, Route], dict[str, str]]:
    routes, broken = {}, {}
    for point in _found():
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
