"""The search: the pool, Metropolis-Hastings, and strategies that are the same every time."""

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cometfuzz.catalogue import COUNTED
from cometfuzz.catalogue.cutting import taken_apart
from cometfuzz.catalogue.data import to_array
from cometfuzz.catalogue.spaces import WIDE
from cometfuzz.catalogue.validate import validate
from cometfuzz.coverage.gain import Coverage, Fact, Gain
from cometfuzz.coverage.layers import ops_space
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id, encode
from cometfuzz.ir.types import FLOATS, TensorType
from cometfuzz.mutation import MUTATIONS, PAPER
from cometfuzz.mutation.base import ModelLimits, how_many
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.mutation.repair import USUAL_BOUND
from cometfuzz.mutation.special_input import is_multiplied
from cometfuzz.search.directed import Directed
from cometfuzz.search.goals import GIVEN_UP_AFTER, PROBED_AFTER, Goals, is_sequence
from cometfuzz.search.metropolis import Metropolis, p_range
from cometfuzz.search.odd import oddly, side_by_side
from cometfuzz.search.placing import alone
from cometfuzz.search.planning import PlannedCall
from cometfuzz.search.pool import Pool
from cometfuzz.search.rehearsal import Curve, rehearse
from cometfuzz.search.strategies import PARKED_AFTER, Feedback, Options, Search, make_strategy
from cometfuzz.seeds.small import SMALL


def strategy(name: str = "comet", seed: int = 1) -> Search:
    made = make_strategy(name, Options(seed, [make() for make in SMALL.values()]))
    assert isinstance(made, Search)
    return made


def test_the_range_of_p_is_the_papers() -> None:
    assert p_range(8) == pytest.approx((0.313, 0.598), abs=0.0015)
    with pytest.raises(CometfuzzError, match=r"received p=0\.9"):
        Metropolis(PAPER, p=0.9)


def test_better_operators_are_chosen_more_often_and_none_never() -> None:
    chooser = Metropolis(PAPER)
    for rank, name in enumerate(PAPER):
        for _ in range(10):
            chooser.learn(name, score=1 - rank / 10)
    chosen = Counter(chooser.choose(Draw(index)) for index in range(4000))
    counts = [chosen[name] for name in PAPER]
    assert counts[0] > 2 * counts[3] > 2 * counts[7]
    assert min(counts) > 0


def test_failed_attempts_count_against_an_operator() -> None:
    chooser = Metropolis(PAPER)
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


OURS = ("comet", "comet-r", "comet-published", "comet-r-published", "directed", "odd", "refuse")
"""Those that the paper compares with have tests of their own (`property/test_baselines.py`)."""


@pytest.mark.parametrize("name", OURS)
def test_same_seed_same_cases(name: str) -> None:
    def cases(seed: int) -> list[bytes]:
        made: list[Case] = []
        rehearse(strategy(name, seed), 25, made.append)
        return [encode(case) for case in made]

    before = [encode(case) for case in rehearsed(name)[1][:25]]
    assert cases(1) == before
    assert cases(2) != before


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


@cache
def rehearsed(name: str) -> tuple[Search, list[Case]]:
    """A strategy after 150 cases (`refuse`: 25), and those; for several tests, which only look at them."""
    search = strategy(name)
    made: list[Case] = []
    rehearse(search, 25 if name == "refuse" else 150, made.append)
    return search, made


MODELS = [name for name in OURS if name != "refuse"]
"""Strategies that propose valid models."""


@pytest.mark.parametrize("name", MODELS)
def test_coverage_is_what_the_cases_cover_in_each_space(name: str) -> None:
    search, made = rehearsed(name)
    recounts = [Coverage(coverage.space) for coverage in search.coverages]
    for coverage, recount in zip(search.coverages, recounts, strict=True):
        for graph in (*(make() for make in SMALL.values()), *(case.graph for case in made)):
            recount.cover(graph)
        assert recount.summary() == coverage.summary()


@pytest.mark.parametrize("name", MODELS)
def test_cases_keep_to_a_dialect_and_clear_of_known_defects(name: str) -> None:
    _, made = rehearsed(name)
    for case in made:
        dialect = usual_dialects().of(case.graph)
        objections = [
            objection
            for node in case.graph.nodes
            if (objection := dialect.objection(node.layer, case.graph.input_types(node), node.params))
        ]
        layers = sum(node.layer[0].isupper() for node in case.graph.nodes)
        assert not objections or (name == "directed" and layers <= 2), objections


