"""Real child processes that misbehave: the right outcome each time, and the next case runs normally."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import WorkerFailure
from cometfuzz.execution import supervisor
from cometfuzz.execution.outcome import Outcome
from cometfuzz.execution.supervisor import Worker
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes import Route, Stage

TOKEN = f"drill-of-{os.getpid()}"
"""Names the children of this test process: others may run the same tests beside it."""


def drill_route(drill: str) -> Route:
    return Route(
        name=f"drill-{drill}",
        path="tests",
        environment="none",
        module="drills",
        speaks="keras3",
        stages=(Stage("build", "drill-builder"), Stage("run", "drill-runtime")),
        options={"drill": drill, "token": TOKEN},
        folder=str(Path(__file__).parent),
    )


def execute(worker: Worker, batch: int, limit_s: float = 20) -> Outcome:
    drafts = [Draft("x", "input", {"shape": (batch, 2)}, ()), Draft("r", "ReLU", {}, (Edge("x"),))]
    case = Case(assemble(drafts, [Edge("r")]), 1)
    return worker.execute(case.graph, draw_data(case), limit_s)


@pytest.fixture
def no_orphans() -> Iterator[None]:
    yield
    left = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            left += [path] if TOKEN.encode() in path.read_bytes() else []
    assert not left


@pytest.mark.parametrize(
    ("drill", "status", "detail"),
    [
        ("segfault", "signal", "SIGSEGV"),
        ("kill", "signal", "SIGKILL"),
        ("abort", "signal", "SIGABRT"),
        ("stop", "timeout", "after"),
        ("sleep", "timeout", "after"),
        ("exit", "exited", "code 0"),
        ("system exit", "exited", "code 5"),
        ("raise", "exception", ""),
        ("flood", "exception", ""),
        ("hoard", "memory", "GiB"),
        ("garbage", "protocol", "private pipe"),
    ],
)
def test_whatever_happens_has_an_outcome(
    drill: str, status: str, detail: str, no_orphans: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "MEMORY_LIMIT", 2**30)
    with Worker(drill_route(drill), Path(sys.executable)) as worker:
        assert execute(worker, batch=2).status == "completed"
        limit_s = 2 if status == "timeout" else 30
        outcome = execute(worker, batch=1, limit_s=limit_s)
        assert outcome.status == status
        assert detail in outcome.detail
        assert (outcome.stage, outcome.library) == ("run", "drill-runtime")
        assert len(outcome.printed) <= supervisor.MAX_PRINTED
        assert execute(worker, batch=2).status == "completed"


def test_an_exception_is_data() -> None:
    with Worker(drill_route("raise"), Path(sys.executable)) as worker:
        failure = execute(worker, batch=1).failure
    assert failure is not None
    assert failure.type == "IndexError"
    assert "LookupError" in failure.kinds
    assert "drills.py" in failure.frames[-1]


def test_a_worker_that_never_starts_is_one_clear_error(no_orphans: None) -> None:
    with (
        Worker(drill_route("never starts"), Path(sys.executable)) as worker,
        pytest.raises(WorkerFailure, match="starts"),
    ):
        execute(worker, batch=2)
    with (
        Worker(drill_route("raise"), Path("nowhere/python")) as worker,
        pytest.raises(WorkerFailure, match="No such file"),
    ):
        execute(worker, batch=2)


def test_a_worker_is_recycled_and_leaks_no_descriptor() -> None:
    def open_descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = open_descriptors()
    with Worker(drill_route("kill"), Path(sys.executable), recycle_after=2) as worker:
        for _ in range(5):
            assert execute(worker, batch=2).status == "completed"
        for _ in range(3):
            assert execute(worker, batch=1).status == "signal"
    time.sleep(0.1)
    assert open_descriptors() == before
