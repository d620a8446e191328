"""What commands give to programs: plain JSON on stdout, no colours, no wrapping; models as case files."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Column

from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.graph import Graph
from cometfuzz.seeds.published import slug, write


def print_json(value: Any) -> None:
    """Write a value as JSON to stdout, keys in the order given, in signs that steer no terminal."""
    text = json.dumps(value, indent=2, ensure_ascii=True)
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")  # the one control sign that JSON leaves as it is


def folding(header: str) -> Column:
    """A column of a table whose texts go on in the next line, and are never cut: people copy names from it."""
    return Column(header, overflow="fold")


def save_graphs(folder: Path, graphs: Mapping[str, Graph]) -> None:
    """Write models into a folder, each to a case file of its name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, graph in graphs.items():
            write(graph, folder / f"{slug(name)}.json")
    except OSError as error:
        raise CometfuzzError(f"{folder}: {error.strerror}") from None
