"""Python environments: one requirement file each, built once, cached outside the checkout.

Standard library only, because it runs under a bare Python before anything is installed:

    PYTHONPATH=src python3 -m cometfuzz.execution.environments create tool

An environment is trusted only if it holds a valid `complete.json`. That marker is written last, after all
checks. The build happens at the final path (scripts in a venv hold absolute paths) under a lock, so a build
that is killed at any instant leaves only what the next one clears away. The processes of a build inherit the
lock: if the builder alone is killed, the next one waits for its orphans to end instead of sharing the folder
with them.
"""

import argparse
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import sys
import sysconfig
import threading
import time
import tomllib
import venv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import cometfuzz
from cometfuzz.errors import CometfuzzError, EnvironmentFailure, UnknownName
from cometfuzz.execution.installation import Build, disk_full, install, parse
from cometfuzz.places import Place

FORMAT = 1  # raise it when what older code has built must not be trusted any more
MARKER = "complete.json"
LINK_SCRIPTS = {
    "cometfuzz": ["-m", "cometfuzz"],
    "lint-imports": ["-c", "from importlinter.cli import lint_imports_command as main; main()"],
    "mypy": ["-m", "mypy"],
    "pytest": ["-m", "pytest"],
}

Report = Callable[[str, str], None]  # takes a name and what it is at; the first word of that is the phase
Install = Callable[[Build], dict[str, str]]  # fills the folder; returns the versions of the packages in it


@dataclass(frozen=True)
class Environment:
    """One environment: where it is or would be, and whether it can be used as it stands."""

    name: str
    path: Path
    python: Path
    requirement_file: Path
    digest: str
    ready: bool

    @property
    def marker(self) -> dict[str, Any]:
        """What was installed and when; empty if there is no valid marker."""
        return _read_marker(self.path, self.digest)

    @property
    def state(self) -> str:
        """One of ready, building, broken, missing."""
        if self.ready:
            return "ready"
        if not self.path.exists():
            return "missing"
        with open(_beside(self.path, "lock"), "a") as lock:
            return "broken" if _try_lock(lock) else "building"


def requirement_folder() -> Path:
    """Return the folder of requirement files: $COMETFUZZ_ENVIRONMENTS, or `environments/` above this file."""
    override = os.environ.get("COMETFUZZ_ENVIRONMENTS")
    if override:
        return Path(override).absolute()
    for parent in Path(__file__).resolve().parents:
        if (parent / "environments").is_dir():
            return parent / "environments"
    raise EnvironmentFailure(f"expected a folder environments/ above {__file__}; set COMETFUZZ_ENVIRONMENTS")


def cache_folder() -> Path:
    """Return where environments live: $COMETFUZZ_CACHE, $XDG_CACHE_HOME/cometfuzz or ~/.cache/cometfuzz."""
    own, shared = os.environ.get("COMETFUZZ_CACHE"), os.environ.get("XDG_CACHE_HOME")
    folder = Path(own) if own else Path(shared or Path.home() / ".cache") / "cometfuzz"
    return folder.absolute() / "environments"


def known_names() -> list[str]:
    """Return the names of all environments: those of the requirement files."""
    return sorted(file.stem for file in requirement_folder().glob("*.txt"))


def default_names() -> list[str]:
    """Return the names of the environments that set-up builds: not those whose file says `# on demand`."""
    folder = requirement_folder()
    return [name for name in known_names() if "\n# on demand" not in (folder / f"{name}.txt").read_text("utf-8")]


def known() -> list[Environment]:
    """Return all environments, built or not."""
    return [find(name) for name in known_names()]


def find(name: str) -> Environment:
    """Return the environment of that name, built or not."""
    return _find(name)[0]


def _find(name: str) -> tuple[Environment, str]:
    """Return the environment and the text that it is keyed by, read once so that the two belong together."""
    if name not in known_names():
        raise UnknownName(f"expected an environment: {', '.join(known_names())}; received name={name!r}")
    file = requirement_folder() / f"{name}.txt"
    text = file.read_text(encoding="utf-8")
    key = [str(FORMAT), sysconfig.get_python_version(), sysconfig.get_platform(), text]
    digest = hashlib.sha256("\0".join(key).encode()).hexdigest()[:16]
    path = cache_folder() / f"{name}-{digest}"
    return Environment(name, path, path / "bin" / "python", file, digest, _is_ready(path, digest)), text


def _is_ready(path: Path, digest: str) -> bool:
    return bool(_read_marker(path, digest)) and os.access(path / "bin" / "python", os.X_OK)


def _read_marker(path: Path, digest: str) -> dict[str, Any]:
    try:
        marker = json.loads((path / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) and marker.get("digest") == digest else {}


def quiet(name: str, text: str) -> None:
    """Report nothing."""


def create(name: str, *, report: Report = quiet, install: Install = install) -> Environment:
    """Return the environment, built if it is not ready; many processes may call this at once."""
    environment, text = _find(name)
    path = environment.path
    if not environment.ready:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(path, lambda phase: report(name, phase)) as lock:
                if not _is_ready(path, environment.digest):
                    _build(environment, text, lock, report, install)
        except OSError as error:
            full = error.errno == errno.ENOSPC
            raise EnvironmentFailure(f"{name}: {disk_full(path.parent) if full else error}") from error
    report(name, f"ready at {path}")
    return find(name)


def _build(environment: Environment, text: str, lock: IO[str], report: Report, install: Install) -> None:
    name, path, started_s = environment.name, environment.path, time.monotonic()
    try:
        requirements = parse(text)
    except EnvironmentFailure as error:
        raise EnvironmentFailure(f"{environment.requirement_file}: {error}") from None
    if path.exists():
        report(name, "removing an incomplete build")
        (path / MARKER).unlink(missing_ok=True)  # first: a removal that is killed must leave nothing to trust
        shutil.rmtree(path)
    with open(_beside(path, "log"), "w", encoding="utf-8") as log, contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, path, ignore_errors=True)
        packages = install(Build(name, path, requirements, log, lock, lambda phase: report(name, phase)))
        undo.pop_all()
    record = {
        "name": name,
        "digest": environment.digest,
        "python": sys.version.split()[0],
        "built_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "built_in_s": round(time.monotonic() - started_s, 1),
        "size_bytes": sum(file.lstat().st_size for file in path.rglob("*")),
        "packages": packages,
    }
    _write(path / MARKER, json.dumps(record, indent=2) + "\n")


