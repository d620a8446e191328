"""How commands end, by the real command line in processes of their own: by signals, with busy workers and without, on
pipes that nobody reads, on full disks, in places where nobody can write."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_exit_codes import command, ended, project

from cometfuzz.campaign.records import Records

__all__ = ["project"]
WITHIN_S = 10
SIGNALS = [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]


def busy(folder: Path) -> dict[str, str]:
    """Environment variables for a command: its library says when it hangs, its temp folder is seen, and so are its
    children."""
    (folder / "temp").mkdir(exist_ok=True)
    return {"BUSY": str(folder / "busy"), "TMPDIR": str(folder / "temp"), "MARK": f"of-{folder}"}


def living(folder: Path) -> list[str]:
    """The processes that have the mark of `busy` among their environment variables."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found += [path.parent.name] if f"MARK=of-{folder}\0".encode() in path.read_bytes() else []
    return found


@pytest.fixture(autouse=True)
def _no_orphans(project: Path) -> Iterator[None]:
    """Also of a test that fails: they would keep the machine busy for ever."""
    yield
    for process in living(project):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def a_case(project: Path) -> str:
    code, said = ended(command(project, "generate", "--cases", "1", "--out", "cases"))
    assert code == 0, said
    return str(next((project / "cases").iterdir()))


def signalled(project: Path, number: signal.Signals, when: Callable[[], bool], *arguments: str) -> tuple[int, str]:
    """How a command ends that gets a signal at some moment: in time, and with nothing left behind."""
    process = command(project, *arguments, environ=busy(project))
    try:
        eventually(when)
        process.send_signal(number)
        printed, errors = process.communicate(timeout=WITHIN_S)
    finally:
        process.kill()
    assert "Traceback" not in errors
    assert list((project / "temp").iterdir()) == []
    eventually(lambda: not living(project))
    return process.returncode, printed


@pytest.mark.parametrize(("number", "code"), [*SIGNALS, (signal.SIGINT, 130)])
def test_a_campaign_ends_in_good_order_though_its_workers_are_busy(
    project: Path, number: signal.Signals, code: int
) -> None:
    arguments = ("run", "--out", "campaign", "--routes", "clean-a,hanging", "--fail-on", "new", "--jobs", "2")
    got, printed = signalled(project, number, (project / "busy").exists, *arguments)
    assert got == code
    assert "interrupted" in printed  # the summary
    with Records(project / "campaign") as records:
        assert [session.reason for session in records.sessions()] == ["interrupted"]
        assert records.check() == []


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("arguments", [["exec"], ["check"], ["reduce", "--route", "hanging", "--beside", "clean-a"]])
def test_other_commands_end_though_their_workers_are_busy(
    project: Path, arguments: list[str], number: signal.Signals, code: int
) -> None:
    routes = [] if arguments[0] == "reduce" else ["--routes", "hanging"]
    case = a_case(project)
    assert signalled(project, number, (project / "busy").exists, *arguments, case, *routes)[0] == code


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_what_was_done_is_still_shown(project: Path, number: signal.Signals, code: int) -> None:
    arguments = ("conformance", "--routes", "hanging", "--layers", "ReLU", "--draws", "3")
    got, printed = signalled(project, number, (project / "busy").exists, *arguments)
    assert got == code
    assert "undeclared" in printed


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_command_without_workers_ends(project: Path, number: signal.Signals, code: int) -> None:
    arguments = ("generate", "--cases", "1000000", "--out", "many")
    got, printed = signalled(project, number, lambda: any(project.glob("many/*.json")), *arguments)
    assert got == code
    assert "cases of" in printed


