"""Screens: what a log, a program and a terminal get of a campaign's events."""

import io
import json
import re
import time

import pytest
from campaigning import SETTINGS, campaign, case_done, covered, finding, result
from rich.console import Console

from cometfuzz.campaign.events import Ended, Event, Notice, Started
from cometfuzz.reports.console import JsonLines, LiveScreen, PlainLines, Quiet, screen_for
from cometfuzz.reports.json_lines import as_line
from cometfuzz.reports.picture import bar, picture
from cometfuzz.reports.tally import Tally
from cometfuzz.reports.text import clean, duration

HOSTILE = "é→\x1b[2J\x1b]0;owned\x07[red]bad[/red] [link=file:///]x\r\n\x00\x9b31m\u202e\ud800\x1b"
ENDED = Ended("minutes", 1, 61.0, covered(1), 1.0, 9.0)


def started(**more: object) -> Started:
    return Started({**SETTINGS, **more}, 0, covered(0))


def lines_of(*events: Event, encoding: str = "utf-8", width: int = 80) -> list[str]:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding)
    with PlainLines(Console(file=file, width=width)) as screen:
        for event in events:
            screen.handle(event)
    file.flush()
    return raw.getvalue().decode(encoding).splitlines()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\n  lines\tand a tab", "two lines and a tab"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title never ended", ""),
        ("\x9b2Jc1", "c1"),
        ("a\x00b\x08c\x7f", "abc"),
        ("[red]kept as it is[/]", "[red]kept as it is[/]"),
        ("left\u202eright\ud800", "leftright"),
        ("\x1bcreset", "reset"),
        ("x" * 5000, "x" * 300),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clean_fits_the_encoding() -> None:
    assert clean("größer →", "ascii") == "gr??er ?"


