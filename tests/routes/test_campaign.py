"""Campaigns on the reference, in real child processes: the same cases whatever the jobs, and nothing lost by a kill."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from killing import Killed, kill_often, what_ran

from cometfuzz.campaign.events import CaseDone, Ended, Started
from cometfuzz.campaign.loop import Bounds, Campaign
from cometfuzz.campaign.session import Session, Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.catalogue import data
from cometfuzz.config import Config, PolicyConfig
from cometfuzz.draw import Draw
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.ir import codec
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.reports.console import JsonLines  # noqa: F401  (for the driver)
from cometfuzz.routes import Route
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.published import names, synthesised

TWINS = ("one", "two")
POLICY = PolicyConfig(base=TWINS, only=TWINS, converters=(), sampled=())


def twin(name: str) -> Route:
    """The reference under another name: a library route, as far as a campaign can tell."""
    return replace(REFERENCE, name=name, steps=(replace(REFERENCE.steps[0], name=name),))


ROUTES = {name: twin(name) for name in TWINS}


def settings(**changes: object) -> Settings:
    made = Settings("directed", 1, TWINS, seed_texts([synthesised(name) for name in names()]), branches=False, cases=25)
    return replace(made, **changes)  # type: ignore[arg-type]


def session(store: Store, chosen: Settings) -> Session:
    return Session(store, chosen, Config(policy=POLICY), ROUTES, lambda done: None)


def ids(folder: Path, **changes: object) -> list[str]:
    chosen = settings(**changes)
    with Store.create(folder, vars(chosen)) as store, session(store, chosen) as running:
        return [event.case_id for event in running.events() if isinstance(event, CaseDone)]


def test_jobs_do_not_change_the_cases(tmp_path: Path) -> None:
    one = ids(tmp_path / "one", jobs=1)
    assert len(one) == 25
    assert one == ids(tmp_path / "two", jobs=2)
    assert one != ids(tmp_path / "three", seed=2)


def test_a_case_is_encoded_and_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id, its file and the replay need one text; its routes, a second run and the oracles one set of tensors."""
    encoded: list[Graph] = []
    drawn: list[Case] = []
    monkeypatch.setattr(codec, "graph_to_plain", noting(encoded, codec.graph_to_plain))
    monkeypatch.setattr(data, "draw_inputs", noting(drawn, data.draw_inputs))
    monkeypatch.setattr("cometfuzz.campaign.loop.TWICE_ONE_IN", 1)
    chosen = settings(cases=10)
    with Store.create(tmp_path / "whole", vars(chosen)) as store, session(store, chosen) as running:
        encoded.clear()
        done = [event for event in running.events() if isinstance(event, CaseDone)]
    parts = [part.case for event in done for part in event.parts]
    assert len(parts) > len(done), "some run once more on odd numbers"
    assert sorted(id(graph) for graph in encoded) == sorted(id(case.graph) for case in parts)
    assert sorted(map(id, drawn)) == sorted(map(id, parts))
    with Store.open(tmp_path / "whole") as store, session(store, chosen):
        assert len(encoded) == len(parts) + len(done)


T = TypeVar("T")
R = TypeVar("R")


def noting(asked: list[T], function: Callable[[T], R]) -> Callable[[T], R]:
    """A function of one object that notes what it is asked about."""

    def noted(given: T) -> R:
        asked.append(given)
        return function(given)

    return noted


