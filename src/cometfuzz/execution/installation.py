"""What happens inside a build of an environment: the venv, the pins, and the checks that they hold together.

Standard library only, like `environments`, which decides where and when to build.

A requirement file holds `name==version` lines and three kinds of comment that mean something:

    # imports: onnx onnxruntime                 an import test; each such line is one process
    # tolerate: tf-keras requires tensorflow    a complaint of `pip check` that is known to be harmless
    # without dependencies                      what follows is installed afterwards, with --no-deps
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution.scratch import scratch_folder

Watch = Callable[[str], None]  # sees each line of a process's output as it comes

PIN = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.!+-]+")


@dataclass(frozen=True)
class Requirements:
    """A parsed requirement file: what to install in which way, and what to check afterwards."""

    pins: tuple[str, ...]
    pins_without_dependencies: tuple[str, ...]
    imports: tuple[tuple[str, ...], ...]
    tolerated: tuple[str, ...]


def parse(text: str) -> Requirements:
    """Read a requirement file; every requirement must be pinned, so that an environment means one thing."""
    first: list[str] = []
    afterwards: list[str] = []
    imports: list[tuple[str, ...]] = []
    tolerated: list[str] = []
    pins = first
    for number, line in enumerate(text.splitlines(), 1):
        requirement, _, comment = (part.strip() for part in line.partition("#"))
        if requirement:
            if not PIN.fullmatch(requirement):
                raise EnvironmentFailure(f"line {number}: expected name==version; received {requirement!r}")
            pins.append(requirement)
        elif comment == "without dependencies":
            pins = afterwards
        elif comment.startswith("imports:"):
            imports.append(tuple(comment.removeprefix("imports:").split()))
        elif comment.startswith("tolerate:"):
            tolerated.append(comment.removeprefix("tolerate:").strip())
    return Requirements(tuple(first), tuple(afterwards), tuple(imports), tuple(tolerated))


@dataclass(frozen=True)
class Build:
    """One build under way: it runs processes that inherit the lock and whose output goes to the log."""

    name: str
    path: Path
    requirements: Requirements
    log: IO[str]
    lock: IO[str]
    report: Callable[[str], None]

    def run(self, *command: str | Path, watch: Watch = lambda line: None) -> tuple[int, list[str]]:
        """Run a command; return its exit code and its output, line by line."""
        self.log.write(f"$ {shlex.join(map(str, command))}\n")
        with (
            scratch_folder("build") as home,
            subprocess.Popen(
                command,
                env={**os.environ, "KERAS_HOME": str(home)},  # a user's keras.json must not decide an import test
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # not the log: a child that outlives us dies of the broken pipe
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                pass_fds=[self.lock.fileno()],
            ) as process,
        ):
            assert process.stdout is not None
            lines = []
            with ExitStack() as undo:
                undo.callback(process.kill)
                for line in process.stdout:
                    self.log.write(line)
                    self.log.flush()
                    lines.append(line.rstrip())
                    watch(line)
                undo.pop_all()
        return process.returncode, lines

    def python(self, *arguments: str, watch: Watch = lambda line: None) -> tuple[int, list[str]]:
        """Run the environment's own Python, isolated from PYTHON* variables and the user's packages."""
        return self.run(self.path / "bin" / "python", "-I", "-u", *arguments, watch=watch)

    def failure(self, what: str, lines: Sequence[str]) -> EnvironmentFailure:
        """Return the error that shows the end of an output, and where the rest is."""
        if any("No space left on device" in line for line in lines):
            what = f"{what}: {disk_full(self.path.parent)}"
        tail = [line[:200] for line in lines if line.strip()][-6:]
        message = [f"{self.name}: {what}", *tail, f"full log: {self.log.name}"]
        return EnvironmentFailure("\n    ".join(message))


def install(build: Build) -> dict[str, str]:
    """Make the venv, install the pins, check the result; return the version of every package in it."""
    requirements = build.requirements
    build.report("creating the venv")
    _make_venv(build)
    _pip_install(build, requirements.pins)
    _pip_install(build, requirements.pins_without_dependencies, "--no-deps")
    build.report("checking dependencies")
    _check_dependencies(build)
    packages = _list_packages(build)
    wrong = broken_pins([*requirements.pins, *requirements.pins_without_dependencies], packages)
    if wrong:
        raise build.failure("what is installed is not what is pinned", wrong)
    for modules in requirements.imports:
        build.report(f"checking import {' '.join(modules)}")
        code, lines = build.python("-c", f"import {', '.join(modules)}")
        if code:
            raise build.failure(f"import {', '.join(modules)} failed with exit code {code}", lines)
    return packages


def _make_venv(build: Build) -> None:
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise EnvironmentFailure(
                f"{build.name}: expected a Python with venv and ensurepip; received {sys.executable}"
                f" without {module}. On Debian and Ubuntu: apt-get install python3-venv"
            )
    code, lines = build.run(sys.executable, "-I", "-m", "venv", build.path)
    if code:
        raise build.failure(f"python -m venv failed with exit code {code}", lines)


def _pip_install(build: Build, pins: Sequence[str], *options: str) -> None:
    def watch(line: str) -> None:
        first, *rest = line.split() or [""]
        if first in ("Collecting", "Processing") and rest:
            build.report(f"collecting {Path(rest[0]).name}")
        elif line.startswith("Installing collected packages:"):
            build.report(f"installing {line.count(',') + 1} packages")

    if pins:
        flags = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off", *options)
        code, lines = build.python("-m", "pip", "install", *flags, *pins, watch=watch)
        if code:
            raise build.failure(f"pip install failed with exit code {code}", lines)


def _check_dependencies(build: Build) -> None:
    code, lines = build.python("-m", "pip", "check", "--disable-pip-version-check")
    complaints = [line for line in lines if " requires " in line or " has requirement " in line]
    refused = [line for line in complaints if not is_tolerated(line, build.requirements.tolerated)]
    if refused or (code and not complaints):
        raise build.failure("pip check complains", refused or lines)


def is_tolerated(complaint: str, tolerated: Sequence[str]) -> bool:
    """Say whether a line of `pip check` ("tf-keras 2.21.0 requires tensorflow, ...") is declared harmless."""
    name, _version, *rest = complaint.replace(",", " ").split()
    words = [name, *rest]
    return any(words[: len(line.split())] == line.split() for line in tolerated)


def _list_packages(build: Build) -> dict[str, str]:
    script = (
        "import json, importlib.metadata as metadata;"
        "print(json.dumps({d.metadata['Name']: d.version for d in metadata.distributions()}, sort_keys=True))"
    )
    code, lines = build.python("-c", script)
    if code:
        raise build.failure("cannot list what is installed", lines)
    packages: dict[str, str] = json.loads(lines[-1])
    return packages


def broken_pins(pins: Sequence[str], packages: dict[str, str]) -> list[str]:
    """Return a line for each pin that is not met: a second pip command can silently break those of the first.

    A pin without a local part is met by any: 2.13.0 by 2.13.0+cpu.
    """
    installed = {_canonical(name): version for name, version in packages.items()}
    wrong = []
    for pin in pins:
        name, _, expected = pin.partition("==")
        received = installed.get(_canonical(name), "nothing")
        if expected not in (received, received.partition("+")[0]):
            wrong.append(f"expected {pin}; received {received}")
    return wrong


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def disk_full(folder: Path) -> str:
    """Say that the disk is full, and how much is left."""
    return f"the disk is full ({shutil.disk_usage(folder).free // 2**20} MiB free in {folder})"
