"""What happens inside a build of an environment: the venv, the pins, and the checks that they hold together.

Standard library only, like `environments`, which decides where and when to build.

A requirement file holds `name==version` lines and four kinds of comment that mean something:

    # imports: onnx onnxruntime                 an import test; each such line is one process
    # tolerate: tf-keras requires tensorflow    a complaint of `pip check` that is known to be harmless
    # without dependencies                      what follows is installed afterwards, with --no-deps
    # python: 3.9                               the Python to build it with, if not ours (see `interpreters`)

A line may also be `name @ URL` or `name @ PATH`, or one of pip's options that say where to look: --index-url,
--extra-index-url, --find-links, --no-index. Paths are those from the file's own folder.
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
from urllib.parse import urlsplit
from urllib.request import url2pathname

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution.interpreters import find_interpreter
from cometfuzz.execution.scratch import scratch_folder

Watch = Callable[[str], None]  # sees each line of a process's output as it comes

PIN = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.!+-]+")
DIRECT = re.compile(r"([A-Za-z0-9][\w.-]*) ?@ ?(\S+)")
OPTION = re.compile(r"(--index-url|--extra-index-url|--find-links)[ =](\S+)|--no-index")
COMMENT = re.compile(r"(?:^|\s)#")
"""As pip has it: in the middle of an address, # begins a fragment."""

PYTHON = re.compile(r"^# python:(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Requirements:
    """A parsed requirement file: what to install in which way, and what to check afterwards."""

    pins: tuple[str, ...]
    pins_without_dependencies: tuple[str, ...]
    imports: tuple[tuple[str, ...], ...]
    tolerated: tuple[str, ...]
    options: tuple[str, ...] = ()
    python: str = ""


def wanted_python(text: str) -> str:
    """The Python that a requirement file asks for ("3.9"); nothing if it takes ours."""
    named = PYTHON.search(text)
    return "" if named is None else named[1].strip()


def local_files(text: str, folder: Path) -> list[Path]:
    """The files on this machine that a requirement file names."""
    addresses = [direct[2] for line in text.splitlines() if (direct := DIRECT.match(line))]
    return [path for address in addresses if (path := _path(address, folder)) is not None and path.is_file()]


def _path(address: str, folder: Path) -> Path | None:
    """Where an address is on this machine; None if it is elsewhere."""
    address = address.partition("#")[0]
    if address.startswith("file://"):
        return Path(url2pathname(urlsplit(address).path))
    return None if "://" in address else folder / Path(address).expanduser()


def parse(text: str, folder: Path = Path()) -> Requirements:
    """Read a requirement file; every requirement must be pinned, so that an environment means one thing.

    `folder`: the file's own, from which it names paths.
    """
    first: list[str] = []
    afterwards: list[str] = []
    options: list[str] = []
    imports: list[tuple[str, ...]] = []
    tolerated: list[str] = []
    pins = first
    for number, line in enumerate(text.splitlines(), 1):
        requirement, *comments = (part.strip() for part in COMMENT.split(line, maxsplit=1))
        comment = "".join(comments)
        if option := OPTION.fullmatch(requirement):
            options += [requirement] if option[1] is None else [option[1], _address(option[2], folder)]
        elif direct := DIRECT.fullmatch(requirement):
            pins.append(f"{direct[1]} @ {_address(direct[2], folder)}")
        elif requirement:
            if not PIN.fullmatch(requirement):
                raise EnvironmentFailure(f"line {number}: expected name==version; received {requirement!r}")
            pins.append(requirement)
        elif comment == "without dependencies":
            pins = afterwards
        elif comment.startswith("imports:"):
            imports.append(tuple(comment.removeprefix("imports:").split()))
        elif comment.startswith("tolerate:"):
            tolerated.append(comment.removeprefix("tolerate:").strip())
    python = wanted_python(text)
    if python and not re.fullmatch(r"3\.\d+", python):
        raise EnvironmentFailure(f"expected a version as in `# python: 3.9`; received python={python!r}")
    return Requirements(tuple(first), tuple(afterwards), tuple(imports), tuple(tolerated), tuple(options), python)


def _address(address: str, folder: Path) -> str:
    """An address as pip takes it from any folder."""
    path = None if "://" in address else _path(address, folder)
    return address if path is None else path.absolute().as_uri()


def name_of(pin: str) -> str:
    """The package that a requirement pins."""
    return re.split(r"==| @ ", pin)[0]


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
    _pip_install(build, requirements.pins, *requirements.options)
    _pip_install(build, requirements.pins_without_dependencies, *requirements.options, "--no-deps")
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
    try:
        other = find_interpreter(build.requirements.python) if build.requirements.python else None
    except EnvironmentFailure as error:
        raise EnvironmentFailure(f"{build.name}: {error}") from None
    for module in ("venv", "ensurepip"):
        if other is None and importlib.util.find_spec(module) is None:
            raise EnvironmentFailure(
                f"{build.name}: expected a Python with venv and ensurepip; received {sys.executable}"
                f" without {module}. On Debian and Ubuntu: apt-get install python3-venv"
            )
    code, lines = build.run(other or sys.executable, "-I", "-m", "venv", build.path)
    if code:
        raise build.failure(f"python -m venv failed with exit code {code}", lines)


def _pip_install(build: Build, pins: Sequence[str], *options: str) -> None:
    seen = 0

    def watch(line: str) -> None:
        nonlocal seen
        first, *rest = line.split() or [""]
        if first in ("Collecting", "Processing") and rest:
            seen = min(seen + 1, len(pins))
            build.report(f"collecting {Path(rest[0]).name} ({seen} of {len(pins)})")
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

    A pin without a local part is met by any: 2.13.0 by 2.13.0+cpu; an address by whatever is there.
    """
    installed = {_canonical(name): version for name, version in packages.items()}
    wrong = []
    for pin in pins:
        expected = "" if DIRECT.fullmatch(pin) else pin.partition("==")[2]
        received = installed.get(_canonical(name_of(pin)), "nothing")
        found = received != "nothing" if not expected else expected in (received, received.partition("+")[0])
        if not found:
            wrong.append(f"expected {pin}; received {received}")
    return wrong


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def disk_full(folder: Path) -> str:
    """Say that the disk is full, and how much is left."""
    return f"the disk is full ({shutil.disk_usage(folder).free // 2**20} MiB free in {folder})"
