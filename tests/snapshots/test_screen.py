"""What a campaign looks like while it runs, and when it has ended."""

import io
import os
from pathlib import Path

import pytest
from campaigning import campaign
from rich.console import Console

from cometfuzz.campaign.events import Ended
from cometfuzz.reports.console import PlainLines
from cometfuzz.reports.picture import picture
from cometfuzz.reports.tally import Tally

SNAPSHOTS = Path(__file__).parent


def compare(name: str, seen: str) -> None:
    path = SNAPSHOTS / f"{name}.txt"
    seen = "\n".join(line.rstrip() for line in seen.splitlines()) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(seen)
    assert seen == path.read_text()


@pytest.mark.parametrize(("cases", "width", "height"), [(0, 80, 24), (400, 80, 24), (400, 120, 30)])
def test_the_live_screen(cases: int, width: int, height: int) -> None:
    tally = Tally()
    for event in campaign(cases):
        if not isinstance(event, Ended) and (cases or not tally.settings):
            tally.handle(event)
    lines = picture(tally, tally.elapsed_s + 1.0, width, height)
    compare(f"screen-{cases}-{width}", "\n".join(line.plain for line in lines))


def test_plain_lines_and_the_summary() -> None:
    file = io.StringIO()
    with PlainLines(Console(file=file, width=80)) as screen:
        for event in campaign(400):
            screen.handle(event)
    compare("plain-lines", file.getvalue())
