"""RQ3 without a library: what is counted, when, and at what cost. An executor of a fixed price stands in for Keras."""

from collections.abc import Sequence

import pytest

from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.evaluation.rq3 import Arm, Execution, run, summarise
from cometfuzz.ir.case import Case
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.search.baselines.baseline import LIFTED
from cometfuzz.seeds.published import original, synthesised


class Priced:
    """Every case costs the same; every n-th fails."""

    def __init__(self, cpu_s: float, fails_every: int = 0) -> None:
        self.cpu_s, self.fails_every = cpu_s, fails_every
        self.cases: list[Case] = []

    def execute(self, case: Case) -> Execution:
        self.cases.append(case)
        return Execution(not self.fails_every or len(self.cases) % self.fails_every != 0, self.cpu_s)


def two_arms(dear: Priced, cheap: Priced) -> list[Arm]:
    large, small = [original("MobileNetV2")], [synthesised("MobileNetV2")]
    return [Arm("original", large, LIFTED, 1, dear), Arm("synthesised", small, ModelLimits(), 1, cheap)]


def nothing(arms: Sequence[Arm]) -> None:
    pass


def test_equal_cases_and_equal_time() -> None:
    both = two_arms(Priced(1000.0), Priced(100.0))
    assert not run(both, 10, nothing)
    result = summarise(both)
    assert result["cases"] == 10
    assert {name: row["models"] for name, row in result["equal_cases"].items()} == {"original": 10, "synthesised": 10}
    assert result["equal_time"]["cpu_s"] == pytest.approx(1000, rel=0.05)
    assert result["equal_time"]["original"]["models"] in (0, 1)
    assert result["equal_time"]["synthesised"]["models"] == 10
    assert result["equal_cases"]["original"]["library_cpu_s"] == 10_000
    assert set(result["equal_cases"]["original"]["coverage"]) == set(CRITERIA)


def test_mutants_of_originals_keep_their_size() -> None:
    dear = Priced(1.0)
    run(two_arms(dear, Priced(1.0))[:1], 12, nothing)
    sizes = [len(case.graph.nodes) for case in dear.cases]
    assert sum(size > 100 for size in sizes) >= 6


def test_a_case_that_fails_is_a_model_but_covers_nothing() -> None:
    failing = Arm("failing", [synthesised("LeNet")], ModelLimits(), 1, Priced(1.0, fails_every=1))
    run([failing], 10, nothing)
    assert (failing.trace[-1].models, failing.trace[-1].executed) == (10, 0)
    assert set(failing.trace[-1].covered.values()) == {0}


def test_an_interrupt_leaves_a_result() -> None:
    both = two_arms(Priced(1.0), Priced(1.0))

    def interrupt(arms: Sequence[Arm]) -> None:
        if len(arms[1].trace) == 3:
            raise KeyboardInterrupt

    assert run(both, 50, interrupt)
    assert summarise(both)["cases"] == 3


def test_before_the_first_case_there_is_nothing_to_compare() -> None:
    assert summarise(two_arms(Priced(1.0), Priced(1.0)))["equal_cases"] == {}


def test_the_same_seed_gives_the_same_cases() -> None:
    first, second = Priced(1.0), Priced(5.0)
    for executor in (first, second):
        run([Arm("any", [synthesised("LeNet")], ModelLimits(), 3, executor)], 15, nothing)
    assert [case.graph for case in first.cases] == [case.graph for case in second.cases]