def test_what_does_not_end_is_ended(project: Path) -> None:
    """The main thread is in a call that takes for ever, and comes to no handler."""
    program = (
        "import sys, ctypes; from pathlib import Path\n"
        "from cometfuzz.cli import ends\n"
        "def command():\n"
        "    Path(sys.argv[1]).touch()\n"
        "    while True:\n"
        "        ctypes.CDLL(None).pause()\n"
        "        try: print(end='')\n"
        "        except KeyboardInterrupt: pass\n"
        "sys.exit(ends.exit_code_of(command))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(project / "begun")])
    eventually((project / "begun").exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=WITHIN_S) == 143


def test_nohup_stays(project: Path) -> None:
    case = a_case(project)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what a child inherits, as from nohup
    try:
        process = command(project, "exec", case, "--routes", "hanging", environ=busy(project))
    finally:
        signal.signal(signal.SIGHUP, before)
    eventually((project / "busy").exists)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(WITHIN_S) == 143
    process.communicate()


def test_what_a_killed_campaign_leaves_is_cleared_by_the_next_command(project: Path) -> None:
    case, environ = a_case(project), busy(project)
    process = command(project, "run", "--out", "campaign", "--routes", "hanging", environ=environ)
    eventually((project / "busy").exists)
    process.kill()
    process.communicate()
    eventually(lambda: not living(project))
    (left,) = (project / "temp").iterdir()
    assert left.name.startswith(f"cometfuzz-{process.pid}-")
    code, said = ended(command(project, "exec", case, "--routes", "clean-a", environ=environ))
    assert code == 0, said
    assert list((project / "temp").iterdir()) == []


PRINTING = [
    *(["--help"], ["--version"], ["run", "--help"], ["layers"], ["layers", "--json"], ["space"], ["ledger"], ["seeds"]),
    *(["env", "list"], ["generate", "--cases", "2"], ["bench", "graph", "--seconds", "0.1"]),
    *(["doctor", "--routes", "clean-a"], ["doctor", "--routes", "clean-a", "--json"]),
    *(["synthesise", "LeNet", "--runs", "1"], ["conformance", "--routes", "clean-a", "--layers", "ReLU"]),
]


def printing_to(project: Path, stdout: int, arguments: list[str], stderr: int = subprocess.PIPE) -> tuple[int, str]:
    process = command(project, *arguments, stdout=stdout, stderr=stderr)
    _, errors = process.communicate(timeout=300)
    return process.returncode, (errors or "").strip()  # a bar that nobody sees is an empty line


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_141_if_nobody_reads_and_one_line_if_the_disk_is_full(project: Path, arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    code, errors = printing_to(project, write, arguments)
    os.close(write)
    assert (code, errors) == (141, "")
    with open("/dev/full", "w") as full:
        code, errors = printing_to(project, full.fileno(), arguments)
    assert (code, errors) == (2, "cometfuzz: No space left on device")


@pytest.mark.parametrize("arguments", [["--json"], []])
def test_141_if_nobody_reads_a_campaign_any_more(project: Path, arguments: list[str]) -> None:
    run = ("run", "--out", "campaign", "--routes", "clean-a,clean-b,faulty", "--cases", "200")
    process = command(project, *run, *arguments)
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(120) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    with Records(project / "campaign") as records:
        assert records.check() == []


def test_an_error_has_its_code_even_if_nobody_can_read_it(project: Path) -> None:
    wrong = ["layers", "Nothing"]
    read, write = os.pipe()
    os.close(read)
    with open("/dev/full", "w") as full:
        for stderr in (write, full.fileno()):
            for arguments in (wrong, ["layers", "--nothing"]):
                assert printing_to(project, subprocess.DEVNULL, arguments, stderr=stderr)[0] in (2, 141)
    os.close(write)
    line = 'exec "$0" -P -m cometfuzz layers "$@"'
    for closed, arguments, code in ((">&-", [], 0), ("2>&-", [], 0), ("2>&-", ["Nothing"], 2), (">&- 2>&- <&-", [], 0)):
        ran = subprocess.run(
            ["sh", "-c", f"{line} {closed}", sys.executable, *arguments],
            capture_output=True,
            timeout=120,
        )
        assert ran.returncode == code, ran.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["generate", "--out", "/proc/x"],
            "/proc/x: expected a place that can be written; received No such file or directory: name another",
        ),
        (
            ["generate", "--out", "cometfuzz.toml"],
            "cometfuzz.toml: expected a place that can be written; received File exists: name another",
        ),
        (["generate", "--plot", "x.exe"], "expected a file that ends in .png, .svg, .pdf; received plot='x.exe'"),
        (["generate", "--plot", "nowhere/x.png"], "nowhere/x.png: expected a file in a folder that is there"),
        (["generate", "--cases", "1", "--plot", "/proc/x.png"], "/proc/x.png: "),
        (
            ["generate", "--cases", "1", "--plot", "full.png"],
            "full.png: expected a place that can be written; received No space left on device: name another",
        ),
        (
            ["synthesise", "LeNet", "--runs", "1", "--out", "/proc/x"],
            "/proc/x: expected a place that can be written; received No such file or directory: name another",
        ),
        (
            ["conformance", "--routes", "clean-a", "--out", "/proc/x"],
            "/proc/x: expected a place that can be written; received No such file or directory: name another",
        ),
        (["reduce", "CASE", "--route", "clean-a", "--out", "nowhere/x"], "nowhere/x: expected a file in a folder"),
        (["exec", "CASE", "--routes", "clean-a", "--config", "nested.toml"], "nested.toml: expected TOML"),
        (["layers", "\x1b[31mred\nline"], r"received layer='\x1b[31mred\nline'"),
    ],
)
def test_one_line_if_a_place_or_a_name_is_wrong(project: Path, arguments: list[str], words: str) -> None:
    (project / "full.png").symlink_to("/dev/full")
    (project / "nested.toml").write_text("x = " + "[" * 10_000)
    case = a_case(project) if "CASE" in arguments else ""
    code, said = ended(command(project, *(case if each == "CASE" else each for each in arguments)))
    assert code == 2, said
    assert words in said
    assert said.strip().startswith("cometfuzz: ")
    assert len(said.strip().splitlines()) == 1, said
