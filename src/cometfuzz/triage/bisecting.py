"""Bisecting: the release of a library in which a bug appeared, or went away, by running its script with each.

As git bisect does it: a release that cannot tell (it does not install, is not imported, or fails otherwise) is skipped.
From the release at hand it looks for one that does otherwise at growing distances, in both directions, then halves.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import msgspec

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution.overlays import Overlays
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.defect import Seen
from cometfuzz.ledger.overlay import Found
from cometfuzz.places import Place
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.reproducer import shows
from cometfuzz.triage.running import Ran, run_script

Result = Literal["shows", "does not show", "cannot tell"]
MAX_BYTES = 16 * 2**20
KEPT = 1000
"""Signs that are kept of what a script printed."""


class Try(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of one release; reason: why it cannot tell. output: the end of what the script printed."""

    release: str
    result: Result
    exit_code: int | None = None
    reason: str = ""
    output: str = ""
    seconds: float = 0.0


class Tries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of the releases of a package for one script on one kind of CPU."""

    script: str
    cpu: str
    tries: dict[str, Try] = {}


@dataclass(frozen=True)
class Flip:
    """Where it changes: the last release of one kind and the first of the other. between: those that cannot tell, or
    were not tried before the end of the tries."""

    before: Try
    after: Try
    between: tuple[str, ...] = ()

    @property
    def appeared(self) -> bool:
        """Whether the bug is there from here on; else it is gone."""
        return self.after.result == "shows"


@dataclass(frozen=True)
class Bisected:
    """What a search came to. ends: the oldest and the newest release that could tell. exhausted: there were more
    releases to try than was allowed."""

    flips: tuple[Flip, ...]
    tries: tuple[Try, ...]
    ends: tuple[Try, Try] | None
    exhausted: bool = False


class _Enough(Exception):
    """No more tries are allowed."""


@dataclass
class Search:
    """The releases of a package, the oldest first, and what is known of them. `attempt` tries one; at most `most` new
    ones are tried."""

    releases: Sequence[str]
    attempt: Callable[[str], Try]
    most: int
    known: dict[str, Try] = field(default_factory=dict)
    asked: dict[int, Try] = field(default_factory=dict)
    made: int = 0

    def at(self, place: int) -> Try:
        """What came of a release: now, or when it was tried before."""
        name = self.releases[place]
        if place not in self.asked:
            if name not in self.known:
                if self.made >= self.most:
                    raise _Enough
                self.made += 1
                self.known[name] = self.attempt(name)
            self.asked[place] = self.known[name]
        return self.asked[place]

    def tells(self, place: int) -> bool:
        return self.at(place).result != "cannot tell"

    def run(self, low: int, high: int, start: int, first: Sequence[int] = ()) -> Bisected:
        """Look between two releases for where it changes, from one in between; `first`: ends to be tried at once."""
        flips: list[Flip] = []
        exhausted = False
        try:
            here = self._nearest(start, low, high)
            for end in (low, high) if here is not None else ():
                assert here is not None
                bounds = self._otherwise(here, end, end in first)
                if bounds is not None:
                    flips.append(self._narrow(*bounds))
        except _Enough:
            exhausted = True
            flips += self._as_far_as(low, high, {flip.after.release for flip in flips})
        telling = [self.asked[place] for place in sorted(self.asked) if self.asked[place].result != "cannot tell"]
        return Bisected(
            flips=tuple(sorted(flips, key=lambda flip: self.releases.index(flip.before.release))),
            tries=tuple(self.asked[place] for place in sorted(self.asked)),
            ends=(telling[0], telling[-1]) if telling else None,
            exhausted=exhausted or any(self._untried(flip) for flip in flips),
        )

    def _nearest(self, start: int, low: int, high: int) -> int | None:
        """The release nearest to one that can tell, older ones first."""
        for place in sorted(range(low, high + 1), key=lambda place: (abs(place - start), place)):
            if self.tells(place):
                return place
        return None

    def _otherwise(self, here: int, end: int, at_once: bool) -> tuple[int, int] | None:
        """The last release on the way to an end that does as this one does, and the first found that does otherwise."""
        if at_once and self.tells(end):
            return (here, end) if self.at(end).result != self.at(here).result else None
        way, last, distance, place = -1 if end < here else 1, here, 1, here
        while place != end:
            place = here + way * min(distance, abs(end - here))
            if self.tells(place):
                if self.at(place).result != self.at(here).result:
                    return last, place
                last = place
            distance *= 2
        return None

    def _narrow(self, one: int, two: int) -> Flip:
        """Halve until nothing that can tell is in between."""
        low, high = min(one, two), max(one, two)
        try:
            while inner := [place for place in range(low + 1, high) if place not in self.asked or self.tells(place)]:
                place = min(inner, key=lambda each: (abs(2 * each - low - high), each))
                if self.tells(place):
                    same = self.at(place).result == self.at(low).result
                    low, high = (place, high) if same else (low, place)
        except _Enough:
            pass
        return Flip(self.at(low), self.at(high), tuple(self.releases[low + 1 : high]))

    def _untried(self, flip: Flip) -> bool:
        return any(name not in self.known for name in flip.between)

    def _as_far_as(self, low: int, high: int, told: set[str]) -> list[Flip]:
        """Where it changes among the releases that were tried."""
        telling = [place for place in sorted(self.asked) if self.asked[place].result != "cannot tell"]
        pairs = pairwise(telling)
        found = [
            Flip(self.asked[one], self.asked[two], tuple(self.releases[one + 1 : two]))
            for one, two in pairs
            if low <= one and two <= high and self.asked[one].result != self.asked[two].result
        ]
        return [flip for flip in found if flip.after.release not in told]


def measured(
    tries: Sequence[Try], versions: Mapping[str, str], library: str, foreign: bool
) -> list[tuple[Seen, Found]]:
    """What the ledger learns of releases that could tell; `versions`: those of the other libraries of the entry.

    foreign: it was only ever seen on other kinds of CPU, so that not to show here says nothing of a release.
    """
    gone: Found = "absent" if foreign else "fixed"
    return [
        (Seen({**versions, library: each.release}, cpu_level()), "seen" if each.result == "shows" else gone)
        for each in tries
        if each.result != "cannot tell"
    ]


def result_of(bug: Bug, ran: Ran, package: str, release: str) -> Try:
    """What a script that has run says of a release: shown, right, or nothing.

    It must have met that release, as far as it says which one it met.
    """
    met = dict(_versions(ran.printed)).get(package, release)
    kept = ran.output[-KEPT:]
    if met != release:
        return Try(release, "cannot tell", ran.exit_code, f"the script met {package} {met}", kept)
    if shows(bug, ran):
        return Try(release, "shows", ran.exit_code, output=kept)
    if ran.exit_code == 0:
        return Try(release, "does not show", ran.exit_code, output=kept)
    return Try(release, "cannot tell", ran.exit_code, _reason(ran)[:200], kept)


def _reason(ran: Ran) -> str:
    """Why a script says nothing of a release: what it misses, what it saw instead, or how it ended."""
    printed, errors = ([line for line in text.splitlines() if line.strip()] for text in (ran.printed, ran.errors))
    said = [line for line in printed if line.startswith(("missing:", "seen:"))]
    return [ran.note, *printed[-1:], *errors[-1:], *said[-1:]][-1]


def _versions(printed: str) -> list[tuple[str, str]]:
    """The versions that a script says it met."""
    line = next((line for line in printed.splitlines() if line.startswith("versions:")), "")
    words = line.removeprefix("versions:").split()
    return list(pairwise(words))


@dataclass
class Trying:
    """Tries releases with the script of a bug, and keeps what came of each at once: nothing is tried twice."""

    name: str
    bug: Bug
    overlays: Overlays
    kept: Tries = field(init=False)

    def __post_init__(self) -> None:
        assert self.bug.script is not None
        fresh = Tries(hashlib.sha256(self.bug.script.text.encode()).hexdigest()[:16], cpu_level())
        self.kept = fresh
        try:
            read = msgspec.json.decode(self._place.read(self._file, MAX_BYTES), type=Tries)
        except (OSError, msgspec.DecodeError):
            return
        if (read.script, read.cpu) == (fresh.script, fresh.cpu):
            self.kept = read

    @property
    def _place(self) -> Place:
        return Place(self.overlays.root)

    @property
    def _file(self) -> str:
        return f"tries-{self.name}-{self.overlays.package}.json"

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return self._place.path(self._file)

    @property
    def known(self) -> Mapping[str, Try]:
        return self.kept.tries

    def attempt(self, release: str) -> Try:
        """Run the script with a release."""
        assert self.bug.script is not None
        began = time.monotonic()
        try:
            folder = self.overlays.folder(release)
        except EnvironmentFailure as error:
            found = Try(release, "cannot tell", reason=str(error)[:300])
        else:
            ran = run_script(self.bug.script.text, self.overlays.environment.python, overlay=folder)
            found = result_of(self.bug, ran, self.overlays.package, release)
        found = msgspec.structs.replace(found, seconds=round(time.monotonic() - began, 1))
        self.kept = msgspec.structs.replace(self.kept, tries={**self.kept.tries, release: found})
        self.overlays.root.mkdir(parents=True, exist_ok=True)
        self._place.write(self._file, msgspec.json.format(msgspec.json.encode(self.kept), indent=1))
        return found
