"""How a command ends: by itself, by an error in one line, by a signal, or because nobody reads what it prints."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TextIO

from rich.console import Console

from cometfuzz.errors import CometfuzzError, EnvironmentFailure, WorkerFailure
from cometfuzz.reports.text import visible

NOBODY_READS = 141
LIMIT_S = 8.0
"""How long a command may take to end after SIGTERM or SIGHUP."""

_SURE = (signal.SIGTERM, signal.SIGHUP)


class Ending:
    """The signals that end a command: Ctrl-C, SIGTERM and SIGHUP.

    The first one interrupts, so that all that is under way is left in good order, or `asks` the command to end, and
    then the second one interrupts. After SIGTERM and SIGHUP, which need not come from somebody who waits and sees, the
    process is gone LIMIT_S later in any case, and its children with it.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._ask: Callable[[], None] | None = None
        self._interrupted = False
        self._listening = False

    @property
    def code(self) -> int:
        """The exit code that says by which signal it ended, as a shell has it; 0 if by none."""
        return 0 if self.received is None else 128 + self.received

    @contextlib.contextmanager
    def asking(self, ask: Callable[[], None]) -> Iterator[None]:
        """Meanwhile the first signal asks."""
        self._ask = ask
        try:
            yield
        finally:
            self._ask = None

    def listen(self) -> None:
        """Handle signals from now on; but what the caller wants to be ignored, as nohup does, stays so."""
        if not self._listening:  # a program may run several commands, one after the other
            self._listening = True
            heard, told = os.pipe()
            os.set_blocking(told, False)
            signal.set_wakeup_fd(told, warn_on_full_buffer=False)  # tells even while the main thread is in a long call
            threading.Thread(target=_insist, args=[heard], name="ending", daemon=True).start()
        signal.signal(signal.SIGINT, self._handle)
        for number in _SURE:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def over(self) -> None:
        """Nothing is left that could be interrupted."""
        self._ask, self._interrupted = None, True
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.received = self.received or number
        if self._ask is not None:
            ask, self._ask = self._ask, None
            ask()
        elif number == signal.SIGINT or not self._interrupted:
            self._interrupted = True
            raise KeyboardInterrupt


def _insist(heard: int) -> None:
    while True:
        for number in os.read(heard, 64):
            if number in _SURE:
                time.sleep(LIMIT_S)
                os._exit(128 + number)


ENDING = Ending()


def exit_code_of(command: Callable[[], object]) -> int:
    """Run a command to its end; `main` says what the codes mean."""
    _open_standard_streams()
    ENDING.listen()
    code = 2
    try:
        code = _code_of(command)
    except CometfuzzError as error:
        _say(error)
        code = 3 if isinstance(error, EnvironmentFailure | WorkerFailure) else 2
    except BrokenPipeError:
        code = NOBODY_READS
    except OSError as error:
        _say(CometfuzzError(": ".join(str(part) for part in (error.filename, error.strerror or error) if part)))
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    ENDING.over()
    _let_go(sys.stdout, sys.stderr)
    return ENDING.code or code


def _code_of(command: Callable[[], object]) -> int:
    """The code with which a command exits, or BrokenPipeError if nobody reads what it prints, whoever has noticed."""
    stdout = sys.stdout
    Console.on_broken_pipe = _nobody_reads  # type: ignore[assignment]  # Rich would exit with code 1
    try:
        try:
            command()
        finally:
            stdout.flush()  # else Python does it when nobody can catch the error any more
            if sys.stdout is not stdout:  # Typer's way to be silent
                raise BrokenPipeError
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
    return 0


def _nobody_reads(console: Console) -> None:
    raise BrokenPipeError


def _say(error: CometfuzzError) -> None:
    """One line on stderr without anything that could steer a terminal; a build that failed shows the end of its log."""
    lines = str(error).splitlines() if isinstance(error, EnvironmentFailure) else [str(error)]
    text = "\n    ".join(" ".join(visible(line).split()) for line in lines)
    with contextlib.suppress(OSError):
        print(f"cometfuzz: {text}", file=sys.stderr, flush=True)


def _open_standard_streams() -> None:
    """What the caller has closed leads nowhere: else the next file that is opened, a database say, takes its place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the first number that is free: this one
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


def _let_go(*streams: TextIO) -> None:
    """What cannot be written any more is dropped: else Python complains of it when it ends."""
    for descriptor, stream in enumerate(streams, 1):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
