"""What the page shows of a campaign, as plain JSON: the numbers of the live screen, and texts that are harmless."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from cometfuzz.campaign.stored import SessionRow
from cometfuzz.coverage.layers import CRITERIA, SPACE_NAMES
from cometfuzz.execution.machine import Machine
from cometfuzz.reports.facts import standing
from cometfuzz.reports.summary import REASONS
from cometfuzz.reports.tally import PUBLISHED, Health, Sighting, Tally, share_of
from cometfuzz.reports.text import clean, duration, place, visible
from cometfuzz.triage.bug import Bug

Plain = dict[str, Any]


def numbers(tally: Tally, now_s: float) -> Plain:
    """All that comes of a tally, at a time of the campaign."""
    estimate, settings = tally.kinds.estimate(), tally.settings
    left_s = tally.left_s(now_s)
    return {
        "about": [clean(f"{name} {settings[name]}") for name in ("strategy", "seed") if settings.get(name) is not None],
        "done": tally.done,
        "of": settings.get("cases") or None,
        "elapsed": duration(now_s),
        "left": None if left_s is None else duration(left_s),
        "progress": tally.progress(now_s),
        "rate": tally.rate(),
        "recent_rate": tally.recent_rate(now_s),
        "speeds": tally.speeds(now_s),
        "last": _last(tally),
        "coverage": _coverage(tally),
        "branches": dict(tally.branches or {}),
        "operators": [
            {"name": clean(name), "fitness": record.get("fitness", 0.0), "attempts": record.get("attempts", 0.0)}
            for name, record in tally.operators.items()
        ],
        "routes": [
            _route(name, health, share_of(tally.by_route.get(name, {}))) for name, health in tally.routes.items()
        ],
        "distinct": tally.distinct,
        "found": tally.found,
        "lately": tally.kinds.lately(now_s),
        "estimate": None if estimate is None else {"left": estimate.left, "error": estimate.error},
        "symptoms": [[name, count.distinct, count.total] for name, count in tally.symptoms.items()],
        "data": [[name, count.distinct] for name, count in tally.data_kinds.items()],
        "not_counted": [[name, count] for name, count in tally.not_counted.items()],
        "notices": [clean(text) for text in tally.notices][-10:],
    }


def _last(tally: Tally) -> str:
    last = tally.last
    if last is None:
        return ""
    gained = ", ".join(f"+{count} {space}" for space, count in last.gained.items() if count) or "nothing new"
    runs = f"{last.completed} of {last.runs} runs completed"
    return clean(f"case {last.index}: {last.operator}, {last.nodes} nodes, {gained}; {runs}")


def _coverage(tally: Tally) -> list[Plain]:
    """Each space that is counted, with its criteria."""
    found = []
    for space in SPACE_NAMES:
        counts = tally.coverage.get(space, {})
        criteria = [
            {
                "name": name,
                "covered": counts[name]["covered"],
                "total": counts[name]["total"],
                "published": PUBLISHED[name] if space == "paper" else None,
            }
            for name in CRITERIA
            if counts.get(name, {}).get("total")
        ]
        if criteria:
            found.append({"name": space, "criteria": criteria})
    return found


def _route(name: str, health: Health, covered: float | None) -> Plain:
    return {
        "name": clean(name),
        "runs": health.runs,
        "completed": health.completed,
        **health.failed_by_kind,
        "not_reached": health.not_reached,
        "covered": covered,
        "median_ms": health.median_ms,
        "restarts": health.restarts,
        "available": health.available,
    }


def finding(sighting: Sighting, bug_id: str) -> Plain:
    """A finding of a new kind. bug: what triage has made of it."""
    found = sighting.finding
    return {
        "id": f"{sighting.index} {found.key}",
        "index": sighting.index,
        "at": duration(sighting.elapsed_s),
        "symptom": clean(found.symptom),
        "place": clean(place(found)),
        "data": clean(found.data_kind),
        "detail": clean(found.detail),
        "bug": bug_id,
    }


def bug(found: Bug, seen: int) -> Plain:
    return {
        "id": found.id,
        "title": visible(found.title)[:400],
        "standing": standing(found),
        "severity": found.severity,
        "data": found.data_kind,
        "symptom": found.signature.symptom,
        "library": clean(found.signature.library),
        "seen": seen,
    }


def sessions(rows: Iterable[SessionRow]) -> list[Plain]:
    """Who has run the campaign, as far as it is recorded: one row for each session."""
    return [
        {
            "campaign": clean(str(row.settings.get("campaign", ""))),
            "cometfuzz": clean(row.cometfuzz),
            "first": row.first_index,
            "done": row.done,
            "machine": _machine(row.settings.get("machine")),
            "jobs": row.settings.get("jobs") if isinstance(row.settings.get("jobs"), int) else None,
            "ended": "" if row.reason is None else clean(REASONS.get(row.reason, row.reason)),
        }
        for row in rows
    ]


def _machine(recorded: Any) -> str:
    try:
        return clean(str(msgspec.convert(recorded, Machine)))
    except msgspec.ValidationError:  # of before it was recorded, or in a way that we do not know
        return ""


def nodes(recorded: Any, counts: Mapping[str, int]) -> list[Plain]:
    """The nodes of a cluster, where a campaign has recorded them: by name, with how many parts of cases each has run,
    and what it says of itself."""
    if not isinstance(recorded, Mapping):
        return []
    return [
        {"name": clean(str(name)), "parts": counts.get(str(name), 0), "facts": list(_facts(facts))}
        for name, facts in recorded.items()
        if isinstance(facts, Mapping)
    ]


def _facts(facts: Mapping[Any, Any]) -> Iterator[list[str]]:
    for name, value in facts.items():
        if name == "machine" and (machine := _machine(value)):
            yield ["machine", machine]
        elif name == "versions" and isinstance(value, Mapping):
            yield ["versions", clean(_word(_flat(value)))]
        elif value not in ("", None, (), [], {}):
            yield [clean(str(name)), clean(_word(value))]


def _flat(versions: Mapping[Any, Any]) -> dict[Any, Any]:
    """Versions by library, of versions by route."""
    found: dict[Any, Any] = {}
    for name, value in versions.items():
        found.update(value if isinstance(value, Mapping) else {name: value})
    return found


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_word(each)}" for name, each in value.items())
    return " ".join(map(_word, value)) if isinstance(value, list | tuple) else str(value)
