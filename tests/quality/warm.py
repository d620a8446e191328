"""A warm command line: it has imported everything once, and forks for each call, which then costs milliseconds.

A request is a line of JSON on stdin: arguments, folder, environment variables, where to print. Answers go to the file
descriptor in argv: the process id of the call, then its exit code. A call ends as `python -m cometfuzz` does: the
child leaves this module and runs main() to the end of the interpreter.
"""

import contextlib
import gc
import io
import json
import os
import resource
import sys
import tempfile
from typing import Any

from cometfuzz.cli import app, main
from cometfuzz.errors import UnknownName

MEMORY_BYTES = 4 * 2**30
"""Address space of a call: what reads for ever ends before the machine does."""


def serve(answers: int) -> None:
    """Answer requests; returns in the child of each of them."""
    with contextlib.suppress(UnknownName), contextlib.redirect_stdout(io.StringIO()):
        app(["layers", "none"], standalone_mode=False)  # what is imported by the first call only
    gc.collect()
    gc.freeze()  # else every child looks through it all at its end
    threads = os.listdir("/proc/self/task")
    assert len(threads) == 1, f"expected one thread, so that a fork is sound; received {len(threads)}"
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            os.close(answers)
            return _become(json.loads(line))
        os.write(answers, b"%d\n" % process)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        os.write(answers, b"%d\n" % code)
    os._exit(0)


def _become(request: dict[str, Any]) -> None:
    """Be the process that somebody starts in a shell."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(_printing_to(request["stdout"]), 1)
    os.dup2(_printing_to(request["stderr"]), 2)
    os.chdir(request["cwd"])
    os.environ.update(request["environ"])
    tempfile.tempdir = None
    if request["limited"]:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.RLIM_INFINITY))  # a worker sets its own
    sys.argv = ["cometfuzz", *request["arguments"]]


def _printing_to(place: str) -> int:
    if place == "nobody":
        reader, writer = os.pipe()
        os.close(reader)
        return writer
    return os.open(place, os.O_WRONLY | os.O_CREAT | os.O_NOCTTY)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
    main()
