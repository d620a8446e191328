"""The search: the pool, Metropolis-Hastings, and strategies that are the same every time."""

from collections import Counter

import pytest

from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.mutation import MUTATIONS
from cometfuzz.search.metropolis import Metropolis, p_range
from cometfuzz.search.pool import Pool
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import PARKED_AFTER, Feedback, Options, Search, make_strategy, strategies
from cometfuzz.seeds.small import SMALL


def strategy(name: str = "comet", seed: int = 1) -> Search:
    made = make_strategy(name, Options(seed, [make() for make in SMALL.values()]))
    assert isinstance(made, Search)
    return made


def test_the_range_of_p_is_the_papers() -> None:
    assert p_range(8) == pytest.approx((0.313, 0.598), abs=0.0015)
    with pytest.raises(CometfuzzError, match=r"received p=0\.9"):
        Metropolis(tuple(MUTATIONS), p=0.9)


def test_better_operators_are_chosen_more_often_and_none_never() -> None:
    chooser = Metropolis(tuple(MUTATIONS))
    for rank, name in enumerate(MUTATIONS):
        for _ in range(10):
            chooser.learn(name, score=1 - rank / 10)
    chosen = Counter(chooser.choose(Draw(index)) for index in range(4000))
    counts = [chosen[name] for name in MUTATIONS]
    assert counts[0] > 2 * counts[3] > 2 * counts[7]
    assert min(counts) > 0


def test_failed_attempts_count_against_an_operator() -> None:
    chooser = Metropolis(tuple(MUTATIONS))
    chooser.learn("IL", 1.0)
    chooser.learn("IL", 0.0, applied=False)
    assert chooser.records["IL"].fitness == 0.5
    assert chooser.records["IL"].applied == 1


def test_the_pool_never_grows_beyond_its_size() -> None:
    graphs = [make() for make in SMALL.values()]
    pool = Pool(graphs, size=5)
    for index in range(20):
        pool.add(graphs[index % 4], Draw(index))
    assert len(pool) == 5


@pytest.mark.parametrize("name", strategies())
def test_same_seed_same_cases(name: str) -> None:
    def cases(seed: int) -> list[bytes]:
        made: list[Case] = []
        rehearse(strategy(name, seed), 25, made.append)
        return [encode(case) for case in made]

    assert cases(3) == cases(3)
    assert cases(3) != cases(4)


def test_a_case_in_flight_claims_and_a_failure_parks() -> None:
    search = strategy()
    case = search.propose()
    flight = search.flights[0]
    assert flight.claims
    wanted = flight.claims[0]
    assert search.claimed[wanted] == 1
    covered = search.coverages[0].covered("parameters")
    search.learn(case, Feedback(executed=False))
    assert search.coverages[0].covered("parameters") == covered
    assert search.claimed[wanted] == 0
    assert search.failures[wanted] == 1 < PARKED_AFTER


def test_coverage_grows_in_all_three_criteria() -> None:
    search = strategy()
    start = [counts["covered"] for counts in search.coverages[0].summary().values()]
    rehearse(search, 60)
    end = [counts["covered"] for counts in search.coverages[0].summary().values()]
    assert all(after > before + 20 for before, after in zip(start, end, strict=True))
