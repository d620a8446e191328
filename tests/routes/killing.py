"""Kill -9 a campaign again and again, resume it, and look whether anything was lost.

A campaign is a command that prints its events as JSON lines, each after it was stored. What it printed before it died
is what it must not lose. Raises AssertionError, with the numbers, as soon as something is not as it must be.
"""

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.replay import recount
from cometfuzz.draw import Draw

MOST_S = 0.5
"""A kill comes up to so long after the last finished case that was waited for."""


@dataclass
class Killed:
    """A campaign that is killed: its folder, the commands that begin it and go on with it, and what it has said."""

    folder: Path
    begin: Sequence[str]
    go_on: Sequence[str]
    said: list[tuple[int, str]] = field(default_factory=list)
    done: list[int] = field(default_factory=list)

    def live(self, cases: int, delay_s: float) -> None:
        """Begin or go on, wait until so many cases more are finished, and `delay_s`; kill, and look at what is left."""
        command = self.go_on if self.folder.exists() else self.begin
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                self.said += islice(_finished(process.stdout), cases)
                time.sleep(delay_s)
                assert process.poll() is None, f"the campaign ended by itself, with code {process.returncode}"
            finally:
                process.kill()
            self.said += _finished(process.stdout)
        self.check()

    def finish(self, command: Sequence[str]) -> None:
        """Let the campaign come to its end, and look at what is left."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            self.said += _finished(process.stdout)
        assert process.returncode == 0
        self.check()

    def check(self) -> None:
        """Nothing finished is lost, nothing is there or was done twice, and database and coverage are sound."""
        with Records(self.folder) as records:
            problems = records.check()
            assert problems == []
            stored = [(logged.index, logged.case_id) for logged in records.feedbacks()]
            assert [index for index, _ in stored] == list(range(len(stored)))
            indices = [index for index, _ in self.said]
            assert indices == sorted(set(indices)), "a case that was finished was run again"
            lost = [case for case in self.said if case not in set(stored)]
            assert not lost, f"finished, and not there any more: {lost}"
            for columns, table in (("case_index, part, route", "outcomes"), ("case_index, part", "trials")):
                twice = f"SELECT {columns} FROM {table} GROUP BY {columns} HAVING count(*) > 1"
                assert [tuple(row) for row in records.select(twice)] == []
            assert recount(records) == records.coverage
            assert not self.done or len(stored) >= self.done[-1]
            self.done.append(len(stored))


def kill_often(
    campaign: Killed, kills: int, most: int, draw: Draw, show: Callable[[int], None] = lambda n: None
) -> None:
    """So many lives, each of 1 to `most` finished cases and a moment."""
    for number in range(kills):
        campaign.live(draw.integer(1, most), MOST_S * draw.fraction())
        show(number + 1)


def what_ran(folder: Path) -> list[tuple[object, ...]]:
    """Every outcome of a campaign, but for times: to compare it with one that nobody killed."""
    with Records(folder) as records:
        return [(ran.index, ran.part, ran.case_id, ran.result.route, ran.result.status) for ran in records.outcomes()]


def _finished(lines: IO[str]) -> Iterator[tuple[int, str]]:
    """The cases that a campaign says are done; a line that was cut off by a kill says nothing."""
    for line in lines:
        if line.endswith("\n"):
            event = json.loads(line)
            if event["event"] == "case":
                yield event["index"], event["case_id"]


def living(token: str) -> list[Path]:
    """The processes that have `token` among their environment variables."""
    left = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            left += [path] if token.encode() in path.read_bytes() else []
    return left
