"""A temp folder on a file system of its own, one MiB large, for a child alone: it can really be full.

The child's interpreter is a script that mounts a tmpfs over $TMPDIR in a mount namespace of its own and then becomes
the real one, with the same process id. The mount ends with the last process of the namespace; nobody else ever sees it.
"""

import shlex
import subprocess
from pathlib import Path

import pytest

_MOUNT = 'mount -t tmpfs -o size=1m tmpfs "$TMPDIR"'
_WAYS = ["unshare --mount", "unshare --user --map-root-user --mount"]


def python_on_a_small_disk(python: Path, folder: Path) -> Path:
    """A script in `folder` that is the interpreter `python` with a small temp folder; skips where nobody may mount."""
    way = next((way for way in _WAYS if _works(way, folder)), None)
    if way is None:
        pytest.skip("neither root nor a user may mount a tmpfs in a namespace of its own here (unshare --user --mount)")
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec {way} sh -c \'{_MOUNT} && exec "$0" "$@"\' {shlex.quote(str(python))} "$@"\n')
    script.chmod(0o700)
    return script


def mounts() -> str:
    """What is mounted for this process."""
    return Path("/proc/self/mounts").read_text()


def _works(way: str, folder: Path) -> bool:
    try:
        return (
            subprocess.run(
                [*way.split(), "sh", "-c", _MOUNT],
                env={"TMPDIR": str(folder), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
                capture_output=True,
            ).returncode
            == 0
        )
    except FileNotFoundError:
        return False
