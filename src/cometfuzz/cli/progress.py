"""How far a command is: a bar with an estimate on a terminal, a plain line now and then in a log; always on stderr.

What takes more than a moment shows it in this one way. What a command prints for programs is on stdout, and never mixed
with it; where a command is quiet, there is nothing.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cometfuzz.reports.text import clean, duration

EVERY_S = 30.0
"""How long a log waits for the next line; what ends before leaves none."""


class Advance:
    """How far something is: `advance` by a step, or `update` what it is at."""

    def __init__(self, what: str, total: int | None, console: Console, bar: Progress | None, every_s: float) -> None:
        self.what, self.total, self.at = what, total, ""
        self.done: float = 0
        self.console, self._bar, self._every_s = console, bar, every_s
        self._begun = self._told = time.monotonic()
        self._task = bar.add_task(what, total=total, at="") if bar is not None else None

    def advance(self, at: str | None = None) -> None:
        """One step is done; `at`: what it is at now."""
        self.update(self.done + 1, at=at)

    def update(self, done: float | None = None, total: int | None = None, at: str | None = None) -> None:
        """What is known anew: how many are done, or how much of one, how many there are, what it is at."""
        self.done = self.done if done is None else done
        self.total = self.total if total is None else total
        self.at = self.at if at is None else clean(at)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self.done, total=self.total, at=self.at[:40])
        elif self._every_s >= 0 and time.monotonic() >= self._told + self._every_s:
            self._told = time.monotonic()
            self.console.print(self._line(), markup=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line that stays, above the bar."""
        self.console.print(text, markup=False, soft_wrap=True)

    def _line(self) -> str:
        spent = time.monotonic() - self._begun
        counted = f": {int(self.done)}" if self.done or self.total is not None else ""
        text = f"{self.what}{counted}" + (f" of {self.total}" if self.total is not None else "")
        text += f" after {duration(spent)}"
        if self.done and self.total is not None and self.done < self.total:
            text += f", about {duration(spent / self.done * (self.total - self.done))} left"
        return text + (f" ({self.at})" if self.at else "")


@contextmanager
def progress(
    what: str, total: int | None = None, *, quiet: bool = False, every_s: float = EVERY_S
) -> Iterator[Advance]:
    """Around something of so many steps, if that is known; `what` is a word or two, as in "running scripts"."""
    console = Console(stderr=True, highlight=False)
    if quiet or not console.is_terminal:
        yield Advance(what, total, console, None, -1.0 if quiet else every_s)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[at]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield Advance(what, total, console, bar, every_s)


@contextmanager
def working(what: str, *, quiet: bool = False, every_s: float = EVERY_S) -> Iterator[Callable[[str], None]]:
    """Around something of which nobody knows how many steps it takes; what is given is told what it is at."""
    console = Console(stderr=True, highlight=False)
    if quiet or not console.is_terminal:
        advance = Advance(what, None, console, None, -1.0 if quiet else every_s)
        yield lambda at: advance.update(at=at)
        return
    with console.status(what) as status:
        yield lambda at: status.update(escape(f"{what}: {clean(at)}"))
