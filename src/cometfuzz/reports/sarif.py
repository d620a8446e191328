"""The report as SARIF 2.1.0, for code scanning: a result for each bug, a rule for each symptom.

A bug that makes a campaign fail is an error, a warning or a note, by its severity. A known one is suppressed, and one
that no script shows waits for review. A bug stands in a library and not in a file of the project, so its place is the
script that shows it, which the log holds as a whole; in the folder that the report's pages make it has the same name.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import cometfuzz
from cometfuzz.ledger.reading import defects
from cometfuzz.oracles.symptoms import Severity, about, in_order
from cometfuzz.reports.facts import Facts, fails, standing
from cometfuzz.reports.json_report import json_text
from cometfuzz.reports.text import is_link, visible
from cometfuzz.triage.bug import Bug

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "note"}
BASE = "REPORT"
"""What stands for the folder of the report's pages, below which the scripts are."""


def sarif_report(facts: Facts) -> str:
    """The log as JSON."""
    rules = in_order(bug.signature.symptom for bug in facts.bugs)
    scripts = [bug for bug in facts.bugs if bug.script is not None]
    places = {bug.id: index for index, bug in enumerate(scripts)}
    run = {
        "tool": {
            "driver": {
                "name": "cometfuzz",
                "version": cometfuzz.__version__,
                "rules": [_rule(symptom) for symptom in rules],
            }
        },
        "automationDetails": {"id": f"cometfuzz/{visible(facts.name)}"},
        "originalUriBaseIds": {BASE: {"description": {"text": "the folder that `cometfuzz report DIR` writes"}}},
        "artifacts": [_artifact(bug, bug.script.text) for bug in scripts if bug.script is not None],
        "results": [_result(bug, rules, places) for bug in facts.bugs],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(symptom: str) -> dict[str, Any]:
    record = about(symptom)
    return {
        "id": symptom,
        "shortDescription": {"text": f"A library {record.title}"},
        "fullDescription": {"text": record.text},
        "help": {"text": f"{record.text} The script below shows it without cometfuzz: run it in a clean environment."},
        "defaultConfiguration": {"level": LEVELS[record.severity]},
    }


def _artifact(bug: Bug, script: str) -> dict[str, Any]:
    return {
        "location": _script(bug),
        "contents": {"text": visible(script)},
        "sourceLanguage": "python",
        "mimeType": "text/x-python",
    }


def _result(bug: Bug, rules: Sequence[str], places: dict[str, int]) -> dict[str, Any]:
    signature, kind = bug.signature, standing(bug)
    place = {**_script(bug), **({"index": places[bug.id]} if bug.id in places else {})}
    judged = _judged(bug)
    links = [link for link in (bug.known, *_issues(bug)) if is_link(link)]
    return {
        "ruleId": signature.symptom,
        "ruleIndex": rules.index(signature.symptom),
        **judged,
        "message": {"text": visible(_message(bug))},
        "locations": [{"physicalLocation": {"artifactLocation": place, "region": {"startLine": 1}}}],
        "fingerprints": {"signature/v1": hashlib.sha256(signature.key.encode()).hexdigest()},
        "partialFingerprints": {"primaryLocationLineHash": f"{bug.id}:1"},
        **({"workItemUris": list(dict.fromkeys(links))} if links else {}),
        "properties": {
            "id": bug.id,
            "standing": kind,
            "severity": bug.severity,
            "library": visible(signature.library),
            "stage": visible(signature.stage),
            "layers": [visible(layer) for layer in signature.layers],
            "condition": visible(signature.condition),
            "data": bug.data_kind,
            "runs": bug.runs,
            "shown": bug.shown,
            "versions": {visible(name): visible(version) for name, version in bug.versions.items()},
            "documentation": _documentation(bug),
        },
    }


def _judged(bug: Bug) -> dict[str, Any]:
    """What a bug counts for: only results of the kind "fail" have a level."""
    failed = {"kind": "fail", "level": LEVELS[bug.severity]}
    if bug.known:
        why = visible(f"{standing(bug)}: {bug.known}")
        return {**failed, "suppressions": [{"kind": "external", "status": "accepted", "justification": why}]}
    return failed if fails(bug) else {"kind": "review", "level": "none"}


def _message(bug: Bug) -> str:
    text = f"{bug.title}. {bug.blame.reasoning.rstrip('.')}."
    if bug.script is not None and bug.script.output:
        text += f"\n\nIts script prints:\n{bug.script.output.rstrip()}"
    page = _documentation(bug)
    return text + (f"\n\nWhat is right: {page}" if page else "")


def _documentation(bug: Bug) -> str:
    """The page that says what is right, where the ledger names one."""
    entry = defects().get(bug.finding.defect)
    page = entry.documentation if entry is not None else ""
    return page if is_link(page) else ""


def _issues(bug: Bug) -> list[str]:
    entry = defects().get(bug.finding.defect)
    return [each.link for each in entry.upstream] if entry is not None else []


def _script(bug: Bug) -> dict[str, Any]:
    return {"uri": f"bugs/{bug.id}/script.py", "uriBaseId": BASE}
