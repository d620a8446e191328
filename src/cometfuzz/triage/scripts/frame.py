"""Puts a script together: comments, imports, versions, and what it does."""

import re
from collections.abc import Iterable, Mapping, Sequence

from cometfuzz.triage.scripts.pieces import Program
from cometfuzz.triage.scripts.text import WIDTH, indented


def frame(header: Sequence[str], program: Program, body: Sequence[str], watch: Sequence[str] = ()) -> str:
    """The text of a script, without imports and data that it does not use. Exit code 2: a library is missing."""
    engine = program.engine
    data = program.data if _uses("\n".join(body), "data") else ()
    late = engine.late_imports if any(_uses("\n".join(body), name) for name in _bound(engine.late_imports)) else ()
    used = "\n".join([*watch, *program.environ.values(), *program.before_imports, *program.settings, *data, *body])
    versions = _versions_of(program, used)
    used = "\n".join([used, *versions.values(), *late])
    libraries = _used((*engine.imports, "import numpy as np"), used)
    standard = _used((*engine.standard, *STANDARD), f"{used}\nsys\n{'os' * bool(program.environ)}")
    lines = [*header, *standard, ""]
    if watch:
        lines += [*watch, ""]
    lines += [f'os.environ["{name}"] = {value}' for name, value in program.environ.items()]
    lines += ["try:", *indented([*program.before_imports, *libraries, *late])]
    lines += ["except ImportError as error:", '    print("missing:", error)', "    sys.exit(2)", ""]
    lines += [*_print(versions, flush=bool(watch)), *program.settings, *data, *body]
    return "\n".join(lines) + "\n"


def imports_of(script: str) -> str:
    """The part of a script's text that imports libraries."""
    return script[script.index("\ntry:\n") + 1 : script.index("    sys.exit(2)\n")] + "    sys.exit(2)\n"


STANDARD = ("import os", "import resource", "import signal", "import subprocess", "import sys")


def _uses(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.\"]){name}\d*\b", text) is not None


def _bound(statements: Iterable[str]) -> list[str]:
    """The names that import statements bind."""
    found = []
    for statement in statements:
        if " import " in f" {statement}":
            found += [part.split()[-1] for part in statement.partition("import ")[2].split("  #")[0].split(", ")]
    return found


def _used(statements: Iterable[str], text: str) -> list[str]:
    """The statements of which a name is used, each once: plain imports first, then those of names."""
    kept = {each for each in statements if any(_uses(text, name.split(".")[0]) for name in _bound([each]))}
    return sorted(kept, key=lambda statement: (statement.startswith("from"), statement.split()[1]))


def _versions_of(program: Program, used: str) -> dict[str, str]:
    """The versions of Keras and its backend, and of whatever else is used."""
    found = {}
    for name, expression in program.engine.versions.items():
        modules = name.replace("-", "_"), expression.partition(".")[0]  # OpenCV's is cv2
        imports = (*program.engine.imports, *program.engine.late_imports)
        statements = [each for each in imports if any(module in each for module in modules)]
        if name in program.always_versions or any(_uses(used, bound) for bound in _bound(statements)):
            found[name] = expression
    return found


def _print(versions: Mapping[str, str], flush: bool) -> list[str]:
    """One line of output, by as many statements as it takes. `flush`: before the process dies."""
    statements = [['"versions:"']]
    for name, expression in versions.items():
        part = f'"{name}", {expression}'
        if len(f"print({', '.join([*statements[-1], part])}, flush=True)") > WIDTH:
            statements.append([])
        statements[-1].append(part)
    ends = [', end=" "'] * (len(statements) - 1) + [", flush=True" * flush]
    return [f"print({', '.join(parts)}{end})" for parts, end in zip(statements, ends, strict=True)]
