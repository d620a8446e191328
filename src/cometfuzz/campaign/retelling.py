"""Retelling: the cases of a stored campaign as the events that they were, for handlers of events to take them again.

They are read some hundred at a time, each query to its end: a campaign that runs meanwhile is not held up.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from cometfuzz.campaign.events import CaseDone, Executed, RouteResult, Summary
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.stored import Count, Point, Seconds, from_json, point
from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import Finding

CHUNK = 200


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the store has of a case itself."""

    index: Count
    case_id: str
    operator: str
    nodes: Count
    feedback: Mapping[str, Any]
    gained: Mapping[str, int]
    elapsed_s: Seconds
    point: Point


def retold(records: Records, start: int, end: int, case: Callable[[str], Case | None]) -> Iterator[CaseDone]:
    """Cases start to end - 1. `case` gives the model of an id; a case is left out if it gives none for it, and a part
    likewise. What a case has covered is what was counted then; of routes and operators only the newest is stored."""
    totals = records.coverage
    for first in range(start, end, CHUNK):
        between = first, min(first + CHUNK, end)
        kept = list(
            records.read(
                _kept,
                "SELECT case_index AS 'index', * FROM cases WHERE case_index >= ? AND case_index < ? "
                "ORDER BY case_index",
                *between,
            )
        )
        parts = _parts(records, between, case)
        for each in kept:
            if (model := case(each.case_id)) is not None:
                yield CaseDone(
                    index=each.index,
                    case_id=each.case_id,
                    operator=each.operator,
                    nodes=each.nodes,
                    feedback=each.feedback,
                    gained=each.gained,
                    parts=parts.get(each.index, []),
                    coverage=_summary(each.point, totals),
                    branches=each.point.branches,
                    operators={},
                    elapsed_s=each.elapsed_s,
                    case=model,
                )


def _parts(records: Records, between: tuple[int, int], case: Callable[[str], Case | None]) -> dict[int, list[Executed]]:
    """The parts of some cases, by index."""
    heads: dict[tuple[int, int], tuple[str, float | None]] = {}
    results: dict[tuple[int, int], list[RouteResult]] = {}
    findings: dict[tuple[int, int], list[Finding]] = {}
    nodes = {(each.index, each.part): each for each in records.ran_on(*between)}
    for ran in records.outcomes(*between):
        heads[ran.index, ran.part] = ran.case_id, ran.d_mad
        results.setdefault((ran.index, ran.part), []).append(ran.result)
    for found in records.findings(*between):
        heads.setdefault((found.index, found.part), (found.case_id, None))
        findings.setdefault((found.index, found.part), []).append(found.finding)
    parts: dict[int, list[Executed]] = {}
    for name, (case_id, d_mad) in sorted(heads.items()):
        index, part = name
        if (model := case(case_id)) is not None:
            ran_here, found_here = results.get(name, []), findings.get(name, [])
            told = Executed(part, model, case_id, ran_here, d_mad, found_here)
            if (at := nodes.get(name)) is not None:
                told = replace(told, node=at.node, digests=at.digests)
            parts.setdefault(index, []).append(told)
    return parts


def _kept(row: sqlite3.Row) -> _Kept:
    feedback, gained = from_json(row["feedback"]), from_json(row["gained"])
    msgspec.convert(feedback["executed"], bool)
    return msgspec.convert({**dict(row), "feedback": feedback, "gained": gained, "point": point(row)}, _Kept)


def _summary(at: Point, totals: Summary) -> Summary:
    """The counts of a point, with how much there is, as the newest summary says it."""
    return {
        space: {name: {**criteria[name], "covered": count} for name, count in counts.items() if name in criteria}
        for space, counts in at.covered.items()
        if (criteria := totals.get(space)) is not None
    }
