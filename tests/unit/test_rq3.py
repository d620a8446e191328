"""RQ3 without a library: what is counted, when, and at what cost. A runner of a fixed price stands in for Keras."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cometfuzz.coverage.branches import Branches
from cometfuzz.errors import InvalidCampaign
from cometfuzz.evaluation import published as theirs
from cometfuzz.evaluation import rq3
from cometfuzz.evaluation.arms import Arm
from cometfuzz.evaluation.pictures import boxes
from cometfuzz.evaluation.rq3 import ARMS, Execution, carry_out, size_grid, synthesis
from cometfuzz.evaluation.running import Bounds, Moment, Run
from cometfuzz.evaluation.tables import markdown, summarise
from cometfuzz.ir.case import Case
from cometfuzz.seeds import published
from cometfuzz.synthesis.measure import PAPER_SYNTHESISED

SYNTHESISED, ORIGINALS = ARMS


class Priced:
    """Every case costs the same; every n-th fails; every second one that executes reaches a branch."""

    def __init__(self, cpu_s: float, fails_every: int = 0) -> None:
        self.cpu_s, self.fails_every = cpu_s, fails_every
        self.branches: Branches | None = None
        self.cases: list[Case] = []

    @contextmanager
    def __call__(self, branches: Branches) -> Iterator["Priced"]:
        self.branches = branches
        yield self

    def execute(self, case: Case) -> Execution:
        assert self.branches is not None
        self.cases.append(case)
        done = not self.fails_every or len(self.cases) % self.fails_every != 0
        reached = [[1, line] for line in range(len(self.cases) // 2 if done else 0)]
        report = {"keras": {"digest": "d", "all": [500, 10], "branches": reached, "lines": [1]}}
        return Execution(done, self.cpu_s, self.branches.merge(report).branch_count > 0)


def nothing(run: Run, moment: Moment) -> None:
    pass


def carried(out: Path, arm: Arm, bounds: Bounds, runner: Priced, show: Callable[..., None] = nothing) -> Run:
    run = Run.at(out, arm, 1, True)
    carry_out(run, bounds, runner, show)
    return Run.at(out, arm, 1, True)


def test_mutants_of_originals_keep_their_size_and_cost_what_they_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "names", lambda: ["LeNet", "MobileNetV2"])
    dear, cheap = Priced(1000.0), Priced(100.0)
    both = [carried(tmp_path, ORIGINALS, Bounds(8), dear), carried(tmp_path, SYNTHESISED, Bounds(8), cheap)]
    assert max(len(case.graph.nodes) for case in cheap.cases) <= 40
    assert max(len(case.graph.nodes) for case in dear.cases) > 100
    last = both[0].moments[-1]
    assert (last.cases, last.executed, last.library_cpu_s) == (8, 8, 8_000)
    assert last.cpu_s == pytest.approx(8_000, rel=0.01)
    assert (last.covered["branches"], both[0].totals["branches"]) == (4, 500)
    result = summarise("rq3", both[::-1], "synthesised", theirs.RQ3)
    at_cases, at_cpu = result.tables
    assert [row.models for row in at_cases.rows] == [8, 8]
    assert [row.models for row in at_cpu.rows] == [8, 1]
    assert "69.7" in markdown(result)


def test_a_case_that_fails_is_a_model_but_covers_nothing(tmp_path: Path) -> None:
    last = carried(tmp_path, SYNTHESISED, Bounds(10), Priced(1.0, fails_every=1)).moments[-1]
    assert (last.cases, last.executed, last.covered["inputs"]) == (10, 0, 0)


def test_a_run_that_was_interrupted_goes_on_with_the_same_cases(tmp_path: Path) -> None:
    whole, first, second = Priced(1.0), Priced(1.0), Priced(1.0)
    expected = carried(tmp_path / "whole", SYNTHESISED, Bounds(24), whole)

    def interrupt(run: Run, moment: Moment) -> None:
        if moment.cases == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carried(tmp_path / "halves", SYNTHESISED, Bounds(24), first, interrupt)
    got = carried(tmp_path / "halves", SYNTHESISED, Bounds(24), second)
    assert (len(first.cases), len(second.cases)) == (15, 9)
    assert [case.graph for case in [*first.cases, *second.cases][:15]] == [case.graph for case in whole.cases[:15]]
    assert [moment.cases for moment in got.moments] == [moment.cases for moment in expected.moments]
    assert got.moments[-1].cpu_s >= 24
    assert got.is_done(Bounds(24))


def test_new_branches_are_rewarded(tmp_path: Path) -> None:
    class Unobserved(Priced):
        def execute(self, case: Case) -> Execution:
            return Execution(super().execute(case).completed, 1.0, None)

    seeing, blind = Priced(1.0), Unobserved(1.0)
    for runner, name in ((seeing, "a"), (blind, "b")):
        carried(tmp_path / name, SYNTHESISED, Bounds(40), runner)
    assert [case.graph for case in seeing.cases] != [case.graph for case in blind.cases]


def test_a_run_ends_when_its_time_is_spent(tmp_path: Path) -> None:
    assert carried(tmp_path, SYNTHESISED, Bounds(100, 30.5), Priced(10.0)).moments[-1].cases == 4


SIZES = {"layers": 1, "weights": 2, "inputs": 3, "parameters": 4, "sequences": 5}
PUBLISHED = {"original": {**SIZES, "layers": 2025, "weights_millions": 305.28}}
TOTAL = {"runs": 1, "original": SIZES, "spread": SIZES, **SIZES}


def test_the_synthesis_is_made_once_and_stands_beside_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(published, "names", lambda: ["LeNet"])
    theirs = {name: {"mean": mean, "spread": spread} for name, (mean, spread) in PAPER_SYNTHESISED.items()}
    total = {**TOTAL, "paper": {**PUBLISHED, "synthesised": theirs}}
    monkeypatch.setattr(rq3, "measure", lambda *given, measure=rq3.measure: measure(*given[:3], asked.append, 2))
    monkeypatch.setattr(rq3, "summarise", lambda originals, timed: {"total": total})
    made = synthesis(tmp_path, 1, lambda name: None)
    assert asked == list(made["seconds"]) == ["LeNet"]
    assert synthesis(tmp_path, 1, lambda name: None) == made
    assert len(asked) == 1
    columns, rows = size_grid(made)
    assert [len(row) for row in rows] == [len(columns)] * 4
    assert rows[1] == ["originals, published", "2025", "305.28 M", "3", "4", "5", ""]
    assert "317.8 ± 3.9" in rows[3]
    boxes(made["seconds"], "Synthesis", tmp_path / "boxes.png")
    assert (tmp_path / "boxes.png").read_bytes()[:4] == b"\x89PNG"
    (tmp_path / rq3.SYNTHESIS).write_text(json.dumps({"summary": {"total": {"runs": 3}}, "seconds": {"a": 1}}))
    with pytest.raises(InvalidCampaign, match="expected a synthesis"):
        synthesis(tmp_path, 1, lambda name: None)


def test_what_a_stranger_wrote_is_refused(tmp_path: Path) -> None:
    run = carried(tmp_path, SYNTHESISED, Bounds(1), Priced(1.0))
    for name, text in ((rq3.BRANCHES, "[1]"), (rq3.LOG, "[" * 9)):
        (run.folder / name).write_text(text)
        with pytest.raises(InvalidCampaign, match="expected"):
            carried(tmp_path, SYNTHESISED, Bounds(2), Priced(1.0))
