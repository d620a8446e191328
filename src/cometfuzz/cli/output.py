"""What commands give to programs: plain JSON on stdout, no colours, no wrapping; models as case files."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from cometfuzz.errors import CometfuzzError, unwritten
from cometfuzz.ir.graph import Graph
from cometfuzz.seeds.published import slug, write


def print_json(value: Any) -> None:
    """Write a value as JSON to stdout, keys in the order given, in signs that steer no terminal."""
    text = json.dumps(value, indent=2, ensure_ascii=True)
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")  # the one control sign that JSON leaves as it is


def folding(header: str) -> Column:
    """A column of a table whose texts go on in the next line, and are never cut: people copy names from it."""
    return Column(header, overflow="fold")


def print_named(console: Console, table: Table) -> None:
    """A table whose first column has names; where it would break them, each with what is said of it below it."""
    first, *rest = table.columns
    names = [_text(cell) for cell in first.cells]
    if max(map(len, map(str, names)), default=0) <= console.width // 3:
        console.print(table)
        return
    if table.title:
        console.print(table.title)
    for name, *cells in zip(names, *(column.cells for column in rest), strict=True):
        said = [(column, _text(cell)) for column, cell in zip(rest, cells, strict=True) if str(cell)]
        brief = [text.plain for column, text in said if column.overflow != "fold"]
        long = [text for column, text in said if column.overflow == "fold"]
        console.print(Text(name.plain, "bold"), soft_wrap=True)
        for text in ([Text(", ".join(brief))] if brief else []) + long:
            console.print(Padding(text, (0, 0, 0, 4)))


def _text(cell: RenderableType) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def save_graphs(folder: Path, graphs: Mapping[str, Graph]) -> None:
    """Write models into a folder, each to a case file of its name."""
    with writing(folder):
        for name, graph in graphs.items():
            write(graph, folder / f"{slug(name)}.json")


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Around what writes to a place that a user has named: if it cannot be written, that is one line."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritten(error.filename or place, error) from None


def make_folder(folder: Path | None) -> None:
    """Make the folder that a command is to write into, before it begins."""
    if folder is not None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)


def expect_place(file: Path | None) -> None:
    """Look whether the file that a command is to write at its end can be there, before it begins."""
    if file is None:
        return
    if file.is_dir() or not file.parent.is_dir():
        raise CometfuzzError(
            f"{file}: expected a file in a folder that is there; received a folder, or one of none: "
            "make it, or name another"
        )
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise CometfuzzError(f"{file}: expected a file that may be written; received none: name another")
