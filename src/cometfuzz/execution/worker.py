"""The child process: serves one group of steps in its environment's Python.

The parent calls `main` in it, with three arguments on the command line: OPTIONS REQUEST_FD REPLY_FD.

A request is a case and a list of steps. The child announces each stage before it enters it and reports each step as
soon as it is done, so that whatever happens next does not undo it. A library is imported when a step first needs it, in
a stage called "start". Needs only the standard library, numpy, and what the steps import.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from cometfuzz.execution.memory import filled_otherwise
from cometfuzz.ir.plain import manner_from_plain, typed_from_plain
from cometfuzz.protocol import Broken, Message, WireTensor, receive, send

MAX_MESSAGE = 2000
MAX_FRAMES = 12
START = "start"


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as data: class, message (bounded) and the innermost frames."""
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException)]
    return {
        "type": type(error).__name__,
        "kinds": kinds,
        "message": str(error)[:MAX_MESSAGE],
        "frames": frames[-MAX_FRAMES:],
    }


class CaseWork:
    """One case in the child: its tensors, and the clock of its stages."""

    def __init__(self, request: Message, reply_fd: int) -> None:
        self.graph = typed_from_plain(request.header["graph"])
        self.manner = manner_from_plain(request.header.get("manner", {}))
        count = len(request.header["inputs"])
        self.inputs: Sequence[WireTensor] = request.tensors[:count]
        self.weights: dict[str, Sequence[WireTensor]] = {}
        for node, size in request.header["weights"]:
            self.weights[node] = request.tensors[count : count + size]
            count += size
        self.library_cpu_s, self.start_cpu_s = 0.0, 0.0
        self._reply_fd = reply_fd
        self._stage, self._began = "", (0.0, 0.0)
        self._times: list[tuple[str, float, float]] = []

    def begin(self, step: int) -> None:
        self._step, self._stage, self._times = step, "", []

    def enter(self, stage: str) -> None:
        self._leave()
        self._stage = stage
        send(self._reply_fd, Message({"event": "stage", "step": self._step, "stage": stage}))
        self._began = time.monotonic(), time.process_time()

    def _leave(self) -> None:
        if self._stage:
            wall_s, cpu_s = self._began
            self._times.append((self._stage, time.monotonic() - wall_s, time.process_time() - cpu_s))

    @contextlib.contextmanager
    def library(self) -> Iterator[None]:
        began = time.process_time()
        try:
            yield
        finally:
            self.library_cpu_s += time.process_time() - began

    def end(self) -> dict[str, Any]:
        """Where the step ended, and how long each of its stages took."""
        self._leave()
        return {"step": self._step, "stage": self._stage, "times": self._times}


class Server:
    """Answers requests until the parent closes the pipe."""

    def __init__(self, request_fd: int, reply_fd: int, observer: Any = None) -> None:
        self.request_fd, self.reply_fd, self.observer = request_fd, reply_fd, observer
        self._sessions: dict[str, Any] = {}
        self._seen: Mapping[str, Any] = {}

    def serve(self) -> None:
        while True:
            try:
                request = receive(self.request_fd)
            except Broken:
                return
            with filled_otherwise(request.header.get("other_memory", False)):
                self._answer(request)

    def _answer(self, request: Message) -> None:
        began = time.process_time()
        work = CaseWork(request, self.reply_fd)
        self._seen = request.header.get("seen", self._seen)
        values: list[Any] = []
        for index, step in enumerate(request.header["steps"]):
            after = step["after"]
            value = request.tensors[step["given"]].data if step["given"] is not None else None
            if after is not None:
                value = values[after]
                if isinstance(value, _Failed):
                    values.append(value)
                    continue
            values.append(self._perform(work, index, step, value))
        observed = None if self.observer is None else self.observer.collect()
        usage = {"own_cpu_s": time.process_time() - began - work.library_cpu_s, "library_cpu_s": work.library_cpu_s}
        usage["start_cpu_s"] = work.start_cpu_s
        send(self.reply_fd, Message({"event": "done", **usage, "observed": observed}))

    def _perform(self, work: CaseWork, index: int, step: Mapping[str, Any], value: Any) -> Any:
        """Do one step and report it; the result is what the steps after it take."""
        work.begin(index)
        try:
            session = self._session(work, step)
            result = getattr(session, step["call"])(work, value)
        except Exception as error:  # the one place: around the call into the target library
            send(self.reply_fd, Message({"event": "exception", **work.end(), "error": describe(error)}))
            return _Failed()
        tensors: Sequence[WireTensor] = ()
        if isinstance(result, bytes):
            tensors = [WireTensor("bytes", (len(result),), result)] if step["wanted"] else ()
        elif isinstance(result, list):
            tensors = result
        kind = "artefact" if isinstance(result, bytes) else "outputs" if isinstance(result, list) else "live"
        send(self.reply_fd, Message({"event": "result", **work.end(), "kind": kind}, tensors))
        return result

    def _session(self, work: CaseWork, step: Mapping[str, Any]) -> Any:
        key = json.dumps([step["module"], step["options"]])
        if key not in self._sessions:
            work.enter(START)
            if self.observer is not None:
                self.observer.begin(self._seen)
            before = work.library_cpu_s
            with work.library():
                self._sessions[key] = import_module(step["module"]).start(step["options"])
            work.start_cpu_s += work.library_cpu_s - before
            versions = self._sessions[key].versions()
            send(self.reply_fd, Message({"event": "started", "session": key, "versions": versions}))
        return self._sessions[key]


class _Failed:
    """Stands for the result of a step that failed: what follows it is skipped."""


def main() -> None:
    options, request_fd, reply_fd = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(request_fd, False)
    os.set_inheritable(reply_fd, False)
    resource.setrlimit(resource.RLIMIT_AS, (options["address_space"], options["address_space"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    observer = options.get("observer")
    Server(request_fd, reply_fd, import_module(observer["module"]).start(observer) if observer else None).serve()


if __name__ == "__main__":
    main()
