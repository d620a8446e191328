"""A collection: unique bugs in a folder, each in a folder of its own under a name that says what it is.

script.py         the reproducer, as it was seen to show the bug in a clean process
issue.md          the issue draft, which `cometfuzz collect` writes from the entry; see `draft.py`
example.py        the few lines of the draft, which people write, if any; example.txt: what they print
case.json         the minimal case
bug.json          what was measured, by which the bug is recognised again; see `recording.py`
defect.toml       the ledger's entry, which people write; see `ledger/defect.py`
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from cometfuzz.errors import InvalidCollection
from cometfuzz.ir.case import PLAIN, Case, Manner
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import Graph
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.matching import View
from cometfuzz.ledger.reading import ENTRY
from cometfuzz.oracles.finding import Finding
from cometfuzz.places import Place
from cometfuzz.routes.registry import library_named
from cometfuzz.triage.blame import EVERYBODY, KERAS_BACKEND
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.entries import entry_text, first_entry, read_entry, stamp
from cometfuzz.triage.recording import RECORD, read_bug, reading, write_bug, writing
from cometfuzz.triage.signature import covers, kin, same_bug

DEFAULT = Path("bugs")
"""The collection that is used if it is there."""

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SHORT = {"tensorflow": "tf"}
LONGEST = 60


@dataclass(frozen=True)
class Collected:
    """One bug of a collection, and its entry. shipped: it is of the ledger that comes with the package."""

    folder: Path
    bug: Bug
    defect: Defect
    shipped: bool = False

    @staticmethod
    def read(place: Place) -> "Collected":
        """What is in the folder of a bug, checked."""
        defect = read_entry(place)
        return Collected(place.path(), read_bug(place, defect.title), defect)

    @property
    def slug(self) -> str:
        return self.folder.name

    @property
    def files(self) -> Place:
        """Where its files are."""
        return Place(self.folder.parent) / self.slug

    @property
    def place(self) -> str:
        """The name by which others speak of it: bugs/SLUG, wherever the package has them."""
        return f"{DEFAULT if self.shipped else self.folder.parent.name}/{self.slug}"

    def stands(self, view: View, routes: Sequence[str]) -> bool:
        """Whether it can be what these routes show: a shipped one for versions that it stands for, a user's own always,
        because nobody looks for it anew when a library changes."""
        return not self.shipped or view.stands_among(self.defect, routes)

    @property
    def status(self) -> str:
        """How it counts, in a word or two."""
        if self.defect.same_fix:
            return "same fix"
        return self.defect.standing if self.defect.kind == "bug" else self.defect.kind

    @property
    def known(self) -> str:
        """What a later campaign says of it."""
        return ": ".join(part for part in (self.place, self.defect.link) if part)

    @property
    def limit(self) -> bool:
        """Whether people say that it is none: the library does not promise this."""
        return self.defect.kind != "bug"

    @property
    def library(self) -> str:
        """Whose bug it is, by its proper name."""
        return library_named(self.defect.library).title

    @property
    def version(self) -> str:
        """The version of the library that it was found in, as far as it is known."""
        return self.bug.versions.get(self.defect.library, self.bug.versions.get(self.bug.blame.library, ""))


@dataclass(frozen=True)
class Collection:
    """The bugs of a folder, in order of their names. `add` and `renew` write, and give a new one."""

    folder: Path
    entries: tuple[Collected, ...] = ()

    @staticmethod
    def read(folder: Path) -> "Collection":
        """The collection in a folder, all of it checked; a folder that is not there is an empty one."""
        with reading(folder):
            found = _bugs_in(folder)
        entries = tuple(map(Collected.read, found))
        mended = {entry.slug: entry.defect.same_fix for entry in entries}
        for entry in entries:
            if not _SLUG.fullmatch(entry.slug):
                raise InvalidCollection(f"{entry.folder}: expected a name like keras-conv-value; received {entry.slug}")
            fix = entry.defect.same_fix
            if fix and mended.get(fix, fix):  # neither a stranger, nor itself, nor one that points on
                raise InvalidCollection(
                    f"{entry.folder / ENTRY}: expected a bug of the collection that has no same_fix itself; "
                    f"received same_fix={fix}"
                )
        return Collection(folder, entries)

    def has(self, bug: Bug) -> Collected | None:
        """The entry that a bug of a campaign is, if there is one."""
        return having(self.entries, bug)

    def add(self, bug: Bug) -> tuple["Collection", Collected]:
        """Put a bug into a folder of its own, as a whole or not at all."""
        slug = self.slug_for(bug)
        first = first_entry(bug)
        place, draft = Place(self.folder), f".{slug}.draft"
        with writing(place.path(draft)):
            write_bug(place / draft, bug)
            (place / draft).write(ENTRY, entry_text(first).encode())
            place.move(draft, place, slug)
        entry = Collected.read(place / slug)
        entries = sorted((*self.entries, entry), key=lambda each: each.slug)
        return Collection(self.folder, tuple(entries)), entry

    def record(self, name: str, bug: Bug) -> tuple["Collection", Collected]:
        """Give an entry that no triage has made what one has found of it; its name stays, and what people wrote."""
        place = Place(self.folder) / name
        with writing(place.path()):
            write_bug(place, bug)
        entry = Collected.read(place)
        entries = sorted((*self.entries, entry), key=lambda each: each.slug)
        return Collection(self.folder, tuple(entries)), entry

    def renew(self, entry: Collected, bug: Bug) -> "Collection":
        """Take script, draft, case and record of a bug anew; its name and its entry stay."""
        with writing(entry.folder):
            write_bug(entry.files, bug)
        renewed = Collected.read(entry.files)
        return Collection(self.folder, tuple(renewed if each.slug == entry.slug else each for each in self.entries))

    def stamped(self, entries: Sequence[Collected], day: datetime.date) -> "Collection":
        """Write down the day on which the scripts of these entries showed their bugs."""
        with writing(self.folder):
            for entry in entries:
                stamp(entry.files, day)
        return Collection.read(self.folder)

    def slug_for(self, bug: Bug) -> str:
        """A name for a bug that no entry has."""
        name = slug_of(bug)
        numbered = (f"{name}-{number}" for number in count(2))
        taken = set(Place(self.folder).names())
        return next(each for each in chain([name], numbered) if each not in taken)


def is_collection(folder: Path) -> bool:
    """Whether a folder has a bug in it, in the form of a collection."""
    with reading(folder):
        return folder.is_dir() and bool(_bugs_in(folder))


def _bugs_in(folder: Path) -> list[Place]:
    """The folders of bugs, in order of their names; a draft that a kill left is none. A link is no bug of this
    collection, and passing over it would hide what somebody meant to be one."""
    place, found = Place(folder), []
    for name in place.names():
        kind = "" if name.startswith(".") else place.kind(name)
        if kind == "a symbolic link":
            raise InvalidCollection(f"{place.path(name)}: expected folders of bugs and files; received a symbolic link")
        if kind == "a folder" and (place / name).kind(RECORD):
            found.append(place / name)
    return found


def having(entries: Sequence[Collected], bug: Bug) -> Collected | None:
    """The entry that a bug of a campaign is: the same signature, or one that covers its minimal case."""
    return twin(entries, bug) or covering(entries, bug.finding, bug.minimal.graph, bug.minimal.manner)


def twin(entries: Sequence[Collected], bug: Bug) -> Collected | None:
    """The entry with the signature of a bug, if there is one."""
    return next((entry for entry in entries if same_bug(entry.bug.signature, bug.signature)), None)


def covering(entries: Sequence[Collected], finding: Finding, graph: Graph, manner: Manner = PLAIN) -> Collected | None:
    """The entry that a finding is a duplicate of, if there is one. Runs nothing."""
    return next((entry for entry in entries if covers(entry.bug, finding, graph, manner)), None)


def recognised(entry: Collected, case: Case) -> Bug:
    """A collected bug as one of a campaign that found it again with a case."""
    return replace(marked(entry.bug, entry), original=case, original_id=case_id(case))


def marked(bug: Bug, entry: Collected) -> Bug:
    """A bug with what a collection says of it."""
    return replace(bug, known=entry.known, limit=entry.limit)


def slug_of(bug: Bug) -> str:
    """Who is blamed, the layers without their dimensions, what of the condition has a short name, the symptom."""
    backend = KERAS_BACKEND.fullmatch(bug.blame.role)
    library = "all" if bug.blame.library == EVERYBODY else bug.blame.library
    who = f"keras-{_SHORT.get(backend[1], backend[1])}" if backend else library
    layers = list(dict.fromkeys(name.replace("#D", "") for name in kin(bug.signature.layers)))
    if len(layers) > 3:
        layers = [layers[0], "to", layers[-1]]
    conditions = _short(bug.signature.condition)[:2]
    words = [_word(part) for part in (who, *layers, *conditions)]
    head = "-".join(word for word in words if word)[: LONGEST - len(bug.signature.symptom)]
    return f"{head.strip('-')}-{bug.signature.symptom}"


def _short(condition: str) -> list[str]:
    """The parts of a condition in a word or two, those that say most first: same, use_bias-false, rank5, units."""
    named, bare = [], []
    for part in condition.split(", "):
        name, given, value = part.partition("=")
        if given:
            quoted = re.fullmatch(r"'(\w+)'", value)
            named.append(quoted[1] if quoted else f"{name}-{value}")
        else:
            bare.append(name.replace("rank ", "rank").removesuffix(" data"))
    return [*named, *bare]


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
