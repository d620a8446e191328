"""Outcomes: what one route did with one case. A library's failure is a value, never our exception."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cometfuzz.execution.protocol import WireTensor

Status = Literal["completed", "exception", "signal", "exited", "timeout", "memory", "protocol"]


@dataclass(frozen=True)
class Failure:
    """An exception in the library: its class, the classes above it, message and innermost frames."""

    type: str
    kinds: tuple[str, ...]
    message: str
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """Status, the stage it ended in with the library that is to blame, and the evidence."""

    route: str
    status: Status
    stage: str
    library: str
    outputs: Sequence[WireTensor] = ()
    failure: Failure | None = None
    detail: str = ""
    printed: str = ""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.failure is not None:
            return f"{self.failure.type} in {self.stage}: {self.failure.message.strip().splitlines()[0:1]}"
        return f"{self.status} in {self.stage} {self.detail}".strip()
