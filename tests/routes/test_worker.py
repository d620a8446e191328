"""Real child processes that misbehave: the right outcome each time, and the next case runs normally."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import pytest
from killing import living
from small_disk import mounts, python_on_a_small_disk

from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidRoute
from cometfuzz.execution import supervisor
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.memory import available
from cometfuzz.execution.outcome import Outcome
from cometfuzz.execution.supervisor import MAX_PRINTED, Worker, WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes import Group, Library, Route, Stage, Step, Switch
from cometfuzz.routes.switches import with_switches

TOKEN = f"drill-of-{os.getpid()}"
"""Names the children of this test process: others may run the same tests beside it."""

HERE = str(Path(__file__).parent)
QUICK = WorkerLimits(stage_s=20, memory_bytes=2**30)


def group(name: str) -> Group:
    return Group(name, "none", {"TOKEN": TOKEN})


def step(name: str, where: str, call: str, drill: str = "", live: bool = False) -> Step:
    return Step(name, group(where), "drills", call, (Stage(call, Library(f"drill-{call}")),), {"drill": drill}, live)


BUILD = step("build", "one", "build", live=True)


def drill_route(drill: str) -> Route:
    return Route(f"drill-{drill}", "tests", "keras3", (BUILD, step(f"run-{drill}", "one", "run", drill)))


def reader(name: str, convert: str = "", read: str = "", where: str = "two") -> Route:
    """build > convert > read, in two children."""
    return Route(
        name, "tests", "keras3", (BUILD, step("converter", "one", "convert", convert), step(name, where, "read", read))
    )


@contextlib.contextmanager
def executing(*routes: Route, limits: WorkerLimits = QUICK, pause_after: int = 0, jobs: int = 1) -> Iterator[Executor]:
    with Executor(routes, jobs, limits, pause_after, find_python=lambda group: Path(sys.executable)) as executor:
        yield executor


def case_of(batch: int) -> Case:
    drafts = [Draft("x", "input", {"shape": (batch, 2)}, ()), Draft("r", "ReLU", {}, (Edge("x"),))]
    return Case(assemble(drafts, [Edge("r")]), 1)


def execute(executor: Executor, batch: int) -> Outcome:
    return next(iter(executor.run(case_of(batch)).outcomes.values()))


@pytest.fixture(autouse=True)
def _drills_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)


def children() -> list[Path]:
    return living(f"TOKEN={TOKEN}")


@pytest.fixture
def no_orphans() -> Iterator[None]:
    yield
    assert not children()


@pytest.mark.parametrize(
    ("drill", "status", "detail"),
    [
        ("segfault", "signal", "SIGSEGV"),
        ("divide", "signal", "SIGFPE"),
        ("kill", "signal", "SIGKILL"),
        ("abort", "signal", "SIGABRT"),
        ("stop", "timeout", "after"),
        ("sleep", "timeout", "after"),
        ("loop", "timeout", "after"),
        ("stream", "timeout", "after"),
        ("exit", "exited", "code 0"),
        ("system exit", "exited", "code 5"),
        ("half a reply", "exited", "code 0"),
        ("raise", "exception", ""),
        ("flood", "exception", ""),
        ("print garbage", "exception", ""),
        ("disk", "exception", ""),
        ("hoard", "memory", "GiB"),
        ("garbage", "protocol", "private pipe"),
    ],
)
def test_whatever_happens_has_an_outcome(drill: str, status: str, detail: str, no_orphans: None) -> None:
    limits = WorkerLimits(stage_s=2 if status == "timeout" else 30, memory_bytes=2**30)
    with executing(drill_route(drill), limits=limits) as executor:
        assert execute(executor, batch=2).status == "completed"
        outcome = execute(executor, batch=1)
        assert outcome.status == status
        assert detail in outcome.detail
        assert (outcome.stage, outcome.library) == ("run", "drill-run")
        assert len(outcome.printed) <= MAX_PRINTED
        assert execute(executor, batch=2).status == "completed"


@pytest.mark.parametrize(("share", "least"), [(0.0, 1.0), (0.5, 2.0), (1.0, 5.0)])
def test_time_without_a_cpu_does_not_count_up_to_a_point(
    share: float, least: float, monkeypatch: pytest.MonkeyPatch, no_orphans: None
) -> None:
    """A child that waits for a CPU for this share of its time has so long until it hangs."""
    monkeypatch.setattr(supervisor, "queued_s", lambda pid: share * time.monotonic())
    with executing(drill_route("sleep"), limits=WorkerLimits(stage_s=1)) as executor:
        outcome = execute(executor, batch=1)
    assert outcome.status == "timeout"
    waited = float(outcome.detail.split()[1])
    assert least <= round(waited, 1) < 4 * least, outcome.detail


def test_a_full_temp_folder_is_an_exception_and_a_new_worker_has_an_empty_one(tmp_path: Path, no_orphans: None) -> None:
    python, before = python_on_a_small_disk(Path(sys.executable), tmp_path), mounts()
    with Executor([drill_route("full")], find_python=lambda group: python) as executor:
        for starts in (1, 2, 3):
            assert execute(executor, batch=2).status == "completed"
            outcome = execute(executor, batch=1)
            assert (outcome.status, outcome.stage, outcome.library) == ("exception", "run", "drill-run")
            assert outcome.failure is not None
            assert (outcome.failure.type, outcome.failure.message) == ("OSError", "[Errno 28] No space left on device")
            assert [worker.starts for worker in executor.workers] == [starts]
            assert mounts() == before
        assert execute(executor, batch=2).status == "completed"
    assert mounts() == before


@pytest.mark.skipif(not available(), reason="only glibc fills memory")
@pytest.mark.parametrize("size", [8, 100, 100_000])
def test_memory_is_filled_with_one_byte_always_and_with_another_on_demand(size: int) -> None:
    """Also the small pieces that glibc would keep for a thread, and pieces that were used before."""
    draft = Draft("x", "input", {"shape": (2, size)}, ())
    case = Case(assemble([draft, Draft("r", "ReLU", {}, (Edge("x"),))], [Edge("r")]), 1)
    route = Route("recalls", "tests", "keras3", (BUILD, step("recall", "one", "recall")))
    with executing(route) as executor:
        for other, byte in ((False, 0x5A), (True, 0xC5), (False, 0x5A)):
            (seen,) = executor.run(case, other_memory=other).outcomes["recalls"].outputs
            assert set(seen.data) == {byte}


def test_an_exception_is_data() -> None:
    with executing(drill_route("raise")) as executor:
        failure = execute(executor, batch=1).failure
    assert failure is not None
    assert failure.type == "IndexError"
    assert "LookupError" in failure.kinds
    assert "drills.py" in failure.frames[-1]


def test_what_is_too_large_is_not_taken_in(no_orphans: None) -> None:
    with executing(drill_route("raise"), limits=WorkerLimits(output_bytes=15)) as executor:
        outcome = execute(executor, batch=2)
    assert (outcome.status, outcome.detail) == ("oversized", "16 bytes; the limit is 15")


def test_a_worker_that_never_starts_is_unavailable_and_reported_once(no_orphans: None) -> None:
    told: list[str] = []
    with executing(drill_route("never starts"), drill_route("raise")) as executor:
        executor.report = told.append
        for _ in range(4):
            trial = executor.run(case_of(2))
            assert trial.outcomes["drill-never starts"].status == "unavailable"
            assert trial.outcomes["drill-raise"].status == "completed"
    assert len(told) == 1
    assert "code 3" in told[0]
    with executing(drill_route("starts to hang"), limits=WorkerLimits(start_s=1)) as executor:
        assert execute(executor, batch=2).status == "unavailable"


def test_a_missing_interpreter_or_environment_is_unavailable_and_says_how_to_mend_it() -> None:
    with Executor([drill_route("raise")], find_python=lambda group: Path("nowhere/python")) as executor:
        assert "cannot start nowhere/python" in execute(executor, batch=2).detail
    with Executor([drill_route("raise")]) as executor:
        assert "expected an environment" in execute(executor, batch=2).detail


def test_what_crashes_again_and_again_is_paused_and_the_others_go_on(no_orphans: None) -> None:
    told: list[str] = []
    with executing(drill_route("segfault"), drill_route("raise"), pause_after=3) as executor:
        executor.report = told.append
        statuses = [executor.run(case_of(1)).outcomes for _ in range(5)]
        assert executor.run(case_of(2)).outcomes["drill-raise"].status == "completed"
    assert [trial["drill-segfault"].status for trial in statuses] == ["signal"] * 3 + ["unavailable"] * 2
    assert [trial["drill-raise"].status for trial in statuses] == ["exception"] * 5
    assert len(told) == 1


def test_a_death_leaves_what_other_routes_had_and_is_the_converters(no_orphans: None) -> None:
    routes = drill_route(""), reader("first", convert="abort"), reader("second", convert="abort"), drill_route("raise")
    with executing(*routes) as executor:
        good, trial = executor.run(case_of(2)), executor.run(case_of(1))
    assert {outcome.status for outcome in good.outcomes.values()} == {"completed"}
    assert [len(outcome.outputs) for outcome in good.outcomes.values()] == [1, 1, 1, 1]
    before, first, second, after = trial.outcomes.values()
    assert before.status == "completed"
    assert (first.status, first.stage, first.library) == ("signal", "convert", "drill-convert")
    assert (second.status, second.stage, second.library) == ("not reached", "convert", "drill-convert")
    assert second.cause == "signal"
    assert after.status == "exception"


def test_readers_of_one_artefact_share_its_conversion() -> None:
    with executing(reader("first"), reader("second", read="kill"), reader("third", where="three")) as executor:
        executor.run(case_of(2))
        trial = executor.run(case_of(1))
        assert [worker.starts for worker in executor.workers] == [1, 1, 1]
    assert [outcome.status for outcome in trial.outcomes.values()] == ["completed", "signal", "completed"]
    shared = [outcome.times[:2] for outcome in trial.outcomes.values()]
    assert shared[0] == shared[1] == shared[2]


def test_what_stayed_in_a_child_that_died_is_made_again(no_orphans: None) -> None:
    routes = reader("first", where="one"), reader("second", read="kill", where="one"), reader("third", where="one")
    with executing(*routes) as executor:
        trial = executor.run(case_of(1))
    assert [outcome.status for outcome in trial.outcomes.values()] == ["completed", "signal", "completed"]


def test_one_name_is_one_step() -> None:
    with pytest.raises(InvalidRoute, match="step='converter' again"):
        Executor([reader("first"), reader("second", convert="raise")])


def test_switches_of_a_process_share_one_extra_worker(no_orphans: None) -> None:
    switches = [Switch(name, "set", Library("drill-run"), environ={"DRILLED": name}) for name in ("first", "second")]
    plain = replace(drill_route("raise"), switches=tuple(switches))
    with executing(*with_switches([plain]), jobs=2) as executor:
        names = [*executor.routes]
        futures = [executor.submit(case_of(2), [names[index % 3]]) for index in range(12)]
        assert {future.result().outcomes[names[i % 3]].status for i, future in enumerate(futures)} == {"completed"}
        extra = [worker for worker in executor.workers if worker.group.extra]
        assert [worker.group.environ["DRILLED"] for worker in extra] == ["first", "second"]
        assert sum(worker.running for worker in extra) == 1
        starts = [worker.starts for worker in extra]
        again = next(worker.group.environ["DRILLED"] for worker in extra if worker.running)
        executor.run(case_of(2), [f"{plain.name}+{again}"])
        assert [worker.starts for worker in extra] == starts, "one that is there is used again"


def test_several_workers_serve_many_cases(no_orphans: None) -> None:
    with executing(reader("first"), reader("second", read="raise"), jobs=3) as executor:
        futures = [executor.submit(case_of(1 + index % 2)) for index in range(30)]
        statuses = [future.result().outcomes["second"].status for future in futures]
        assert statuses == ["exception", "completed"] * 15
        futures = [executor.submit(case_of(2)) for _ in range(30)]
    assert all(future.done() for future in futures)


def test_a_worker_is_recycled() -> None:
    with executing(drill_route("kill"), limits=WorkerLimits(recycle_after=2)) as executor:
        for _ in range(5):
            assert execute(executor, batch=2).status == "completed"
        assert executor.workers[0].starts == 3
    with executing(drill_route("kill"), limits=WorkerLimits(recycle_bytes=1)) as executor:
        for _ in range(3):
            assert execute(executor, batch=2).status == "completed"
        assert executor.workers[0].starts == 3


def test_workers_begin_anew_when_asked_but_not_while_they_work() -> None:
    with executing(drill_route("kill"), jobs=2) as executor:
        assert execute(executor, batch=2).status == "completed"
        group = executor.workers[0].group
        with executor.worker(group) as busy:
            executor.renew(group.name)
            assert busy.running
            assert execute(executor, batch=2).status == "completed"
        assert sorted(worker.starts for worker in executor.workers) == [1, 1]
        assert execute(executor, batch=2).status == "completed"
        assert busy.starts == 2, "expected what worked then to begin anew"
        assert execute(executor, batch=2).status == "completed"
        assert sorted(worker.starts for worker in executor.workers) == [1, 2]
        executor.renew("nobody")


def test_hundreds_of_drills_leak_nothing(no_orphans: None) -> None:
    def held() -> tuple[int, int]:
        gc.collect()
        return len(os.listdir("/proc/self/fd")), int(Path("/proc/self/statm").read_text().split()[1])

    kinds = ["raise", "kill", "exit", "flood", "garbage", "segfault", "half a reply", "print garbage"]
    routes = [drill_route(kind) for kind in kinds]
    with executing(*routes) as executor:
        executor.run(case_of(2))
        before = held()
        for index in range(300):
            name = f"drill-{kinds[index % 2 * (index // 2 % len(kinds))]}"
            assert executor.run(case_of(1), [name]).outcomes[name].status != "completed"
        assert len(children()) <= 1
        after = held()
    assert after[0] <= before[0]
    assert (after[1] - before[1]) * os.sysconf("SC_PAGE_SIZE") < 50 * 2**20


def leaves_nothing(program: str, folder: Path) -> None:
    """Run a program that uses what is in this file, kill it when its library drills, and see its children die too."""
    lines = f"import sys; sys.path[:0] = [sys.argv[1]]\nfrom test_worker import *\n{program}"
    drilling = folder / "drilling"
    parent = subprocess.Popen([sys.executable, "-c", lines, HERE], env={**os.environ, "DRILLING": str(drilling)})
    token = f"TOKEN=drill-of-{parent.pid}"
    try:
        assert _eventually(drilling.exists)
        time.sleep(1)
        assert living(token)
        parent.kill()
        parent.wait()
        assert _eventually(lambda: not living(token))
    finally:
        parent.kill()
        for path in living(token):
            os.kill(int(path.parent.name), signal.SIGKILL)


@pytest.mark.parametrize("drill", ["sleep", "loop", "stop", "stop with a child"])
@pytest.mark.parametrize("run", ["execute(executor, batch=1)", "executor.submit(case_of(1)).result()"])
def test_a_parent_that_is_killed_leaves_no_child_behind(drill: str, run: str, tmp_path: Path) -> None:
    leaves_nothing(f"with executing(drill_route({drill!r})) as executor: {run}\n", tmp_path)


def test_a_guardian_that_was_killed_is_replaced(tmp_path: Path) -> None:
    program = (
        "from cometfuzz.execution import children\n"
        "with executing(drill_route('stop with a child'), reader('second')) as executor:\n"
        "    execute(executor, batch=2)\n"
        "    children._GUARDIAN._process.kill()\n"
        "    children._GUARDIAN._process.wait()\n"
        "    executor.workers[1].stop()\n"
        "    execute(executor, batch=1)\n"
    )
    leaves_nothing(program, tmp_path)


@pytest.mark.parametrize("drill", ["sleep", "loop", "stop"])
def test_what_runs_is_given_up_at_once_and_is_no_finding(drill: str, no_orphans: None) -> None:
    with executing(drill_route(drill), limits=WorkerLimits(stage_s=600)) as executor:
        threading.Timer(2, executor.halt).start()
        submitted = executor.submit(case_of(1))
        with pytest.raises(CancelledError):
            execute(executor, batch=1)
        with pytest.raises(CancelledError):
            submitted.result()
        with pytest.raises(CancelledError):
            execute(executor, batch=2)


def test_a_worker_that_starts_while_all_is_given_up_does_not_live_on(no_orphans: None) -> None:
    python = Path(sys.executable)
    with Worker(group("one"), python, ["drills"], halted=lambda: True) as worker:
        worker._start()
        assert worker._process is not None
        assert worker._process.wait(60) == -9


def _eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
