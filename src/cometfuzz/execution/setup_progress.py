"""How far the environments are that are being built. Standard library only: it runs before anything is installed."""

import re
import shutil
import sys
import threading
import time

EVERY_S = 30.0
"""How long a log waits until it says again what an environment is at."""

UNPACK_S = 0.7
"""What pip takes to install a package that it has, on the average of the environment `main`."""

FIRST = 3
"""Packages after which their pace says something."""


def seconds_left(text: str, spent_s: float) -> float:
    """An estimate, by what an environment is at and how long it has been at it; 0 if there is none."""
    if collecting := re.search(r"\((\d+) of (\d+)\)", text):
        done, total = map(int, collecting.groups())
        return (total - done) * spent_s / done + total * UNPACK_S if done >= FIRST else 0.0
    if installing := re.match(r"installing (\d+) packages", text):
        return max(0.0, int(installing[1]) * UNPACK_S - spent_s)
    return 0.0


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


class Progress:
    """Shows on stderr what each environment is at, and for how long: live on a terminal, else a line for each new phase
    and now and then one more, since pip is silent for minutes."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._at: dict[str, str] = {}
        self._begun: dict[str, float] = {}
        self._phase: dict[str, float] = {}
        self._guard = threading.Lock()
        self._live = sys.stderr.isatty()
        self._every_s = 1.0 if self._live else every_s
        self._ticking = False

    def __call__(self, name: str, text: str) -> None:
        with self._guard:
            before, self._at[name] = self._at.get(name, ""), text
            self._begun.setdefault(name, time.monotonic())
            phase_is_new = text.split()[0] != before.partition(" ")[0]
            if phase_is_new:
                self._phase[name] = time.monotonic()
            ended = text.startswith(("ready", "failed"))
            if ended:
                del self._at[name]
            if self._live:
                sys.stderr.write("\r\x1b[K")
            if ended or (phase_is_new and not self._live):
                sys.stderr.write(f"{name}: {text}\n")
            if self._live:
                self._draw()
            sys.stderr.flush()
            if self._at and not self._ticking:
                self._ticking = True
                threading.Thread(target=self._tick, name="progress", daemon=True).start()

    def _draw(self) -> None:
        line = "   ".join(f"{name}: {at}, {self._spent(name)}" for name, at in self._at.items())
        sys.stderr.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])

    def _spent(self, name: str) -> str:
        left = seconds_left(self._at[name], time.monotonic() - self._phase[name])
        estimate = f", about {_clock(left)} left" if left >= 1 else ""
        return _clock(time.monotonic() - self._begun[name]) + estimate

    def _tick(self) -> None:
        while True:
            time.sleep(self._every_s)
            with self._guard:
                if not self._at:
                    self._ticking = False
                    return
                if self._live:
                    self._draw()
                else:
                    sys.stderr.writelines(f"{name}: {at}, {self._spent(name)}\n" for name, at in self._at.items())
                sys.stderr.flush()
