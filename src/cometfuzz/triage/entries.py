"""The entry of a collected bug: what can be told of it without people, and how its file is read and written."""

import datetime
import json
import re
from collections.abc import Sequence

import msgspec

from cometfuzz.errors import InvalidCollection
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.defect import TRIGGERS, Defect, Kind, Seen, Standing, Trigger
from cometfuzz.ledger.overlay import Found
from cometfuzz.ledger.reading import ENTRY
from cometfuzz.oracles.symptoms import about
from cometfuzz.places import Place
from cometfuzz.routes.libraries import KERAS
from cometfuzz.routes.registry import library_named
from cometfuzz.triage.blame import KERAS_BACKEND
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.recording import read_text
from cometfuzz.triage.signature import condition_of, layers_of

NOBODY_MENDS_IT = "Nobody maintains this library, or this part of it, any more."
NEEDS_UTILITY = "It needs one of our utility nodes."

_OF_INPUT = ("dtype", "rank", "inputs")
_VERIFIED = re.compile(r"^verified[ \t]*=.*\n", re.MULTILINE)
_TABLE = re.compile(r"^\[", re.MULTILINE)
_RULES = re.compile(r"^\[\[(?!seen\b|fixed\b|absent\b)", re.MULTILINE)


def first_entry(bug: Bug) -> Defect:
    """What can be told without people: whose it is, where it stands, what triggers it, and with what it was seen."""
    kind, standing, because = _standing(bug)
    library = library_of(bug)
    seen = {name: bug.versions[name] for name in (library, bug.finding.library) if name in bug.versions}
    return Defect(
        title=bug.title,
        why="",
        library=library,
        kind=kind,
        standing=standing,
        because=because,
        trigger=_triggers(bug),
        seen=(Seen({name: _plain(version) for name, version in seen.items()}, cpu_level()),) if seen else (),
        routes=bug.finding.camps[0].routes if bug.finding.camps else (),
    )


def library_of(bug: Bug) -> str:
    """The library that is blamed; a backend of Keras is Keras."""
    return KERAS.name if KERAS_BACKEND.fullmatch(bug.blame.role) else bug.blame.library


def _plain(version: str) -> str:
    """A version as the ledger has it: without what a build adds, and without the name that some put before it."""
    return version.split()[-1].partition("+")[0] if version.split() else ""


def _standing(bug: Bug) -> tuple[Kind, Standing, str]:
    if not library_named(bug.blame.library).maintained:
        return "bug", "not counted", NOBODY_MENDS_IT
    if bug.utility:
        return "bug", "not counted", NEEDS_UTILITY
    limit = not about(bug.signature.symptom).claims
    return ("limit", "not counted", "") if limit else ("bug", "counted", "")


def _triggers(bug: Bug) -> tuple[Trigger, ...]:
    graph = bug.minimal.graph
    names = {fact.name for fact in condition_of(graph, bug.data_kind)} - {"data"}
    taken: dict[Trigger, bool] = {
        "input": bug.data_kind == "empty" or any(name in _OF_INPUT for name in names),
        "parameter": any(name not in _OF_INPUT for name in names),
        "sequence": len(layers_of(graph)) > 1,
        "special value": bug.data_kind in ("special", "overflow"),
    }
    found = tuple(name for name in TRIGGERS if taken.get(name))
    return found or ("default",)


def read_entry(place: Place) -> Defect:
    """The entry in a folder, or InvalidCollection that names the file."""
    try:
        entry = msgspec.toml.decode(read_text(place, ENTRY), type=Defect)
    except (msgspec.DecodeError, RecursionError) as error:
        where = place.path(ENTRY)
        raise InvalidCollection(f"{where}: expected an entry; received one in which: {error}") from None
    return msgspec.structs.replace(entry, id=place.below[-1] if place.below else place.root.name)


def entry_text(entry: Defect) -> str:
    """A first entry as a file for people to go on with."""
    lines = [f"{name} = {_quoted(getattr(entry, name))}" for name in ("title", "why", "library", "kind", "standing")]
    lines += [f"because = {_quoted(entry.because)}"] if entry.because else []
    lines += [f"trigger = {_quoted(list(entry.trigger))}", f"routes = {_quoted(list(entry.routes))}"]
    for seen in entry.seen:
        lines += ["", *_measured(seen, "seen")]
    return "\n".join(lines) + "\n"


def _measured(seen: Seen, found: Found) -> list[str]:
    """The table of one measurement."""
    versions = ", ".join(f"{_name(name)} = {_quoted(version)}" for name, version in seen.versions.items())
    return [f"[[{found}]]", f"versions = {{ {versions} }}", f"cpu = {_quoted(seen.cpu)}"]


def _name(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else _quoted(name)


def _has(known: Sequence[Seen], seen: Seen) -> bool:
    """Whether there is a measurement with the same versions, on this kind of CPU or on any."""
    return any(each.versions == seen.versions and each.speaks_of(seen.cpu) for each in known)


def note(place: Place, results: Sequence[tuple[Seen, Found]]) -> int:
    """Write down measurements that an entry does not have yet, and say how many; the rest of the file stays."""
    entry = read_entry(place)
    fresh = [(seen, found) for seen, found in results if not _has(getattr(entry, found), seen)]
    text = read_text(place, ENTRY)
    rules = _RULES.search(text)
    head, tables = (text, "") if rules is None else (text[: rules.start()], text[rules.start() :])
    added = "\n\n".join("\n".join(_measured(*each)) for each in fresh)
    if fresh:
        place.write(ENTRY, (f"{head.rstrip()}\n\n{added}\n" + (f"\n{tables}" if tables else "")).encode())
    return len(fresh)


def _quoted(value: str | list[str]) -> str:
    """A text, or a list of them, as TOML has them: JSON has no other escapes; half a surrogate pair has no UTF-8."""
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return text.encode("utf-8", "backslashreplace").decode().replace("\\ud", "\\\\ud")


def stamp(place: Place, day: datetime.date) -> None:
    """Write down when a bug was verified; the rest of the file stays as people wrote it."""
    text = _VERIFIED.sub("", read_text(place, ENTRY))
    first = _TABLE.search(text)
    head, tables = (text, "") if first is None else (text[: first.start()], text[first.start() :])
    stamped = f"{head.rstrip()}\nverified = {day.isoformat()}\n" + (f"\n{tables}" if tables else "")
    place.write(ENTRY, stamped.encode())
