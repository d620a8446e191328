"""Screens of a campaign: handlers of its events for a terminal, for a log, for a program, and for silence.

Each is a context manager with `handle(event)`. All but JsonLines end with the same summary.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from cometfuzz.campaign.events import CaseDone, Ended, Event, Notice, Started
from cometfuzz.reports.json_lines import as_line
from cometfuzz.reports.picture import picture
from cometfuzz.reports.summary import print_summary, sighting_text
from cometfuzz.reports.tally import Tally
from cometfuzz.reports.text import clean, duration, plural

REFRESHES_PER_S = 4
STATUS_EVERY_S = 30
SILENT_S = 60.0
"""How long a log may be silent."""


class Screen:
    """What screens share; `handle` takes the events of one campaign in order."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        return None

    def handle(self, event: Event) -> None:
        raise NotImplementedError


class JsonLines(Screen):
    """Every event as a line of JSON, at once."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def handle(self, event: Event) -> None:
        self.file.write(as_line(event) + "\n")
        self.file.flush()


class Quiet(Screen):
    """Nothing but the closing summary."""

    def __init__(self, console: Console, known: Iterable[str] = ()) -> None:
        self.console, self.tally = console, Tally(known)

    def handle(self, event: Event) -> None:
        self.tally.handle(event)
        if isinstance(event, Ended):
            print_summary(self.console, self.tally)


LEGEND = (
    "below, how much has executed: layer inputs/parameter values/sequences, of the paper's space, of ours (full), of "
    "operators (ops)"
)


class PlainLines(Quiet):
    """Lines for a log: the start, each new finding, notices, now and then how it goes, the summary.

    A case may take minutes on a machine that has much else to do: then a line says that it is waited for.
    """

    def __init__(
        self,
        console: Console,
        known: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
        silent_s: float = SILENT_S,
    ) -> None:
        super().__init__(console, known)
        self.clock, self._silent_s = clock, silent_s
        self._status_s = float(STATUS_EVERY_S)
        self._heard = self._said = clock()
        self._guard, self._over = threading.Lock(), threading.Event()
        self._watch = threading.Thread(target=self._wait, name="log", daemon=True)

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._watch.join()

    def handle(self, event: Event) -> None:
        with self._guard:
            if not isinstance(event, Notice):
                self._heard = self.clock()
            if isinstance(event, Ended):
                self._over.set()
                super().handle(event)
            else:
                self._tell(event)

    def _wait(self) -> None:
        while not self._over.wait(min(self._silent_s, 1.0)):
            with self._guard, contextlib.suppress(OSError):  # who prints the next event says that nobody reads
                if self.clock() - self._said >= self._silent_s and not self._over.is_set():
                    silent_s = self.clock() - self._heard
                    self._say(f"no case has ended for {duration(silent_s)}, {self.tally.done} so far", silent_s)

    def _tell(self, event: Event) -> None:
        self.tally.handle(event)
        if isinstance(event, Started):
            self._say(_opening(self.tally))
            self._say(LEGEND)
            self._status_s = event.elapsed_s + STATUS_EVERY_S
        elif isinstance(event, Notice):
            self._say(f"notice: {event.text}")
        for sighting in self.tally.fresh:
            self._say(f"new: case {sighting.index}, {sighting_text(sighting)}")
        if isinstance(event, CaseDone) and event.elapsed_s >= self._status_s:
            self._say(_status(self.tally))
            self._status_s = (event.elapsed_s // STATUS_EVERY_S + 1) * STATUS_EVERY_S

    def _say(self, text: str, since_s: float = 0.0) -> None:
        self._said = self.clock()
        line = Text(f"{duration(self.tally.elapsed_s + since_s):>7}  {clean(text, self.console.encoding)}")
        self.console.print(line, soft_wrap=True, markup=False, highlight=False)


def _opening(tally: Tally) -> str:
    settings = tally.settings
    limits = [f"{settings[name]} {name}" for name in ("minutes", "cases") if settings.get(name)]
    parts = [str(settings[name]) for name in ("strategy",) if name in settings]
    parts += [f"{name} {settings[name]}" for name in ("seed", "jobs") if name in settings]
    parts += [f"{len(tally.routes)} routes"] if tally.routes else []
    parts += [" or ".join(limits)] if limits else []
    parts += [f"into {settings['out']}"] if settings.get("out") else []
    head = f"goes on after {tally.done} cases:" if tally.done else "begins:"
    return f"{head} {', '.join(parts)}"


def _status(tally: Tally) -> str:
    spaces = []
    for space, criteria in tally.coverage.items():
        shares = "/".join(f"{100 * counts['covered'] / max(counts['total'], 1):.1f}" for counts in criteria.values())
        spaces.append(f"{space} {shares}%")
    left_s = tally.left_s(tally.elapsed_s)
    left = "" if left_s is None else f", {duration(left_s)} left"
    failed = sum(health.failed for health in tally.routes.values())
    return (
        f"{plural(tally.done, 'case')}, {tally.recent_rate(tally.elapsed_s):.1f}/s; {', '.join(spaces)}; "
        f"{plural(tally.distinct, 'new finding')} of {tally.found}; {plural(failed, 'run')} failed{left}"
    )


class LiveScreen(Screen):
    """A picture of the campaign on the whole terminal, which is as it was when the summary is printed.

    The alternate screen is drawn over, never erased, so that nothing flickers.
    """

    def __init__(
        self, console: Console, known: Iterable[str] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.console, self.tally, self.clock = console, Tally(known), clock
        self._heard = clock()
        self._guard = threading.Lock()
        self._live = Live(
            self,
            console=console,
            screen=True,
            refresh_per_second=REFRESHES_PER_S,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._live.stop()

    def handle(self, event: Event) -> None:
        with self._guard:
            self.tally.handle(event)
            if not isinstance(event, Notice):
                self._heard = self.clock()
        if isinstance(event, Ended):
            self._live.stop()
            print_summary(self.console, self.tally)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draws the tally; the thread that refreshes calls it, hence the lock."""
        with self._guard:
            since = 0.0 if self.tally.ended is not None else self.clock() - self._heard
            height = options.height or options.max_height
            lines = picture(self.tally, self.tally.elapsed_s + since, options.max_width, height)
        for line in lines:
            yield from line.render(console)
            yield Segment.line()


def screen_for(as_json: bool, quiet: bool, known: Iterable[str] = ()) -> Screen:
    """The screen that fits what stdout is and what was asked for."""
    console = Console()
    if as_json:
        return JsonLines(sys.stdout)
    if quiet:
        return Quiet(console, known)
    drawn = console.is_terminal and not console.is_dumb_terminal and console.encoding.startswith("utf")
    return LiveScreen(console, known) if drawn else PlainLines(console, known)
