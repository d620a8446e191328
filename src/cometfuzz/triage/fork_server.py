"""A fork server: many scripts one after the other, in forks of one process that has imported their libraries already.

For looking for a good script; the one that is found is then run by itself, see `running.py`.
"""

import contextlib
import json
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cometfuzz.errors import WorkerFailure
from cometfuzz.execution import children
from cometfuzz.execution.scratch import scratch_folder
from cometfuzz.triage import fork_server_child
from cometfuzz.triage.running import Ran, bare_environment

LIMIT_S = 20.0
"""How long a script may take."""

_START_S = 60.0
"""How long the imports may take."""


class ForkServer:
    """Runs scripts; what goes wrong with the process that forks is a script that has no exit code."""

    def __init__(self, process: "subprocess.Popen[bytes]", folder: Path) -> None:
        self._process, self._folder, self._count = process, folder, 0

    def run(self, text: str) -> Ran:
        """How a script ends, with what it printed."""
        self._count += 1
        path = self._folder / f"script{self._count}.py"
        path.write_text(text, encoding="utf-8")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"script": str(path), "limit_s": LIMIT_S}).encode() + b"\n")
            self._process.stdin.flush()
            ready, _, _ = select.select([self._process.stdout], [], [], LIMIT_S + _START_S)
            line = self._process.stdout.readline() if ready else b""
        except OSError:
            line = b""
        if not line:
            self._process.kill()  # so that a late answer is not taken for that of the next script
            return Ran(None, "", "", "the fork server has ended")
        answer = json.loads(line)
        return Ran(answer["exit_code"], answer["printed"], answer["errors"])


@contextmanager
def fork_server(python: Path, imports: str) -> Iterator[ForkServer]:
    """A server for scripts that all begin with the same imports, which are done once."""
    with scratch_folder("scripts") as folder:
        first = folder / "imports.py"
        first.write_text(imports, encoding="utf-8")
        try:
            process = children.start(
                [str(python), "-I", fork_server_child.__file__, str(first)],
                cwd=folder,
                env=bare_environment(folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise WorkerFailure(f"cannot start {python}: {error.strerror}; `cometfuzz env list` says more") from None
        try:
            yield ForkServer(process, folder)
        finally:
            children.end(process)
            with contextlib.suppress(BrokenPipeError), process:
                pass
