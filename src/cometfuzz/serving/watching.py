"""Watching: campaigns are read while they run, by one thread, and what the page needs of them is kept as bytes.

A campaign is told to a tally as the live screen's is, so both say the same. What is new is read a little at a time: the
numbers first, then the cases themselves for the curves of routes.
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cometfuzz.campaign.events import Started
from cometfuzz.campaign.folder import DATABASE
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.retelling import retold
from cometfuzz.campaign.stored import as_stored, from_json
from cometfuzz.coverage.layers import SIGMA
from cometfuzz.errors import CometfuzzError, InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.reports.facts import Facts, merged_of, rank
from cometfuzz.reports.summary import REASONS
from cometfuzz.reports.tally import LATEST, Tally
from cometfuzz.reports.text import clean, duration
from cometfuzz.seeds.small import lenet
from cometfuzz.serving import numbers
from cometfuzz.serving.curves import Curve, RouteCurves
from cometfuzz.triage.bug import Bug

LOOK_S = 0.5
"""How often a folder is looked at."""

CURVES_S = 4.0
"""How often the curves are told, at most."""

NUMBERS_AT_ONCE, CURVES_AT_ONCE = 1000, 40
"""Cases that are read in one go: what comes next must not wait."""

SILENT_S = 120.0
"""A campaign that has not ended is taken to run as long as something was written so lately."""

AGAIN_S = 5.0
"""After so long a campaign that could not be read is tried again."""

MOST_BUGS = 500
"""Bugs that the page lists; the report has them all."""

NOTHING = Case(lenet(), 0)
"""Stands for every model where only numbers are wanted: no file needs to be read."""


@dataclass
class Shown:
    """What the page is to know of one campaign: JSON, and a number that grows when it changes."""

    numbers: bytes = b"{}"
    curves: bytes = b"{}"
    numbers_version: int = 0
    curves_version: int = 0


class Watched:
    """One campaign. All but `shown`, `bugs` and `bare_facts` is for the watching thread alone."""

    def __init__(self, place: int, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.name = folder.resolve().name
        self.shown = Shown()
        self.bugs: Mapping[str, Bug] = {}
        self.made_by = ""
        self._records: Records | None = None
        self._said: numbers.Plain = {}
        self._begin()

    def _begin(self) -> None:
        self._tally, self._told = Tally(), 0
        self._settings: Mapping[str, Any] = {}
        self._bugs_seen: Any = None
        self._by_bug: Mapping[str, str] = {}
        self._listed: list[numbers.Plain] = []
        self._spaces: dict[str, Curve] = {}
        self._routes: RouteCurves | None = None
        self._data_version = -1
        self._problem, self._again_at = "", 0.0
        self._curves_at = 0.0

    def close(self) -> None:
        if self._records is not None:
            self._records.close()
            self._records = None

    def look(self) -> bool:
        """Read what is new, at most a little; whether there is more to read at once."""
        if self._problem and time.monotonic() < self._again_at:
            return False
        try:
            if self._records is None:
                self._begin()
                self._records = Records(self.folder)
                self._data_version = -1
            with as_stored(self._records.database):  # settings may be a stranger's
                return self._read(self._records)
        except (CometfuzzError, OSError) as error:
            self.close()
            self._problem, self._again_at = clean(str(error)), time.monotonic() + AGAIN_S
            self._say({**self._said, "name": clean(self.name), "problem": self._problem})
            return False

    def _read(self, records: Records) -> bool:
        ((version,),) = records.connection.execute("PRAGMA data_version").fetchall()
        changed = version != self._data_version
        self._data_version = version
        if changed and not self._told:
            self._start(records)
        done = records.done
        if changed or self._told < done:
            self._tell(records, done)
            self._look_at_bugs(records)
        counting = self._count_routes(records)
        self._say(self._plain(records, done))
        self._say_curves(counting)
        return self._told < done or counting

    def _start(self, records: Records) -> None:
        self.made_by, self._settings = records.made_by, {**records.settings, "seeds": ()}
        self._routes = RouteCurves([], _sigma(self._settings))
        self._tally = Tally()
        self._tally.handle(Started(self._settings, 0, {}))

    def _tell(self, records: Records, done: int) -> None:
        """The next cases, to the tally and to the curves of spaces."""
        until = min(done, self._told + NUMBERS_AT_ONCE)
        for event in retold(records, self._told, until, lambda case_id: NOTHING):
            self._tally.handle(event)
            for space, criteria in event.coverage.items():
                if reachable := sum(each["reachable"] for each in criteria.values()):
                    share = sum(each["covered"] for each in criteria.values()) / reachable
                    self._spaces.setdefault(space, Curve()).add(event.elapsed_s, share)
        self._told = until
        tally, latest = self._tally, list(records.sessions())
        bounds = latest[-1].settings if latest else {}
        tally.settings = {
            **self._settings,
            **{name: bounds.get(name) for name in ("cases", "minutes") if name in bounds},
        }
        tally.coverage, tally.by_route = records.coverage or tally.coverage, records.by_route
        tally.operators = records.operators
        tally.notices.clear()
        tally.notices.extend(text for _, text in records.notices())

    def _count_routes(self, records: Records) -> bool:
        """Some more cases for the curves of routes; whether there are more."""
        routes = self._routes
        if routes is None or self._told < records.done:
            return False

        @lru_cache(4)
        def case(case_id: str) -> Case | None:
            with suppress(InvalidCase):
                return records.case(case_id)
            return None

        until = min(self._told, routes.done + CURVES_AT_ONCE)
        for event in retold(records, routes.done, until, case):
            routes.take(event)
        routes.done = until
        return until < self._told

    def _look_at_bugs(self, records: Records) -> None:
        seen = records.sightings()
        heads = "SELECT bug_id, known, reported, title FROM bugs ORDER BY bug_id"
        now = [tuple(row) for row in records.select(heads)], seen
        if now == self._bugs_seen:
            return
        found = sorted(records.bugs(), key=rank)
        self.bugs = {bug.id: bug for bug in found}
        self._by_bug = records.bug_of_key()
        self._listed = [numbers.bug(bug, seen.get(bug.id, 0)) for bug in found[:MOST_BUGS]]
        self._bugs_seen = now

    def _plain(self, records: Records, done: int) -> numbers.Plain:
        tally, rows = self._tally, list(records.sessions())
        silent_s = self._silent_s()
        reason = rows[-1].reason if rows else None
        running = bool(rows) and reason is None and silent_s < SILENT_S
        if state := merged_of(self._settings):
            running = False
        elif not rows:
            state = "begun by nobody yet" if not done else "no session is recorded"
        elif running:
            state = "running"
        else:
            state = (
                f"not ended, silent for {duration(silent_s // 60 * 60)}"
                if reason is None
                else REASONS.get(reason, reason)
            )
        now_s = tally.elapsed_s + (min(silent_s, SILENT_S) if running else 0.0)
        sightings = [
            numbers.finding(each, bug if (bug := self._by_bug.get(each.finding.key, "")) in self.bugs else "")
            for each in reversed(tally.latest)
        ]
        return {
            "name": clean(self.name),
            "folder": clean(str(self.folder)),
            "state": clean(state),
            "running": running,
            "reading": [self._told, done] if self._told < done else None,
            "problem": "",
            **numbers.numbers(tally, now_s),
            "latest": sightings[:LATEST],
            "bugs": self._listed,
            "bug_count": len(self.bugs),
            "sessions": numbers.sessions(rows)[-50:],
            "nodes": _nodes(records),
            "versions": _versions(records),
        }

    def _silent_s(self) -> float:
        """How long nothing has been written."""
        newest = 0.0
        for ending in ("", "-wal"):
            with suppress(OSError):
                newest = max(newest, (self.folder / f"{DATABASE}{ending}").lstat().st_mtime)
        return max(0.0, time.time() - newest)

    def _say(self, plain: numbers.Plain) -> None:
        if plain != self._said:
            self._said = plain
            self.shown.numbers = _json({"place": self.place, **plain})
            self.shown.numbers_version += 1

    def _say_curves(self, counting: bool) -> None:
        if self._routes is None or (counting and time.monotonic() < self._curves_at):
            return
        spaces = {f"{name} space": curve.points for name, curve in self._spaces.items()}
        plain = {"place": self.place, "spaces": spaces, "routes": self._routes.points()}
        plain["counted"] = [self._routes.done, self._told]
        text = _json(plain)
        if text != self.shown.curves:
            self.shown.curves = text
            self.shown.curves_version += 1
            self._curves_at = time.monotonic() + CURVES_S

    def bare_facts(self) -> Facts:
        """As much of a report's facts as the page of a bug needs."""
        return Facts(self.name, self.made_by, {}, 0, 0, 0.0, "", {}, {}, (), (), (), {}, {})


