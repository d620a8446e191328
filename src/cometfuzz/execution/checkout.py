"""A checkout's own `.venv`, and the two commands that must work before anything is installed.

    PYTHONPATH=src python3 -m cometfuzz.execution.checkout create tool
    PYTHONPATH=src python3 -m cometfuzz.execution.checkout link

Standard library only.
"""

import argparse
import json
import os
import shlex
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

import cometfuzz
from cometfuzz.errors import CometfuzzError, EnvironmentFailure
from cometfuzz.execution.environments import (
    FORMAT,
    MARKER,
    Report,
    built_names,
    create,
    create_all,
    default_names,
    find,
    locked,
    quiet,
    write,
)
from cometfuzz.execution.setup_progress import Progress

EXTRAS = ("cluster",)
"""Environments that hold what an optional extra of the package needs, and nothing that is imported without it."""

LINK_SCRIPTS = {
    "cometfuzz": ["-m", "cometfuzz"],
    "lint-imports": ["-c", "from importlinter.cli import lint_imports_command as main; main()"],
    "mypy": ["-m", "mypy"],
    "pytest": ["-m", "pytest"],
}


def link(*, report: Report = quiet) -> Path:
    """Make the checkout's `.venv`: a bare venv that sees the cached tool environment and `src`.

    It also sees what an extra of the package needs (EXTRAS), where that has been built. It costs a fraction of a
    second, and is redone when these environments changed or the checkout moved.
    """
    tool = find("tool")
    if not tool.ready:
        tool = create("tool", report=report)
    checkout = Path(__file__).resolve().parents[3]
    if not (checkout / "pyproject.toml").is_file():
        raise EnvironmentFailure(f"expected a checkout with pyproject.toml; received {checkout}")
    path = checkout / ".venv"
    marker = path / MARKER
    extras = [find(name).path for name in EXTRAS if name in built_names() and find(name).ready]
    seen = [tool.path, *extras]
    record = json.dumps({"format": FORMAT, "sees": [str(each) for each in seen], "path": str(path)})
    with locked(path):
        linked = marker.is_file() and marker.read_text(encoding="utf-8") == record
        if not linked or not os.access(path / "bin" / "python", os.X_OK):
            marker.unlink(missing_ok=True)
            venv.EnvBuilder(clear=True, symlinks=True, with_pip=False).create(path)
            _fill_link(path, [*map(_site_packages, seen), checkout / "src"])
            # `python -m ruff` looks for its binary here first.
            (path / "bin" / "ruff").symlink_to(tool.path / "bin" / "ruff")
            write(marker, record)
        _write_metadata(_site_packages(path), checkout / "pyproject.toml")
    report(".venv", f"ready at {path}")
    return path


def _fill_link(path: Path, folders: Sequence[Path]) -> None:
    write(_site_packages(path) / "cometfuzz.pth", "".join(f"{folder}\n" for folder in folders))
    for name, arguments in LINK_SCRIPTS.items():
        # sh, not a #! line that names the interpreter: that breaks on long paths and on spaces.
        command = shlex.join([str(path / "bin" / "python"), "-P", *arguments])
        write(path / "bin" / name, f'#!/bin/sh\nexec {command} "$@"\n', executable=True)


def _write_metadata(folder: Path, project: Path) -> None:
    """Make the checkout look installed, so that its entry points are found as those of any package are."""
    metadata = folder / f"cometfuzz-{cometfuzz.__version__}.dist-info"
    metadata.mkdir(exist_ok=True)
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("entry-points", {})
    lines = []
    for group, points in declared.items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items()), ""]
    write(metadata / "entry_points.txt", "\n".join(lines))
    write(metadata / "METADATA", f"Metadata-Version: 2.1\nName: cometfuzz\nVersion: {cometfuzz.__version__}\n")


def _site_packages(path: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", vars={"base": str(path)}))


def main() -> int:
    """Run the two commands that must work before anything is installed."""
    parser = argparse.ArgumentParser(prog="python3 -m cometfuzz.execution.checkout")
    commands = parser.add_subparsers(dest="command", required=True)
    creation = commands.add_parser("create", help="build environments; if none is named, all but those on demand")
    creation.add_argument("names", nargs="*", metavar="NAME")
    commands.add_parser("link", help="make the .venv of this checkout")
    arguments = parser.parse_args()
    try:
        if arguments.command == "link":
            link(report=Progress())
        else:
            create_all(arguments.names or default_names(), report=Progress())
    except CometfuzzError as error:
        print(f"cometfuzz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
