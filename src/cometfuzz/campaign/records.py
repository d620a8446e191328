"""Records: what the folder of a campaign says. Reports and exports read it here, also while the campaign runs.

Queries yield rows as they are read: they need little memory, whatever the size of the campaign.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cometfuzz.campaign import schema
from cometfuzz.campaign.events import RouteResult
from cometfuzz.campaign.folder import DATABASE, CaseFiles
from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.errors import InvalidCampaign
from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import Finding
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.records import bug_from_plain

FindingId = tuple[int, int, int]
"""The index of a case, its part, and the finding's place among those of the part."""

COUNTS = tuple((space, criterion) for space in ("paper", "full") for criterion in CRITERIA)
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
    elapsed_s: float
    covered: Mapping[str, Mapping[str, int]]
    branches: Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class Ran:
    """What one route did with one part of a case; d_mad is that of all routes of the part."""

    index: int
    part: int
    case_id: str
    d_mad: float | None
    result: RouteResult


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
class Session:
    """One run of the campaign. Without a reason it was killed, or it is still running."""

    cometfuzz: str
    settings: Mapping[str, Any]
    first_index: int
    reason: str | None
    done: int | None
    elapsed_s: float | None
    own_cpu_s: float | None
    library_cpu_s: float | None


class Records:
    """A campaign to look at: nothing is changed, no lock is needed. `Store` is the one that writes."""

    writing = False

    def __init__(self, folder: Path) -> None:
        """Open the campaign in a folder, or say in plain words why not."""
        expect_campaign(folder)
        self.folder, self.files, self.database = folder, CaseFiles(folder), folder / DATABASE
        self.connection = schema.connect(self.database, self.writing)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def select(self, sql: str, *values: Any) -> Iterator[sqlite3.Row]:
        """The rows of a query of one's own; docs/store.md has the tables."""
        with schema.plain_words(self.database):
            for row in self.connection.execute(sql, values):  # noqa: UP028  (`yield from` would close the cursor, late)
                yield row

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the campaign was begun with."""
        return self._value("settings") or {}

    @property
    def made_by(self) -> str:
        """The version of cometfuzz that began the campaign."""
        return str(self._value("cometfuzz"))

    @property
    def coverage(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        """The coverage after the last case, with total and reachable: the Summary of its event; empty before it."""
        return self._value("coverage") or {}

    @property
    def operators(self) -> Mapping[str, Mapping[str, float]]:
        """How the ways of the strategy to make a case had done at the last case."""
        return self._value("operators") or {}

    @property
    def done(self) -> int:
        """How many cases are done: their indices are 0 to done - 1."""
        (row,) = self.select("SELECT coalesce(max(case_index) + 1, 0) AS done FROM cases")
        return int(row["done"])

    @property
    def elapsed_s(self) -> float:
        """How long the campaign has run, over all its sessions, as far as its events say."""
        both = "SELECT elapsed_s FROM cases UNION ALL SELECT elapsed_s FROM sessions"
        (row,) = self.select(f"SELECT coalesce(max(elapsed_s), 0.0) AS elapsed_s FROM ({both})")
        return float(row["elapsed_s"])

    @property
    def never_started(self) -> list[str]:
        """The routes that had cases and were unavailable for all of them, by name."""
        never = "SELECT route FROM outcomes GROUP BY route HAVING min(status = 'unavailable') ORDER BY route"
        return [row["route"] for row in self.select(never)]

    def feedbacks(self) -> Iterator[Logged]:
        """In order of index, the log that replays the search."""
        for row in self.select("SELECT case_index, case_id, feedback FROM cases ORDER BY case_index"):
            yield Logged(row["case_index"], row["case_id"], json.loads(row["feedback"]))

    def curve(self) -> Iterator[Point]:
        """Coverage over time, a point for each case."""
        for row in self.select("SELECT * FROM cases ORDER BY case_index"):
            covered: dict[str, dict[str, int]] = {}
            for space, criterion in COUNTS:
                if (count := row[f"{space}_{criterion}"]) is not None:
                    covered.setdefault(space, {})[criterion] = count
            branches = None if row["branches"] is None else json.loads(row["branches"])
            yield Point(row["case_index"], row["elapsed_s"], covered, branches)

    def outcomes(self) -> Iterator[Ran]:
        """What each route did with each case, in order of index."""
        rows = self.select(
            "SELECT * FROM outcomes JOIN trials USING (case_index, part) JOIN versions USING (versions_id) "
            "ORDER BY case_index, part, place"
        )
        for row in rows:
            result = RouteResult(
                **{name: row[name] for name in ("route", "status", "stage", "library", "wall_s", "cpu_s", "detail")},
                failure=None if row["failure"] is None else json.loads(row["failure"]),
                versions=json.loads(row["versions"]),
                mean_magnitude=_number(row["mean_magnitude"]),
            )
            yield Ran(row["case_index"], row["part"], row["case_id"], _number(row["d_mad"]), result)

    def findings(self) -> Iterator[Found]:
        """All findings, in order of index."""
        for row in self.select(f"{_FINDINGS} ORDER BY case_index, part, place"):
            yield _found(row)

    def waiting(self) -> list[FindingId]:
        """The findings that count and of which triage has made nothing yet, in order of index."""
        rows = self.select(
            "SELECT case_index, part, place FROM findings LEFT JOIN triaged USING (case_index, part, place) "
            "WHERE counts AND bug_id IS NULL ORDER BY case_index, part, place"
        )
        return [(row["case_index"], row["part"], row["place"]) for row in rows]

    def finding(self, name: FindingId) -> Found:
        (row,) = self.select(f"{_FINDINGS} WHERE case_index = ? AND part = ? AND place = ?", *name)
        return _found(row)

    def settled(self) -> Iterator[Settled]:
        """What triage made of findings, in order of index; those that are missing wait for it."""
        for row in self.select("SELECT * FROM triaged ORDER BY case_index, part, place"):
            name = row["case_index"], row["part"], row["place"]
            yield Settled(name, row["bug_id"], bool(row["first"]), row["reason"], row["seconds"])

    def bug_of_key(self) -> dict[str, str]:
        """The bug that the first triaged finding of each rough key turned out to be."""
        rows = self.select(
            "SELECT key, bug_id FROM triaged JOIN findings USING (case_index, part, place) "
            "ORDER BY case_index DESC, part DESC, place DESC"
        )
        return {row["key"]: row["bug_id"] for row in rows}

    def sightings(self) -> dict[str, int]:
        """How many findings each bug explains, by its id."""
        rows = self.select("SELECT bug_id, count(*) AS findings FROM triaged GROUP BY bug_id ORDER BY bug_id")
        return {row["bug_id"]: row["findings"] for row in rows}

    def bugs(self) -> Iterator[Bug]:
        """What triage has made of the findings, in order of id."""
        for row in self.select("SELECT bug FROM bugs ORDER BY bug_id"):
            yield bug_from_plain(json.loads(row["bug"]))

    def notices(self) -> Iterator[tuple[int, str]]:
        """What a person should know, each with the number of cases done at that time."""
        for row in self.select("SELECT done, text FROM notices ORDER BY notice"):
            yield row["done"], row["text"]

    def sessions(self) -> Iterator[Session]:
        for row in self.select("SELECT * FROM sessions ORDER BY session"):
            values = {field.name: row[field.name] for field in fields(Session)}
            yield Session(**{**values, "settings": json.loads(row["settings"])})

    def case(self, case_id: str) -> Case:
        """The case of an id; InvalidCase if its file is missing or damaged."""
        return self.files.load(case_id)

    def check(self) -> list[str]:
        """What is wrong with the database and with the case files it refers to, in plain words."""
        with schema.plain_words(self.database):
            problems = [f"{self.database}: {text}" for text in schema.integrity(self.connection, "integrity_check")]
        for row in self.select("PRAGMA foreign_key_check"):
            problems.append(f"{self.database}: a row of {row['table']} refers to a row of {row['parent']} that is gone")
        (row,) = self.select("SELECT count(*) AS cases FROM cases")
        if row["cases"] != self.done:
            problems.append(f"{self.database}: expected cases 0 to {self.done - 1}; received cases={row['cases']}")
        for row in self.select("SELECT case_id FROM cases UNION SELECT case_id FROM trials"):
            if problem := self.files.problem(row["case_id"]):
                problems.append(problem + self._mend(row["case_id"]))
        return problems

    def _mend(self, case_id: str) -> str:
        """What was done about a bad case file; a reader does nothing."""
        return ""

    def _value(self, name: str) -> Any:
        rows = list(self.select("SELECT value FROM campaign WHERE name = ?", name))
        return json.loads(rows[0]["value"]) if rows else None


_FINDINGS = "SELECT case_index, part, place, case_id, finding FROM findings JOIN trials USING (case_index, part)"


def _found(row: sqlite3.Row) -> Found:
    finding = Finding.from_plain(json.loads(row["finding"]))
    return Found(row["case_index"], row["part"], row["case_id"], finding, row["place"])


def expect_campaign(folder: Path) -> None:
    if not (folder / DATABASE).is_file():
        raise InvalidCampaign(
            f"{folder}: expected the folder of a campaign, with {DATABASE} in it; received one without: "
            "`cometfuzz run --out DIR` begins a campaign"
        )


def _number(stored: Any) -> float | None:
    """A number as it was: SQLite has no NaN, which is therefore kept as a text."""
    return None if stored is None else float(stored)
