"""What is known: bugs of collections, and patterns on signatures, of the ledger's entries or a user's own:

[[issue]]
link = "https://github.com/keras-team/keras/issues/1"   # or a note, or both
note = "mended in 3.99"
failure = "TypeError*"       # patterns as under [[signature]] in an entry of the ledger (`ledger/defect.py`)
limit = true                 # the library does not promise this: it is no bug, and is not counted
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import msgspec

from cometfuzz.config import MAX_BYTES, decode
from cometfuzz.errors import InvalidConfig
from cometfuzz.ledger.defect import Defect, Pattern
from cometfuzz.ledger.matching import View
from cometfuzz.ledger.reading import defects, shipped
from cometfuzz.reading import read_regular
from cometfuzz.triage.bug import Signature
from cometfuzz.triage.collection import DEFAULT, Collected, Collection, is_collection


class KnownIssue(Pattern, frozen=True, forbid_unknown_fields=True):
    """One issue: a link or a note, and patterns."""

    link: str = ""
    note: str = ""
    limit: bool = False

    def __post_init__(self) -> None:
        if not (self.link or self.note):
            raise ValueError("expected a link or a note; received neither")
        if all(getattr(self, name) == "*" for name in ("library", "stage", "symptom", "layers", "failure")):
            raise ValueError("expected a pattern for library, stage, symptom, layers or failure; received none")

    def matches(self, signature: Signature) -> bool:
        """Whether every pattern fits."""
        return self._fits(signature) and fnmatchcase(signature.condition, self.condition)

    def matches_already(self, signature: Signature) -> bool:
        """The same before all of the condition is known: only a pattern that asks for no more than is, leaves the rest
        open, and names the layers or the failure, can say so."""
        named = self.layers != "*" or self.failure != "*"
        return named and self.condition.startswith("*") and self.matches(signature)

    def _fits(self, signature: Signature) -> bool:
        pairs = (
            (signature.library, self.library),
            (signature.stage, self.stage),
            (signature.symptom, self.symptom),
            (" > ".join(signature.layers), self.layers),
            (signature.failure, self.failure),
        )
        return all(fnmatchcase(value, pattern) for value, pattern in pairs)

    @property
    def text(self) -> str:
        return ": ".join(part for part in (self.link, self.note) if part)

    def stands(self, view: View, routes: Sequence[str]) -> bool:
        """Whether it says something of these routes: a user's own pattern does, whatever their versions."""
        return True


class EntryIssue(KnownIssue, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An entry of the ledger, as its signature has it."""

    defect: Defect

    def stands(self, view: View, routes: Sequence[str]) -> bool:
        """An entry says something only of versions that it stands for."""
        return view.stands_among(self.defect, routes)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    issue: tuple[KnownIssue, ...] = ()


@dataclass(frozen=True)
class Known:
    """All that is known before a triage begins."""

    issues: tuple[KnownIssue, ...] = ()
    collected: tuple[Collected, ...] = ()

    def on(self, view: View, routes: Sequence[str]) -> "Known":
        """What of it can explain something that these routes show, with the versions that they have."""
        issues = tuple(each for each in self.issues if each.stands(view, routes))
        return Known(issues, tuple(each for each in self.collected if each.stands(view, routes)))


def gather_known(paths: Sequence[Path], configured: Sequence[str] | None = None) -> Known:
    """What TOML files and collections say, then what is shipped, wherever we work. Not configured: the collection bugs,
    if it is here."""
    default = [DEFAULT] if configured is None and is_collection(DEFAULT) else []
    every = list(dict.fromkeys([*paths, *map(Path, configured or ()), *default]))
    folders = [path for path in every if path.is_dir() and path.resolve() != shipped().resolve()]
    for folder in folders:
        if not is_collection(folder):
            raise InvalidConfig(f"{folder}: expected a collection, or a TOML file; received a folder without bugs")
    issues = load_known(*(path for path in every if not path.is_dir()))
    own = (entry for folder in folders for entry in Collection.read(folder).entries)
    return Known(issues, (*own, *shipped_bugs()))


def shipped_bugs() -> tuple[Collected, ...]:
    """The bugs of the ledger that comes with the package, with what this machine has learned of them."""
    return tuple(replace(entry, defect=defects()[entry.slug], shipped=True) for entry in _read_once(shipped()))


@cache
def _read_once(folder: Path) -> tuple[Collected, ...]:
    """The bugs of a collection that does not change while we run."""
    return tuple(Collection.read(folder).entries)


def load_known(*paths: Path) -> tuple[KnownIssue, ...]:
    """A user's own issues first, then ours."""
    found: list[KnownIssue] = []
    for path in paths:
        found += decode(read_regular(path, MAX_BYTES, InvalidConfig), str(path), _File).issue
    ours = [(pattern, defect) for defect in defects().values() for pattern in defect.signature]
    ours.sort(key=lambda each: -_letters(each[0]))  # what asks for more is the better name
    return (*found, *(issue_of(defect, pattern) for pattern, defect in ours))


def _letters(pattern: Pattern) -> int:
    """How much a pattern asks for."""
    return sum(len(getattr(pattern, name).replace("*", "")) for name in Pattern.__struct_fields__)


def issue_of(defect: Defect, pattern: Pattern) -> EntryIssue:
    """An entry of the ledger that is recognised by its signature."""
    patterns = {name: getattr(pattern, name) for name in Pattern.__struct_fields__}
    note = f"{defect.id}: {defect.title}"
    return EntryIssue(defect=defect, link=defect.link, note=note, limit=defect.kind != "bug", **patterns)


def known_as(issues: Sequence[KnownIssue], signature: Signature, *, early: bool = False) -> KnownIssue | None:
    """The first issue that fits a signature, if there is one; early: before the condition is known."""
    for issue in issues:
        if issue.matches_already(signature) if early else issue.matches(signature):
            return issue
    return None
