"""The observer of branches in real child processes: on a sample, to the line, and on Keras with TensorFlow."""

from pathlib import Path

import pytest

from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.branches import Branches, News
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.observation import Observation
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes import Group, Library, Route, Stage, Step
from cometfuzz.routes.keras import KERAS_TF, TF

pytestmark = pytest.mark.library

SAMPLE = Group("sample", "main")
ROUTE = Route(
    "sample", "tests", "keras3", (Step("run", SAMPLE, "sampling", "run", (Stage("run", Library("sample")),)),)
)
CHOOSING = "sample.choosing"


def case_of(batch: int, *layers: tuple[str, dict[str, object]]) -> Case:
    drafts = [Draft("x", "input", {"shape": (batch, 8, 8, 2)}, ())]
    for index, (layer, params) in enumerate(layers):
        drafts.append(Draft(f"n{index}", layer, params, (Edge(drafts[-1].id),)))
    return Case(assemble(drafts, [Edge(drafts[-1].id)]), 1)


def news_of(executor: Executor, case: Case, group: Group) -> News:
    trial = executor.run(case)
    assert {outcome.status for outcome in trial.outcomes.values()} == {"completed"}
    return trial.branches[group.name]


@pytest.fixture
def observed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Observation:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return Observation(Branches(["sample.*", "sample.missing", "nowhere.*"]), tmp_path / "cache")


def test_branches_are_told_once_each_and_to_the_line(observed: Observation) -> None:
    with Executor([ROUTE], observers={SAMPLE.name: observed}) as executor:
        first = news_of(executor, case_of(1, ("ReLU", {})), SAMPLE)
        assert first.branches == {CHOOSING: {(13, 15), (15, 16), (21, 22)}}
        assert first.lines[CHOOSING] == {1, 3, 6, 7, 12, 13, 15, 16, 17, 20, 21, 22, 23, 24, 25, 29}
        assert not news_of(executor, case_of(1, ("ReLU", {})), SAMPLE)
        second = news_of(executor, case_of(3, ("ReLU", {})), SAMPLE)
        assert second.branches == {CHOOSING: {(8, 9), (8, 10), (13, 14), (15, 17)}}
        assert second.lines == {CHOOSING: {8, 9, 10, 14, 26}}
        assert not news_of(executor, case_of(4, ("ReLU", {})), SAMPLE)
    assert observed.branches.modules[CHOOSING].branch_share == (7, 8)
    assert observed.branches.modules["sample"].line_share.total == 1
    assert observed.branches.modules["sample.clashing"].branch_share.total == 0
    assert observed.branches.modules["sample.clashing"].line_share == (4, 5)


def test_a_new_worker_goes_on_where_the_old_one_ended_and_takes_its_code_from_the_cache(observed: Observation) -> None:
    with Executor([ROUTE], observers={SAMPLE.name: observed}, limits=WorkerLimits(recycle_after=1)) as executor:
        assert news_of(executor, case_of(1, ("ReLU", {})), SAMPLE)
        made = {file.name: file.stat().st_mtime_ns for file in observed.cache.iterdir()}
        assert not news_of(executor, case_of(1, ("ReLU", {})), SAMPLE)
        assert news_of(executor, case_of(2, ("ReLU", {})), SAMPLE).branch_count == 3
        assert not news_of(executor, case_of(2, ("ReLU", {})), SAMPLE)
        assert executor.workers[0].starts == 4
    assert made == {file.name: file.stat().st_mtime_ns for file in observed.cache.iterdir()}
    assert len(made) == 3


def test_what_is_not_observed_says_nothing(observed: Observation) -> None:
    with Executor([ROUTE]) as executor:
        assert executor.run(case_of(1, ("ReLU", {}))).branches == {}


def test_a_layer_never_seen_before_reaches_new_branches_of_keras_and_the_same_model_none() -> None:
    convolution = ("Conv2D", {"filters": 2, "kernel_size": (3, 3)})
    plain, more = case_of(1, convolution), case_of(1, convolution, ("UpSampling2D", {"size": (2, 2)}))
    observed = Observation(Branches())
    with Executor([KERAS_TF], observers={TF.name: observed}) as executor:
        assert news_of(executor, plain, TF)
        assert not news_of(executor, plain, TF)
        news = news_of(executor, more, TF)
        assert "keras.src.layers.reshaping.up_sampling2d" in news.branches
        assert not news_of(executor, more, TF)
        executor.workers[0].stop()
        assert not news_of(executor, more, TF)
        assert executor.workers[0].starts == 2
    assert any(name.startswith("tensorflow.") for name in observed.branches.modules)
    assert 0 < observed.branches.branch_share.percent < observed.branches.line_share.percent < 100
    restored = Observation(Branches.from_plain(observed.branches.to_plain()))
    with Executor([KERAS_TF], observers={TF.name: restored}) as executor:
        assert not news_of(executor, plain, TF)
