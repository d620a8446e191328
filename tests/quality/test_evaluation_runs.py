"""Runs of an experiment whose models are executed, on planted libraries without a fault: they go on where they were."""

from pathlib import Path

import pytest
from harness import CLEAN

from cometfuzz.campaign.records import Records
from cometfuzz.config import Config, PolicyConfig
from cometfuzz.errors import CometfuzzError, InvalidCampaign
from cometfuzz.evaluation.arms import Arm, arms
from cometfuzz.evaluation.running import CAMPAIGN, Bounds, Run, execute
from cometfuzz.routes.registry import ROUTES

TWO = {route.name: route for route in CLEAN[:2]}
POLICY = PolicyConfig(base=tuple(TWO), converters=(), sampled=(), only=tuple(TWO))


@pytest.fixture(autouse=True)
def _planted_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    for name, route in TWO.items():
        monkeypatch.setitem(ROUTES, name, route)


def gone_on(out: Path, arm: Arm, *cases: int) -> Run:
    """A run that ends after so many cases, and goes on until so many more."""
    for bound in cases:
        run = Run.at(out, arm, 1, executed=True)
        execute(run, Bounds(bound), TWO, Config(policy=POLICY), lambda run, moment: None)
    return Run.at(out, arm, 1, executed=True)


def ids(run: Run) -> list[tuple[str, object]]:
    with Records(run.folder / CAMPAIGN) as records:
        return [(logged.case_id, logged.feedback.get("inconsistency")) for logged in records.feedbacks()]


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    (lemon,) = arms(["lemon"])
    whole, halved = gone_on(tmp_path / "whole", lemon, 16), gone_on(tmp_path / "halved", lemon, 7, 16)
    assert ids(whole) == ids(halved)
    assert {inconsistency for _, inconsistency in ids(whole)} == {0.0}, "they agree, and are asked"
    assert [moment.cases for moment in halved.moments] == list(range(1, 17))
    assert [moment.covered for moment in halved.moments] == [moment.covered for moment in whole.moments]
    assert all(one.cpu_s <= two.cpu_s for one, two in zip(halved.moments, halved.moments[1:], strict=False))
    assert halved.moments[-1].executed == 16
    assert halved.moments[-1].library_cpu_s == 0, "planted libraries take time only to start, which is not counted"
    assert halved.is_done(Bounds(16))
    (halved.folder / "trace.json").unlink()
    with pytest.raises(InvalidCampaign, match="expected the campaign of this run; received one with other strategy"):
        execute(Run(Arm("lemon", "comet"), 1, halved.folder, True), Bounds(20), TWO, Config(policy=POLICY), print)
    with pytest.raises(CometfuzzError, match="expected an arm that is a strategy"):
        execute(Run(arms(["comet, even n"])[0], 1, tmp_path, True), Bounds(1), TWO, Config(policy=POLICY), print)


def test_a_run_ends_when_its_time_is_spent(tmp_path: Path) -> None:
    run = Run(Arm("muffin", "muffin"), 1, tmp_path / "run", True)
    execute(run, Bounds(500, cpu_s=0.5), TWO, Config(policy=POLICY), lambda run, moment: None)
    assert 0 < run.moments[-1].cases < 500
    assert run.is_done(Bounds(500, cpu_s=0.5))