def test_a_stop_while_a_case_is_judged_gives_it_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its workers are killed at once: what they fail at is no finding, and the case is run again later."""
    chosen, judged, stopped = settings(cases=6), [], []

    def judge(bench: Bench, fell: Callable[[str], None]) -> list[Finding]:
        apart = any(node.id.startswith("apart_") for node in bench.graph.inputs)
        if bench.graph not in judged and not apart:  # some cases run once more on odd numbers, some in parts
            judged.append(bench.graph)
        if len(judged) == 3 and not stopped:
            stopped.append(True)
            running.stop()
            running.executor.run(bench.trial.case)
        return []

    monkeypatch.setattr("cometfuzz.campaign.judging.examine", judge)
    with Store.create(tmp_path / "stopped", vars(chosen)) as store, session(store, chosen) as running:
        *_, last = running.events()
        assert isinstance(last, Ended)
        assert last.reason == "interrupted"
        assert last.done <= 2  # on a busy machine the loop may not have taken what was judged by then
    with Store.open(tmp_path / "stopped") as store, session(store, chosen) as running:
        rest = [event.case_id for event in running.events() if isinstance(event, CaseDone)]
        assert store.check() == []
    assert ids(tmp_path / "whole", cases=6)[last.done :] == rest


def test_a_clean_campaign_finds_nothing_and_counts_what_executed() -> None:
    strategy = make_strategy("comet", Options(4, [synthesised(name) for name in names()]))
    with Executor(list(ROUTES.values())) as executor:
        campaign = Campaign(strategy, executor, POLICY, 4, Bounds(cases=30), {})
        events = list(campaign.events())
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Ended)
    done = [event for event in events if isinstance(event, CaseDone)]
    assert [event.index for event in done] == list(range(30))
    assert [finding for event in done for part in event.parts for finding in part.findings] == []
    assert all(result.status == "completed" for event in done for part in event.parts for result in part.results)
    assert events[-1].coverage == done[-1].coverage
    assert done[-1].coverage["paper"]["inputs"]["covered"] > 100


def test_what_fails_on_every_route_is_not_covered() -> None:
    strategy = make_strategy("comet", Options(4, [synthesised("LeNet")]))
    broken = twin("one")
    broken = replace(broken, steps=(replace(broken.steps[0], call="missing"),))
    with Executor([broken], pause_after=0) as executor:
        campaign = Campaign(strategy, executor, replace_policy("one"), 4, Bounds(cases=5), {})
        done = [event for event in campaign.events() if isinstance(event, CaseDone)]
    assert not any(event.feedback["executed"] for event in done)
    assert done[-1].coverage["paper"]["inputs"]["covered"] == 0


def replace_policy(*base: str) -> PolicyConfig:
    return PolicyConfig(base=base, only=base, converters=(), sampled=())


def test_stopping_ends_in_good_order(tmp_path: Path) -> None:
    chosen = settings(cases=None)
    with Store.create(tmp_path / "c", vars(chosen)) as store, session(store, chosen) as running:
        events = []
        for event in running.events():
            events.append(event)
            if isinstance(event, CaseDone) and event.index == 3:
                running.stop()
    assert isinstance(events[-1], Ended)
    assert events[-1].reason == "interrupted"


DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_campaign import *
folder, chosen, screen = Path(sys.argv[2]), settings(cases=60), JsonLines(sys.stdout)
with Store.open(folder) if folder.exists() else Store.create(folder, vars(chosen)) as store:
    with session(store, chosen) as running:
        for event in running.events():
            screen.handle(event)
"""


@pytest.mark.parametrize("kills", [4])
def test_kill_and_resume_loses_nothing(tmp_path: Path, kills: int) -> None:
    """Each kill -9 comes at another moment; in the end all is as if there had been none."""
    folder = tmp_path / "killed"
    command = [sys.executable, "-c", DRIVER, str(Path(__file__).parent), str(folder)]
    campaign = Killed(folder, begin=command, go_on=command)
    kill_often(campaign, kills, 8, Draw("kills"))
    campaign.finish(command)
    assert len(campaign.done) == kills + 1
    assert campaign.done[-1] == len(ids(tmp_path / "whole", cases=60)) == 60
    assert what_ran(folder) == what_ran(tmp_path / "whole")


def test_thirty_kills_of_a_store_lose_nothing(tmp_path: Path) -> None:
    drill = Path(__file__).with_name("store_kills.py")
    environ = {**os.environ, "PYTHONPATH": str(drill.parents[1])}
    ended = subprocess.run(
        [sys.executable, str(drill), str(tmp_path), "30"], capture_output=True, text=True, env=environ
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["done"] > 30
