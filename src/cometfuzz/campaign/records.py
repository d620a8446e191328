"""Records: what the folder of a campaign says. Reports and exports read it here, also while the campaign runs.

Queries yield rows as they are read: they need little memory, whatever the size of the campaign.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from cometfuzz.campaign import schema
from cometfuzz.campaign.events import ByRoute
from cometfuzz.campaign.folder import DATABASE, CaseFiles
from cometfuzz.campaign.stored import (
    Count,
    FindingId,
    Found,
    Logged,
    Made,
    Point,
    Ran,
    RanOn,
    Seconds,
    SessionRow,
    Settled,
    as_stored,
    bug_of,
    campaign_values,
    first,
    found,
    id_of,
    logged,
    point,
    ran,
    ran_on,
    session,
    settled,
    sighted,
)
from cometfuzz.errors import InvalidCampaign
from cometfuzz.ir.case import Case
from cometfuzz.places import Place
from cometfuzz.triage.bug import Bug

MOST = 2**53
"""More cases than a campaign has."""


class Records:
    """A campaign to look at: nothing is changed, no lock is needed. `Store` is the one that writes."""

    writing = False

    def __init__(self, folder: Path) -> None:
        """Open the campaign in a folder, or say in plain words why not."""
        expect_campaign(folder)
        self.folder, self.files, self.database = folder, CaseFiles(folder), folder / DATABASE
        self.connection = schema.connect(self.database, self.writing)
        try:
            self._values()
        except InvalidCampaign:
            self.connection.close()
            raise

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

    def read(self, make: Callable[[sqlite3.Row], Made], sql: str, *values: Any) -> Iterator[Made]:
        """What `make` makes of each row of a query; a row that it cannot take is damaged."""
        for row in self.select(sql, *values):
            with as_stored(self.database):
                made = make(row)
            yield made

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the campaign was begun with."""
        return self._values()["settings"]  # type: ignore[no-any-return]

    @property
    def routes(self) -> list[str]:
        """The routes that it was begun with."""
        with as_stored(self.database):
            return list(self.settings["routes"])

    @property
    def made_by(self) -> str:
        """The version of cometfuzz that began the campaign."""
        return str(self._values()["cometfuzz"])

    @property
    def coverage(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        """The coverage after the last case, with total and reachable: the Summary of its event; empty before it."""
        return self._values()["coverage"]  # type: ignore[no-any-return]

    @property
    def by_route(self) -> ByRoute:
        """The same for each route: what had executed there at the last case."""
        return self._values()["by_route"]  # type: ignore[no-any-return]

    @property
    def operators(self) -> Mapping[str, Mapping[str, float]]:
        """How the ways of the strategy to make a case had done at the last case."""
        return self._values()["operators"]  # type: ignore[no-any-return]

    @property
    def nodes(self) -> Mapping[str, Mapping[str, Any]]:
        """The nodes that took part, by name, as they described themselves; empty if it has never run on a cluster."""
        return self._values()["nodes"]  # type: ignore[no-any-return]

    @property
    def done(self) -> int:
        """How many cases are done: their indices are 0 to done - 1."""
        done: int
        (done,) = self.read(first(Count), "SELECT coalesce(max(case_index) + 1, 0) FROM cases")
        return done

    @property
    def elapsed_s(self) -> float:
        """How long the campaign has run, over all its sessions, as far as its events say."""
        both = "SELECT elapsed_s FROM cases UNION ALL SELECT elapsed_s FROM sessions"
        elapsed_s: float
        (elapsed_s,) = self.read(first(Seconds), f"SELECT coalesce(max(elapsed_s), 0.0) FROM ({both})")
        return elapsed_s

    @property
    def never_started(self) -> list[str]:
        """The routes that had cases and were unavailable for all of them, by name."""
        never = "SELECT route FROM outcomes GROUP BY route HAVING min(status = 'unavailable') ORDER BY route"
        return list(self.read(first(str), never))

    def feedbacks(self) -> Iterator[Logged]:
        """In order of index, the log that replays the search."""
        sql = "SELECT case_index AS 'index', case_id, feedback FROM cases ORDER BY case_index"
        return self.read(logged, sql)

    def curve(self) -> Iterator[Point]:
        """Coverage over time, a point for each case."""
        return self.read(point, "SELECT case_index AS 'index', * FROM cases ORDER BY case_index")

    def outcomes(self, start: int = 0, end: int = MOST) -> Iterator[Ran]:
        """What each route did with each case, in order of index; of all of them, or of cases start to end - 1."""
        return self.read(
            ran,
            "SELECT case_index AS 'index', * FROM outcomes JOIN trials USING (case_index, part) "
            "JOIN versions USING (versions_id) WHERE case_index >= ? AND case_index < ? "
            "ORDER BY case_index, part, place",
            start,
            end,
        )

    def ran_on(self, start: int = 0, end: int = MOST) -> Iterator[RanOn]:
        """Where parts of cases ran that ran on a cluster, and what came out, in order of index; of all cases, or of
        cases start to end - 1."""
        return self.read(
            ran_on,
            "SELECT case_index AS 'index', part, node, digests FROM ran_on WHERE case_index >= ? AND case_index < ? "
            "ORDER BY 1, 2",
            start,
            end,
        )

    def parts(self, index: int) -> list[tuple[str, dict[str, str]]]:
        """What ran for a case, in order: the id of each part, and the status of each of its routes."""
        sql = (
            "SELECT part, case_id, route, status FROM trials JOIN outcomes USING (case_index, part) "
            "WHERE case_index = ? ORDER BY part, place"
        )
        parts: dict[tuple[int, str], dict[str, str]] = {}
        for part, case_id, route, status in self.read(
            lambda row: msgspec.convert(tuple(row), tuple[int, str, str, str]), sql, index
        ):
            parts.setdefault((part, case_id), {})[route] = status
        return [(case_id, statuses) for (_, case_id), statuses in parts.items()]

    def findings(self, start: int = 0, end: int = MOST) -> Iterator[Found]:
        """All findings, or those of cases start to end - 1, in order of index."""
        sql = f"{_FINDINGS} WHERE case_index >= ? AND case_index < ? ORDER BY case_index, part, place"
        return self.read(found, sql, start, end)

    def kinds(self) -> list[str]:
        """The rough keys of all findings that count."""
        return list(self.read(first(str), "SELECT DISTINCT key FROM findings WHERE counts ORDER BY key"))

    def waiting(self) -> list[FindingId]:
        """The findings that count and of which triage has made nothing yet, in order of index."""
        sql = (
            "SELECT case_index, part, place FROM findings LEFT JOIN triaged USING (case_index, part, place) "
            "WHERE counts AND bug_id IS NULL ORDER BY case_index, part, place"
        )
        return list(self.read(id_of, sql))

    def finding(self, name: FindingId) -> Found:
        with as_stored(self.database):
            (only,) = self.read(found, f"{_FINDINGS} WHERE case_index = ? AND part = ? AND place = ?", *name)
        return only

    def settled(self) -> Iterator[Settled]:
        """What triage made of findings, in order of index; those that are missing wait for it."""
        sql = "SELECT * FROM triaged ORDER BY case_index, part, place"
        return self.read(settled, sql)

    def bug_of_key(self) -> dict[str, str]:
        """The bug that the first triaged finding of each rough key turned out to be."""
        sql = (
            "SELECT key, bug_id FROM triaged JOIN findings USING (case_index, part, place) "
            "ORDER BY case_index DESC, part DESC, place DESC"
        )
        return dict(self.read(lambda row: msgspec.convert(tuple(row), tuple[str, str]), sql))

    def sightings(self) -> dict[str, int]:
        """How many findings each bug explains, by its id."""
        sql = (
            "SELECT bug_id, count(*), bug_id IN (SELECT bug_id FROM bugs) AS there FROM triaged "
            "GROUP BY bug_id ORDER BY bug_id"
        )
        return dict(self.read(sighted, sql))

    def bugs(self) -> Iterator[Bug]:
        """What triage has made of the findings, in order of id."""
        return self.read(bug_of, "SELECT bug_id, bug FROM bugs ORDER BY bug_id")

    def notices(self) -> Iterator[tuple[int, str]]:
        """What a person should know, each with the number of cases done at that time."""
        sql = "SELECT done, text FROM notices ORDER BY notice"
        return self.read(lambda row: msgspec.convert(tuple(row), tuple[int, str]), sql)

    def sessions(self) -> Iterator[SessionRow]:
        sql = "SELECT * FROM sessions ORDER BY session"
        return self.read(session, sql)

    def case(self, case_id: str) -> Case:
        """The case of an id; InvalidCase if its file is missing or damaged."""
        return self.files.load(case_id)

    def check(self) -> list[str]:
        """What is wrong with the database and with the case files it refers to, in plain words."""
        with schema.plain_words(self.database):
            problems = [f"{self.database}: {text}" for text in schema.integrity(self.connection, "integrity_check")]
        for row in self.select("PRAGMA foreign_key_check"):
            problems.append(f"{self.database}: a row of {row['table']} refers to a row of {row['parent']} that is gone")
        (cases,) = self.read(first(int), "SELECT count(*) FROM cases")
        if cases != self.done:
            problems.append(f"{self.database}: expected cases 0 to {self.done - 1}; received cases={cases}")
        for name in self.read(first(str), "SELECT case_id FROM cases UNION SELECT case_id FROM trials"):
            if problem := self.files.problem(name):
                problems.append(problem + self._mend(name))
        return problems

    def _mend(self, case_id: str) -> str:
        """What was done about a bad case file; a reader does nothing."""
        return ""

    def _values(self) -> dict[str, Any]:
        with as_stored(self.database):
            return campaign_values(self.select("SELECT name, value FROM campaign"))


_FINDINGS = (
    "SELECT case_index AS 'index', part, place, case_id, case_index, finding "
    "FROM findings JOIN trials USING (case_index, part)"
)


def expect_campaign(folder: Path) -> None:
    """Refuse a folder that has no campaign in it."""
    with schema.plain_words(folder):
        kind = Place(folder).kind(DATABASE) if folder.is_dir() else ""
    if kind != "a file":
        raise InvalidCampaign(
            f"{folder}: expected the folder of a campaign, with {DATABASE} in it; received "
            f"{f'one in which that is {kind}' if kind else 'one without'}: `cometfuzz run --out DIR` begins a campaign"
        )
