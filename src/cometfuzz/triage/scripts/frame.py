"""Puts a script together: comments, imports, versions, and what it does."""

import re
from collections.abc import Mapping, Sequence

from cometfuzz.triage.scripts.pieces import Program
from cometfuzz.triage.scripts.text import indented, wrap


def frame(header: Sequence[str], program: Program, body: Sequence[str], watch: Sequence[str] = ()) -> str:
    """The text of a script. Exit code 2: a library is missing."""
    engine = program.engine
    text = "\n".join([*watch, *body, *program.settings])
    standard = {"import sys", *engine.standard}
    standard |= {f"import {name}" for name in ("subprocess", "signal", "resource") if f"{name}." in text}
    if program.environ or "os." in text:
        standard.add("import os")
    data = program.data if re.search(r"\bdata\d*\b", text) else ()
    libraries = {*engine.imports, *(["import numpy as np"] if _uses_numpy(body, data) else [])}
    lines = [*header, *_sorted(standard), ""]
    if watch:
        lines += [*watch, ""]
    lines += [f'os.environ["{name}"] = {value}' for name, value in program.environ.items()]
    lines += ["try:", *indented([*program.before_imports, *_sorted(libraries), *engine.late_imports])]
    lines += ["except ImportError as error:", '    print("missing:", error)', "    sys.exit(2)", ""]
    lines += [*_versions(engine.versions), *program.settings, *data, *body]
    return "\n".join(lines) + "\n"


def _uses_numpy(body: Sequence[str], data: Sequence[str]) -> bool:
    return any("np." in line for line in (*body, *data))


def _sorted(statements: set[str]) -> list[str]:
    """Plain imports first, then those of names."""
    return sorted(statements, key=lambda statement: (statement.startswith("from"), statement.split()[1]))


def _versions(versions: Mapping[str, str]) -> list[str]:
    shown = ", ".join(f'"{name}", {expression}' for name, expression in versions.items())
    return wrap(f'print("versions:", {shown})')
