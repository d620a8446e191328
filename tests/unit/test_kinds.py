"""Kinds of findings: what is new, what came lately, what may be left."""

import pytest

from cometfuzz.campaign.kinds import LATELY_S, QUIET_S, Kinds


def test_a_kind_is_new_once() -> None:
    kinds = Kinds()
    kinds.know("old")
    assert [kinds.take(key, 1.0) for key in ("old", "one", "one", "two")] == [False, True, False, True]


def test_what_came_in_the_last_ten_minutes() -> None:
    kinds = Kinds()
    for at in (0.0, 100.0, 700.0):
        kinds.take(str(at), at)
    assert kinds.lately(700.0) == 2
    assert kinds.lately(700.0 + LATELY_S) == 1
    assert kinds.lately(5000.0) == 0


def test_what_is_left_follows_from_what_was_seen_once_or_twice() -> None:
    kinds = Kinds()
    assert kinds.estimate() is None
    for key, times in (("a", 1), ("b", 1), ("c", 1), ("d", 2), ("e", 7)):
        for _ in range(times):
            kinds.take(key, 0.0)
    estimate = kinds.estimate()
    assert estimate is not None
    assert estimate.left == pytest.approx(3 * 2 / (2 * 2))
    assert estimate.error > 0
    for key in "abcd":
        for _ in range(3):
            kinds.take(key, 0.0)
    assert kinds.estimate() == (0.0, 0.0), "everything was seen often"


def test_it_is_quiet_when_nothing_came_for_long_and_nothing_is_left() -> None:
    kinds = Kinds()
    assert not kinds.is_quiet(QUIET_S)
    assert kinds.is_quiet(QUIET_S + 1)
    for key in "abc":
        kinds.take(key, 10.0)
    assert not kinds.is_quiet(10 * QUIET_S), "three kinds were seen once: some more may be there"
    for key in "abcabc":
        kinds.take(key, 20.0)
    assert kinds.is_quiet(11.0 + QUIET_S)
