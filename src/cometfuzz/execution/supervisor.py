"""The parent's side of a worker: starts it, feeds it, kills it at its limits, and says what happened.

Whatever the library does (exception, signal, exit, hang, memory), `Worker.execute` returns an Outcome that names the
stage, and the next call finds a living worker.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO

import cometfuzz
from cometfuzz.catalogue.data import Data
from cometfuzz.errors import WorkerFailure
from cometfuzz.execution.outcome import Failure, Outcome, Status
from cometfuzz.execution.protocol import Broken, Late, Message, WireTensor, receive, send
from cometfuzz.ir.graph import Graph
from cometfuzz.ir.plain import typed_to_plain
from cometfuzz.routes import Route

START_LIMIT_S = 180.0
MEMORY_LIMIT = 6 * 2**30
MAX_PRINTED = 4000
_POLL_S = 0.5
_GRACE_S = 2.0


class Worker:
    """One persistent child for one route; a context manager that leaves no process behind."""

    def __init__(self, route: Route, python: Path, recycle_after: int = 400) -> None:
        self.route, self.python, self.recycle_after = route, python, recycle_after
        self.versions: Mapping[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._printed: IO[bytes] | None = None
        self._served = 0
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def execute(self, graph: Graph, data: Data, limit_s: float = 60.0) -> Outcome:
        """Run one graph; always an outcome, unless the worker cannot even be started."""
        if self._process is None or self._served >= self.recycle_after:
            self.stop()
            self.start()
        self._served += 1
        began = time.monotonic()
        stage = "send"
        try:
            send(self._request, _request(graph, data))
            while True:
                message = self._receive(began + limit_s)
                if message.header["event"] != "stage":
                    break
                stage = str(message.header["stage"])
        except Late:
            self.stop()
            return self._outcome("timeout", stage, began, detail=f"after {limit_s:g} s")
        except _TooLarge as error:
            self.stop()
            return self._outcome("memory", stage, began, detail=str(error))
        except Broken:
            return self._death(stage, began)
        cpu_s = float(message.header["cpu_s"])
        if message.header["event"] == "exception":
            seen = message.header["error"]
            failure = Failure(seen["type"], tuple(seen["kinds"]), seen["message"], tuple(seen["frames"]))
            return self._outcome("exception", str(message.header["stage"]), began, failure=failure, cpu_s=cpu_s)
        return self._outcome("completed", stage, began, outputs=tuple(message.tensors), cpu_s=cpu_s)

    def start(self) -> None:
        """Start the child and wait until its library is imported."""
        request_read, self._request = os.pipe()
        self._reply, reply_write = os.pipe()
        self._printed = self._resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        for descriptor in (self._request, self._reply):
            self._resources.callback(os.close, descriptor)
        folders = [str(Path(cometfuzz.__file__).parents[1]), self.route.folder]
        home = self._resources.enter_context(tempfile.TemporaryDirectory())  # the user's own Keras settings stay out
        environ = {**os.environ, **self.route.environ, "KERAS_HOME": home, "PYTHONNOUSERSITE": "1"}
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        command = [str(self.python), "-P", "-m", "cometfuzz.execution.worker", self.route.module]
        try:
            self._process = subprocess.Popen(
                [*command, json.dumps(dict(self.route.options)), str(request_read), str(reply_write)],
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._printed,
                pass_fds=(request_read, reply_write),
                start_new_session=True,
                env=environ,
            )
        except OSError as error:
            self.stop()
            raise WorkerFailure(f"route {self.route.name}: cannot start {self.python}: {error.strerror}") from None
        finally:
            os.close(request_read)
            os.close(reply_write)
        self._served = 0
        deadline = time.monotonic() + START_LIMIT_S
        try:
            while (message := receive(self._reply, deadline - time.monotonic())).header["event"] != "ready":
                pass
            self.versions = dict(message.header["versions"])
        except (Late, Broken):
            printed = self._tail()
            self.stop()
            raise WorkerFailure(f"route {self.route.name}: expected a worker that starts; received {printed}") from None

    def stop(self) -> None:
        """Kill the child with its whole process group and close what belongs to it."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
        self._resources.close()

    def _receive(self, deadline: float) -> Message:
        """The next message; between polls, the child's memory is looked at."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late
            if _readable(self._reply, min(left, _POLL_S)):
                return receive(self._reply, left)
            assert self._process is not None
            if (resident := _resident_bytes(self._process.pid)) > MEMORY_LIMIT:
                raise _TooLarge(f"{resident / 2**30:.1f} GiB resident; the limit is {MEMORY_LIMIT / 2**30:.1f}")

    def _death(self, stage: str, began: float) -> Outcome:
        assert self._process is not None
        try:
            code = self._process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            outcome = self._outcome("protocol", stage, began, detail="something else wrote to the private pipe")
        else:
            outcome = (
                self._outcome("signal", stage, began, detail=signal.Signals(-code).name)
                if code < 0
                else self._outcome("exited", stage, began, detail=f"with code {code}")
            )
        self.stop()
        return outcome

    def _outcome(
        self,
        status: Status,
        stage: str,
        began: float,
        *,
        outputs: tuple[WireTensor, ...] = (),
        failure: Failure | None = None,
        detail: str = "",
        cpu_s: float = 0.0,
    ) -> Outcome:
        library = next((known.library for known in self.route.stages if known.name == stage), self.route.name)
        printed = "" if status == "completed" else self._tail()
        wall_s = time.monotonic() - began
        return Outcome(
            self.route.name, status, stage, library, outputs, failure, detail, printed, wall_s, cpu_s, self.versions
        )

    def _tail(self) -> str:
        """The last of what the child printed, as evidence."""
        if self._printed is None or self._printed.closed:
            return ""
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - MAX_PRINTED))
        return self._printed.read().decode(errors="replace")


class _TooLarge(Exception):
    pass


def _request(graph: Graph, data: Data) -> Message:
    inputs = [node.id for node in graph.inputs]
    arrays = [data.inputs[name] for name in inputs]
    weights = []
    for node, tensors in data.weights.items():
        weights.append([node, len(tensors)])
        arrays += tensors.values()
    header = {"graph": typed_to_plain(graph), "inputs": inputs, "weights": weights}
    return Message(header, [WireTensor(array.dtype.name, array.shape, array.tobytes()) for array in arrays])


def _readable(descriptor: int, limit_s: float) -> bool:
    return bool(select.select([descriptor], [], [], limit_s)[0])


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
