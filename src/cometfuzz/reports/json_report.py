"""The report as one JSON object; docs/reports.md explains it."""

import json
from typing import Any

import cometfuzz
from cometfuzz.ledger.defect import Defect
from cometfuzz.reports.facts import Facts, NotCounted, standing
from cometfuzz.reports.json_lines import strict
from cometfuzz.reports.tally import PUBLISHED, PUBLISHED_MODELS, Health
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.records import bug_as_plain

VERSION = 1
"""Goes up when a field changes its meaning or goes away."""


def json_report(facts: Facts) -> str:
    """All that the pages say, for programs."""
    return json_text(
        {
            "version": VERSION,
            "cometfuzz": cometfuzz.__version__,
            "campaign": {
                "name": facts.name,
                "cometfuzz": facts.made_by,
                "settings": facts.settings,
                "state": facts.state,
                "cases": facts.done,
                "executed": facts.executed,
                "elapsed_s": facts.elapsed_s,
                "models_per_minute": facts.models_per_minute,
                "versions": facts.versions,
                "machines": facts.machines,
                "notices": [{"cases": done, "text": text} for done, text in facts.notices],
            },
            "coverage": facts.coverage,
            "coverage_by_route": facts.by_route,
            "paper": {"coverage": PUBLISHED, "models": PUBLISHED_MODELS, "hours": 6},
            "curve": [
                {name: getattr(point, name) for name in ("index", "elapsed_s", "covered", "branches")}
                for point in facts.curve
            ],
            "counts": facts.standings,
            "bugs": [
                {
                    "standing": standing(bug),
                    "new": bug.is_new,
                    "severity": bug.severity,
                    "findings": facts.sightings.get(bug.id, 0),
                    **bug_as_plain(bug),
                }
                for bug in facts.bugs
            ],
            "not_counted": [_not_counted(group) for group in facts.not_counted],
            "met": [_met(defect, count) for defect, count in facts.met],
            "routes": {name: _health(health) for name, health in facts.routes.items()},
        }
    )


def json_text(value: Any) -> str:
    """Strict JSON in ASCII: NaN and infinities are strings, and no terminal is steered by it."""
    text = json.dumps(strict(value), indent=2, ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f")  # the one control sign that JSON leaves as it is


def brief(bug: Bug) -> dict[str, Any]:
    """A bug as a row of a list."""
    signature = bug.signature
    return {
        "id": bug.id,
        "title": bug.title,
        "standing": standing(bug),
        "severity": bug.severity,
        "data_kind": bug.data_kind,
        "symptom": signature.symptom,
        "library": signature.library,
        "stage": signature.stage,
        "layers": signature.layers,
        "condition": signature.condition,
        "known": bug.known,
        "runs": bug.runs,
        "shown": bug.shown,
        "minimal_id": bug.minimal_id,
    }


def _not_counted(group: NotCounted) -> dict[str, Any]:
    finding = {"key": group.finding.key, **group.finding.as_plain()}
    return {"reason": group.reason, "count": group.count, "case_id": group.case_id, "finding": finding}


def _met(defect: Defect, count: int) -> dict[str, Any]:
    plain = {name: getattr(defect, name) for name in ("id", "library", "kind", "title", "why", "link", "documentation")}
    return {**plain, "findings": count}


def _health(health: Health) -> dict[str, Any]:
    return {
        "runs": health.runs,
        "completed": health.completed,
        "failed": health.failed_by_kind,
        "not_reached": health.not_reached,
        "median_ms": health.median_ms,
        "restarts": health.restarts,
        "available": health.available,
    }
