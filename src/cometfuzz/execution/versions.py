"""Which versions of the libraries a route meets: what its environments hold, read off without starting any of them."""

from collections.abc import Mapping
from functools import cache

from cometfuzz.errors import CometfuzzError
from cometfuzz.execution import environments
from cometfuzz.execution.installation import parse
from cometfuzz.ledger.matching import View
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES, base_of

DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    "keras": ("keras", "keras-nightly"),
    "tensorflow": ("tensorflow-cpu", "tensorflow"),
    "litert-converter": ("tensorflow-cpu", "tensorflow"),
    "litert": ("ai-edge-litert",),
}
"""Packages that bring a library, where they have another name; the first one that is there counts."""


def versions_of(route: Route) -> dict[str, str]:
    """The versions of the libraries of a route's stages, without local parts such as +cpu.

    What runs the model without any detour belongs to it: the backend of a Keras whose model is converted.
    """
    found: dict[str, str] = {}
    base = base_of(route.like or route.name)
    detour = [(step.stages, step.group.environment) for step in route.steps]
    direct = [(step.stages, route.steps[0].group.environment) for step in (ROUTES[base].steps if base else ())]
    for stages, environment in (*direct, *detour):
        packages = installed(environment)
        for stage in stages:
            names = DISTRIBUTIONS.get(stage.library, (stage.library,))
            version = next((packages[name] for name in names if name in packages), None)
            if version is not None:
                found[stage.library] = version
    return found


@cache
def installed(environment: str) -> Mapping[str, str]:
    """The packages of an environment: as its file pins them, which is what is installed; none if nobody knows it."""
    try:
        file = environments.find(environment).requirement_file
    except CometfuzzError:
        return {}
    requirements = parse(file.read_text(encoding="utf-8"))
    pins = (pin.partition("==") for pin in (*requirements.pins, *requirements.pins_without_dependencies))
    return {name.strip().lower().replace("_", "-"): version.partition("+")[0].strip() for name, _, version in pins}


def view_of(routes: Mapping[str, Route]) -> View:
    """The ledger as it stands for these routes."""
    return View(routes, {name: versions_of(route) for name, route in routes.items()})


@cache
def usual_view() -> View:
    """The ledger as it stands for the routes that are registered, in the environments that they name."""
    return view_of(ROUTES)
