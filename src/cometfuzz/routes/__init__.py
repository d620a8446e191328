"""Routes: how a graph reaches a library.

A route is a chain of steps. A step turns a graph, or what the step before it made, into a model, an artefact (bytes)
or outputs; its stages name the library to blame. Steps of one group share a child process, routes that begin with the
same steps share their work. The parent reads only the data here; a library is imported in the child, by the step's
module, inside `start()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from cometfuzz.ir.case import Manner
from cometfuzz.ir.graph import Graph
from cometfuzz.routes.libraries import Library as Library

Turn = Literal["base", "only", "converters", "sampled", ""]
"""The list of the policy that a route is in, if no configuration says otherwise; see `execution/policy.py`.

base: it gets every case. only: every case with a layer that only Keras 2 has. converters: what is new, one case in
several. sampled: by lot. "": none.
"""


class Stage(NamedTuple):
    """One part of a step and the library that is to blame when it fails."""

    name: str
    owner: Library

    @property
    def library(self) -> str:
        """The name of the library."""
        return self.owner.name


@dataclass(frozen=True)
class Group:
    """The steps that one child process serves: its environment and its environment variables.

    extra: it is another group but for a switch, and asked seldom: of all such groups, one has a child at a time.
    """

    name: str
    environment: str
    environ: Mapping[str, str] = field(default_factory=dict)
    extra: bool = False


@dataclass(frozen=True)
class Switch:
    """A setting of a library that its users may change: routes run as usual, and for a few cases so as well.

    says: what is set, as it ends a sentence: "without oneDNN". library: whose setting it is. environ: variables of the
    whole process, which takes one of its own; else options: those of the route's last step, and reader: how a script
    reads an ONNX file then, if that is the step. ladder: of what it is a degree; a route has the degrees of a ladder
    from the lowest on, and the usual setting is the highest. lacks: what exceptions say where the library has no
    implementation that does without what is switched off.
    """

    name: str
    says: str
    library: Library
    environ: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    reader: str = ""
    ladder: str = ""
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One link of a route.

    `module` has a `start(options)` that imports the library and returns an Adapter, once in each child; `call` names
    the method of the Adapter that does the step. `live` says that what it makes stays in the child: the steps after it
    belong to the same group. Stages are named apart along a route.

    How a script does the step is said by a function, which is named as an entry point is ("package.module:function")
    since only triage calls it. engine: of a route's second step, how the model that the first one built is run
    (`triage/scripts/engines.py`); reader: of a step that takes an ONNX file, how that is read and run
    (`triage/scripts/readers.py`). Without one no script is written of the step. switch: the name of the switch that its
    options set. objection: of a first step that does not take every call, the function that the parent asks before it
    sends one (`execution/sayable.py`), named alike. cpu_s: what it usually takes of the CPU for a model of a campaign,
    by which routes get their shares (`execution/budget.py`): a round number, measured once (`cometfuzz profile`).
    tells: whether it has an option `tell`, with which it prints what its library chose (`routes/telling.py`).
    """

    name: str
    group: Group
    module: str
    call: str
    stages: tuple[Stage, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    live: bool = False
    engine: str = ""
    reader: str = ""
    switch: str = ""
    objection: str = ""
    cpu_s: float = 0.1
    tells: bool = False

    @property
    def key(self) -> str:
        """What tells it from other steps that take the same: its group, its name, and its switch if it has one."""
        return f"{self.group.name}:{self.name}" + (f"+{self.switch}" if self.switch else "")

    def has(self, stage: str, library: str) -> bool:
        """Whether one of its stages has this name and blames this library."""
        return any((each.name, each.library) == (stage, library) for each in self.stages)


@dataclass(frozen=True)
class Route:
    """A way to a library: `path` describes it; `speaks` is the layer dialect of its builder: keras3, keras2, or
    none where it is no Keras that builds.

    one_dtype: whether the library computes a whole model in one float dtype. like: the route of which this is a copy in
    another environment. turn: which cases it gets. clear: whether the cut of a case that converters get is cleared of
    what this route is known to fail on. fuses: whether it may compute several nodes as one; only there a window of
    nodes can be wrong while each of them is right, and to look for that costs time. known_as: what outsiders call it,
    where the paths of other routes have its name. forms: the steps of other ways to run its model, by name. switches:
    those of the library at its end; switch: the one that tells it from a plain route (`routes/switches.py`).
    """

    name: str
    path: str
    speaks: str
    steps: tuple[Step, ...]
    one_dtype: bool = False
    like: str = ""
    turn: Turn = "converters"
    clear: bool = False
    fuses: bool = True
    known_as: str = ""
    forms: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    switches: tuple[Switch, ...] = ()
    switch: Switch | None = None

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
        names = [step.key for step in self.steps]
        return tuple(tuple(names[: index + 1]) for index in range(len(names)))


class Work(Protocol):
    """What a step gets of a case, in the child. Tensors are `protocol.WireTensor`."""

    graph: Graph
    inputs: Sequence[Any]
    weights: Mapping[str, Sequence[Any]]
    manner: Manner

    def enter(self, stage: str) -> None:
        """Announce a stage before it begins."""

    def library(self) -> AbstractContextManager[None]:
        """Around calls into the library: their CPU time is not ours."""


class Adapter(Protocol):
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
    "TF_ONEDNN_USE_SYSTEM_ALLOCATOR": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONHASHSEED": "0",
}
"""One thread, nothing that changes from run to run, memory from malloc (which fills it, see `execution.memory`), little
noise."""
