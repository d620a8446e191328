"""How commands show how far they are: a bar on a terminal, lines in a log, nothing where they are quiet."""

import io
import sys

import pytest
from rich.console import Console

from cometfuzz.cli import progress as shown_by
from cometfuzz.cli.progress import progress, working


def test_a_log_has_plain_lines_with_an_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("running scripts", every_s=0) as shown:
        shown.update(total=4, at="one\x1b[31m two")
        shown.advance()
        shown.say("bug 3f2a: it has [brackets]")
        shown.update(4)
    printed = capsys.readouterr()
    assert printed.out == ""
    first, second, said, last = printed.err.splitlines()
    assert first == "running scripts: 0 of 4 after 0:00 (one two)"
    assert second == "running scripts: 1 of 4 after 0:00, about 0:00 left (one two)"
    assert said == "bug 3f2a: it has [brackets]"
    assert last == "running scripts: 4 of 4 after 0:00 (one two)"


def test_what_ends_soon_leaves_nothing_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("running", 2) as shown:
        shown.advance()
    with progress("running", 2, quiet=True, every_s=0) as shown:
        shown.advance()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(shown_by, "Console", lambda **given: Console(file=screen, force_terminal=True, width=80))
    with progress("known defects", 3) as shown:
        shown.advance("keras-[dense]")
    assert "known defects" in screen.getvalue()
    assert "1/3" in screen.getvalue()
    assert "keras-[dense]" in screen.getvalue()
    assert screen.getvalue().rstrip().endswith("\x1b[2K")  # the line is cleared


def test_what_has_no_steps_says_what_it_is_at(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with working("checking", every_s=0) as tell:
        tell("judging \x1b[31m[it]")
    with working("checking", quiet=True, every_s=0) as tell:
        tell("judging")
    assert capsys.readouterr() == ("", "checking after 0:00 (judging [it])\n")
    screen = io.StringIO()
    monkeypatch.setattr(shown_by, "Console", lambda **given: Console(file=screen, force_terminal=True, width=80))
    with working("checking") as tell:
        tell("judging [it]")
    assert "checking" in screen.getvalue()
