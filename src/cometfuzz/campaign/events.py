"""Events: what a campaign says of itself, in order. Store, screen and reports are handlers of the same events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import Finding

Summary = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Coverage by space and criterion: covered, total, reachable; see `coverage.gain.summary_of`."""


ByRoute = Mapping[str, Summary]
"""The same for each route: what has executed there."""


@dataclass(frozen=True)
class Started:
    """The campaign begins, or goes on: `done` cases are there already, which took `elapsed_s`."""

    settings: Mapping[str, Any]
    done: int
    coverage: Summary
    elapsed_s: float = 0.0


@dataclass(frozen=True)
class RouteResult:
    """What one route did with one case, without the tensors.

    status and stage as in an Outcome. mean_magnitude: of all outputs, for the paper's D_MAD; None without outputs.
    times: each stage with its library, wall and CPU seconds, and how many routes of the trial it served.
    """

    route: str
    status: str
    stage: str
    library: str
    wall_s: float
    cpu_s: float
    detail: str
    failure: Mapping[str, Any] | None
    versions: Mapping[str, str]
    mean_magnitude: float | None
    times: tuple[tuple[str, str, float, float, int], ...] = ()


@dataclass(frozen=True)
class Executed:
    """One case on its routes: part 0 is the case itself, the others are cuts of it for dear or old routes.

    On a cluster, node: where it ran. digests: for each route that completed one of each output.
    """

    part: int
    case: Case
    case_id: str
    results: Sequence[RouteResult]
    d_mad: float | None
    findings: Sequence[Finding]
    node: str = ""
    digests: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class CaseDone:
    """Case `index` is judged, and the strategy has learned of it. Events of this kind come in order of index.

    feedback is all that the strategy was told: a log of these replays the search. gained: new items by space.
    by_route: what has executed on each route so far; only now and then, else nothing. cluster: its nodes, by name, when
    they are others than before.
    """

    index: int
    case_id: str
    operator: str
    nodes: int
    feedback: Mapping[str, Any]
    gained: Mapping[str, int]
    parts: Sequence[Executed]
    coverage: Summary
    branches: Mapping[str, int] | None
    operators: Mapping[str, Mapping[str, float]]
    elapsed_s: float
    case: Case = field(repr=False)
    by_route: ByRoute = field(default_factory=dict)
    cluster: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Notice:
    """Something that a person should know: a route is paused, a worker cannot start, a file was set aside."""

    text: str


@dataclass(frozen=True)
class Ended:
    """The campaign is over; reason: cases, minutes, interrupted, quiet (nothing new came for long), lost (its cluster)."""

    reason: str
    done: int
    elapsed_s: float
    coverage: Summary
    own_cpu_s: float
    library_cpu_s: float
    by_route: ByRoute = field(default_factory=dict)


Event = Started | CaseDone | Notice | Ended
