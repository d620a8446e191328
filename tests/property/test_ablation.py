"""Comet with one part off: each switch changes the search, and does what its name says and nothing else."""

from collections import deque

import pytest

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.coverage.gain import Gain
from cometfuzz.draw import Draw
from cometfuzz.errors import UnknownName
from cometfuzz.evaluation.arms import arms, single_switches, without_one
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation import PAPER
from cometfuzz.mutation.base import how_many
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.search.ablation import SWITCHES, WITHOUT, ablated
from cometfuzz.search.comet import Comet
from cometfuzz.search.strategies import WINDOW, Feedback, Options
from cometfuzz.seeds.published import synthesised

SEEDS = [synthesised(name) for name in ("LeNet", "LSTM (SineWave)", "MobileNetV2")]
OPTIONS = Options(2, SEEDS)
CASES = 40


def told(index: int) -> Feedback:
    """By index alone: some cases fail, and one in three reaches a branch."""
    draw = Draw("feedback", index)
    return Feedback(executed=draw.chance(0.95), new_branches=draw.chance(0.3))


def searched(strategy: Comet, cases: int = CASES) -> list[Graph]:
    """The graphs that a strategy makes, as a campaign with branches would let it."""
    flying: deque[Case] = deque()
    made = []
    for index in range(cases):
        if len(flying) == WINDOW:
            strategy.learn(flying.popleft(), told(index - WINDOW))
        flying.append(strategy.propose())
        made.append(flying[-1].graph)
    return made


@pytest.fixture(scope="module")
def plain() -> list[Graph]:
    return searched(Comet(OPTIONS))


def test_the_arms_are_these() -> None:
    assert [arm.switch for arm in single_switches(executed=True)] == ["", *SWITCHES]
    generated = [arm.switch for arm in single_switches(executed=False)]
    assert generated == ["", *(name for name in SWITCHES if name != "no branch reward")]
    assert [arm.switch for arm in without_one()] == ["", *(WITHOUT + name for name in PAPER)]
    with pytest.raises(UnknownName):
        arms(["comet, magic"])[0].made(1)


@pytest.mark.parametrize("switch", [*SWITCHES, *(WITHOUT + name for name in PAPER)])
def test_every_switch_changes_the_search(switch: str, plain: list[Graph]) -> None:
    seeds = len(SEEDS)
    made = searched(ablated(switch, OPTIONS))
    assert made[:seeds] == plain[:seeds]
    assert made[seeds:] != plain[seeds:]


def test_nothing_first_wants_nothing() -> None:
    plain, off = Comet(OPTIONS), ablated("nothing first", OPTIONS)
    after = list(plain.coverages[0].open_followers("ReLU"))
    assert sum(plain.guide.wants_sequence("ReLU", name) for name in after) == len(after) > 20
    assert not any(off.guide.wants_sequence("ReLU", name) for name in after)
    searched(off, 20)
    assert any(coverage.covered("inputs") for coverage in off.coverages), "what it covers is counted all the same"


def test_one_layer_is_what_a_mutation_touches() -> None:
    limits = ablated("one layer", OPTIONS).limits
    assert {how_many(Draw(number), 30, limits) for number in range(200)} == {1}


def test_even_n_is_even() -> None:
    def counts(limits: object) -> list[int]:
        drawn = [how_many(Draw(number), 30, limits) for number in range(4000)]  # type: ignore[arg-type]
        return [drawn.count(n) for n in range(1, 11)]

    even, usual = counts(ablated("even n", OPTIONS).limits), counts(Comet(OPTIONS).limits)
    assert all(320 < count < 480 for count in even)  # 400 each, at four standard deviations
    assert usual[0] < 40
    assert usual[-1] > 900


def test_branches_earn_nothing_without_their_reward() -> None:
    plain, off = Comet(OPTIONS), ablated("no branch reward", OPTIONS)
    nothing_new = [Gain(()), Gain(())]
    assert plain.is_worth_keeping(nothing_new, Feedback(True, new_branches=True))
    branches = Feedback(executed=True, new_branches=True)
    scores = []
    for strategy in (plain, off):
        for _ in range(len(SEEDS)):
            strategy.learn(strategy.propose(), branches)
        case = strategy.propose()
        for coverage in strategy.coverages:
            coverage.cover(case.graph)  # so that only branches are new
        size = len(strategy.pool)
        strategy.learn(case, branches)
        scores.append((len(strategy.pool) - size, sum(record["fitness"] for record in strategy.operators().values())))
    assert scores[0][0] == 1
    assert scores[1][0] == 0
    assert scores[1][1] < scores[0][1]


def test_a_frozen_pool_is_the_seeds() -> None:
    off = ablated("frozen pool", OPTIONS)
    seeds = list(off.pool.graphs)
    searched(off)
    assert off.pool.graphs == seeds
    plain = Comet(OPTIONS)
    searched(plain)
    assert len(plain.pool) > len(seeds)


def objections(graphs: list[Graph]) -> int:
    """How many calls a model would usually keep clear of."""
    dialects = usual_dialects()
    return sum(
        bool(dialects.of(graph).objection(node.layer, graph.input_types(node), node.params))
        for graph in graphs
        for node in graph.nodes
        if node.layer in CATALOGUE
    )


def test_without_gaps_models_meet_what_is_known(plain: list[Graph]) -> None:
    assert objections(plain) == 0
    assert objections(searched(ablated("no gaps", OPTIONS))) > 0


@pytest.mark.parametrize("name", PAPER)
def test_a_mutation_that_is_left_out_is_never_chosen(name: str) -> None:
    off = ablated(WITHOUT + name, OPTIONS)
    searched(off, 20)
    assert set(off.operators()) == {*PAPER} - {name}
