"""Bugs as plain JSON and back: the form in which the store keeps them and programs read them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cometfuzz.catalogue.files import decode
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.oracles.finding import Finding
from cometfuzz.triage.bug import Blame, Bug, Script, Signature

CASES = ("original", "minimal")
_SAME = (
    *("title", "severity", "original_id", "minimal_id", "runs", "shown", "utility", "known", "limit", "draft"),
    "triage_s",
)
_LATER = {"limit": False}
"""Fields that older records do not have, and what they stand for there."""


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
    """The bug of a plain form; InvalidCase if one of its cases cannot be read."""
    signature = plain["signature"]
    script = plain["script"]
    return Bug(
        signature=Signature(**{**signature, "layers": tuple(signature["layers"])}),
        finding=Finding.from_plain(plain["finding"]),
        blame=Blame(**plain["blame"]),
        script=None if script is None else Script(**script),
        versions=dict(plain["versions"]),
        original=_case(plain["original"]),
        minimal=_case(plain["minimal"]),
        **{name: plain[name] for name in _SAME if name in plain or name not in _LATER},
    )


def _case(plain: Mapping[str, Any]) -> Case:
    return decode(json.dumps(plain).encode())