def test_a_probe_stays_out_of_the_pool_and_so_does_what_is_not_finite() -> None:
    search = strategy()
    for probe, nonfinite in ((True, False), (False, True), (False, False)):
        graph = MUTATIONS["IL"](search.pool.graphs[0], search.guide, Draw(probe, nonfinite), search.limits)
        case = search.launch(graph, "IL", Draw(1), probe=probe)
        _, gains = search.land(case, Feedback(executed=True, nonfinite=nonfinite))
        assert any(gains)
        assert (graph in search.pool.graphs) == (not probe and not nonfinite)


@pytest.mark.parametrize("name", ["comet", "comet-r", "comet-published", "directed"])
def test_few_cases_have_a_product_of_special_input_and_none_is_pooled(name: str) -> None:
    search, made = rehearsed(name)
    multiplied = [case for case in made if is_multiplied(case.graph)]
    assert 0 < len(multiplied) <= 0.05 * len(made) + 1
    assert not any(map(is_multiplied, search.pool.graphs))


@pytest.mark.parametrize("name", ["directed", "odd"])
def test_some_cases_have_sizes_that_matter_and_are_not_too_large(name: str) -> None:
    search, cases = rehearsed(name)
    made = cases[:120]
    kinds = [[kind for node in case.graph.nodes for kind in node.outputs] for case in made[4:]]
    wide = [each for each in kinds if any(kind.shape[-1:] and kind.shape[-1] in WIDE for kind in each)]
    assert len(wide) > 0.05 * len(made)
    assert any(kind.rank == 4 and max(kind.shape[1:-1]) > 16 for each in wide for kind in each)
    assert max(kind.elements for each in kinds for kind in each) <= search.limits.widened().elements


def test_as_published_few_layers_are_touched_as_often_as_many() -> None:
    def mean(limits: ModelLimits) -> float:
        return sum(how_many(Draw(index), 10, limits) for index in range(2000)) / 2000

    assert mean(ModelLimits(published=True)) == pytest.approx(5.5, abs=0.3)
    assert mean(ModelLimits()) > 7.5
    search = strategy("comet-published")
    assert (search.limits.published, list(search.guide.coverages)) == (True, [search.coverages[0]])
    assert [
        search.is_worth_keeping(gains, Feedback(True)) for gains in ([NOTHING, SOMETHING], [SOMETHING, NOTHING])
    ] == [False, True]


NOTHING, SOMETHING = Gain(()), Gain((Fact("inputs", "ReLU", "rank", "2"),))


def test_directed_reaches_what_it_goes_for_and_says_why_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    search, _ = rehearsed("directed")
    assert isinstance(search, Directed)
    counts = search.coverages[0].summary()
    shares = [count["covered"] / count["reachable"] for count in counts.values()]
    assert min(shares[:2]) > 0.75
    assert shares[2] > 0.4
    item = next(item for item, reason in search.coverages[1].missing().items() if reason is None)
    assert search.why_missing(item) == "no case has gone for it yet"
    with monkeypatch.context() as for_now:
        for_now.setitem(search.goals.unplanned, item, 3)
        assert search.why_missing(item) == "no valid call was found in 3 searches"


def test_goals_come_by_turns_then_as_probes_and_are_given_up() -> None:
    goals = Goals([Coverage(ops_space())], lambda item: True)
    goals.read(Draw("goals"), made=0)
    assert [is_sequence(item) for item in goals.items][:6] == 3 * [False, True]
    item = goals.next()
    assert item is not None
    goals.put_back(item)
    assert goals.next() == item
    left = len(goals)
    for failure in range(1, GIVEN_UP_AFTER):
        goals.fail(item)
        assert (goals.items if failure < PROBED_AFTER else goals.probes).pop() == item
    goals.fail(item)
    assert (len(goals), len(goals.probes)) == (left, 0)
    goals.items.clear()
    goals.read(Draw("goals"), made=1)
    assert not goals.items  # a long list is not read again for every case
    goals.read(Draw("goals"), made=100_000)
    assert len(goals) == left
    assert item not in goals.items


