"""What is stored, on its way back: every row that is read becomes something of ours here, or a damaged database.

A database may be a stranger's: SQLite keeps any type in any column, and JSON may be anything. Nothing is believed that
msgspec has not checked against the type that it is to be.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, TypeVar

import msgspec

from cometfuzz.campaign.events import RouteResult
from cometfuzz.campaign.schema import damaged
from cometfuzz.coverage.chains import CHAINS
from cometfuzz.coverage.layers import CRITERIA, SPACE_NAMES
from cometfuzz.coverage.pairs import PAIRS
from cometfuzz.coverage.triples import TRIPLES
from cometfuzz.errors import CometfuzzError, InvalidCampaign
from cometfuzz.oracles.finding import Finding
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.records import bug_from_plain, expect_camps

DEEPEST = 64
"""Levels of JSON in a column: what is nested deeper could exhaust a stack."""

SHOWN = 200
"""Signs of an error that quotes what is stored."""

Made = TypeVar("Made")
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Some = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=2**53)]


FindingId = tuple[int, int, int]
"""The index of a case, its part, and the finding's place among those of the part."""

CRITERIA_BY_ROUTE = (*CRITERIA, PAIRS, TRIPLES, CHAINS)
COUNTS = tuple((space, criterion) for space in SPACE_NAMES for criterion in CRITERIA)
"""What a point of the curve counts; the columns are named space_criterion."""


@dataclass(frozen=True, slots=True)
class Logged:
    """What the strategy proposed at an index, and what it was told of it."""

    index: int
    case_id: str
    feedback: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Point:
    """How much was covered when a case was done: items by space and criterion, and branches if they were observed."""

    index: int
    elapsed_s: Seconds
    covered: Mapping[str, Mapping[str, Count]]
    branches: Mapping[str, Count] | None


@dataclass(frozen=True, slots=True)
class Ran:
    """What one route did with one part of a case; d_mad is that of all routes of the part."""

    index: int
    part: int
    case_id: str
    d_mad: float | None
    result: RouteResult


@dataclass(frozen=True, slots=True)
class RanOn:
    """On which node a part of a case ran, with a digest of each output by route."""

    index: int
    part: int
    node: str
    digests: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and the case that shows it."""

    index: int
    part: int
    case_id: str
    finding: Finding
    place: int = 0

    @property
    def id(self) -> FindingId:
        return self.index, self.part, self.place


@dataclass(frozen=True, slots=True)
class Settled:
    """What triage made of a finding: its bug, whether it was the first of it, and in how many seconds.

    reason: why the bug is not reported, or by what the finding was taken for it; empty if all was seen.
    """

    finding: FindingId
    bug_id: str
    first: bool
    reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One run of the campaign. Without a reason it was killed, or it is still running."""

    cometfuzz: str
    settings: Mapping[str, Any]
    first_index: int
    reason: str | None
    done: int | None
    elapsed_s: float | None
    own_cpu_s: float | None
    library_cpu_s: float | None


class Covered(TypedDict):
    """How much of a space is covered by one criterion; `direct`: by sequences without a utility node in between;
    `distinct`: how many sequences of three layers there were."""

    covered: Count
    total: Some
    reachable: Some
    direct: NotRequired[Count]
    distinct: NotRequired[Count]


@contextmanager
def as_stored(database: Path) -> Iterator[None]:
    """Around what makes something of stored data: whatever it stumbles over there, the data is damaged."""
    try:
        yield
    except InvalidCampaign:
        raise
    except (
        *(ArithmeticError, AttributeError, CometfuzzError, LookupError, RecursionError, TypeError, ValueError),
    ) as error:
        raise damaged(database, f"{type(error).__name__}: {str(error)[:SHOWN]}") from None


def from_json(text: Any) -> Any:
    """The value of a column that holds JSON."""
    value = json.loads(text)
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict | list):
                inner += each.values() if isinstance(each, dict) else each
        if not inner:
            return value
        level = inner
    raise ValueError(f"expected JSON of at most {DEEPEST} levels; received more")


