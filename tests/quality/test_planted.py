"""Planted faults must be found, reduced and blamed; clean routes must be left alone.

These are a part of them, over a few cases: `experiments/planted_faults.py` runs them all over 400, in some minutes.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import FAULTS
from harness import CLEAN, events, executing, hunt, is_right, is_small

from cometfuzz import errors
from cometfuzz.campaign.events import CaseDone, Ended, Notice
from cometfuzz.oracles import judging
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding

CASES = 60
QUICK = (
    *("activation-sign", "alpha-ignored", "axis-minus-two", "border-not-finite"),
    *("crop-off-by-one", "epsilon-ignored", "even-kernel-padding", "operands-swapped"),
    *("segfault", "short-transposed", "slope-fixed", "uneven-padding", "variance-of-a-sample", "zero-size"),
)
"""Those that show within so few cases; a hang costs its limit each time, so it is left to the experiment."""

CLEAN_CASES = 60


@pytest.fixture(autouse=True)
def _planted_routes_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def test_there_are_faults_in_every_stage() -> None:
    assert {fault.stage for fault in FAULTS.values()} == {"build", "convert", "graph", "run"}


def test_routes_without_a_fault_are_left_alone() -> None:
    assert hunt([], CLEAN_CASES, seed=2).alarms == []


def test_an_oracle_that_fails_does_not_end_a_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(bench: Bench) -> Iterator[Finding]:
        yield from ()
        raise ValueError("expected more")

    monkeypatch.setattr(judging, "ORACLES", {"broken": broken})
    monkeypatch.setattr(errors, "BORNE", (Exception,))
    with executing(CLEAN) as executor:
        told = list(events(executor, 3, seed=2))
    assert [event.reason for event in told if isinstance(event, Ended)] == ["cases"]
    cases = {part.case_id for event in told if isinstance(event, CaseDone) for part in event.parts}
    notices = [event.text for event in told if isinstance(event, Notice)]
    assert notices
    assert all("oracle broken: ValueError expected more" in text for text in notices)
    assert {word for text in notices for word in text.split() if word.strip(",") in cases}


def test_faults_are_found_reduced_and_blamed_once() -> None:
    """One test, since tests that run side by side would hunt twice."""
    hunted = hunt([FAULTS[name] for name in QUICK], CASES)
    bugs = [(name, bug) for name, found in hunted.bugs.items() for bug in found]
    few = 0.1 * len(QUICK)
    assert len(hunted.missed) <= few, hunted.missed
    assert hunted.alarms == []
    large = [bug.title for _, bug in bugs if not is_small(bug)]
    assert len(large) <= few, large
    wrong = [bug.title for name, bug in bugs if not is_right(name, bug)]
    assert len(wrong) <= few, wrong
    many = 0.3 * len(QUICK)  # what runs in parts, on odd numbers and in other manners is often seen in several forms
    assert hunted.duplicates <= many, [bug.signature.key for _, bug in bugs]
