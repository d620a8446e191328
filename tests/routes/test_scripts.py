"""Scripts in clean processes: those that end with a verdict, crash, die, hang, hoard or flood."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cometfuzz.execution.executor import python_of
from cometfuzz.execution.memory import available
from cometfuzz.reference.bound import Expected
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.running import Ran, ScriptLimits, resident_bytes, run_script
from cometfuzz.triage.scripts import ends
from cometfuzz.triage.scripts.frame import frame
from cometfuzz.triage.scripts.pieces import ARRAYS, Engine, Program

PYTHON = Path(sys.executable)


def test_a_script_runs_in_a_clean_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "mine")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    shown = "sorted(os.environ), sys.flags.isolated, os.getcwd() == os.environ['HOME']"
    ran = run_script(f"import os, sys\nprint({shown})\nsys.exit(1)\n", PYTHON)
    assert ran.exit_code == 1
    assert "'KERAS_BACKEND'" not in ran.printed
    assert "'PYTHONPATH'" not in ran.printed
    assert ran.printed.rstrip().endswith("1 True")


def test_a_script_that_does_not_end_is_killed() -> None:
    ran = run_script("import time\ntime.sleep(600)\n", PYTHON, ScriptLimits(wall_s=1.0))
    assert ran.exit_code is None
    assert "killed after 1 s" in ran.output


def test_a_script_that_takes_too_much_memory_is_killed_with_its_children(tmp_path: Path) -> None:
    text = f"""import subprocess, sys, time
process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open({str(tmp_path / "pid")!r}, "w") as file:
    file.write(str(process.pid))