def campaign_values(rows: Iterator[sqlite3.Row]) -> dict[str, Any]:
    """What the table `campaign` says, all of it checked."""
    values = {row["name"]: from_json(row["value"]) for row in rows}
    settings = msgspec.convert(values["settings"], dict[str, Any])
    msgspec.convert(settings.get("routes", []), list[str])
    coverage = msgspec.convert(values.get("coverage", {}), dict[str, dict[str, Covered]])
    by_route = msgspec.convert(values.get("by_route", {}), dict[str, dict[str, dict[str, Covered]]])
    for criteria in (criteria for spaces in (coverage, *by_route.values()) for criteria in spaces.values()):
        if not criteria.keys() <= set(CRITERIA_BY_ROUTE):
            raise ValueError(f"expected the criteria {', '.join(CRITERIA_BY_ROUTE)}; received {', '.join(criteria)}")
    return {
        "settings": settings,
        "coverage": coverage,
        "by_route": by_route,
        "cometfuzz": msgspec.convert(values["cometfuzz"], str),
        "nodes": msgspec.convert(values.get("nodes", {}), dict[str, dict[str, Any]]),
        "operators": msgspec.convert(values.get("operators", {}), dict[str, dict[str, float]]),
    }


def _made(kind: type[Made], row: sqlite3.Row, **values: Any) -> Made:
    """A row as one of our classes: its columns, and what these values say otherwise."""
    return msgspec.convert({**dict(row), **values}, kind)


def first(kind: Any) -> Callable[[sqlite3.Row], Any]:
    """The one value of a row."""
    return lambda row: msgspec.convert(row[0], kind)


def id_of(row: sqlite3.Row) -> FindingId:
    name: FindingId = msgspec.convert((row["case_index"], row["part"], row["place"]), FindingId)
    return name


def logged(row: sqlite3.Row) -> Logged:
    feedback = from_json(row["feedback"])
    msgspec.convert(feedback["executed"], bool)
    return _made(Logged, row, feedback=feedback)


def settled(row: sqlite3.Row) -> Settled:
    return _made(Settled, row, finding=id_of(row), first=bool(row["first"]))


def session(row: sqlite3.Row) -> SessionRow:
    return _made(SessionRow, row, settings=from_json(row["settings"]))


def point(row: sqlite3.Row) -> Point:
    covered: dict[str, dict[str, Any]] = {}
    for space, criterion in COUNTS:
        if (count := row[f"{space}_{criterion}"]) is not None:
            covered.setdefault(space, {})[criterion] = count
    branches = None if row["branches"] is None else from_json(row["branches"])
    return _made(Point, row, covered=covered, branches=branches)


def ran(row: sqlite3.Row) -> Ran:
    result = {
        **dict(row),
        "failure": None if row["failure"] is None else from_json(row["failure"]),
        "versions": from_json(row["versions"]),
        "mean_magnitude": number(row["mean_magnitude"]),
        "times": from_json(row["times"]),
    }
    return _made(Ran, row, d_mad=number(row["d_mad"]), result=result)


def ran_on(row: sqlite3.Row) -> RanOn:
    return _made(RanOn, row, digests=from_json(row["digests"]))


def found(row: sqlite3.Row) -> Found:
    made = _made(Found, row, finding=from_json(row["finding"]))
    expect_camps(made.finding)
    return made


def sighted(row: sqlite3.Row) -> tuple[str, int]:
    """A bug, and how many findings it explains."""
    bug_id, count, there = msgspec.convert(tuple(row), tuple[str, int, int])
    if not there:
        raise ValueError(f"expected the bug {bug_id} that findings turned out to be; received none")
    return bug_id, count


def bug_of(row: sqlite3.Row) -> Bug:
    bug = bug_from_plain(from_json(row["bug"]))
    if bug.id != row["bug_id"]:
        raise ValueError(f"expected a bug with the id of its row, {bug.id}; received bug_id={row['bug_id']}")
    return bug


def number(stored: Any) -> float | None:
    """A number as it was: SQLite has no NaN, which is therefore kept as a text."""
    return None if stored is None else float(stored)