def create_all(names: Sequence[str], *, report: Report = quiet) -> list[Environment]:
    """Create several environments at once; if one fails, the others are finished before that is raised."""
    environments = {name: find(name) for name in names}
    failures: list[str] = []

    def work(name: str) -> None:
        try:
            environments[name] = create(name, report=report)
        except CometfuzzError as error:
            report(name, "failed")
            failures.append(str(error))

    # Daemons: when the user interrupts, the process ends at once and its children die of their broken pipes.
    threads = [threading.Thread(target=work, args=[name], daemon=True) for name in environments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise EnvironmentFailure("\n".join(failures))
    return list(environments.values())


def link(*, report: Report = quiet) -> Path:
    """Make the checkout's `.venv`: a bare venv that sees the cached tool environment and `src`.

    It costs a fraction of a second, and is redone when the tool environment changed or the checkout moved.
    """
    tool = find("tool")
    if not tool.ready:
        tool = create("tool", report=report)
    checkout = Path(__file__).resolve().parents[3]
    if not (checkout / "pyproject.toml").is_file():
        raise EnvironmentFailure(f"expected a checkout with pyproject.toml; received {checkout}")
    path = checkout / ".venv"
    marker = path / MARKER
    record = json.dumps({"format": FORMAT, "tool": str(tool.path), "path": str(path)})
    with _locked(path):
        linked = marker.is_file() and marker.read_text(encoding="utf-8") == record
        if not linked or not os.access(path / "bin" / "python", os.X_OK):
            marker.unlink(missing_ok=True)
            venv.EnvBuilder(clear=True, symlinks=True, with_pip=False).create(path)
            _fill_link(path, [_site_packages(tool.path), checkout / "src"])
            # `python -m ruff` looks for its binary here first.
            (path / "bin" / "ruff").symlink_to(tool.path / "bin" / "ruff")
            _write(marker, record)
        _write_metadata(_site_packages(path), checkout / "pyproject.toml")
    report(".venv", f"ready at {path}")
    return path


def _fill_link(path: Path, folders: Sequence[Path]) -> None:
    _write(_site_packages(path) / "cometfuzz.pth", "".join(f"{folder}\n" for folder in folders))
    for name, arguments in LINK_SCRIPTS.items():
        # sh, not a #! line that names the interpreter: that breaks on long paths and on spaces.
        command = shlex.join([str(path / "bin" / "python"), "-P", *arguments])
        _write(path / "bin" / name, f'#!/bin/sh\nexec {command} "$@"\n', executable=True)


def _write_metadata(folder: Path, project: Path) -> None:
    """Make the checkout look installed, so that its entry points are found as those of any package are."""
    metadata = folder / f"cometfuzz-{cometfuzz.__version__}.dist-info"
    metadata.mkdir(exist_ok=True)
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("entry-points", {})
    lines = []
    for group, points in declared.items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items()), ""]
    _write(metadata / "entry_points.txt", "\n".join(lines))
    _write(metadata / "METADATA", f"Metadata-Version: 2.1\nName: cometfuzz\nVersion: {cometfuzz.__version__}\n")


def _site_packages(path: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", vars={"base": str(path)}))


def _write(path: Path, text: str, *, executable: bool = False) -> None:
    """Write a file that is there as a whole or not at all, also after a power cut."""
    Place(path.parent).write(path.name, text.encode(), durable=True)
    if executable:
        path.chmod(0o755)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")


def _try_lock(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _locked(path: Path, say: Callable[[str], None] = lambda phase: None) -> Iterator[IO[str]]:
    """Hold the lock beside `path`. Lock files stay: removing one would let two processes hold it."""
    with open(_beside(path, "lock"), "a") as lock:
        if not _try_lock(lock):
            say("waiting for another process that builds it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


class Progress:
    """Shows on stderr what each environment is at: live on a terminal, else a line for each new phase."""

    def __init__(self) -> None:
        self._at: dict[str, str] = {}
        self._guard = threading.Lock()
        self._live = sys.stderr.isatty()

    def __call__(self, name: str, text: str) -> None:
        with self._guard:
            before, self._at[name] = self._at.get(name, ""), text
            phase_is_new = text.split()[0] != before.partition(" ")[0]
            ended = text.startswith(("ready", "failed"))
            if ended:
                del self._at[name]
            if self._live:
                sys.stderr.write("\r\x1b[K")
            if ended or (phase_is_new and not self._live):
                sys.stderr.write(f"{name}: {text}\n")
            if self._live:
                line = "   ".join(f"{name}: {at}" for name, at in self._at.items())
                sys.stderr.write(line[: shutil.get_terminal_size().columns - 1])
            sys.stderr.flush()


def main() -> int:
    """Run the two commands that must work before anything is installed."""
    parser = argparse.ArgumentParser(prog="python3 -m cometfuzz.execution.environments")
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
