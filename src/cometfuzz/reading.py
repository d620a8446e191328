"""Reads a file that somebody else named: a regular one, of bounded size, without ever waiting for it."""

import os
import stat
from pathlib import Path

from cometfuzz.errors import CometfuzzError

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def read_regular(path: Path, limit: int, error: type[CometfuzzError] = CometfuzzError) -> bytes:
    """The bytes of a regular file; what is not one, or holds more than `limit` bytes, is one error of this class.

    Opened without blocking, because a pipe that nobody writes to would never open. The kind is asked of what is open,
    so nobody can put something else in its place; a file may still grow, or claim no size, so the limit holds for what
    is read as well.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
                raise error(f"{path}: expected a regular file; received {kind}")
            data = _read(descriptor, limit) if status.st_size <= limit else None
        finally:
            os.close(descriptor)
    except OSError as failure:
        raise error(f"{path}: {failure.strerror or failure}") from None
    except ValueError as failure:  # a path with a null byte
        raise error(f"{str(path)!r}: {failure}") from None
    if data is None:
        raise error(f"{path}: expected a file of at most {limit} bytes; received more")
    return data


def _read(descriptor: int, limit: int) -> bytes | None:
    """All bytes, or None if there are more than `limit`."""
    parts, size = [], 0
    while part := os.read(descriptor, min(2**24, limit + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > limit:
            return None
    return b"".join(parts)
