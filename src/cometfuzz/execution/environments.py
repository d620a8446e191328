"""Python environments: one requirement file each, built once, cached outside the checkout.

Standard library only, because it runs under a bare Python before anything is installed (see `checkout`).

An environment is trusted only if it holds a valid `complete.json`. That marker is written last, after all
checks. The build happens at the final path (scripts in a venv hold absolute paths) under a lock, so a build
that is killed at any instant leaves only what the next one clears away. The processes of a build inherit the
lock: if the builder alone is killed, the next one waits for its orphans to end instead of sharing the folder
with them.

An environment may also be an interpreter of the user's own, recorded beside the cache (`add`) or named in a
configuration (`declare`). It is used as it is: never built, changed or removed.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

import cometfuzz
from cometfuzz.errors import CometfuzzError, EnvironmentFailure, UnknownName, near
from cometfuzz.execution import interpreters
from cometfuzz.execution.installation import Build, disk_full, install, local_files, parse, wanted_python
from cometfuzz.execution.interpreters import Own
from cometfuzz.places import Place

FORMAT = 1  # raise it when what older code has built must not be trusted any more
MARKER = "complete.json"
OWN = "interpreters.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
OF_CHECKOUT = ("tool", "docs")
"""Environments in which only a checkout is worked on; an installed package is its own tool."""

Report = Callable[[str, str], None]  # takes a name and what it is at; the first word of that is the phase
Install = Callable[[Build], dict[str, str]]  # fills the folder; returns the versions of the packages in it


@dataclass(frozen=True)
class Environment:
    """One environment: where it is or would be, and whether it can be used as it stands.

    One that is a user's own interpreter has no requirement file, and may have variables for what runs in it.
    """

    name: str
    path: Path
    python: Path
    requirement_file: Path | None
    digest: str
    ready: bool
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def own(self) -> Own | None:
        """The user's interpreter, if it is one."""
        return Own(self.python, self.environ) if self.requirement_file is None else None

    @property
    def marker(self) -> dict[str, Any]:
        """What was installed and when; empty if there is no valid marker, as in what is not of our making."""
        return _read_marker(self.path, self.digest)

    @property
    def packages(self) -> Mapping[str, str]:
        """What is installed, with versions; empty if it is not ready."""
        if self.own is not None:
            return interpreters.examine_own(self.own).packages if self.ready else {}
        packages: dict[str, str] = self.marker.get("packages", {})
        return packages

    @property
    def python_version(self) -> tuple[int, ...]:
        """The version of its Python, at least the first two numbers of it; that of ours if nobody knows better."""
        if self.own is not None:
            return interpreters.examine_own(self.own).version if self.ready else ()
        text = "" if self.requirement_file is None else self.requirement_file.read_text(encoding="utf-8")
        return tuple(map(int, (wanted_python(text) or sysconfig.get_python_version()).split(".")))

    @property
    def state(self) -> str:
        """One of ready, building, broken, missing."""
        if self.ready:
            return "ready"
        if not (self.path if self.own is None else self.python).exists():
            return "missing"
        if self.own is not None:
            return "broken"
        with open(_beside(self.path, "lock"), "a") as lock:
            return "broken" if _try_lock(lock) else "building"


def requirement_folder() -> Path:
    """Return the folder of requirement files: $COMETFUZZ_ENVIRONMENTS, or `environments/` above this file."""
    override = os.environ.get("COMETFUZZ_ENVIRONMENTS")
    return Path(override).absolute() if override else _folder_above()


@cache
def _folder_above() -> Path:
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
    """Return the names of all environments: those of the requirement files, then the user's own."""
    built = built_names()
    return [*built, *(name for name in sorted(own()) if name not in built)]


def built_names() -> list[str]:
    """Return the names of the environments that we build: those of the requirement files."""
    names = sorted(file.stem for file in requirement_folder().glob("*.txt"))
    return [name for name in names if name not in OF_CHECKOUT] if is_installed() else names


def is_installed() -> bool:
    """Whether we run from an installed package: it has its requirement files with it, a checkout beside it."""
    return requirement_folder() == Path(cometfuzz.__file__).resolve().parent / "environments"


def default_names() -> list[str]:
    """Return the names of the environments that set-up builds: not those whose file says `# on demand`."""
    folder = requirement_folder()
    return [name for name in built_names() if "\n# on demand" not in (folder / f"{name}.txt").read_text("utf-8")]


_DECLARED: dict[str, Own] = {}


def declare(declared: Mapping[str, Own]) -> None:
    """Take up the interpreters of a configuration, in place of those of an earlier one."""
    for name in declared:
        _expect_free(name, [*built_names(), *OF_CHECKOUT])
    _DECLARED.clear()
    _DECLARED.update(declared)


def own() -> dict[str, Own]:
    """Return the user's interpreters by name: those that are recorded, and before them those of a configuration.

    The interpreter of an installed package, which has all that the tool needs, is one of them, as `tool`.
    """
    tool = {"tool": Own(Path(sys.executable))} if is_installed() else {}
    return {**interpreters.read_own(_own_file()), **_DECLARED, **tool}


