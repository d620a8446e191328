"""Replay: a strategy that goes on after any number of cases proposes what it would have proposed unharmed."""

from collections import deque
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from stand_in import SETTINGS, WINDOW, campaign, event, feedback_of, fresh

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.replay import replay
from cometfuzz.campaign.store import Store
from cometfuzz.errors import InvalidCampaign
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id, encode
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import WINDOW as REHEARSED
from cometfuzz.search.strategies import Feedback, Search, Strategy

CASES = {"directed": 70}
"""More than the cases after which `directed` reads its goals anew; the others have no such thing, and run FEWER."""

FEWER = 30


STRATEGIES = ("comet", "comet-r-published", "directed", "odd", "refuse", "muffin", "graphfuzz", "comet-o")


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_resumed_campaign_is_the_unharmed_one(name: str, tmp_path: Path) -> None:
    cases = CASES.get(name, FEWER)
    unharmed = list(islice(campaign(fresh(name)), cases))
    done = 0
    for upto in (0, 1, WINDOW - 1, WINDOW, cases // 2, cases):
        with Store.open(tmp_path) if upto else Store.create(tmp_path, SETTINGS) as store:
            strategy, shown = fresh(name), []
            flying = replay(store, strategy, WINDOW, shown.append)
            assert shown == list(range(1, done + 1))
            assert len(flying) == WINDOW
            for made in islice(campaign(strategy, done, flying), upto - done):
                store.handle(made)
                expected = unharmed[made.index]
                assert made.case_id == expected.case_id
                assert (made.coverage, made.feedback) == (expected.coverage, expected.feedback)
            done = upto
    with Records(tmp_path) as records:
        assert [logged.case_id for logged in records.feedbacks()] == [made.case_id for made in unharmed]


def test_the_state_is_that_before_the_next_case_is_learned(tmp_path: Path) -> None:
    """Whether the cases in flight had been proposed before the kill or not."""
    strategy = fresh()
    events = list(islice(campaign(strategy), 20))
    with Store.create(tmp_path, SETTINGS) as store:
        for done in events:
            store.handle(done)
        again = fresh()
        flying = replay(store, again, WINDOW)
    assert isinstance(strategy, Search)
    assert isinstance(again, Search)
    left = [flight.case for flight in strategy.flights]
    assert len(left) == WINDOW - 1, "a case has been learned, and the next has not been proposed"
    left.append(strategy.propose())
    assert [encode(case) for case in flying] == [encode(case) for case in left]
    assert all(one is other.case for one, other in zip(flying, again.flights, strict=True))
    assert again.pool.graphs == strategy.pool.graphs
    assert (again.claimed, again.failures, again.index) == (strategy.claimed, strategy.failures, strategy.index)
    assert again.operators() == strategy.operators()


def test_a_case_in_flight_is_seen_with_the_coverage_it_was_proposed_at(tmp_path: Path) -> None:
    """What a loop decides by coverage when it submits a case must not depend on a kill."""

    def covered(strategy: Strategy) -> list[int]:
        return [coverage.covered("inputs") for coverage in strategy.coverages]

    unharmed, seen = fresh(), []
    flying: deque[Case] = deque()
    with Store.create(tmp_path, SETTINGS) as store:
        for index in range(20):
            while len(flying) < WINDOW:
                flying.append(unharmed.propose())
                seen.append(covered(unharmed))
            case = flying.popleft()
            unharmed.learn(case, feedback_of(index))
            store.handle(event(index, case, feedback_of(index), {}))
        unharmed.propose()
        seen.append(covered(unharmed))
        again, noted = fresh(), []
        replay(store, again, WINDOW, proposed=lambda case: noted.append(covered(again)))
    assert noted == seen[20:]
    assert noted[0] != noted[-1]


def test_the_order_is_that_of_a_rehearsal(tmp_path: Path) -> None:
    made: list[Case] = []
    rehearse(fresh(), 30, made.append)
    with Store.create(tmp_path, SETTINGS) as store:
        for index, case in enumerate(made[:22]):
            store.handle(event(index, case, Feedback(executed=True), {}))
        flying = replay(store, fresh(), REHEARSED)
    assert [case_id(case) for case in flying] == [case_id(case) for case in made[22 : 22 + REHEARSED]]


def test_other_settings_are_refused_in_plain_words(tmp_path: Path) -> None:
    with Store.create(tmp_path, SETTINGS) as store:
        for done in islice(campaign(fresh()), 12):
            store.handle(done)
        for other in (fresh(seed=8), fresh("directed")):
            with pytest.raises(InvalidCampaign, match=r"expected case \d to be .* again; .* or with other settings"):
                replay(store, other, WINDOW)
        with pytest.raises(InvalidCampaign, match=r"expected case \d+ to be"):
            replay(store, fresh(), WINDOW + 2)


def test_feedback_of_another_version_is_refused_in_plain_words(tmp_path: Path) -> None:
    with Store.create(tmp_path, SETTINGS) as store:
        done = next(campaign(fresh()))
        store.handle(replace(done, feedback={**done.feedback, "mood": 1}))
        with pytest.raises(InvalidCampaign, match=r"expected the feedback of case 0 .*'mood'"):
            replay(store, fresh(), WINDOW)


def test_a_file_that_was_set_aside_is_there_again(tmp_path: Path) -> None:
    with Store.create(tmp_path, SETTINGS) as store:
        events = list(islice(campaign(fresh()), 3))
        for done in events:
            store.handle(done)
        store.files.path(events[1].case_id).write_bytes(b"{}")
        assert len(store.check()) == 1
        replay(store, fresh(), WINDOW)
        assert store.check() == []


def test_feedback_depends_on_nothing_but_the_index() -> None:
    assert {feedback_of(index).executed for index in range(20)} == {True, False}
    assert any(feedback_of(index).nonfinite for index in range(50))


def test_what_ran_on_each_route_is_told_again_and_a_lost_file_stops_nothing(tmp_path: Path) -> None:
    """A cut of a case is read from its file, so that coverage by route is what it was."""
    events = list(islice(campaign(fresh()), 6))
    other = events[0].parts[0]
    cut = replace(other, part=1, case=replace(other.case, rng_seed=7))
    cut = replace(cut, case_id=case_id(cut.case))
    events[3] = replace(events[3], parts=(*events[3].parts, cut))
    with Store.create(tmp_path, SETTINGS) as store:
        for done in events:
            store.handle(done)
        told: list[tuple[str, dict[str, str]]] = []
        replay(store, fresh(), WINDOW, ran=lambda case, statuses: told.append((case_id(case), dict(statuses))))
        parts = [part for done in events for part in done.parts]
        assert told == [(part.case_id, {each.route: each.status for each in part.results}) for part in parts]
        (lost,) = tmp_path.rglob(f"{cut.case_id}*")
        lost.unlink()
        told.clear()
        replay(store, fresh(), WINDOW, ran=lambda case, statuses: told.append((case_id(case), dict(statuses))))
        assert [name for name, _ in told] == [part.case_id for part in parts if part is not cut]
