"""Children that die with us, with all that they have started, however we end.

A child cannot be trusted to notice that we are gone: it may be stopped, or hang with its interpreter's lock. (Nor can
the kernel's PR_SET_PDEATHSIG: it means the thread that has started the child, and knows no grandchildren.) So there is
a guardian, one for all our children: it has the other end of a pipe that ends when we do, and kills what is left.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from cometfuzz.execution import guardian


def start(command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Start a child in a process group of its own, which `end` or our own end will kill. OSError if it cannot be."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        _GUARDIAN.tell("+", process.pid)
    except (OSError, KeyboardInterrupt):
        kill(process)
        process.wait()
        raise
    return process


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a child with its group; any thread and any signal handler may."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a child with its group, and wait for it."""
    kill(process)
    _GUARDIAN.tell("-", process.pid)  # before it is waited for: from then on the number may be somebody else's
    process.wait()


class _Guardian:
    """Our end of the pipe. A guardian that somebody has killed is replaced when it is next needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()
        self._lock = threading.Lock()

    def tell(self, sign: str, group: int) -> None:
        with self._lock:
            change = self._groups.add if sign == "+" else self._groups.discard
            change(group)
            try:
                self._write(f"{sign}{group}\n")
            except BrokenPipeError:
                self._dismiss()
                self._write("".join(f"+{each}\n" for each in self._groups))

    def _write(self, text: str) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", guardian.__file__],
                cwd="/",
                env={},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            atexit.register(self.close)
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()

    def close(self) -> None:
        """Let the guardian end, which kills what is left."""
        with self._lock:
            self._dismiss()

    def _dismiss(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            atexit.unregister(self.close)
            with contextlib.suppress(BrokenPipeError), process:
                pass


_GUARDIAN = _Guardian()
