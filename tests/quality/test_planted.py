"""Planted faults must be found, reduced and blamed; clean routes must be left alone.

These are a part of them, over a few cases: `experiments/planted_faults.py` runs them all over 300, in some minutes.
"""

from pathlib import Path

import pytest
from faults import FAULTS
from harness import Hunt, hunt, is_right, is_small

CASES = 46
QUICK = (
    *("activation-sign", "alpha-ignored", "axis-minus-two", "backwards-reversed", "border-not-finite"),
    *("crop-off-by-one", "epsilon-ignored", "even-kernel-padding", "inputs-swapped", "operands-swapped", "segfault"),
    *("slope-fixed", "uneven-padding", "variance-of-a-sample", "zero-size"),
)
"""Those that show within so few cases; a hang costs its limit each time, so it is left to the experiment."""

CLEAN_CASES = 60


@pytest.fixture(scope="module")
def hunted() -> Hunt:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        return hunt([FAULTS[name] for name in QUICK], CASES)


def test_there_are_enough_faults_in_every_stage() -> None:
    assert len(FAULTS) >= 25
    assert {fault.stage for fault in FAULTS.values()} == {"build", "convert", "run"}


def test_they_are_found(hunted: Hunt) -> None:
    assert hunted.missed == []


def test_routes_without_a_fault_are_left_alone(hunted: Hunt) -> None:
    assert hunted.alarms == []
    assert hunt([], CLEAN_CASES, seed=2).alarms == []


def test_they_are_reduced_to_one_or_two_layers(hunted: Hunt) -> None:
    large = [bug.title for bugs in hunted.bugs.values() for bug in bugs if not is_small(bug)]
    assert len(large) <= 0.1 * len(QUICK), large


def test_the_planted_stage_is_blamed(hunted: Hunt) -> None:
    wrong = [bug.title for name, bugs in hunted.bugs.items() for bug in bugs if not is_right(name, bug)]
    assert len(wrong) <= 0.1 * len(QUICK), wrong


def test_one_fault_is_one_bug(hunted: Hunt) -> None:
    more = {name: [bug.signature.key for bug in bugs] for name, bugs in hunted.bugs.items() if len(bugs) > 1}
    assert hunted.duplicates <= 0.1 * len(QUICK), more
