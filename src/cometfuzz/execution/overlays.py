"""Overlays: one package of another release over an environment, which stays as it is.

A whole environment is gigabytes and minutes; a package without what it depends on is a folder that comes first on the
path of a script. Folders are kept beside the environments, one for each environment, package and release.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution.environments import Environment

PACKAGE = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?")
_PRERELEASE = re.compile(r"\d(a|b|rc|\.?dev)\d", re.IGNORECASE)
_FLAGS = ("--no-input", "--disable-pip-version-check")


@dataclass(frozen=True)
class Overlays:
    """The overlays of one package on an environment."""

    environment: Environment
    package: str

    def __post_init__(self) -> None:
        if not PACKAGE.fullmatch(self.package):
            raise EnvironmentFailure(f"expected the name of a package; received package={self.package!r}")

    @property
    def root(self) -> Path:
        """Where they are, and what was learned with them."""
        return self.environment.path.parent / "overlays" / self.environment.path.name

    def releases(self, prereleases: bool = False) -> list[str]:
        """The releases that the user's package index has for the environment's Python, the oldest first."""
        options = ["--pre"] if prereleases else []
        code, printed = self._pip("index", "versions", *options, self.package)
        found = re.search(r"^Available versions:(.*)$", printed, re.MULTILINE)
        if code or found is None:
            raise EnvironmentFailure(
                f"{self.package}: expected releases in the package index; received {_end(printed)} "
                "(is its name right, and may pip reach the index?)"
            )
        names = [name.strip() for name in found[1].split(",") if name.strip()]
        wanted = [name for name in names if prereleases or not _PRERELEASE.search(name)]
        return wanted[::-1]

    def folder(self, release: str) -> Path:
        """The folder with a release, installed if it is not there; EnvironmentFailure if it cannot be installed."""
        path = self.root / f"{self.package}-{release}"
        if path.is_dir():
            return path
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            target = ("--no-deps", "--no-compile", "--progress-bar", "off", "--target", str(draft))
            code, printed = self._pip("install", *target, f"{self.package}=={release}")
            if code:
                raise EnvironmentFailure(f"{self.package} {release}: pip install failed: {_end(printed)}")
            if not path.is_dir():  # another process may have been faster
                draft.rename(path)
        except OSError as error:
            if not path.is_dir():
                raise EnvironmentFailure(f"{path}: {error.strerror}") from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return path

    def _pip(self, command: str, *arguments: str) -> tuple[int, str]:
        """Run the environment's pip, which goes by the user's own settings of it; its exit code and what it printed."""
        words: Sequence[str] = [str(self.environment.python), "-I", "-m", "pip", command, *_FLAGS[1:], *arguments]
        if command == "install":
            words = [*words, _FLAGS[0]]
        try:
            ran = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
            )
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot start {self.environment.python}: {error.strerror}; `cometfuzz env list` says more"
            ) from None
        return ran.returncode, f"{ran.stdout}\n{ran.stderr}"


def _end(printed: str) -> str:
    """The last line of what pip said that is an error, else its last line."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["nothing"])[-1][:300]
