"""The docs as a stranger uses them: the tutorial's commands one by one; commands and options that a page names."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cometfuzz.cli import app
from cometfuzz.execution.environments import find

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"^```\w*\n(.*?)^```$|^ {4,}(\S[^\n]*)$|`([^`\n]*)`", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?:^|\s)cometfuzz ([a-z][a-z0-9]*(?:-[a-z]+)*)([^\n#|>]*)", re.MULTILINE)


def commands(command: Any = None, names: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every command by its words."""
    one = typer.main.get_command(app) if command is None else command
    inner = getattr(one, "commands", {})
    found = {names: one} if names else {}
    for name, each in inner.items():
        found |= commands(each, (*names, name))
    return found


def pages() -> Iterator[Path]:
    yield ROOT / "README.md"
    yield from (path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "drafts.md")


def named(text: str) -> Iterator[tuple[str, str]]:
    """The commands in the code of a page, each with what follows it."""
    for parts in CODE.findall(text):
        yield from NAMED.findall("".join(parts))


def test_every_command_and_option_that_a_page_names_is_there() -> None:
    known, wrong = commands(), []
    for page in pages():
        for name, rest in named(page.read_text(encoding="utf-8")):
            word = (rest.split() or [""])[0]
            found = known.get((name, word)) or known.get((name,))
            if found is None:
                wrong.append(f"{page.name}: {name}")
                continue
            options = {option for each in found.params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
            wrong += [f"{page.name}: {name} {each}" for each in re.findall(r"--[a-z-]+", rest) if each not in options]
    assert not wrong


def test_the_reader_of_pages_sees_what_is_wrong() -> None:
    page = "cometfuzz tests `cometfuzz gone --minutes 5`\n\n    cometfuzz two  # or\n\n```sh\ncometfuzz three\n```\n"
    assert list(named(page)) == [("gone", " --minutes 5"), ("two", "  "), ("three", "")]
    assert ("ledger", "refresh") in commands()


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The programs of a venv with cometfuzz as a wheel lays it out, beside what it depends on; no index is needed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    venv.EnvBuilder(symlinks=True, with_pip=False).create(tmp_path / "venv")
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (dependencies,) = (find("tool").path / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    shutil.copytree(ROOT / "src" / "cometfuzz", site / "cometfuzz", ignore=shutil.ignore_patterns("__pycache__"))
    for here, there in project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].items():
        (shutil.copytree if (ROOT / here).is_dir() else shutil.copy)(ROOT / here, site / there)
    metadata = site / "cometfuzz-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cometfuzz\nVersion: 0\n")
    groups = project["project"]["entry-points"].items()
    lines = [[f"[{group}]", *sorted(f"{name} = {place}" for name, place in points.items())] for group, points in groups]
    (metadata / "entry_points.txt").write_text("\n".join("\n".join(each) for each in lines) + "\n")
    program = tmp_path / "venv" / "bin" / "cometfuzz"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(program.parent / "python"))} -P -m cometfuzz "$@"\n')
    program.chmod(0o755)
    return program.parent


@pytest.mark.library
def test_the_tutorial_works_as_it_is_written(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "away"
    folder.mkdir()
    lines = [line for block in BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")) for line in block.splitlines()]
    assert len(lines) > 10
    environ = {**os.environ, "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    environ["COMETFUZZ_LEDGER"] = str(tmp_path / "learned.toml")
    environ.pop("PYTHONPATH", None)
    printed = {}
    for line in lines:
        ran = subprocess.run(line, shell=True, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{line}\n{ran.stdout}{ran.stderr}"
        printed[line] = ran.stdout
    assert (folder / "first" / "report" / "index.html").is_file()
    assert (folder / "mine" / "tensorflow-add-value" / "script.py").is_file()
    assert "1 still there" in printed["cometfuzz verify mine"]
    assert "Actual:" in printed["cometfuzz draft keras-tf-add-value"]
