"""Tables of things that people copy the names of."""

import io

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.cli.output import folding, print_named


def printed(width: int, *names: str) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    table = Table(folding("id"), "kind", "since", folding("what"), title="Bugs: 2")
    for name in names:
        table.add_row(name, "bug", "", Text("adds [3, 1] along\nthe wrong axis"))
    print_named(console, table)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_names_that_fit_stand_in_a_table() -> None:
    assert any("│ keras-add │ bug" in line for line in printed(60, "keras-add", "keras-dot"))


def test_a_name_is_never_broken() -> None:
    """Not even where the terminal is narrower than it."""
    name = "keras-torch-convtranspose-same-kernel-size-shape"
    assert printed(40, name, "dot") == [
        "Bugs: 2",
        name,
        *("    bug", "    adds [3, 1] along", "    the wrong axis"),
        "dot",
        *("    bug", "    adds [3, 1] along", "    the wrong axis"),
    ]
