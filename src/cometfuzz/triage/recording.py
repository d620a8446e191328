"""The record of a collected bug: files that say all that is needed to recognise it and to run its script again.

Texts lose where things are installed on the machine that found it; the case that it was found with is not kept.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from cometfuzz.catalogue.files import decode
from cometfuzz.errors import InvalidCase, InvalidCollection
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import MAX_BYTES as MAX_CASE_BYTES
from cometfuzz.ir.codec import case_id, encode
from cometfuzz.oracles.finding import DataKind, Finding
from cometfuzz.places import Place
from cometfuzz.triage.bug import Blame, Bug, Script, Signature
from cometfuzz.triage.records import expect_camps

VERSION = 1
RECORD, CASE, SCRIPT, DRAFT = "bug.json", "case.json", "script.py", "issue.md"
MAX_BYTES = 4 * 2**20
KEPT = ("status", "against", "located", "reduction", "steps", "from_nodes", "to_nodes")
"""What is kept of a finding's evidence: the rest is what a library printed on the way."""

_MACHINE = re.compile(
    r"[^\s\"'(,\[]*/(?:site-packages|dist-packages)/|/[^\s\"'(,\[]*/cometfuzz/|(?<=\s)/[^\s\"'(,\[]*$"
)
"""Where libraries and we ourselves are installed; also the beginning of a place, where a message was cut off in it."""


class _Ran(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a script was run, and what it did."""

    environment: str
    exit_code: int | None
    output: str


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    id: str
    data_kind: DataKind
    signature: Signature
    finding: Finding
    blame: Blame
    runs: int
    shown: int
    utility: bool
    versions: dict[str, str]
    script: _Ran
    original_id: str
    minimal_id: str
    triage_s: float


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Around what looks into a collection: what the system refuses is one line for people."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise InvalidCollection(f"{where}: expected a collection; received {error.strerror}") from None


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Around what writes into a collection: what the system refuses is one line for people."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise InvalidCollection(f"{where}: expected a file that can be written; received {error.strerror}") from None


def write_bug(place: Place, bug: Bug) -> None:
    """Write a bug that is reported into a folder, which is made if need be."""
    if bug.script is None or not bug.script.shown:
        raise InvalidCollection(f"expected a bug whose script shows it; received bug={bug.id}")
    record = json.dumps(_as_plain(bug, bug.script), indent=2, ensure_ascii=False) + "\n"
    for name, text in ((SCRIPT, bug.script.text), (DRAFT, bug.draft), (RECORD, record)):
        place.write(name, text.encode("utf-8", "backslashreplace"))
    place.write(CASE, encode(bug.minimal) + b"\n")


def read_bug(place: Place, title: str) -> Bug:
    """The bug in a folder, checked, under the title of its entry; or InvalidCollection that names the file and what is
    wrong with it."""
    path = place.path(RECORD)
    try:
        record = msgspec.json.decode(read_text(place, RECORD), type=_Record)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidCollection(f"{path}: expected the record of a bug; received one in which: {error}") from None
    minimal = read_case(place)
    checks = (
        ("version", record.version, VERSION),
        ("id", record.id, record.signature.id),
        ("minimal_id", record.minimal_id, case_id(minimal)),
        ("symptom", record.finding.symptom, record.signature.symptom),
    )
    for name, received, expected in checks:
        if received != expected:
            raise InvalidCollection(f"{path}: expected {name} {expected}; received {name}={received}")
    try:
        expect_camps(record.finding)
    except ValueError as error:
        raise InvalidCollection(f"{path}: {error}") from None
    ran = record.script
    names = ("signature", "data_kind", "finding", "blame", "runs", "shown", "utility", "versions", "triage_s")
    return Bug(
        **{name: getattr(record, name) for name in names},
        title=title,
        original=minimal,
        original_id=record.original_id,
        minimal=minimal,
        minimal_id=record.minimal_id,
        script=Script(read_text(place, SCRIPT), ran.environment, True, ran.exit_code, ran.output),
        draft=read_text(place, DRAFT),
    )


def _as_plain(bug: Bug, script: Script) -> dict[str, Any]:
    evidence = {name: value for name, value in bug.finding.evidence.items() if name in KEPT}
    finding = _anywhere({**bug.finding.as_plain(), "evidence": evidence})
    ran = {"environment": script.environment, "exit_code": script.exit_code, "output": script.output}
    names = ("data_kind", "runs", "shown", "utility", "original_id", "minimal_id")
    return {
        "version": VERSION,
        "id": bug.id,
        **{name: getattr(bug, name) for name in names},
        "triage_s": round(bug.triage_s, 1),
        "signature": asdict(bug.signature),
        "finding": {**finding, "failure": _utf8(bug.finding.failure)},  # it is compared, hence left as it is
        "blame": _anywhere(asdict(bug.blame)),
        "versions": _anywhere(bug.versions),
        "script": _anywhere(ran),
    }


def _anywhere(value: Any) -> Any:
    """Plain JSON whose texts do not depend on the machine, and that UTF-8 can hold."""
    if isinstance(value, str):
        return _utf8(_MACHINE.sub("", value))
    if isinstance(value, Mapping):
        return {_anywhere(name): _anywhere(each) for name, each in value.items()}
    return [_anywhere(each) for each in value] if isinstance(value, list | tuple) else value


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read_case(place: Place) -> Case:
    """The minimal case of a bug."""
    try:
        return decode(read_text(place, CASE, MAX_CASE_BYTES).encode(), breaking=True)
    except InvalidCase as error:
        raise InvalidCase(f"{place.path(CASE)}: {error}") from None


def read_text(place: Place, name: str, limit: int = MAX_BYTES) -> str:
    """A file of a bug as text."""
    try:
        return place.read(name, limit).decode("utf-8")
    except OSError as error:
        raise InvalidCollection(f"{place.path(name)}: expected a file of a bug; received {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidCollection(f"{place.path(name)}: expected text in UTF-8; received other bytes") from None
