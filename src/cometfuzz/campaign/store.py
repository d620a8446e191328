"""The store: a handler of events that keeps a campaign in a folder, so that a kill at any instant loses nothing.

A case is one transaction, and its files are written before it: what is committed is complete, and what is not has left
at most files that nobody refers to.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cometfuzz
from cometfuzz.campaign import schema
from cometfuzz.campaign.events import (
    ByRoute,
    CaseDone,
    Ended,
    Event,
    Executed,
    Notice,
    RouteResult,
    Started,
    Summary,
)
from cometfuzz.campaign.folder import DATABASE, CaseFiles, Lock
from cometfuzz.campaign.records import Records, expect_campaign
from cometfuzz.campaign.stored import COUNTS, Settled
from cometfuzz.errors import InvalidCampaign
from cometfuzz.oracles.finding import Finding
from cometfuzz.places import Place
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.records import bug_as_plain


class Store(Records):
    """The one process that writes to a campaign; made by `create` or `open`.

    To go on with a campaign: open it, show what `check` finds, and let `replay.replay` bring the strategy to where it
    was. A query is to be read to its end before the next event is handled.
    """

    writing = True

    def __init__(self, folder: Path, lock: Lock) -> None:
        self._lock = lock
        self._session: int | None = None
        self._next: int | None = None
        """The index of the next case, once one was kept."""
        super().__init__(folder)

    @staticmethod
    def create(folder: Path, settings: Mapping[str, Any]) -> "Store":
        """Begin a campaign in a folder that has none; settings are plain JSON."""
        with schema.plain_words(folder):
            folder.mkdir(parents=True, exist_ok=True)
            lock = Lock(folder)
        try:
            if Place(folder).kind(DATABASE):
                raise InvalidCampaign(
                    f"{folder}: expected a folder without a campaign; received one that has one: go on with "
                    f"`cometfuzz resume {folder}`, or name another folder"
                )
            with schema.plain_words(folder):
                CaseFiles(folder).expect_folders()
            schema.create(folder / DATABASE, {"cometfuzz": _json(cometfuzz.__version__), "settings": _json(settings)})
            return Store(folder, lock)
        except InvalidCampaign:
            lock.release()
            raise

    @staticmethod
    def open(folder: Path) -> "Store":
        """Go on with a campaign."""
        expect_campaign(folder)
        with schema.plain_words(folder):
            CaseFiles(folder).expect_folders()
            lock = Lock(folder)
        try:
            return Store(folder, lock)
        except InvalidCampaign:
            lock.release()
            raise

    def close(self) -> None:
        super().close()
        self._lock.release()

    def handle(self, event: Event) -> None:
        """Keep an event. When this returns it survives kill -9; when it raises, the database has nothing of it."""
        with schema.plain_words(self.database):
            if isinstance(event, CaseDone):
                self._save_files(event)
            with self.connection:
                match event:
                    case CaseDone():
                        self._insert_case(event)
                    case Notice():
                        self._insert("notices", None, self.done, _text(event.text))
                    case Started():
                        begun = (cometfuzz.__version__, _json(event.settings), event.done)
                        self._session = self._insert("sessions", None, *begun, *[None] * 5)
                        self._keep_nodes(event.settings.get("nodes", {}))
                    case Ended():
                        self._end(event)
            if isinstance(event, CaseDone):
                self._next = event.index + 1

    def keep(self, bug: Bug) -> None:
        """Keep a bug, in place of what was known of it before."""
        signature = bug.signature
        named = (signature.symptom, _text(signature.library), _text(signature.stage))
        head = (bug.id, _text(signature.key), _text(bug.title), bug.data_kind, *named)
        with schema.plain_words(self.database), self.connection:
            self.connection.execute("DELETE FROM bugs WHERE bug_id = ?", (bug.id,))
            self._insert("bugs", *head, bug.reported, _text(bug.known), _json(bug_as_plain(bug)))

    def settle(self, settled: Settled) -> None:
        """Keep what triage made of a finding."""
        row = (*settled.finding, settled.bug_id, settled.first, _text(settled.reason), settled.seconds)
        with schema.plain_words(self.database), self.connection:
            self._insert("triaged", *row)

    def append(self, index: int, parts: Sequence[Executed], executed: bool) -> None:
        """Keep more of what ran for a case that is there; the numbers of the parts must be new."""
        with schema.plain_words(self.database):
            for part in parts:
                self.files.save(part.case)
            with self.connection:
                for part in parts:
                    self._insert_part(index, part)
                if executed:
                    (logged,) = self.select("SELECT feedback FROM cases WHERE case_index = ?", index)
                    feedback = _json({**json.loads(logged["feedback"]), "executed": True})
                    self.connection.execute("UPDATE cases SET feedback = ? WHERE case_index = ?", (feedback, index))

    def conclude(self, coverage: Summary, by_route: ByRoute, nodes: Mapping[str, Any]) -> None:
        """Keep what is covered in the end, and where all ran, where the last event of a case does not say it."""
        with schema.plain_words(self.database), self.connection:
            self._keep_value("coverage", coverage)
            self._keep_value("by_route", by_route)
            self._keep_nodes(nodes)

    def reach(self, branches: Mapping[str, int]) -> None:
        """Keep how many branches were reached by the end of the last case, where its event does not say it."""
        with schema.plain_words(self.database), self.connection:
            text = _json(branches)
            self.connection.execute("UPDATE cases SET branches = ? WHERE case_index = ?", (text, self.done - 1))

    def _save_files(self, event: CaseDone) -> None:
        cases = {event.case_id: event.case, **{part.case_id: part.case for part in event.parts}}
        for case_id, case in cases.items():
            if (saved := self.files.save(case)) != case_id:
                raise ValueError(f"expected the id of the case, {saved}; received case_id={case_id}")

    def _insert_case(self, event: CaseDone) -> None:
        done = self.done if self._next is None else self._next
        if event.index != done:
            raise ValueError(f"expected case {done}, in order of index; received index={event.index}")
        counts = [event.coverage.get(space, {}).get(criterion, {}).get("covered") for space, criterion in COUNTS]
        branches = None if event.branches is None else _json(event.branches)
        described = (event.case_id, event.operator, event.nodes, _json(event.feedback), _json(event.gained))
        self._insert("cases", event.index, *described, event.elapsed_s, *counts, branches)
        for name, value in (
            ("coverage", event.coverage),
            ("by_route", event.by_route),
            ("operators", event.operators),
        ):
            self._keep_value(name, value)
        self._keep_nodes(event.cluster)
        for part in event.parts:
            self._insert_part(event.index, part)

    def _keep_value(self, name: str, value: Mapping[str, Any]) -> None:
        """Keep the newest of what is kept once; an event that says nothing of it leaves it as it is."""
        if value:
            self.connection.execute("INSERT OR REPLACE INTO campaign VALUES (?, ?)", (name, _json(value)))

    def _keep_nodes(self, nodes: Mapping[str, Any]) -> None:
        """Nodes that are gone stay known: what ran there is told by their name."""
        if nodes:
            self._keep_value("nodes", {**self.nodes, **nodes})

    def _insert_part(self, index: int, part: Executed) -> None:
        self._insert("trials", index, part.part, part.case_id, _number(part.d_mad))
        if part.node:
            self._insert("ran_on", index, part.part, _text(part.node), _json(part.digests))
        for place, result in enumerate(part.results):
            self._insert("outcomes", index, part.part, place, *self._outcome(result))
        for place, finding in enumerate(part.findings):
            self._insert("findings", index, part.part, place, *_finding(finding))

    def _outcome(self, result: RouteResult) -> Sequence[Any]:
        versions = json.dumps(dict(result.versions), sort_keys=True)
        self.connection.execute("INSERT OR IGNORE INTO versions VALUES (NULL, ?)", (versions,))
        (row,) = self.select("SELECT versions_id FROM versions WHERE versions = ?", versions)
        where = (result.route, result.status, result.stage, result.library, result.wall_s, result.cpu_s)
        failure = None if result.failure is None else _json(result.failure)
        times = [[*time[:2], *(round(seconds, 4) for seconds in time[2:4]), time[4]] for time in result.times]
        more = (row["versions_id"], _number(result.mean_magnitude), _json(times))
        return (*where, _text(result.detail), failure, *more)

    def _end(self, event: Ended) -> None:
        if self._session is None:
            raise ValueError("expected Started before Ended; received Ended alone")
        self._keep_value("by_route", event.by_route)
        self.connection.execute(
            "UPDATE sessions SET reason = ?, done = ?, elapsed_s = ?, own_cpu_s = ?, library_cpu_s = ? "
            "WHERE session = ?",
            (event.reason, event.done, event.elapsed_s, event.own_cpu_s, event.library_cpu_s, self._session),
        )

    def _insert(self, table: str, *row: Any) -> int | None:
        marks = ", ".join("?" * len(row))
        return self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row).lastrowid

    def _mend(self, case_id: str) -> str:
        """A bad case file is moved out of the way; the rest is used."""
        return "; set aside" if self.files.set_aside(case_id) else ""


def _finding(finding: Finding) -> Sequence[Any]:
    named = (finding.oracle, finding.symptom, finding.data_kind, finding.library, finding.stage, finding.layer)
    return (*named, _text(finding.key), finding.counts, _json(finding.as_plain()))


def _json(value: Any) -> str:
    """JSON in ASCII, so that nothing a library says can be refused; NaN and Infinity stay, as Python writes them."""
    return json.dumps(value, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """Mappings that are no dict."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"expected plain JSON; received {type(value).__name__}")


def _text(text: str) -> str:
    """Text that SQLite takes: half a surrogate pair, which a library may well print, has no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _number(value: float | None) -> float | str | None:
    """SQLite has no NaN, and would keep a number of NumPy's as bytes."""
    if value is None:
        return None
    return "nan" if math.isnan(value) else float(value)
