"""The observer by coverage.py, in real child processes of the paper's environment: to the line, and in Keras 2.8."""

from pathlib import Path

import pytest

from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.branches import PAPER_MODULES, Branches
from cometfuzz.execution import environments
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.observation import Observation, observer_of, obstacle
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes import Group, Library, Route, Stage, Step
from cometfuzz.routes.keras import KERAS_TF
from cometfuzz.routes.registry import moved

pytestmark = [
    pytest.mark.library,
    pytest.mark.skipif(not environments.find("era").ready, reason="cometfuzz env create era"),
]

SAMPLE = Group("sample", "era")
ROUTE = Route(
    "sample", "tests", "keras2", (Step("run", SAMPLE, "sampling", "run", (Stage("run", Library("sample")),)),)
)
CHOOSING, CONVOLUTIONAL = "sample.choosing", "keras.layers.convolutional"


def case_of(shape: tuple[int, ...], layer: str, params: dict[str, object]) -> Case:
    drafts = [Draft("x", "input", {"shape": shape}, ()), Draft("n0", layer, params, (Edge("x"),))]
    return Case(assemble(drafts, [Edge("n0")]), 1)


def test_branches_are_told_once_each_and_to_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert obstacle(SAMPLE) == ""
    branches = Branches([CHOOSING, "sample.missing", "nowhere.at.all"])
    observed = Observation(branches, tmp_path / "cache", module=observer_of(SAMPLE))
    with Executor([ROUTE], observers={SAMPLE.name: observed}) as executor:
        first = executor.run(case_of((1, 2), "ReLU", {})).branches[SAMPLE.name]
        assert {(13, 15), (15, 16), (21, 22)} <= first.branches[CHOOSING]
        assert {8, 9, 14, 26}.isdisjoint(first.lines[CHOOSING])
        assert not executor.run(case_of((1, 3), "ReLU", {})).branches[SAMPLE.name]
        second = executor.run(case_of((3, 2), "ReLU", {})).branches[SAMPLE.name]
        assert {(8, 9), (8, 10), (13, 14), (15, 17)} <= second.branches[CHOOSING]
        assert {8, 9, 10, 14, 26} <= second.lines[CHOOSING]
    assert [*branches.modules] == [CHOOSING]
    assert observed.branches.modules[CHOOSING].branch_share.total == 10  # with those to the ends of functions
    assert len([*(tmp_path / "cache").iterdir()]) == 1, "what is parsed once is kept"


def test_the_branches_of_a_module_are_as_many_as_the_paper_says(tmp_path: Path) -> None:
    route = moved(KERAS_TF, "era-keras", "era", speaks="keras2")
    group = route.steps[0].group
    observed = Observation(Branches(PAPER_MODULES), tmp_path / "cache", module=observer_of(group))
    with Executor([route], observers={group.name: observed}) as executor:
        case = case_of((1, 4, 4, 2), "Conv2D", {"filters": 2, "kernel_size": (2, 2)})
        assert executor.run(case).outcomes["era-keras"].status == "completed"
    assert len(observed.branches.modules) == 56
    covered, total = observed.branches.modules[CONVOLUTIONAL].branch_share
    assert total == 356
    assert 0 < covered < total
