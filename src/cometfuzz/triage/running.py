"""Runs a script by itself: a clean process that shares nothing with ours but the machine."""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cometfuzz.errors import WorkerFailure
from cometfuzz.execution import children
from cometfuzz.execution.homes import private_home
from cometfuzz.execution.scratch import scratch_folder

MAX_OUTPUT = 20_000
"""How much of what a script prints is kept: the first of stdout, the last of stderr."""

_POLL_S = 0.25
_GIB = 2**30


@dataclass(frozen=True)
class ScriptLimits:
    """What a script may take, its children included."""

    wall_s: float = 300.0
    memory_bytes: int = 10 * _GIB


@dataclass(frozen=True)
class Ran:
    """How a script ended; no exit code if it was killed at a limit, which `note` names."""

    exit_code: int | None
    printed: str
    errors: str
    note: str = ""

    @property
    def output(self) -> str:
        """What a person would want to see: what it printed, and its complaints if it did not end as it should."""
        parts = [self.printed.rstrip()]
        if self.exit_code not in (0, 1) or "seen:" not in self.printed:
            parts += [self.errors[-4000:].rstrip(), self.note]
        return "\n".join(part for part in parts if part)


def run_script(
    text: str,
    python: Path,
    limits: ScriptLimits | None = None,
    stopped: Callable[[], bool] = lambda: False,
    overlay: Path | None = None,
) -> Ran:
    """Run a script with some interpreter, isolated, in a folder of its own, with a user's bare environment variables.

    Nothing of ours gets in: no path, no setting, no home. Its process group is killed whatever happens, and as soon as
    it is `stopped`. overlay: a folder of packages that go before those of the interpreter, also in its children.
    """
    limits = limits or ScriptLimits()
    with scratch_folder("script") as folder:
        path = folder / "reproduce.py"
        path.write_text(text, encoding="utf-8")
        try:
            process = children.start(
                [str(python), *(("-I",) if overlay is None else ("-P", "-s")), str(path)],
                cwd=folder,
                env={**bare_environment(folder), **({} if overlay is None else {"PYTHONPATH": str(overlay)})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise WorkerFailure(f"cannot start {python}: {error.strerror}; `cometfuzz env list` says more") from None
        with process:
            try:
                return _follow(process, limits, {str(folder): "/tmp", str(python.parents[1]): "/venv"}, stopped)
            finally:
                children.end(process)


def bare_environment(home: Path) -> dict[str, str]:
    """A user's bare environment variables."""
    return {"PATH": os.environ.get("PATH", os.defpath), **private_home(home), "LANG": "C.UTF-8"}


def _follow(
    process: "subprocess.Popen[bytes]", limits: ScriptLimits, places: Mapping[str, str], stopped: Callable[[], bool]
) -> Ran:
    """Take in what it prints until it ends or is beyond a limit; `places` of this machine are called otherwise."""
    deadline = time.monotonic() + limits.wall_s
    printed, errors, note = bytearray(), bytearray(), ""
    assert process.stdout is not None
    assert process.stderr is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, printed)
        selector.register(process.stderr, selectors.EVENT_READ, errors)
        while process.poll() is None and not note:
            _take(selector)
            if time.monotonic() > deadline:
                note = f"killed after {limits.wall_s:g} s"
            elif resident_bytes(process.pid) > limits.memory_bytes:
                note = f"killed at {limits.memory_bytes / _GIB:.1f} GiB"
            elif stopped():
                note = "stopped"
        if note:
            children.kill(process)
            process.wait()
        while _take(selector, wait_s=0.0):
            pass
    return Ran(None if note else process.returncode, _text(printed, places), _text(errors, places), note)


def _take(selector: selectors.BaseSelector, wait_s: float = _POLL_S) -> bool:
    """Read once from what is ready; False if nothing was."""
    taken = False
    for key, _ in selector.select(wait_s):
        part = os.read(key.fd, 2**16)
        if not part:
            selector.unregister(key.fileobj)
            continue
        taken = True
        room = key.data
        room += part
        if len(room) > 2 * MAX_OUTPUT:
            del room[MAX_OUTPUT:-MAX_OUTPUT]
    if not selector.get_map() and wait_s:
        time.sleep(wait_s)
    return taken


def _text(raw: bytearray, places: Mapping[str, str]) -> str:
    text = raw.decode(errors="replace")
    for place, name in places.items():
        text = text.replace(place, name)
    return text


def resident_bytes(pid: int) -> int:
    """The resident memory of a process and its children."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            total += resident_bytes(int(child))
    return total
