"""Entries of the ledger that no triage has made, hence without a record: what a draft needs, from the entry."""

from collections.abc import Iterator
from pathlib import Path

from cometfuzz.errors import InvalidCollection
from cometfuzz.ir.codec import case_id
from cometfuzz.ledger.defect import Applies, Defect
from cometfuzz.ledger.defect import Symptom as Shows
from cometfuzz.ledger.reading import ENTRY
from cometfuzz.oracles.finding import Camp, Finding, Symptom
from cometfuzz.places import Place
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.bug import Blame, Bug, Script, Signature
from cometfuzz.triage.collection import Collected
from cometfuzz.triage.entries import read_entry
from cometfuzz.triage.example import EXAMPLE
from cometfuzz.triage.recording import CASE, RECORD, SCRIPT, read_case, read_text
from cometfuzz.triage.signature import layers_of

SYMPTOMS: dict[Shows, Symptom] = {
    "exception": "crash",
    "death": "death",
    "value": "value",
    "shape": "shape",
    "result": "value",
    "any": "crash",
}
"""What an oracle would call it."""


def unrecorded(folder: Path) -> Iterator[Collected]:
    """The entries of a folder that have no record, but what a draft needs."""
    for name in Place(folder).names():
        if is_unrecorded(folder, name) and not lacking(folder, name):
            yield as_collected(folder, name)


def is_unrecorded(folder: Path, name: str) -> bool:
    """Whether that is an entry without a record."""
    outside = "/" in name or name.startswith(".") or Place(folder).kind(name) != "a folder"
    return not outside and bool((Place(folder) / name).kind(ENTRY)) and not (Place(folder) / name).kind(RECORD)


def lacking(folder: Path, name: str) -> str:
    """What keeps an entry from having a draft, in a few words; nothing if it can have one."""
    place = Place(folder) / name
    if not place.kind(CASE):
        return CASE
    return "" if place.kind(SCRIPT) or place.kind(EXAMPLE) else f"{SCRIPT} or {EXAMPLE}"


def as_collected(folder: Path, name: str) -> Collected:
    """An entry as if it had a record; InvalidCollection if there is nothing that a draft could show."""
    missing = lacking(folder, name)
    if missing:
        raise InvalidCollection(f"{folder / name}: expected {missing}, else a draft has nothing to show; received none")
    place = Place(folder) / name
    defect = read_entry(place)
    return Collected(place.path(), _bug(place, defect), defect)


def _bug(place: Place, defect: Defect) -> Bug:
    case, shows = read_case(place), defect.applies[0] if defect.applies else Applies(defect.routes)
    routes = [name for name, route in ROUTES.items() if route.names & {*shows.routes}]
    symptom, library = SYMPTOMS[shows.symptom], defect.library
    environment = ROUTES[routes[0]].steps[-1].group.environment if routes else "main"
    text = read_text(place, SCRIPT) if place.kind(SCRIPT) else ""
    return Bug(
        Signature(library, "", symptom, layers_of(case.graph)),
        defect.title,
        "ordinary",
        Finding("ledger", symptom, "ordinary", (Camp(tuple(routes), shows.note),), "", library, shows.note),
        Blame(library, "", library, "As the entry says.", 1.0),
        original=case,
        original_id=case_id(case),
        minimal=case,
        minimal_id=case_id(case),
        runs=0,
        shown=0,
        script=Script(text, environment, False, None, ""),
    )