hoard = bytearray(300 * 2**20)
time.sleep(600)
"""
    ran = run_script(text, PYTHON, ScriptLimits(wall_s=60.0, memory_bytes=200 * 2**20))
    assert ran.exit_code is None
    assert "GiB" in ran.note
    stat = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    for _ in range(100):  # the system takes its time
        if not stat.exists() or stat.read_text().split()[2] == "Z":
            break
        time.sleep(0.1)
    else:
        pytest.fail("expected the child to be gone; received a living one")


def test_what_a_script_prints_is_bounded() -> None:
    ran = run_script("print('seen: first')\nfor _ in range(10**5): print('x' * 99)\nraise SystemExit(1)\n", PYTHON)
    assert ran.exit_code == 1
    assert ran.printed.startswith("seen: first")
    assert len(ran.printed) < 50_000


def test_resident_memory_counts() -> None:
    assert resident_bytes(os.getpid()) > 2**20


def program(call: str, *lines: str, imports: tuple[str, ...] = ("import numpy as np",)) -> Program:
    """A program without any library: `call` is what runs the model."""
    return Program((), Engine(call, ARRAYS, imports, pieces=(("build", lines),)))


def ends_with(made: Program, body: list[str], watch: list[str] | None = None) -> Ran:
    return run_script(frame(["# a test"], made, body, watch or []), PYTHON, ScriptLimits(wall_s=60.0))


@pytest.mark.parametrize(
    ("call", "code", "printed"),
    [
        ("np.array([1.0, 2.0])", 0, "seen:     [1.0, 2.0]"),
        ("np.array([1.0, 2.0000001])", 0, "seen: "),
        ("np.array([1.0, 2.1])", 1, "seen:     [1.0, 2.1]"),
        ("np.array([1.0, np.nan])", 1, "nan"),
        ("np.array([[1.0, 2.0]])", 1, "seen: "),
        ("np.array([2.0])", 1, "seen: "),
    ],
)
def test_values_end_with_a_verdict(call: str, code: int, printed: str) -> None:
    want = np.array([1.0, 2.0])
    ran = ends_with(program(call), ends.values(program(call), [Expected("float32", want, 1e-6 + 2e-7 * want)], []))
    assert ran.exit_code == code, ran.output
    assert printed in ran.printed


@pytest.mark.parametrize(("second", "code"), [("2.0", 0), ("3.0", 1)])
def test_several_outputs_end_with_a_verdict(second: str, code: int) -> None:
    made = program(f"[np.array([1.0]), np.array([{second}])]")
    want = [Expected("float32", np.array([value]), np.array([1e-6])) for value in (1.0, 2.0)]
    assert ends_with(made, ends.values(made, want, [])).exit_code == code


@pytest.mark.parametrize(("call", "code"), [("np.zeros(2)", 0), ("np.zeros(3)", 1), ("np.zeros(2, int)", 1)])
def test_types_end_with_a_verdict(call: str, code: int) -> None:
    assert ends_with(program(call), ends.types(program(call), [("float64", (2,))])).exit_code == code


@pytest.mark.parametrize(
    ("stage", "lines", "call", "code", "printed"),
    [
        ("run", [], "np.zeros(2)", 0, "seen: no exception"),
        ("run", [], "np.zeros(-2)", 1, "seen: ValueError: "),
        ("build", ["built = np.zeros(1 // 0)"], "np.zeros(2)", 1, "seen: ZeroDivisionError: "),
        ("run", ["built = 1 / 0"], "np.zeros(2)", 1, "expected"),
    ],
)
def test_crashes_end_with_a_verdict(stage: str, lines: list[str], call: str, code: int, printed: str) -> None:
    made = program(call, *lines)
    ran = ends_with(made, ends.crash(made, stage))
    assert ran.exit_code == code
    assert (printed in ran.printed) is (printed != "expected"), "what fails before its stage is not taken for the bug"


@pytest.mark.parametrize(
    ("call", "code", "printed"),
    [
        ("os.kill(os.getpid(), 11)", 1, "seen: SIGSEGV"),
        ("os._exit(3)", 1, "seen: exit code 3"),
        ("os.getpid()", 0, "seen: exit code 0"),
    ],
)
def test_deaths_are_watched_from_outside(call: str, code: int, printed: str) -> None:
    made = program(call, imports=("import os",))
    ran = ends_with(made, ends.plainly(made), ends.watch(None, None))
    assert ran.exit_code == code
    assert printed in ran.printed
    assert "versions:" in ran.printed


def test_a_death_of_memory_is_shown_without_harm() -> None:
    made = program("np.ones(2**28)")
    ran = ends_with(made, ends.plainly(made), ends.watch(None, 1))
    assert ran.exit_code == 1
    assert "seen: exit code 1" in ran.printed


@pytest.mark.parametrize(("call", "code"), [("time.sleep(600)", 1), ("time.sleep(0)", 0)])
def test_hangs_are_watched_from_outside(call: str, code: int) -> None:
    made = program(call, imports=("import time",))
    ran = ends_with(made, ends.plainly(made), ends.watch(2, None))
    assert ran.exit_code == code
    assert ("still running after 2 s" in ran.printed) is bool(code)


def test_other_bits_are_seen() -> None:
    for call, code in (("np.array([next(numbers)])", 1), ("np.array([np.nan])", 0)):
        made = program(call, "numbers = iter(range(100))")
        assert ends_with(made, ends.other_bits(made, single=True)).exit_code == code


@pytest.mark.skipif(not available(), reason="only glibc fills memory")
@pytest.mark.parametrize(
    ("call", "code", "seen"),
    [
        ("np.empty(2000)", 1, "-1.3476555"),
        ("np.zeros(2000)", 0, "0.0"),
        ("np.ones(2) * os.getpid()", 0, ""),
        ("np.ones(2 if np.empty(2000)[0] > 0 else -1)", 1, "exit code 1"),
    ],
)
def test_a_script_fills_memory_with_one_byte_and_with_another(call: str, code: int, seen: str) -> None:
    """What differs from process to process by itself is not taken for it; a failure with one of them is."""
    made = program(call)
    text = frame(["# a title"], made, ends.answers(made, single=True), ends.fill_memory())
    ran = run_script(text, PYTHON)
    assert (ran.exit_code, "MALLOC_PERTURB_" in text) == (code, True)
    assert max(map(len, text.splitlines())) <= 100
    assert seen in ran.printed.rpartition("\nseen:")[2]


def test_a_missing_library_is_exit_code_2() -> None:
    made = program("nobody_has_this.run()", imports=("import nobody_has_this",))
    assert ends_with(made, ends.plainly(made)).exit_code == 2
    assert ends_with(made, ends.plainly(made), ends.watch(None, None)).exit_code == 2


@pytest.mark.library
def test_openvino_may_not_report_what_it_converts_to_its_makers() -> None:
    text = (
        "import openvino_telemetry\n"
        "from openvino.tools.ovc.telemetry_utils import init_ovc_telemetry\n"
        "init_ovc_telemetry()\n"
        "consent = openvino_telemetry.Telemetry().consent\n"
        "print(f'seen: {consent}')\n"
        "raise SystemExit(int(consent))\n"
    )
    ran = run_script(text, python_of(ROUTES["openvino"].steps[-1].group))
    assert (ran.exit_code, ran.printed.strip()) == (0, "seen: False"), ran.output