class Watcher:
    """The thread that watches; a context manager."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.campaigns = [Watched(place, folder) for place, folder in enumerate(folders)]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self._thread.join()

    def stop(self) -> None:
        self._over.set()

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def _watch(self) -> None:
        try:
            while not self.over:
                more = [campaign.look() for campaign in self.campaigns if not self.over]
                self._over.wait(0.01 if any(more) else LOOK_S)
        finally:
            for campaign in self.campaigns:
                campaign.close()


def _sigma(settings: Mapping[str, Any]) -> int:
    sigma = settings.get("sigma")
    return sigma if isinstance(sigma, int) and 1 <= sigma <= 1000 else SIGMA


def _nodes(records: Records) -> list[numbers.Plain]:
    """The nodes of a cluster, if any are recorded, and what ran on each, if that is."""
    rows = list(records.select("SELECT value FROM campaign WHERE name = 'nodes'"))
    if not rows:
        return []
    counts: dict[str, int] = {}
    if list(records.select("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'ran_on'")):
        counted = records.select("SELECT node, count(*) AS parts FROM ran_on GROUP BY node")
        counts = {str(row["node"]): int(row["parts"]) for row in counted}
    return numbers.nodes(from_json(rows[0]["value"]), counts)


def _versions(records: Records) -> list[list[str]]:
    """The versions of the libraries that outcomes met."""
    found: dict[str, dict[str, None]] = {}
    for row in records.select("SELECT versions FROM versions ORDER BY versions_id"):
        versions = from_json(row["versions"])
        for library, version in versions.items() if isinstance(versions, dict) else ():
            found.setdefault(clean(str(library)), {})[clean(str(version))] = None
    return [[library, ", ".join(versions)] for library, versions in sorted(found.items())]


def _json(value: Any) -> bytes:
    """In ASCII and in one line, as events want it; what is no number in JSON is nothing."""
    return json.dumps(_finite(value), separators=(",", ":")).encode("ascii")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and value - value != 0 else value
