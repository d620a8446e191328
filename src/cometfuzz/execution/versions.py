"""Which versions of the libraries a route meets: what its environments hold, read off without starting any of them."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from cometfuzz.catalogue.offer import Offer
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution import environments
from cometfuzz.execution.installation import DIRECT, name_of, parse
from cometfuzz.ledger.cpu import USUAL_CPU
from cometfuzz.ledger.matching import View
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES, base_of
from cometfuzz.routes.switches import plain_name


def versions_of(route: Route) -> dict[str, str]:
    """The versions of the libraries of a route's stages, without local parts such as +cpu.

    What runs the model without any detour belongs to it: the backend of a Keras whose model is converted.
    """
    return versions_of_all([route])[route.name]


def versions_of_all(routes: Iterable[Route]) -> dict[str, dict[str, str]]:
    """The same for several routes; each environment is looked at once."""
    look = cache(installed)
    return {route.name: _versions_of(route, look) for route in routes}


def _versions_of(route: Route, look: Callable[[str], Mapping[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    base = base_of(route.like or route.name)
    detour = [(step.stages, step.group.environment) for step in route.steps]
    direct = [(step.stages, route.steps[0].group.environment) for step in (ROUTES[base].steps if base else ())]
    for stages, environment in (*direct, *detour):
        packages = look(environment)
        for stage in stages:
            version = next((packages[name] for name in stage.owner.packages if name in packages), None)
            if version is not None:
                found[stage.library] = version
    return found


def installed(environment: str) -> Mapping[str, str]:
    """The packages of an environment: as its file pins them, which is what is installed; none if nobody knows it.

    What is not pinned by version (what an address leads to, and all of a user's own interpreter) is looked up.
    """
    try:
        found = environments.find(environment)
    except CometfuzzError:
        return {}
    return _installed(environment, found.digest, found.ready)


@cache
def _installed(environment: str, digest: str, ready: bool) -> Mapping[str, str]:
    """The same for an environment in one state."""
    found = environments.find(environment)
    file, packages = found.requirement_file, dict(found.packages)
    if file is not None:
        requirements = parse(file.read_text(encoding="utf-8"), file.parent)
        pins = [*requirements.pins, *requirements.pins_without_dependencies]
        direct = {_canonical(name_of(pin)) for pin in pins if DIRECT.fullmatch(pin)}
        pinned = (pin.partition("==") for pin in pins if not DIRECT.fullmatch(pin))
        looked_up = {name: version for name, version in packages.items() if _canonical(name) in direct}
        packages = {**looked_up, **{name: version for name, _, version in pinned}}
    return {_canonical(name): version.partition("+")[0].strip() for name, version in packages.items()}


def _canonical(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def view_of(routes: Mapping[str, Route], cpu: str = "", offers: Mapping[str, Offer] | None = None) -> View:
    """The ledger as it stands for these routes, on this machine or on a kind of CPU; a route with a switch set has the
    offer of the plain one."""
    versions = versions_of_all(routes.values())
    found = {name: (offers or {}).get(plain_name(name)) for name in routes}
    return View(routes, versions, cpu=cpu, offers={name: offer for name, offer in found.items() if offer is not None})


@cache
def usual_view() -> View:
    """The ledger as it stands here for the routes that are registered, in the environments that they name."""
    return view_of(ROUTES)


@cache
def general_view() -> View:
    """The same for nobody's machine in particular."""
    return view_of(ROUTES, USUAL_CPU)
