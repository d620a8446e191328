"""Temp folders: named after us, and those of dead processes are cleared, nothing else."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cometfuzz.execution.scratch import clear_dead, scratch_folder

PROGRAM = """
import os, sys
from cometfuzz.execution.scratch import scratch_folder
with scratch_folder("worker") as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    if sys.argv[1] == "die":
        os.kill(os.getpid(), 9)
"""


def test_a_folder_carries_our_name_and_is_gone_afterwards() -> None:
    with scratch_folder("worker") as folder:
        (folder / "file").write_text("x")
        assert folder.name.startswith("worker-")
        assert folder.parent.name.startswith(f"cometfuzz-{os.getpid()}-")
    assert not folder.exists()


def run(temp: Path, how: str) -> Path:
    command, environ = [sys.executable, "-c", PROGRAM, how], {**os.environ, "TMPDIR": str(temp)}
    return Path(subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True).stdout.strip())


def test_what_a_killed_process_leaves_is_cleared_by_the_next(tmp_path: Path) -> None:
    left = run(tmp_path, "die")
    assert (left / "file").exists()
    run(tmp_path, "end")
    assert list(tmp_path.iterdir()) == []


def test_only_what_is_ours_and_dead_is_cleared(tmp_path: Path) -> None:
    dead, alive, other, elsewhere = (tmp_path / name for name in ("cometfuzz-1-a", "cometfuzz-2-b", "another", "far"))
    for folder in (dead, alive, other, elsewhere):
        folder.mkdir()
        (folder / "file").write_text("x")
    (dead / "link").symlink_to(elsewhere)
    (tmp_path / "cometfuzz-3-c").symlink_to(elsewhere)
    (tmp_path / "cometfuzz-4-d").write_text("a file")
    (tmp_path / "cometfuzz-script-e").mkdir()
    descriptor = os.open(alive, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        clear_dead(tmp_path)
    finally:
        os.close(descriptor)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"cometfuzz-2-b", "cometfuzz-3-c", "cometfuzz-4-d", "cometfuzz-script-e", "another", "far"}
    assert (elsewhere / "file").exists()


def test_what_belongs_to_somebody_else_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cometfuzz-1-a").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    clear_dead(tmp_path)
    assert (tmp_path / "cometfuzz-1-a").exists()
