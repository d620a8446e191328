"""`cometfuzz export`: a campaign as rows for other programs."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, TextIO

import typer

from cometfuzz.campaign.export import FINDINGS, OUTCOMES, Row, finding_rows, outcome_rows, write_csv, write_json
from cometfuzz.campaign.records import Records
from cometfuzz.cli.progress import progress
from cometfuzz.errors import unwritten
from cometfuzz.reports.text import visible


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign, which may be running.")],
    as_csv: Annotated[bool, typer.Option("--csv/--json", help="CSV, or one JSON object per line.")] = True,
    findings: Annotated[bool, typer.Option("--findings", help="One row per finding instead.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file, instead of standard output.")] = None,
) -> None:
    """Print a campaign as rows for a spreadsheet or a notebook: one for each case and route.

    docs/store.md explains the columns. A text that a spreadsheet would take for a formula (it begins with = + - @) gets
    an apostrophe before it in CSV; JSON has it as it is. On a terminal, signs that would steer it are shown as escapes;
    a file or a pipe gets every text as it is.

    Example: cometfuzz export DIR --csv -o campaign.csv
    """
    with Records(folder) as records, _opened(out) as file:
        rows, columns = (finding_rows(records), FINDINGS) if findings else (outcome_rows(records), OUTCOMES)
        ((total,),) = records.select(f"SELECT count(*) FROM {'findings' if findings else 'outcomes'}")
        write = write_csv if as_csv else write_json
        write(map(_shown, rows) if file.isatty() else _watched(rows, total), columns, file)


@contextmanager
def _opened(out: Path | None) -> Iterator[TextIO]:
    try:
        with nullcontext(sys.stdout) if out is None else open(out, "w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        if out is None:
            raise
        raise unwritten(out, error) from None


def _shown(row: Row) -> Row:
    return {name: visible(value) if isinstance(value, str) else value for name, value in row.items()}


def _watched(rows: Iterable[Row], total: int) -> Iterator[Row]:
    """The rows, while it is shown how many are written."""
    with progress("exporting rows", total) as shown:
        for row in rows:
            yield row
            shown.advance()
