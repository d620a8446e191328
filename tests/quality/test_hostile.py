"""Every row of the table of hostile inputs: one clear line, an exit code as documented, nothing done outside."""

import contextlib
import json
import os
import pty
import signal
import stat
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hostile import ROWS
from hostile.rows import Place, Row, found_bug, prepare_work

from cometfuzz.execution.environments import cache_folder
from cometfuzz.execution.supervisor import ready_to_read

HERE = Path(__file__).parent
LIMIT_S = 10.0
KERAS_S = 60.0
"""How long a Keras may take to start, beyond the limit of the command."""

REAL = [row for row in ROWS if not (row.library or row.stdout)][::60]
"""A few of them also in a process that nobody has warmed up."""


def grace_s() -> float:
    """Ten times what it costs now to start and do nothing: what has not ended after that does not end, however busy the
    machine is."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-P", "-m", "cometfuzz", "--version"], check=True, capture_output=True)
    return 10 * (time.monotonic() - began)


@dataclass(frozen=True)
class Ended:
    code: int | None
    printed: bytes
    errors: bytes


def variables(place: Place) -> dict[str, str]:
    """Environment variables: home and temp folder of the row's own; the environments that are built are there."""
    private = place.work.parent
    return {
        "HOME": str(private / "home"),
        "TMPDIR": str(private / "temp"),
        "COMETFUZZ_CACHE": str(cache_folder().parent),
        "COLUMNS": "200",
        "TERM": "dumb",
        "OPENBLAS_NUM_THREADS": "1",
    }


@dataclass
class Warm:
    """The warm command line, from outside. A call that does not end is killed."""

    process: "subprocess.Popen[bytes]"
    answers: int
    _rest: bytearray = field(default_factory=bytearray)

    def call(self, arguments: Sequence[str], place: Place, row: Row, limit_s: float) -> Ended:
        printed, errors = (place.work.parent / name for name in ("stdout", "stderr"))
        terminal = pty.openpty() if row.stdout == "terminal" else None
        request = {
            "arguments": arguments,
            "cwd": str(place.work),
            "environ": variables(place),
            "stdout": os.ttyname(terminal[1]) if terminal else row.stdout or str(printed),
            "stderr": str(errors),
            "limited": not row.library,
        }
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        shown = bytearray()
        process, deadline = self._answer(time.monotonic() + 60, shown, None), time.monotonic() + limit_s
        assert process is not None
        code = self._answer(deadline, shown, terminal)
        if code is None:
            code = self._answer(time.monotonic() + grace_s(), shown, terminal)
        if code is None:
            os.killpg(process, signal.SIGKILL)
            self._answer(time.monotonic() + 60, shown, None)
        if terminal:
            self._drain(terminal[0], shown)
            for descriptor in terminal:
                os.close(descriptor)
        return Ended(code, bytes(shown) or (printed.read_bytes() if printed.exists() else b""), errors.read_bytes())

    def _answer(self, deadline: float, shown: bytearray, terminal: tuple[int, int] | None) -> int | None:
        """The next number; meanwhile what a terminal shows is taken in. None after the deadline."""
        watched = [self.answers, *([terminal[0]] if terminal else [])]
        while b"\n" not in self._rest:
            ready = ready_to_read(watched, deadline - time.monotonic())
            if not ready:
                return None
            if self.answers in ready:
                part = os.read(self.answers, 100)
                assert part, "expected a command line that stays; received its end"
                self._rest += part
            else:
                shown += os.read(watched[1], 2**16)
        line, _, self._rest = self._rest.partition(b"\n")
        return int(line)

    @staticmethod
    def _drain(terminal: int, shown: bytearray) -> None:
        while ready_to_read([terminal], 0):
            shown += os.read(terminal, 2**16)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("templates")


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-P", str(HERE / "warm.py"), str(writer)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        pass_fds=[writer],
        start_new_session=True,
    )
    os.close(writer)
    with process:
        yield Warm(process, reader)
        assert process.stdin is not None
        process.stdin.close()
    os.close(reader)