@pytest.mark.parametrize(("seconds", "shown"), [(-1, "0:00"), (7.9, "0:07"), (187, "3:07"), (3723, "1:02:03")])
def test_duration(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_plain_lines_say_each_key_once_and_how_it_goes_every_half_minute() -> None:
    cases = [case_done(index, float(index), finding()) for index in range(95)]
    lines = lines_of(started(), *cases)
    assert re.match(r" +0:00  begins: comet, seed 1, jobs 2, 16 routes, 10 minutes, into campaigns/monday", lines[0])
    assert sum("new: case 0, crash, tensorflow Conv2D" in line for line in lines) == 1
    assert "layer inputs/parameter values/sequences" in lines[1]
    assert [line.split()[0] for line in lines[3:]] == ["0:30", "1:00", "1:30"]
    assert "31 cases, 1.0/s; paper 14.4/16.6/17.1%" in lines[3]
    assert "9:30 left" in lines[3]


def test_plain_lines_keep_a_long_finding_on_one_line() -> None:
    lines = lines_of(case_done(0, 1.0, finding(detail="why " * 60)), width=40)
    assert len(lines) == 1


def test_a_log_says_that_a_case_is_waited_for() -> None:
    console = Console(file=io.StringIO(), width=80)
    assert isinstance(console.file, io.StringIO)
    until = time.monotonic() + 60
    with PlainLines(console, silent_s=0.01) as screen:
        screen.handle(started())
        screen.handle(case_done(0, 1.0))
        while "no case has ended" not in console.file.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert re.search(r"^ +0:01  no case has ended for 0:00, 1 so far$", console.file.getvalue(), re.MULTILINE)


def test_a_resumed_campaign_says_so() -> None:
    assert "goes on after 40 cases: comet" in lines_of(Started(SETTINGS, 40, covered(40), 100.0))[0]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_a_log_takes_hostile_text_in_any_encoding(encoding: str) -> None:
    hostile = finding("value", HOSTILE, HOSTILE, HOSTILE), finding("refused", detail=HOSTILE)
    strange = result(HOSTILE, "exception", detail=HOSTILE)
    case = case_done(0, 40.0, *hostile, results=(strange,), operator=HOSTILE)
    text = "\n".join(lines_of(started(out=HOSTILE), case, Notice(HOSTILE), ENDED, encoding=encoding))
    assert "[red]bad[/red]" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert "owned" not in text


def test_quiet_says_nothing_before_the_end() -> None:
    file = io.StringIO()
    with Quiet(Console(file=file, width=80)) as screen:
        for event in campaign(20):
            if isinstance(event, Ended):
                assert file.getvalue() == ""
            screen.handle(event)
    assert file.getvalue().startswith("Ended: the time is over. 20 cases in")


def test_the_summary_ends_with_the_next_command() -> None:
    lines = lines_of(started(out="my campaigns/one"), case_done(0, 61.0), ENDED)
    assert lines[-2].startswith("Next: cometfuzz report 'my campaigns/one' ")
    assert lines[-1].startswith("      cometfuzz resume 'my campaigns/one' ")
    assert not any("cometfuzz report" in line for line in lines_of(started(out=None), ENDED))


def test_every_screen_has_the_same_summary() -> None:
    events = list(campaign(50))
    file = io.StringIO()
    with Quiet(Console(file=file, width=80)) as screen:
        for event in events:
            screen.handle(event)
    summary = file.getvalue().splitlines()
    assert lines_of(*events)[-len(summary) :] == summary


def test_json_lines_are_strict_json_without_tensors() -> None:
    file = io.StringIO()
    events = [*campaign(12), case_done(12, 30.0, finding(evidence={"worst": float("inf")}))]
    with JsonLines(file) as screen:
        for event in events:
            screen.handle(event)
    lines = file.getvalue().splitlines()
    assert len(lines) == len(events)
    plain = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert [line["event"] for line in plain[:2]] == ["started", "case"]
    assert plain[-1]["parts"][0]["findings"][0]["key"] == finding().key
    assert plain[-1]["parts"][0]["findings"][0]["evidence"] == {"worst": "Infinity"}
    assert all("case" not in part for line in plain[1:] for part in line.get("parts", ()))


def test_json_lines_show_what_a_library_said_without_breaking_the_line() -> None:
    line = as_line(Notice(HOSTILE))
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["text"] == HOSTILE


def drawn(tally: Tally, width: int, height: int) -> list[str]:
    return [line.plain for line in picture(tally, tally.elapsed_s, width, height)]


@pytest.mark.parametrize("cases", [0, 1, 300])
@pytest.mark.parametrize("size", [(1, 1), (20, 5), (40, 10), (80, 24), (109, 24), (110, 20), (120, 30), (250, 70)])
def test_the_picture_fits_every_terminal(size: tuple[int, int], cases: int) -> None:
    tally = Tally()
    for event in campaign(cases):
        tally.handle(event)
    lines = picture(tally, tally.elapsed_s, *size)
    assert len(lines) <= size[1]
    assert max(line.cell_len for line in lines) <= size[0]


def test_the_picture_fits_with_hostile_and_wide_text() -> None:
    wide = "漢字" * 100 + HOSTILE
    tally = Tally()
    strange = tuple(result(wide + str(index), "timeout") for index in range(9))
    for event in (
        started(out=wide, strategy=wide),
        case_done(0, 1.0, finding("hang", wide, wide, wide), results=strange, operator=wide),
        Notice(wide),
    ):
        tally.handle(event)
    for size in ((80, 24), (120, 30)):
        lines = picture(tally, 2.0, *size)
        assert max(line.cell_len for line in lines) <= size[0]
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", "".join(line.plain for line in lines))


def test_80_by_24_shows_every_section() -> None:
    tally = Tally()
    for event in list(campaign(300))[:-1]:
        tally.handle(event)
    text = "\n".join(drawn(tally, 80, 24))
    for word in ("300 cases", "left", "inputs", "branches", "operators", "MParam", "routes", "keras-tf", "crash 2/"):
        assert word in text


def test_a_small_picture_keeps_the_newest_finding() -> None:
    tally = Tally()
    for event in list(campaign(300))[:-1]:
        tally.handle(event)
    assert any("ConvLSTM2D" in line for line in drawn(tally, 80, 14))


@pytest.mark.parametrize(
    ("share", "plain"), [(0, "────────┃─"), (0.45, "━━━━╸───┃─"), (0.95, "━━━━━━━━┃╸"), (7, "━━━━━━━━┃━")]
)
def test_a_bar_has_a_tick_at_the_share_to_beat(share: float, plain: str) -> None:
    assert bar(share, 10, 0.85).plain == plain


def test_a_bar_that_is_past_its_tick_turns_green() -> None:
    assert "green" in str(bar(0.9, 10, 0.85).spans)
    assert "green" not in str(bar(0.8, 10, 0.85).spans)


def live(*events: Event, clock: list[float]) -> str:
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True, color_system=None, legacy_windows=False)
    with LiveScreen(console, clock=lambda: clock[0]) as screen:
        for event in events:
            screen.handle(event)
        clock[0] += 5.0
        screen._live.refresh()
    return file.getvalue()


def test_the_live_screen_runs_on_between_events() -> None:
    seen = live(started(), case_done(0, 21.0), clock=[100.0])
    assert "0:26 gone, 9:34 left" in seen
    assert "\x1b[2J" not in seen
    assert seen.endswith("\x1b[?1049l")


def test_the_summary_stands_on_the_screen_that_was_there_before() -> None:
    seen = live(started(), case_done(0, 21.0), ENDED, clock=[100.0])
    assert "\x1b[?1049l" in seen.partition("Ended: the time is over.")[0]


def test_the_live_screen_leaves_the_terminal_as_it_was_after_an_error() -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True)
    with pytest.raises(ZeroDivisionError), LiveScreen(console):
        raise ZeroDivisionError
    assert "\x1b[?1049l" in file.getvalue()


def test_the_screen_fits_what_stdout_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(screen_for(as_json=True, quiet=False)) is JsonLines
    assert type(screen_for(as_json=False, quiet=True)) is Quiet
    assert type(screen_for(as_json=False, quiet=False)) is PlainLines
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert type(screen_for(as_json=False, quiet=False)) is LiveScreen
    monkeypatch.setenv("TERM", "dumb")
    assert type(screen_for(as_json=False, quiet=False)) is PlainLines
