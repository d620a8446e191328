"""Routes: how a graph reaches a library.

A route is a chain of steps. A step turns a graph, or what the step before it made, into a model, an artefact (bytes)
or outputs; its stages name the library to blame. Steps of one group share a child process, routes that begin with the
same steps share their work. The parent reads only the data here; a library is imported in the child, by the step's
module, inside `start()`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from cometfuzz.ir.graph import Graph


class Stage(NamedTuple):
    """One part of a step and the library that is to blame when it fails."""

    name: str
    library: str


@dataclass(frozen=True)
class Group:
    """The steps that one child process serves: its environment and its environment variables."""

    name: str
    environment: str
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One link of a route.

    `module` has a `start(options)` that imports the library and returns a Session, once in each child; `call` names the
    method of the Session that does the step. `live` says that what it makes stays in the child: the steps after it
    belong to the same group. Stages are named apart along a route.
    """

    name: str
    group: Group
    module: str
    call: str
    stages: tuple[Stage, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    live: bool = False


@dataclass(frozen=True)
class Route:
    """A way to a library: `path` describes it; `speaks` is the layer dialect of its builder: keras3 or keras2.

    one_dtype: whether the library computes a whole model in one float dtype. like: the route of which this is a copy in
    another environment.
    """

    name: str
    path: str
    speaks: str
    steps: tuple[Step, ...]
    one_dtype: bool = False
    like: str = ""

    @property
    def names(self) -> frozenset[str]:
        """What the ledger calls it: its own name, or that of which it is a copy, and the names of its steps."""
        return frozenset({self.like or self.name, *(step.name for step in self.steps[1:])})

    @property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(stage for step in self.steps for stage in step.stages)

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """What identifies the work of each step: the way that leads to it, groups included."""
        names = [f"{step.group.name}:{step.name}" for step in self.steps]
        return tuple(tuple(names[: index + 1]) for index in range(len(names)))


class Work(Protocol):
    """What a step gets of a case, in the child. Tensors are `protocol.WireTensor`."""

    graph: Graph
    inputs: Sequence[Any]
    weights: Mapping[str, Sequence[Any]]

    def enter(self, stage: str) -> None:
        """Announce a stage before it begins."""

    def library(self) -> AbstractContextManager[None]:
        """Around calls into the library: their CPU time is not ours."""


class Session(Protocol):
    """What `start(options)` returns, in the child: versions, and one method (work, value) -> result for each step.

    `value` is what the step before made. The result is a list of WireTensor (outputs), bytes (an artefact), or any
    object if the step is live.
    """

    def versions(self) -> dict[str, str]:
        """The versions of the libraries that it uses."""


Action = Callable[[Work, Any], Any]
QUIET = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_DETERMINISTIC_OPS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONHASHSEED": "0",
}
"""One thread, nothing that changes from run to run, little noise."""
