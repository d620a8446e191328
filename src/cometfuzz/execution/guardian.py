"""The guardian: a process that outlives ours by an instant, and takes our children with it. See `children.py`.

Standard library only. It is told "+GROUP" and "-GROUP", line by line; when the pipe ends, we are gone, and it kills the
process groups that are left.
"""

import contextlib
import os
import signal
import sys


def main() -> None:
    """Listen to the end, then kill."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        change = groups.add if line.startswith(b"+") else groups.discard
        change(int(line[1:]))
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
