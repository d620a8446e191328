"""The other side of `fork_server.py`, run by the libraries' interpreter: forks for each script, after all was imported.

Standard library only. A request is a line of JSON, {"script": path, "limit_s": ...}; an answer is one as well.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import runpy
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

_POLL_S = 0.01
_MEMORY_BYTES = 10 * 2**30


def main() -> None:
    """Import what the script named in the first argument imports, then serve."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    kept = []  # what the imports have made must not be collected
    with contextlib.suppress(ImportError, SystemExit):  # then each script says itself what is missing
        kept.append(runpy.run_path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), file=answers, flush=True)


def _run(request: dict[str, Any]) -> dict[str, Any]:
    path = Path(request["script"])
    child = os.fork()
    if child == 0:
        _play(path)
    until = time.monotonic() + request["limit_s"]
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done or time.monotonic() > until:
            break
        time.sleep(_POLL_S)
    if not done:
        os.kill(child, signal.SIGKILL)  # its children go with the group, when the server ends
        os.waitpid(child, 0)
    printed, errors = (path.with_suffix(end).read_text(errors="replace") for end in (".out", ".err"))
    return {"exit_code": os.waitstatus_to_exitcode(status) if done else None, "printed": printed, "errors": errors}


def _play(path: Path) -> None:
    """Be the script, and end."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    for descriptor, end in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(path.with_suffix(end), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    os.close(0)
    sys.argv = [str(path)]
    code = 1
    try:
        runpy.run_path(str(path), run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
