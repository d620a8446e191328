"""The child process: serves one route, whose code is MODULE, in its environment's Python.

    python -m cometfuzz.execution.worker MODULE OPTIONS REQUEST_FD REPLY_FD

It imports the library once, announces each stage before it enters it, and answers every request. Needs only the
standard library, numpy, and what the route imports.
"""

import json
import os
import resource
import sys
import traceback
from importlib import import_module
from typing import Any

from cometfuzz.execution.protocol import Broken, Message, receive, send
from cometfuzz.ir.plain import typed_from_plain
from cometfuzz.routes import Session

MAX_MESSAGE = 2000
MAX_FRAMES = 12


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


def serve(session: Session, request_fd: int, reply_fd: int) -> None:
    """Answer requests until the parent closes the pipe."""
    stage = "idle"

    def enter(name: str) -> None:
        nonlocal stage
        stage = name
        send(reply_fd, Message({"event": "stage", "stage": name}))

    while True:
        try:
            request = receive(request_fd)
        except Broken:
            return
        graph = typed_from_plain(request.header["graph"])
        before = resource.getrusage(resource.RUSAGE_SELF)
        try:
            tensors = session.run(graph, request.header["inputs"], request.header["weights"], request.tensors, enter)
            answer = Message({"event": "outputs"}, tensors)
        except Exception as error:  # the one place: around the call into the target library
            answer = Message({"event": "exception", "stage": stage, "error": describe(error)})
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        send(reply_fd, Message({**answer.header, "cpu_s": cpu_s}, answer.tensors))


def main() -> None:
    module, options, request_fd, reply_fd = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    os.set_inheritable(request_fd, False)
    os.set_inheritable(reply_fd, False)
    send(reply_fd, Message({"event": "stage", "stage": "start"}))
    session: Session = import_module(module).start(options)
    send(reply_fd, Message({"event": "ready", "versions": session.versions()}))
    serve(session, request_fd, reply_fd)


if __name__ == "__main__":
    main()
