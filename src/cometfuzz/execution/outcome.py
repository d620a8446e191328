"""Outcomes and trials: what routes did with a case. A library's failure is a value, never our exception."""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cometfuzz.coverage.branches import News
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Edge
from cometfuzz.protocol import WireTensor

Status = Literal[
    "completed",
    "exception",
    "signal",
    "exited",
    "timeout",
    "memory",
    "oversized",
    "protocol",
    "not reached",
    "unavailable",
]
"""How a route ended.

"not reached": a stage that it shares with an earlier route of the trial failed there. "unavailable": its worker cannot
be started, or it is paused.
"""


MAX_SHOWN = 300
"""How much of a library's message is shown in a line."""


UNSUPPORTED = (
    *("not supported", "unsupported", "not implemented", "no implementation", "could not find an implementation"),
    *("does not support", "isn't supported", "cannot be converted", "not yet supported", "no opkernel was registered"),
    *("neither a custom op nor a flex op", "needs_flex_ops", "no op registered for", "invalid data-type for array"),
    *("must be a compile-time constant", "only ranks up to", "all data must have the same batch size"),
    *("no conversion rule found", "no translator found", "doesn't support", "does not currently support"),
)
PYTHONS_OWN = "unsupported operand type"
"""What Python says of 1 + None: a slip in the library, not something that it does not do."""

LACKING = ("NotImplementedError", "NotInKerasMxnet")
"""What a library, or our builder for one that is no longer kept, raises for a layer that it does not have."""


@dataclass(frozen=True)
class Failure:
    """An exception in the library: its class, the classes above it, message and innermost frames."""

    type: str
    kinds: tuple[str, ...]
    message: str
    frames: tuple[str, ...]

    @property
    def disk_full(self) -> bool:
        """Whether the machine is to blame: nothing can be written."""
        return os.strerror(errno.ENOSPC) in self.message

    @property
    def says_unsupported(self) -> bool:
        """Whether a library says that it does not do this, right or wrong."""
        text = self.message.lower().replace(PYTHONS_OWN, "")
        return self.type in LACKING or any(phrase in text for phrase in UNSUPPORTED)


class StageTime(NamedTuple):
    """How long one stage took; CPU time is that of the whole child. shared_by: routes of the trial that it served."""

    stage: str
    library: str
    wall_s: float
    cpu_s: float
    shared_by: int = 1


@dataclass(frozen=True)
class StepResult:
    """What came of one step. `tensors` are its outputs, `artefact` its bytes; a live step has neither."""

    status: Status
    stage: str
    library: str
    tensors: Sequence[WireTensor] = ()
    artefact: bytes | None = None
    failure: Failure | None = None
    detail: str = ""
    printed: str = ""
    times: tuple[StageTime, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """Status, the stage it ended in with the library that is to blame, and the evidence.

    Of a route that is "not reached", `stage`, `library` and the evidence are those of the stage that failed, `cause` is
    how it failed. `nodes` holds the output of every node, if they were asked for.
    """

    route: str
    status: Status
    stage: str
    library: str
    outputs: Sequence[WireTensor] = ()
    failure: Failure | None = None
    detail: str = ""
    printed: str = ""
    times: tuple[StageTime, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    cause: Status | None = None
    nodes: Mapping[Edge, WireTensor] = field(default_factory=dict)

    @property
    def wall_s(self) -> float:
        return sum(time.wall_s for time in self.times)

    @property
    def cpu_s(self) -> float:
        return sum(time.cpu_s for time in self.times)

    def __str__(self) -> str:
        if self.failure is not None:
            message = " ".join(readable(self.failure.message).split())
            return f"{self.failure.type} in {self.stage}: {message[:MAX_SHOWN]}"
        return f"{self.cause or self.status} in {self.stage} {self.detail}".strip()


@dataclass(frozen=True)
class Trial:
    """A case with the outcomes of its routes, in the order in which they were asked for.

    A failure of a stage that routes share stands in the first of them; in the others it is "not reached". `branches`
    are those that were reached for the first time, by group, where they are observed.
    """

    case: Case
    outcomes: Mapping[str, Outcome]
    branches: Mapping[str, News] = field(default_factory=dict)


def readable(message: str) -> str:
    """An error message without the places of MLIR, which nest and fill pages: what is wrong stands behind them."""
    parts, rest = [], message
    while (start := rest.find("loc(")) >= 0:
        end, depth = start + 4, 1
        while end < len(rest) and depth:
            depth += (rest[end] == "(") - (rest[end] == ")")
            end += 1
        parts.append(rest[:start])
        rest = rest[end:].removeprefix(": ")
    text = "".join([*parts, rest])
    return text.replace("<unknown>:0: ", "")
