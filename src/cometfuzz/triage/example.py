"""The few lines of a draft: an example that a person wrote for an entry, or else the core of its script.

example.py     idiomatic code at the lowest interface that shows it; it prints "Actual:" and "Expected:", or raises
example.txt    what it printed when it was last run: `cometfuzz draft ID --run` writes it
"""

import ast
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from cometfuzz.execution.outcome import readable
from cometfuzz.places import Place
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.recording import read_text
from cometfuzz.triage.running import Ran
from cometfuzz.triage.scripts.text import without_us

EXAMPLE, PRINTED = "example.py", "example.txt"
MAX_LINES = 15
"""How long an example may be that a person writes."""
MAX_SHOWN, MAX_WIDTH = 8, 600
"""How much of a message is shown: lines, and signs of a line."""
MAX_READ = 4000
"""How much of a message is looked at."""

ACTUAL, EXPECTED = "Actual:", "Expected:"
_NO_EXCEPTION = {"no exception", "exit code 0"}
"""What a script expects that does not come to a result."""
_OURS = {"sys", "signal", "subprocess"}
"""Modules that a script needs for its exit codes only."""
_ENDS = ("Arguments received by", "Call arguments received by", "Traceback of TensorFlow")
_CALLING = re.compile(r"Exception encountered when calling [^\n]*\n?")
_CLASS = re.compile(r"[A-Za-z_][\w.]*(: |:?$)")
"""How the line begins that names an exception; marks below a frame's code may stand at its beginning too."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Example:
    """Code, and what is seen of it. by_hand: a person wrote it, so that it stands for itself."""

    text: str
    actual: str
    expected: str
    by_hand: bool


def read_example(place: Place) -> Example | None:
    """The example in the folder of an entry, if there is one; one that was never run has shown nothing."""
    if not place.kind(EXAMPLE):
        return None
    printed = read_text(place, PRINTED) if place.kind(PRINTED) else ""
    expected = [line.removeprefix(EXPECTED).strip() for line in printed.splitlines() if line.startswith(EXPECTED)]
    others = [line.removeprefix(ACTUAL).strip() for line in printed.splitlines() if not line.startswith(EXPECTED)]
    return Example(read_text(place, EXAMPLE), "\n".join(others), "\n".join(expected), True)


def printed_by(ran: Ran) -> str:
    """What a person sees of an example: its lines, and how it ended if not by itself."""
    lines = [ran.printed.rstrip()] if ran.printed.strip() else []
    if ran.exit_code is None:
        lines.append(f"{ACTUAL}   {ran.note}")
    elif ran.exit_code < 0:
        lines.append(f"{ACTUAL}   the process dies with {signal.Signals(-ran.exit_code).name}")
    elif ran.exit_code:
        lines.append(f"{ACTUAL}   {essence(_raised(ran.errors))}")
    return "\n".join(lines) + "\n"


def _raised(errors: str) -> str:
    """The exception at the end of a traceback: what follows the last line of its frames."""
    _, _, after = errors.rpartition("Traceback (most recent call last):\n")
    lines = after.splitlines()
    first = next((at for at, line in enumerate(lines) if _CLASS.match(line)), 0)
    return re.sub(r"^[\w.]+\.(?=\w+(:|$))", "", "\n".join(lines[first:]), count=1)


def essence(message: str) -> str:
    """A library's message without colours, without the call around it, and without places of this machine."""
    text = _CALLING.sub("", _ANSI.sub("", readable(message[:MAX_READ])))
    for end in _ENDS:
        text = text.partition(end)[0]
    lines = [line.strip()[:MAX_WIDTH] for line in without_us(text).splitlines() if line.strip()]
    joined = "\n".join(lines[:MAX_SHOWN])
    return re.sub(r"^(\w+):\n", r"\1: ", joined)


def core_of(bug: Bug) -> Example | None:
    """The core of a bug's script, without what guards it, and what the script printed."""
    if bug.script is None:
        return None
    output = bug.script.output
    _, _, seen = output.partition("seen:")
    wanted = re.search(r"^expected:\s*(.*)$", output, re.MULTILINE)
    expected = "" if wanted is None or wanted[1] in _NO_EXCEPTION else wanted[1]
    return Example("\n".join(_core(bug.script.text)), essence(seen or bug.finding.detail), expected, False)


def _core(text: str) -> Iterator[str]:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines()
    for statement in statements:
        inside = statement.body if isinstance(statement, ast.Try) else [statement]
        for each in inside:
            if not _guards(each):
                indent = each.col_offset
                yield from (line[indent:].rstrip() for line in lines[each.lineno - 1 : each.end_lineno])


def _guards(statement: ast.stmt) -> bool:
    """Whether a statement of a script only serves its exit code or its report of versions."""
    if isinstance(statement, ast.Import):
        return statement.names[0].name in _OURS
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "importlib.metadata"
    if isinstance(statement, ast.If):
        return "child" in ast.unparse(statement.test)
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) == "right"
    if not isinstance(statement, ast.Expr):
        return False
    called = ast.unparse(statement)
    constant = isinstance(statement.value, ast.Call) and all(isinstance(a, ast.Constant) for a in statement.value.args)
    tells = called.startswith("print(") and (constant or "__version__" in called or "version(" in called)
    return tells or called.startswith("sys.exit(")