def add(name: str, python: str, environ: Mapping[str, str]) -> Environment:
    """Record a user's interpreter as an environment, if it can be one."""
    recorded = interpreters.read_own(_own_file())
    _expect_free(name, [*built_names(), *OF_CHECKOUT, *recorded])
    one = interpreters.own_interpreter(python, environ)
    if obstacles := interpreters.examine_own(one).obstacles:
        mend = f"; run `{one.python} -m pip install numpy`" if "numpy" in obstacles[0] else ""
        raise EnvironmentFailure(f"{one.python}: {obstacles[0]}{mend}")
    interpreters.write_own(_own_file(), {**recorded, name: one})
    return find(name)


def remove(name: str) -> None:
    """Forget a user's interpreter, which stays where it is."""
    recorded = interpreters.read_own(_own_file())
    if name not in recorded:
        names = ", ".join(sorted(recorded)) or "none yet"
        raise UnknownName(f"expected an interpreter that `cometfuzz env add` has recorded: {names}; received {name=}")
    interpreters.write_own(_own_file(), {each: recorded[each] for each in recorded if each != name})


def _own_file() -> Path:
    return cache_folder().parent / OWN


def _expect_free(name: str, taken: Sequence[str]) -> None:
    if name in taken or not NAME.fullmatch(name):
        raise UnknownName(
            f"expected a new name of letters, digits, dots and dashes, not one of {', '.join(taken)}; received {name=}"
        )


def known() -> list[Environment]:
    """Return all environments, built or not."""
    return [find(name) for name in known_names()]


def find(name: str) -> Environment:
    """Return the environment of that name, built or not."""
    return _find(name)[0]


def _find(name: str) -> tuple[Environment, str]:
    """Return the environment and the text that it is keyed by, read once so that the two belong together."""
    if name not in known_names():
        raise UnknownName(
            f"expected an environment: {', '.join(known_names())}; received name={name!r}{near(name, known_names())}"
        )
    if name not in built_names():
        return _find_own(name, own()[name]), ""
    file = requirement_folder() / f"{name}.txt"
    text = file.read_text(encoding="utf-8")
    key = [str(FORMAT), wanted_python(text) or sysconfig.get_python_version(), sysconfig.get_platform(), text]
    key += [f"{each.stat().st_size} {each.stat().st_mtime_ns}" for each in local_files(text, file.parent)]
    digest = hashlib.sha256("\0".join(key).encode()).hexdigest()[:16]
    path = cache_folder() / f"{name}-{digest}"
    return Environment(name, path, path / "bin" / "python", file, digest, _is_ready(path, digest)), text


def _find_own(name: str, one: Own) -> Environment:
    """Return a user's interpreter as an environment: ready if it answers, with a digest of what it has."""
    key: list[object] = []
    with contextlib.suppress(EnvironmentFailure):
        found = interpreters.examine_own(one)
        key = [str(one.python), found.version, sorted(found.packages.items()), sorted(one.environ.items())]
    digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    return Environment(name, one.python.parent.parent, one.python, None, digest, bool(key), one.environ)


def environ_of(name: str) -> Mapping[str, str]:
    """Return the variables for what runs in an environment; none in one that nobody knows."""
    one = own().get(name)
    return {} if one is None else one.environ


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
    if environment.own is not None:
        raise EnvironmentFailure(
            f"{name}: expected an environment that we build; received your own, {environment.python}"
        )
    if not environment.ready:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with locked(path, lambda phase: report(name, phase)) as lock:
                if not _is_ready(path, environment.digest):
                    _build(environment, text, lock, report, install)
        except OSError as error:
            full = error.errno == errno.ENOSPC
            raise EnvironmentFailure(f"{name}: {disk_full(path.parent) if full else error}") from error
    report(name, f"ready at {path}")
    return find(name)


def _build(environment: Environment, text: str, lock: IO[str], report: Report, install: Install) -> None:
    name, path, started_s = environment.name, environment.path, time.monotonic()
    assert environment.requirement_file is not None
    try:
        requirements = parse(text, environment.requirement_file.parent)
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
        "python": requirements.python or sys.version.split()[0],
        "built_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "built_in_s": round(time.monotonic() - started_s, 1),
        "size_bytes": sum(file.lstat().st_size for file in path.rglob("*")),
        "packages": packages,
    }
    write(path / MARKER, json.dumps(record, indent=2) + "\n")


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


def write(path: Path, text: str, *, executable: bool = False) -> None:
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
def locked(path: Path, say: Callable[[str], None] = lambda phase: None) -> Iterator[IO[str]]:
    """Hold the lock beside `path`. Lock files stay: removing one would let two processes hold it."""
    with open(_beside(path, "lock"), "a") as lock:
        if not _try_lock(lock):
            say("waiting for another process that builds it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
