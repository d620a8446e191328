"""The parent's side of a worker: starts it, feeds it, kills it at its limits, and says what happened.

Whatever a library does (exception, signal, exit, hang, memory, flood), `Worker.perform` returns what each step came to
and names the stage, and the next call finds a living worker.
"""

import contextlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import cometfuzz
from cometfuzz.catalogue import BROKEN, CATALOGUE, PLUGGED
from cometfuzz.catalogue.offer import inside
from cometfuzz.config import LimitConfig
from cometfuzz.errors import WorkerFailure
from cometfuzz.execution import children, environments, memory
from cometfuzz.execution.homes import private_home
from cometfuzz.execution.observation import Observation
from cometfuzz.execution.outcome import Failure, StageTime, Status, StepResult
from cometfuzz.execution.scratch import scratch_folder
from cometfuzz.execution.worker import START
from cometfuzz.plugins import TOLD, told
from cometfuzz.protocol import MAX_BODY, Broken, Inbox, Message, Oversized, send
from cometfuzz.routes import Group, Step

MAX_PRINTED, MAX_HEARD = 4000, 2**24
_POLL_S = 0.5
_GRACE_S = 2.0
_DRAINED_AT_ONCE = 64
_GIB = 2**30
_BEGIN = "import sys; sys.path[:] = filter(None, sys.path); from cometfuzz.execution.worker import main; main()"
"""What a child runs. Nothing is imported from the folder that it is started in: as by `python -P`, from 3.11 on."""

_PATIENCE = 4.0
"""How many times its limit a child may have waited for a CPU, on a machine that has more to do than it can."""


@dataclass(frozen=True)
class WorkerLimits:
    """What a worker may take. Memory is resident, looked at now and then; address space is only a backstop."""

    stage_s: float = 60.0
    case_s: float = 600.0
    start_s: float = 180.0
    memory_bytes: int = 6 * _GIB
    address_space_bytes: int = 96 * _GIB
    output_bytes: int = 256 * 2**20
    recycle_after: int = 400
    recycle_bytes: int = 3 * _GIB

    @staticmethod
    def of(config: LimitConfig) -> "WorkerLimits":
        """What the configuration sets, the rest by default."""
        return WorkerLimits(**{name: getattr(config, name) for name in config.__struct_fields__})


@dataclass
class Performed:
    """What came of a request: the steps that were reported, by index, where CPU time went, and what was observed."""

    results: dict[int, StepResult] = field(default_factory=dict)
    own_cpu_s: float = 0.0
    library_cpu_s: float = 0.0
    start_cpu_s: float = 0.0
    """What of the libraries' time was for importing them."""
    observed: Any = None


