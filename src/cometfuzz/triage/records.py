"""Bugs as plain JSON and back: the form in which the store keeps them and programs read them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from cometfuzz.catalogue.files import decode
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.oracles.finding import DataKind, Finding
from cometfuzz.triage.bug import Blame, Bug, Script, Signature

CASES = ("original", "minimal")
_SAME = (
    *("title", "data_kind", "original_id", "minimal_id", "runs", "shown", "utility", "known", "limit", "draft"),
    "triage_s",
)


class _Plain(msgspec.Struct, frozen=True):
    """What is stored of a bug. `limit` is missing in older records."""

    signature: Signature
    title: str
    data_kind: DataKind
    finding: Finding
    blame: Blame
    original: dict[str, Any]
    original_id: str
    minimal: dict[str, Any]
    minimal_id: str
    runs: int
    shown: int
    utility: bool
    known: str
    script: Script | None
    draft: str
    versions: dict[str, str]
    triage_s: float
    limit: bool = False

    def __post_init__(self) -> None:
        expect_camps(self.finding)


def expect_camps(finding: Finding) -> None:
    """ValueError if a finding that was read names no route that fails."""
    if not (finding.camps and finding.camps[0].routes):
        raise ValueError("expected camps of routes in the finding; received none")


def bug_as_plain(bug: Bug) -> dict[str, Any]:
    """The form in JSON: `id` and `key` are there for readers, cases are as in their files."""
    return {
        "id": bug.id,
        "key": bug.signature.key,
        "signature": asdict(bug.signature),
        **{name: getattr(bug, name) for name in _SAME},
        "versions": dict(bug.versions),
        "finding": bug.finding.as_plain(),
        "blame": asdict(bug.blame),
        "script": None if bug.script is None else asdict(bug.script),
        **{name: json.loads(encode(getattr(bug, name))) for name in CASES},
    }


def bug_from_plain(plain: Mapping[str, Any]) -> Bug:
    """The bug of a plain form; InvalidCase if one of its cases cannot be read, ValueError if anything else cannot."""
    record = msgspec.convert(plain, _Plain)
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    return Bug(**{**fields, **{name: _case(fields[name]) for name in CASES}})


def _case(plain: Mapping[str, Any]) -> Case:
    return decode(json.dumps(plain).encode(), breaking=True)