@pytest.fixture
def place(tmp_path: Path, templates: Path) -> Place:
    """A working folder, and one outside with what must stay as it is."""
    for name in ("work", "home", "temp", "outside/precious/aaaaaaaaaa"):
        (tmp_path / name).mkdir(parents=True)
    outside = tmp_path / "outside"
    (outside / "precious.txt").write_text("precious\n")
    (outside / "precious" / "keep.json").write_text("{}")
    for page in ("index.html", "aaaaaaaaaa/index.html"):
        (outside / "precious" / page).write_text('<meta name="generator" content="cometfuzz">')
    prepare_work(tmp_path / "work")
    return Place(tmp_path / "work", outside, templates)


def seen(folder: Path) -> Mapping[str, Any]:
    """All that is in a folder, with content and the time of the last change; no symlink is followed."""
    found: dict[str, Any] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


def steering(text: str) -> set[str]:
    """The signs in a text that steer a terminal."""
    return {sign for sign in text.replace("\r\n", "\n") if unicodedata.category(sign) == "Cc" and sign not in "\n\t"}


def expect(row: Row, place: Place, before: Mapping[str, Any], ended: Ended) -> None:
    printed, errors = (data.decode("utf-8", "backslashreplace") for data in (ended.printed, ended.errors))
    said = f"exit code {ended.code}\n{printed[-2000:]}\n{errors[-3000:]}"
    assert ended.code is not None, f"expected an end within {LIMIT_S:g} s; received none\n{said}"
    assert "Traceback" not in printed + errors, said
    assert "Exception ignored" not in errors, said
    assert ended.code in row.codes, said
    for data in (ended.printed, ended.errors):
        assert not steering(data.decode("utf-8")), said
    lines = [line for line in errors.splitlines() if line.strip()]
    if ended.code in (2, 3):
        assert lines, said
        assert lines[0].startswith("Usage:") or (len(lines) == 1 and lines[0].startswith("cometfuzz: ")), said
    for word in row.words:
        assert word in printed + errors, said
    assert seen(place.outside) == before, said
    assert [name for name in row.absent if os.path.lexists(place.work / name)] == [], said
    left = [path.name for path in (place.work.parent / "temp").iterdir()]
    assert row.library or all(name.startswith("cometfuzz") for name in left), left


def prepare(row: Row, place: Place) -> tuple[list[str], Mapping[str, Any]]:
    """Make the input; the command line, and what is outside."""
    row.make(place)
    names = {"{outside}": str(place.outside), "{bug}": found_bug().id}
    if "{case}" in row.command:
        names["{case}"] = place.case_id()
    return [names.get(argument, argument) for argument in row.command], seen(place.outside)


def marked(row: Row) -> Any:
    return pytest.param(row, id=row.name, marks=[pytest.mark.library] if row.library else [])


@pytest.mark.parametrize("row", [marked(row) for row in ROWS])
def test_hostile_input(row: Row, place: Place, warm: Warm) -> None:
    arguments, before = prepare(row, place)
    expect(row, place, before, warm.call(arguments, place, row, LIMIT_S + (KERAS_S if row.library else 0)))


@pytest.mark.parametrize("row", [marked(row) for row in REAL])
def test_hostile_input_by_the_real_command_line(row: Row, place: Place) -> None:
    arguments, before = prepare(row, place)
    printed, errors = (place.work.parent / name for name in ("stdout", "stderr"))
    with open(printed, "wb") as out, open(errors, "wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cometfuzz", *arguments],
            cwd=place.work,
            env={**os.environ, **variables(place)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    with process:
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(grace_s())
        code = process.poll()
        if code is None:
            os.killpg(process.pid, signal.SIGKILL)
    expect(row, place, before, Ended(code, printed.read_bytes(), errors.read_bytes()))


def test_the_table_is_large_and_names_are_unique() -> None:
    assert len(ROWS) >= 150
    assert len({row.name for row in ROWS}) == len(ROWS)
