"""Small parts of the supervisor; tests/routes has it with real children."""

import os
import resource
import signal

import pytest

from cometfuzz.cli.ends import Ending
from cometfuzz.execution.supervisor import ready_to_read


def test_descriptors_of_any_number_are_waited_for() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 3000:
        pytest.skip("expected a limit of 3000 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3000), hard))
    reader, writer = os.pipe()
    high = 2000
    os.dup2(reader, high)
    try:
        assert ready_to_read([high], 0.01) == set()
        os.write(writer, b"x")
        assert ready_to_read([high], 5.0) == {high}
        os.read(high, 1)
        os.close(writer)
        assert ready_to_read([high], 5.0) == {high}, "its end can be read"
    finally:
        os.close(reader)
        os.close(high)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_process_listens_for_signals_once() -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    told = signal.set_wakeup_fd(-1)
    try:
        ending = Ending()
        ending.listen()
        before = len(os.listdir("/proc/self/fd"))
        ending.listen()
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        signal.set_wakeup_fd(told)
        for number, handler in handlers.items():
            signal.signal(number, handler)
