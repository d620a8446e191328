"""Export: a campaign as flat rows for researchers. docs/store.md explains every column."""

import csv
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

import msgspec

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.stored import COUNTS, from_json, number

Row = Mapping[str, Any]

COVERED = tuple(f"{space}_{criterion}" for space, criterion in COUNTS)

_RESULT = ("d_mad", "route", "status", "stage", "library", "wall_s", "cpu_s", "mean_magnitude")

OUTCOMES = (
    *(
        "index",
        "part",
        "case_id",
        "operator",
        "nodes",
        "executed",
        "gained_paper",
        "gained_full",
        "gained_ops",
        "elapsed_s",
    ),
    *COVERED,
    *("findings", *_RESULT, "failure", "message", "detail", "versions"),
)
"""The columns of outcomes: one row for each case, part and route."""

FINDINGS = (
    *("index", "part", "case_id", "oracle", "symptom", "data_kind", "counts", "library", "stage", "node", "layer"),
    *("failure", "defect", "routes", "what", "others", "detail", "key"),
)
"""The columns of findings: one row for each."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would run."""


def outcome_rows(records: Records) -> Iterator[Row]:
    """One row for each case, part and route, with the columns OUTCOMES; what is said of the case stands in each."""
    return records.read(
        _outcome_row,
        "SELECT trials.*, outcomes.*, cases.*, versions, "  # of two columns with one name, the first is read
        "(SELECT count(*) FROM findings AS found WHERE found.case_index = trials.case_index "
        "AND found.part = trials.part AND found.counts) AS found "
        "FROM outcomes JOIN trials USING (case_index, part) JOIN cases USING (case_index) "
        "JOIN versions USING (versions_id) ORDER BY outcomes.case_index, outcomes.part, outcomes.place",
    )


def _outcome_row(row: sqlite3.Row) -> Row:
    gained, failure = from_json(row["gained"]), from_json(row["failure"] or "{}")
    for name in ("d_mad", "mean_magnitude"):  # these are numbers, or the text that stands for NaN
        number(row[name])
    return msgspec.convert(
        {
            "index": row["case_index"],
            **{name: row[name] for name in ("part", "case_id", "operator", "nodes", "elapsed_s", "detail")},
            "executed": from_json(row["feedback"])["executed"],
            "gained_paper": gained.get("paper"),
            "gained_full": gained.get("full"),
            "gained_ops": gained.get("ops"),
            **{name: row[name] for name in (*COVERED, *_RESULT)},
            "findings": row["found"],
            "failure": failure.get("type"),
            "message": failure.get("message"),
            "versions": " ".join(f"{name}={version}" for name, version in from_json(row["versions"]).items()),
        },
        dict[str, str | int | float | bool | None],
    )


def finding_rows(records: Records) -> Iterator[Row]:
    """One row for each finding, with the columns FINDINGS."""
    for found in records.findings():
        finding = found.finding
        first, *others = finding.camps
        yield {
            **{name: getattr(found, name) for name in FINDINGS[:3]},
            **{name: getattr(finding, name) for name in FINDINGS[3:] if name not in ("routes", "what", "others")},
            "routes": " ".join(first.routes),
            "what": first.what,
            "others": " ".join(route for camp in others for route in camp.routes),
        }


def write_csv(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> None:
    """Write rows as they come: UTF-8, a line feed after each row, quotes where they are needed."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row[name]) for name in columns] for row in rows)


def write_json(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> None:
    """Write rows as they come, each as JSON in a line of its own; text is exact."""
    for row in rows:
        file.write(json.dumps({name: _plain(row[name]) for name in columns}) + "\n")


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet runs and every encoding takes; numbers are never touched."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")
    return f"'{text}" if text.startswith(FORMULA) else text


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become texts, as in the CSV."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
