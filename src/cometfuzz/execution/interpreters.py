"""Interpreters that are not of our making: those that environments are built with, and a user's own.

Standard library only, like `environments`. Nothing here writes to an interpreter or removes one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.places import Place

OLDEST, OLDEST_NUMPY = (3, 9), (1, 20)
"""What child code runs on."""

OBSERVED = (3, 11)
"""The Python whose bytecode the observer of branches knows."""

PLACES = "COMETFUZZ_PYTHONS"
"""A variable: interpreters, or folders with some, with colons between them. They are looked at first."""

_LIMIT_S = 120.0
_LARGEST = 2**20
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROBE = """
import json, sys
found = {"version": list(sys.version_info[:3]), "packages": {}, "numpy": "", "error": ""}
try:
    from importlib import metadata
    found["packages"] = {str(each.metadata["Name"]): str(each.version) for each in metadata.distributions()}
    import numpy
    found["numpy"] = numpy.__version__
except Exception as error:
    found["error"] = "%s: %s" % (type(error).__name__, error)
print("\\n" + json.dumps(found))
"""


@dataclass(frozen=True)
class Interpreter:
    """What an interpreter says of itself; `error`: why numpy cannot be imported."""

    python: Path
    version: tuple[int, ...]
    packages: Mapping[str, str]
    numpy: str
    error: str = ""

    @property
    def shown_version(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def obstacles(self) -> list[str]:
        """What it lacks to serve as a child at all."""
        if self.version < OLDEST:
            return [f"expected Python {_dotted(OLDEST)} or newer; received Python {self.shown_version}"]
        if not self.numpy:
            return [f"expected numpy; received {self.error}"]
        if _numbers(self.numpy) < OLDEST_NUMPY:
            return [f"expected numpy {_dotted(OLDEST_NUMPY)} or newer; received numpy {self.numpy}"]
        return []

    @property
    def lacks(self) -> list[str]:
        """What is not to be had in it, obstacles first."""
        found = self.obstacles
        if not any(name.lower().replace("_", "-") == "ml-dtypes" for name in self.packages):
            found.append("no ml_dtypes: models with bfloat16 fail there")
        return found


@dataclass(frozen=True)
class Own:
    """An interpreter of the user's own, and variables for whatever runs in it (a device, say)."""

    python: Path
    environ: Mapping[str, str] = field(default_factory=dict)


def unobserved(version: tuple[int, ...]) -> str:
    """Why no branches are observed in a child of that Python; nothing if they are."""
    if version[:2] == OBSERVED:
        return ""
    return f"branches are not observed on Python {_dotted(version[:2])}, only on {_dotted(OBSERVED)}"


def examine_own(own: Own) -> Interpreter:
    """What a user's interpreter has, with its variables set."""
    return probe(own.python, tuple(sorted(own.environ.items())))


@cache
def probe(python: Path, environ: tuple[tuple[str, str], ...] = ()) -> Interpreter:
    """Ask an interpreter what it has, isolated from PYTHON* variables and the user's packages."""
    try:
        ran = subprocess.run(
            [str(python), "-I", "-c", _PROBE],
            env={**os.environ, **dict(environ)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise EnvironmentFailure(f"expected an interpreter of Python; received {python}: {why}") from None
    try:
        found = json.loads(ran.stdout.splitlines()[-1])
        version = tuple(map(int, found["version"]))
        return Interpreter(python, version, found["packages"], found["numpy"], found["error"])
    except (ValueError, IndexError, KeyError, TypeError):
        said = (ran.stderr or ran.stdout).strip().splitlines()[-1:] or [f"exit code {ran.returncode}"]
        wanted = f"expected an interpreter of Python {_dotted(OLDEST)} or newer"
        raise EnvironmentFailure(f"{wanted}; received {python}, which says {said[0]:.200}") from None


def find_interpreter(version: str) -> Path:
    """An interpreter of that version ("3.9"): ours, of $COMETFUZZ_PYTHONS, on the PATH, or one of pyenv's."""
    for python in _candidates(version):
        try:
            if _dotted(probe(python).version[:2]) == version:
                return python
        except EnvironmentFailure:  # a shim of pyenv's, say, without that version behind it
            continue
    raise EnvironmentFailure(
        f"expected python{version} on the PATH or among pyenv's versions; received none. Install it (`pyenv install "
        f"{version}`, a package of the system), or name the interpreter in {PLACES}"
    )


def _candidates(version: str) -> Iterator[Path]:
    name = f"python{version}"
    if _dotted(sys.version_info[:2]) == version:
        yield Path(sys.executable)
    for place in filter(None, os.environ.get(PLACES, "").split(os.pathsep)):
        named = Path(place).expanduser()
        yield from [named / name, named / "bin" / name] if named.is_dir() else [named]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [shutil.which(name), *sorted(pyenv.glob(f"{version}*/bin/{name}"), reverse=True)]
    yield from (Path(each).absolute() for each in found if each is not None and os.access(each, os.X_OK))


def own_interpreter(python: str, environ: Mapping[str, str]) -> Own:
    """An interpreter as a user names it: a path, perhaps with ~, or a command on the PATH. It need not be there."""
    named = python if os.sep in python else shutil.which(python) or python
    path = Path(named).expanduser().absolute()  # not resolved: a venv is the place of its link
    for name in environ:
        if not _VARIABLE.fullmatch(name) or "\0" in environ[name]:
            raise EnvironmentFailure(f"expected variables as NAME=VALUE; received {name}={environ[name]!r}")
    return Own(path, dict(environ))


def read_own(file: Path) -> dict[str, Own]:
    """The interpreters that a file records; none if there is no such file."""
    place = Place(file.parent)
    try:
        plain = json.loads(place.read(file.name, _LARGEST)) if place.kind(file.name) else {}
        return {str(name): _own(entry) for name, entry in plain.items()}
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise EnvironmentFailure(
            f"{file}: expected interpreters as `cometfuzz env add` records them; received {error}: mend or remove it"
        ) from None


def _own(entry: Mapping[str, Any]) -> Own:
    return own_interpreter(str(entry["python"]), {str(name): str(value) for name, value in entry["environ"].items()})


def write_own(file: Path, own: Mapping[str, Own]) -> None:
    """Record interpreters, in place of what was recorded."""
    plain = {name: {"python": str(each.python), "environ": dict(each.environ)} for name, each in own.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    Place(file.parent).write(file.name, (json.dumps(plain, indent=2) + "\n").encode(), durable=True)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
