"""Folders for a while: all that a process needs of them are in one, `cometfuzz-PID-...` in the system's temp folder.

It is locked as long as its process lives. When a process makes its own, it removes those that nobody holds any more: a
number of a process may be somebody else's by now, a lock cannot. Standard library only.
"""

import atexit
import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

_OURS = re.compile(r"cometfuzz-[0-9]+-[a-z0-9_]+")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@contextlib.contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """A folder that is gone afterwards; `kind` says in its name what it is for. OSError if there can be none."""
    place = _SCRATCH.place()
    with tempfile.TemporaryDirectory(prefix=f"{kind}-", dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def clear_dead(folder: Path) -> None:
    """Remove what processes of ours that are no more have left in the system's temp folder."""
    for entry in os.scandir(folder):
        if not _OURS.fullmatch(entry.name):
            continue
        with contextlib.suppress(OSError), _opened(entry.path) as descriptor:
            if os.fstat(descriptor).st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry.path, ignore_errors=True)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    descriptor = os.open(path, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Scratch:
    """The folder of this process, made when it is first needed, and removed when Python ends."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._owner = self._descriptor = -1
        self._guard = threading.Lock()

    def place(self) -> str:
        with self._guard:
            if self._path is None or self._owner != os.getpid() or not os.path.isdir(self._path):
                clear_dead(Path(tempfile.gettempdir()))
                while not self._make():
                    pass
                atexit.register(self._remove)
            assert self._path is not None
            return self._path

    def _make(self) -> bool:
        """False if somebody took the folder for a dead one's, before it was locked."""
        path = tempfile.mkdtemp(prefix=f"cometfuzz-{os.getpid()}-")
        try:
            descriptor = os.open(path, _FOLDER)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = os.path.isdir(path)
        except BlockingIOError:
            held = False
        except OSError:  # a file system without locks: there nobody removes what he cannot lock
            held = True
        if not held:
            os.close(descriptor)
            return False
        self._path, self._owner, self._descriptor = path, os.getpid(), descriptor
        return True

    def _remove(self) -> None:
        if self._path is not None and self._owner == os.getpid():
            shutil.rmtree(self._path, ignore_errors=True)


_SCRATCH = _Scratch()