class Worker:
    """One persistent child for one group; a context manager that leaves no process behind.

    `modules` are all that it may be asked to import. With an `observer`, the child reports after each case which of
    its library's code was reached for the first time; when it starts, it is told what is known already. Once `halted`
    says so, no child lives on. If it `listens`, all that was printed is kept, step by step.
    """

    def __init__(
        self,
        group: Group,
        python: Path,
        modules: Sequence[str],
        limits: WorkerLimits | None = None,
        observer: Observation | None = None,
        halted: Callable[[], bool] = lambda: False,
        listens: bool = False,
    ) -> None:
        self.group, self.python, self.modules, self.listens = group, python, modules, listens
        self.limits, self.observer, self._halted = limits or WorkerLimits(), observer, halted
        self.starts = 0
        self.resident_bytes = 0
        self._versions: dict[str, Mapping[str, str]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._inbox = Inbox()
        self._printed = b""
        self._served = 0
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def perform(self, request: Message, steps: Sequence[Step], deadline: float) -> Performed:
        """Do `steps`, which `request` lists in the same order. A step without a result comes after one that failed."""
        if self._process is None:
            self._start()
            if self.observer is not None:
                request = request._replace(header={**request.header, "seen": self.observer.branches.to_plain()})
        self._served += 1
        self._printed = b""
        watch = _Watch(self, steps, deadline)
        try:
            send(self._request, request)
            while not watch.ended:
                try:
                    watch.take(self._receive(watch.until))
                except _Late:
                    if not watch.extend():
                        raise
        except _Late:
            watch.fail("timeout", f"after {time.monotonic() - watch.entered:.1f} s")
        except _TooLarge as error:
            watch.fail("memory", str(error))
        except Oversized as error:
            watch.fail("oversized", str(error))
        except Broken:
            watch.fail(*self._death())
        if not watch.ended:
            self.stop()
        else:
            self.resident_bytes = _resident_bytes(self.pid)
            large = self.resident_bytes > self.limits.recycle_bytes
            if large or self._served >= self.limits.recycle_after or watch.out_of_space:
                self.stop()
        return watch.performed

    def versions_of(self, step: Step) -> Mapping[str, str]:
        """The versions that the step's session reported; empty before its first start."""
        return self._versions.get(_session_key(step), {})

    def note_versions(self, session: str, versions: Mapping[str, str]) -> None:
        self._versions[session] = versions

    @property
    def printed(self) -> str:
        """The last of what the child printed during this request, as evidence."""
        self._drain()
        return self._printed.decode(errors="replace")

    def _start(self) -> None:
        request_read, self._request = os.pipe()
        self._reply, reply_write = os.pipe()
        self._output, output_write = os.pipe()
        os.set_blocking(self._output, False)
        for descriptor in (self._request, self._reply, self._output):
            self._resources.callback(os.close, descriptor)
        options = {
            "address_space": self.limits.address_space_bytes,
            "observer": self.observer and self.observer.options,
        }
        command = [str(self.python), "-c", _BEGIN, json.dumps(options)]
        try:
            home = self._resources.enter_context(scratch_folder("worker"))
            self._process = children.start(
                [*command, str(request_read), str(reply_write)],
                stdin=subprocess.DEVNULL,
                stdout=output_write,
                stderr=output_write,
                pass_fds=(request_read, reply_write),
                env=_environ(self.group, home, self.modules),
            )
        except OSError as error:
            self.stop()
            place = error.filename or self.python
            raise WorkerFailure(
                f"{self.group.name}: cannot start {place}: {error.strerror}; `cometfuzz doctor` looks at each route"
            ) from None
        finally:
            for descriptor in (request_read, reply_write, output_write):
                os.close(descriptor)
        if self._halted():  # while it started, so that nobody has killed it
            self.kill()
        self._served = 0
        self.starts += 1
        self._inbox = Inbox(min(self.limits.output_bytes, MAX_BODY))

    def kill(self) -> None:
        """Kill the child with its whole process group; any thread may, the one that waits for it notices."""
        process = self._process
        if process is not None:
            children.kill(process)

    def stop(self) -> None:
        """Kill the child and close what belongs to it."""
        if self._process is not None:
            children.end(self._process)
            self._process = None
        self._resources.close()

    @property
    def running(self) -> bool:
        """Whether it has a child."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """The number of its child, which must be running."""
        assert self._process is not None
        return self._process.pid

    def _receive(self, until: float) -> Message:
        """The next message; meanwhile what the child prints is taken in, and its memory looked at."""
        polled = time.monotonic()
        while (message := self._inbox.take()) is None:
            now = time.monotonic()
            if now >= until:
                raise _Late
            if now - polled >= _POLL_S:
                polled = now
                self.resident_bytes = _resident_bytes(self.pid)
                if self.resident_bytes > self.limits.memory_bytes:
                    limit = self.limits.memory_bytes / _GIB
                    raise _TooLarge(f"{self.resident_bytes / _GIB:.1f} GiB resident; the limit is {limit:.1f}")
            readable = ready_to_read([self._reply, self._output], min(until - now, _POLL_S))
            if self._output in readable and not self._drain():
                readable = ready_to_read([self._reply], min(until - now, _POLL_S))
            if self._reply in readable:
                part = os.read(self._reply, 2**20)
                if not part:
                    raise Broken("expected a message; received the end of the stream")
                self._inbox.feed(part)
        return message

    def _drain(self) -> bool:
        """Take in what was printed, and keep the end of it; False if nobody can print any more."""
        for _ in range(_DRAINED_AT_ONCE if self._process is not None else 0):
            try:
                part = os.read(self._output, 2**16)
            except BlockingIOError:
                return True
            if not part:
                return False
            self._printed = (self._printed + part)[-(MAX_HEARD if self.listens else MAX_PRINTED) :]
        return True

    def heard(self) -> str:
        """What was printed since it was asked last, if it listens."""
        text = self.printed if self.listens else ""
        self._printed = b"" if self.listens else self._printed
        return text

    def _death(self) -> tuple[Status, str]:
        assert self._process is not None
        try:
            code = self._process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            return "protocol", "something else wrote to the private pipe, or it was closed"
        if code >= 0:
            return "exited", f"with code {code}"
        seen = f", {self.resident_bytes / _GIB:.1f} GiB resident when last seen" if code == -signal.SIGKILL else ""
        return "signal", signal.Signals(-code).name + seen


class _Watch:
    """Follows one request: which step the child is in, since when, and what is done."""

    def __init__(self, worker: Worker, steps: Sequence[Step], deadline: float) -> None:
        self.worker, self.steps, self.deadline = worker, steps, deadline
        self.performed, self.ended = Performed(), False
        self.entered, self._queued_s, self._more_s = time.monotonic(), queued_s(worker.pid), 0.0
        self._step, self._stage = 0, steps[0].stages[0].name
        self._limit_s = worker.limits.start_s  # until the first stage: Python itself starts

    @property
    def until(self) -> float:
        return min(self.deadline, self.entered + self._limit_s) + self._more_s

    def extend(self) -> bool:
        """Give the stage the time that the child has waited for a CPU: a busy machine is no hang."""
        before = self._more_s
        self._more_s = min(queued_s(self.worker.pid) - self._queued_s, _PATIENCE * self._limit_s)
        return self._more_s > before and self.until > time.monotonic()

    def take(self, message: Message) -> None:
        header = message.header
        event = header["event"]
        if event == "stage":
            self._enter(int(header["step"]), str(header["stage"]))
        elif event == "started":
            self.worker.note_versions(header["session"], header["versions"])
        elif event == "done":
            self.ended = True
            self.performed.own_cpu_s = header["own_cpu_s"]
            self.performed.library_cpu_s = header["library_cpu_s"]
            self.performed.start_cpu_s = header["start_cpu_s"]
            self.performed.observed = header["observed"]
        else:
            self._report(message)

    def _enter(self, step: int, stage: str) -> None:
        limits = self.worker.limits
        self._step, self._stage, self.entered = step, stage, time.monotonic()
        self._queued_s, self._more_s = queued_s(self.worker.pid), 0.0
        self._limit_s = limits.start_s if stage == START else limits.stage_s

    def _report(self, message: Message) -> None:
        header, index = message.header, int(message.header["step"])
        step = self.steps[index]
        times = tuple(StageTime(stage, _library(step, stage), wall, cpu) for stage, wall, cpu in header["times"])
        if header["event"] == "exception":
            seen = header["error"]
            failure = Failure(seen["type"], tuple(seen["kinds"]), seen["message"], tuple(seen["frames"]))
            self._note(index, "exception", header["stage"], times, failure=failure)
        elif header["kind"] == "artefact":
            artefact = message.tensors[0].data if message.tensors else None
            self._note(index, "completed", header["stage"], times, artefact=artefact)
        else:
            self._note(index, "completed", header["stage"], times, tensors=tuple(message.tensors))
        if index + 1 < len(self.steps):
            self._enter(index + 1, self.steps[index + 1].stages[0].name)

    def fail(self, status: Status, detail: str) -> None:
        """The child is gone or must go: the step it is in has failed."""
        if self._step not in self.performed.results:
            step = self.steps[self._step]
            wall_s = time.monotonic() - self.entered
            times = (StageTime(self._stage, _library(step, self._stage), wall_s, 0.0),)
            self._note(self._step, status, self._stage, times, detail=detail)

    @property
    def out_of_space(self) -> bool:
        """Whether the disk was full for a step: what the child has left in its temp folder goes when it goes."""
        failures = [result.failure for result in self.performed.results.values() if result.failure is not None]
        return any(failure.disk_full for failure in failures)

    def _note(self, index: int, status: Status, stage: str, times: tuple[StageTime, ...], **more: Any) -> None:
        step, printed = self.steps[index], self.worker.heard() if status == "completed" else self.worker.printed
        stage = stage or step.stages[0].name
        if stage == START and status != "completed":
            more["detail"] = f"{_described(status, more)}; {printed[-400:]}".strip("; \n")
            status = "unavailable"
        self.performed.results[index] = StepResult(
            status,
            stage,
            _library(step, stage),
            printed=printed,
            times=times,
            versions=self.worker.versions_of(step),
            **more,
        )


def ready_to_read(descriptors: Sequence[int], limit_s: float) -> set[int]:
    """Those that can be read, or have come to their end, after at most so long. `select` knows none above 1023, and a
    machine with many cores has more."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(1000 * max(0.0, limit_s))}


class _TooLarge(Exception):
    pass


class _Late(Exception):
    pass


def _described(status: Status, more: Mapping[str, Any]) -> str:
    failure = more.get("failure")
    return f"{failure.type}: {failure.message}" if failure is not None else f"{status} {more.get('detail', '')}"


def _library(step: Step, stage: str) -> str:
    """Who is to blame for a stage; while it starts, the library of the step's first stage."""
    return next((known.library for known in step.stages if known.name == stage), step.stages[0].library)


def _session_key(step: Step) -> str:
    return json.dumps([step.module, dict(step.options)])


def _environ(group: Group, home: Path, modules: Sequence[str]) -> dict[str, str]:
    """The child's environment variables: the user's own library settings stay out, plug-ins get onto its path."""
    folders = [str(Path(cometfuzz.__file__).parents[1]), *map(_folder, modules)]
    caches = {"KERAS_HOME": str(home), "XDG_CACHE_HOME": str(home), "PYTHONNOUSERSITE": "1"}
    private = {**private_home(home), **caches}
    path = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    builders = {name: spec.builder for name, spec in CATALOGUE.items() if spec.builder}
    layers = told([module for name, module in PLUGGED.items() if name not in BROKEN], builders, _simplest())
    own = environments.environ_of(group.environment)
    return {**os.environ, **memory.ENVIRON, **group.environ, **own, **private, "PYTHONPATH": path, TOLD: layers}


@cache
def _simplest() -> dict[str, dict[str, Any]]:
    """The simplest values of parameters by layer, but for those that are layers."""
    return {
        name: {
            key: space.simplest for key, space in spec.params.items() if not any(True for _ in inside(space.simplest))
        }
        for name, spec in CATALOGUE.items()
        if spec.params
    }


def _folder(module: str) -> str:
    """The folder from which a module that is not ours is imported."""
    top = module.split(".")[0]
    found = None if top == "cometfuzz" else importlib.util.find_spec(top)
    if found is None or found.origin is None:
        return ""
    return str(Path(found.origin).parents[1 if found.submodule_search_locations else 0])


def queued_s(pid: int) -> float:
    """How long a process has been ready to run and had no CPU; 0 where the kernel does not say."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
