"""Events as JSON, one line each: docs/events.md is the schema. No tensors, no graphs; the store has the cases."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cometfuzz.campaign.events import CaseDone, Ended, Event, Executed, Notice, Started


def as_line(event: Event) -> str:
    """An event in one line of strict JSON: NaN and Inf are strings."""
    return json.dumps(strict(as_plain(event)), ensure_ascii=True, allow_nan=False)


def as_plain(event: Event) -> dict[str, Any]:
    """An event as a dictionary whose "event" names its kind."""
    match event:
        case Started():
            return {"event": "started", **vars(event)}
        case CaseDone():
            left_out = ("case", "parts") if event.cluster else ("case", "parts", "cluster")
            fields = {name: value for name, value in vars(event).items() if name not in left_out}
            return {"event": "case", **fields, "parts": [_part(part) for part in event.parts]}
        case Notice():
            return {"event": "notice", **vars(event)}
        case Ended():
            return {"event": "ended", **vars(event)}


def _part(part: Executed) -> dict[str, Any]:
    where = {"node": part.node, "digests": part.digests} if part.node else {}
    return {
        "part": part.part,
        "case_id": part.case_id,
        **where,
        "d_mad": part.d_mad,
        "results": [asdict(result) for result in part.results],
        "findings": [{"key": finding.key, **finding.as_plain()} for finding in part.findings],
    }


def strict(value: Any) -> Any:
    """A value in JSON's own types."""
    if isinstance(value, Mapping):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, str | int | float | None) else str(value)
