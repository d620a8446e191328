"""Every route by name, found by entry point: a third party adds one from outside under "cometfuzz.routes".

An entry point names a Route. What it imports in the parent must import no library under test.
"""

from importlib import import_module

from cometfuzz.routes import Route

_OURS = {
    "keras-tf": "keras:KERAS_TF",
    "keras-torch": "keras:KERAS_TORCH",
    "keras-jax": "keras:KERAS_JAX",
    "keras2-tf": "keras2:KERAS2_TF",
}


def _load(place: str) -> Route:
    module, _, name = place.partition(":")
    route: Route = getattr(import_module(f"cometfuzz.routes.{module}"), name)
    return route


ROUTES: dict[str, Route] = {name: _load(place) for name, place in _OURS.items()}
