"""What changed between two versions of a library: which entries show with one of them and not with the other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cometfuzz.ledger.defect import Defect, Seen


@dataclass(frozen=True)
class Change:
    """A defect that shows with one version of a library and not with another, and what was measured of both."""

    defect: Defect
    shows: Seen
    gone: Seen


def mended(entries: Iterable[Defect], library: str, having: str, lacking: str) -> Iterator[Change]:
    """The defects that show with the version `having` of a library and not with `lacking`, as runs have told.

    Only like is held against like, since one backend of Keras may have a defect that another has not: the versions of
    other libraries must agree. A measurement that names fewer of them speaks of several backends at once; then none
    of these may show it with `lacking`.
    """
    for defect in entries:
        still = [each for each in defect.seen if each.versions.get(library) == lacking]
        gone = [each for each in defect.fixed if each.versions.get(library) == lacking]
        for shows in (each for each in defect.seen if each.versions.get(library) == having):
            if not any(_alike(library, shows, each) for each in still):
                yield from (Change(defect, shows, each) for each in gone if _alike(library, shows, each))


def _alike(library: str, one: Seen, two: Seen) -> bool:
    """Whether the other libraries of one measurement are among those of the other, in the same versions."""
    first, second = (each.versions.items() - {(library, each.versions[library])} for each in (one, two))
    return first <= second or second <= first


def versions_met(entries: Iterable[Defect], library: str) -> list[str]:
    """The versions of a library that something was looked for with."""
    return sorted({each.versions[library] for entry in entries for each in _all(entry) if library in each.versions})


def _all(defect: Defect) -> tuple[Seen, ...]:
    return (*defect.seen, *defect.fixed)
