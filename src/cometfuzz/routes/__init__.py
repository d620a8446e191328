"""Routes: how a graph reaches a library.

The parent reads only the data here (names, stages, environments, gaps); a library is imported in the child, by the
route's module, inside `start()`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cometfuzz.ir.graph import Graph


@dataclass(frozen=True)
class Stage:
    """One step of a route and the library that is to blame when it fails."""

    name: str
    library: str


@dataclass(frozen=True)
class Route:
    """A way to a library.

    `module` holds its code, with a `start(options)` that returns a Session in the child; `folder` is put on the child's
    path if the module is not one of ours. `speaks` is the layer dialect that its builder takes: keras3 or keras2.
    """

    name: str
    path: str
    environment: str
    module: str
    speaks: str
    stages: tuple[Stage, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""


class Session(Protocol):
    """What a route's `start(options)` returns, in the child."""

    def versions(self) -> dict[str, str]:
        """The versions of the libraries on the route."""

    def run(
        self,
        graph: Graph,
        inputs: Sequence[str],
        weights: Sequence[tuple[str, int]],
        tensors: Sequence[Any],
        enter: Callable[[str], None],
    ) -> list[Any]:
        """Run one graph: `tensors` are the inputs, then the weights; `weights` says how many each node has."""


_KERAS = (Stage("build", "keras"), Stage("run", "keras"))
_QUIET = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONHASHSEED": "0",
}


def _keras3(name: str, backend: str, **environ: str) -> Route:
    return Route(
        name=name,
        path=f"Keras 3 on {backend}",
        environment="main",
        module="cometfuzz.routes.keras",
        speaks="keras3",
        stages=_KERAS,
        options={"backend": backend},
        environ={**_QUIET, "KERAS_BACKEND": backend, **environ},
    )


ROUTES: dict[str, Route] = {
    route.name: route
    for route in (
        _keras3("keras-tf", "tensorflow"),
        _keras3("keras-torch", "torch"),
        _keras3("keras-jax", "jax", JAX_ENABLE_X64="1", JAX_PLATFORMS="cpu"),
        Route(
            name="keras2-tf",
            path="tf-keras (Keras 2) on TensorFlow",
            environment="main",
            module="cometfuzz.routes.keras2",
            speaks="keras2",
            stages=(Stage("build", "tf-keras"), Stage("run", "tf-keras")),
            environ={**_QUIET, "KERAS_BACKEND": "tensorflow", "TF_USE_LEGACY_KERAS": "1"},
        ),
    )
}