def test_a_plan_that_reads_integers_without_a_bound_is_a_model() -> None:
    spec = COUNTED["ops.add"]
    unbounded = TensorType("int32", (2, 3))
    graph = alone((PlannedCall(spec, (unbounded, unbounded), spec.complete({})),))
    assert [node.params.high for node in graph.inputs] == [USUAL_BOUND, USUAL_BOUND]


def test_odd_numbers_are_of_every_kind_and_only_where_numbers_are_drawn() -> None:
    search = strategy("odd")
    made: list[Case] = []
    rehearse(search, 200, made.append)
    odd = [case for case in made if case.data]
    wide = [to_array(tensor).astype(np.float64) for case in odd for tensor in case.data.values()]
    assert any(np.isnan(values).any() for values in wide)
    assert any((np.abs(values[np.isfinite(values)]) > 1e6).any() for values in wide)
    assert any(((values != 0) & (np.abs(values) < 1e-6)).any() for values in wide)
    assert any(values.size > 4 and (values == values.flat[0]).all() for values in wide)
    for case in odd:
        floats = {node.id for node in case.graph.inputs if node.outputs[0].dtype in FLOATS}
        assert set(case.data) == floats
        assert sum(node.layer[0].isupper() and node.layer != "Masking" for node in case.graph.nodes) <= 1
    assert all(record["attempts"] > 0 for record in search.operators().values())


ELSEWHERE = """
from cometfuzz.ir.codec import case_id
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.small import SMALL

for name, count in (("comet", 9), ("directed", 25)):
    made = []
    rehearse(make_strategy(name, Options(1, [make() for make in SMALL.values()])), count, made.append)
    print([case_id(case) for case in made])
"""


def test_the_hash_seed_changes_nothing() -> None:
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # than here, where it may be any
    there = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        env={**os.environ, "PYTHONHASHSEED": other},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [[case_id(case) for case in rehearsed(name)[1][:count]] for name, count in (("comet", 9), ("directed", 25))]
    assert there.stdout == f"{here[0]}\n{here[1]}\n"


OUTSIDE = """
class Fixed:
    def __init__(self, options):
        self.options, self.coverages, self.pool = options, (), ()
"""


def test_a_strategy_from_outside_is_found_by_its_entry_point(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(OUTSIDE)
    metadata = tmp_path / "outside-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[cometfuzz.strategies]\nfixed = outside:Fixed\n")
    program = (
        "from cometfuzz.search.strategies import Options, make_strategy, strategies\n"
        "print([name for name in ('comet', 'directed', 'fixed') if name in strategies()])\n"
        "print(type(make_strategy('fixed', Options(1, []))).__name__)"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "COMETFUZZ_PLUGINS": ""}
    ended = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert ended.stdout == "['comet', 'directed', 'fixed']\nFixed\n"


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(CometfuzzError, match=r"expected one of audee, .*, refuse; received strategy='x'"):
        make_strategy("x", Options(1, []))


def test_the_area_under_a_curve() -> None:
    curve = Curve(strategy(), [0, 1, 3], {("paper", "inputs"): [0.0, 0.5, 0.5]})
    assert curve.area("paper", "inputs") == pytest.approx((0.25 + 1.0) / 3)


def test_some_cases_of_a_campaign_run_once_more_on_odd_numbers() -> None:
    case = Case(next(iter(SMALL.values()))(), 3)
    odd = [oddly(7, index, case) for index in range(20)]
    assert sum(each is not None for each in odd) == 4, "one in every block of five"
    again = [oddly(7, index, case) for index in range(20)]
    assert [each and case_id(each) for each in odd] == [each and case_id(each) for each in again]
    for each in filter(None, odd):
        assert each.graph == case.graph
        assert case_id(each) != case_id(case)


def test_layers_of_some_cases_run_side_by_side_on_odd_numbers() -> None:
    case = Case(next(iter(SMALL.values()))(), 3)
    apart = [side_by_side(7, index, case) for index in range(20)]
    assert sum(each is not None for each in apart) == 5, "one in every block of four"
    again = [side_by_side(7, index, case) for index in range(20)]
    assert [each and case_id(each) for each in apart] == [each and case_id(each) for each in again]
    for each in filter(None, apart):
        assert each.graph == taken_apart(case.graph)
        assert validate(each.graph) == []
        assert {*each.data} >= {node.id for node in each.graph.inputs if node.outputs[0].is_float}
