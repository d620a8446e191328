"""What `--help` makes of a docstring."""

import io

from rich.console import Console

from cometfuzz.cli.helping import flowing


def test_paragraphs_flow_and_indented_lines_stay() -> None:
    text = """One line.

    Two lines of
    a paragraph:

        cometfuzz run
        cometfuzz triage
    """
    assert flowing(text) == "One line.\n\nTwo lines of a paragraph:\n\n    cometfuzz run\n    cometfuzz triage"


def test_names_in_brackets_are_no_markup() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(flowing("`pip install cometfuzz[cluster]`, or\nx[0] and a \\[b] that is escaped already"))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "`pip install cometfuzz[cluster]`, or x[0] and a [b] that is escaped already\n"
