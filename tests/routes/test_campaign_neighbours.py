"""Neighbours in whole campaigns, on the reference in child processes and with a planted oracle: what is alive is looked
around on the route that fails, the same whatever the jobs and after a stop."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from cometfuzz.campaign.events import CaseDone
from cometfuzz.campaign.session import Session, Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.config import Config, GraphConfig, PolicyConfig
from cometfuzz.coverage.layers import SIGMA
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.routes import Route
from cometfuzz.search.neighbours import NEIGHBOURS
from cometfuzz.seeds.small import lenet

BASE, DEAR = ("one", "two"), "dear"
POLICY = PolicyConfig(base=BASE, only=BASE, converters=(DEAR,), clear=(), sampled=())
CASES = 30
SHARE = 0.2


def twin(name: str) -> Route:
    """The reference under another name: a library route, as far as a campaign can tell."""
    return replace(REFERENCE, name=name, steps=(replace(REFERENCE.steps[0], name=name, cpu_s=1.0),))


ROUTES = {name: twin(name) for name in (*BASE, DEAR)}


def planted(bench: Bench, fell: Callable[[str], None]) -> Iterator[Finding]:
    """Dense and Conv2D are wrong on the dear route, for each dtype in another way; all ReLUs are, which is known."""
    graph = bench.trial.case.graph
    for node in graph.nodes if DEAR in bench.trial.outcomes and not bench.trial.case.breaks else ():
        if node.layer in ("Dense", "Conv2D", "ReLU"):
            yield Finding(
                oracle="value",
                symptom="value",
                data_kind="ordinary",
                camps=(Camp((DEAR,), "wrong"), Camp(BASE, "right")),
                stage="run",
                library="keras",
                detail="planted",
                node=node.id,
                layer=node.layer,
                defect="known" if node.layer == "ReLU" else "",
                failure=graph.input_types(node)[0].dtype,
            )


def run(folder: Path, jobs: int = 1, stops: tuple[int, ...] = ()) -> list[CaseDone]:
    graphs = {**msgspec.structs.asdict(GraphConfig()), "nodes": 12}
    chosen = Settings("directed", 1, (*BASE, DEAR), seed_texts([lenet()]), SIGMA, 4, False, graphs, jobs, CASES)
    done: list[CaseDone] = []
    for upto in (*stops, CASES):
        with (
            Store.open(folder) if done else Store.create(folder, vars(chosen)) as store,
            Session(store, chosen, Config(policy=POLICY), ROUTES, lambda done: None) as session,
        ):
            for event in session.events():
                done += [event] if isinstance(event, CaseDone) else []
                if len(done) == upto:
                    session.stop()
    return done


def test_what_is_alive_is_looked_around_whatever_the_jobs_and_the_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cometfuzz.campaign.judging.examine", planted)
    monkeypatch.setattr("cometfuzz.search.directed.SHARE", SHARE)  # so that a short one has some
    one = run(tmp_path / "one")
    around = [event for event in one if event.operator == NEIGHBOURS]
    assert 0 < len(around) <= 2 * SHARE * CASES
    for event in around:
        assert {node.layer for node in event.case.graph.nodes} & {"Dense", "Conv2D"}
        assert any(DEAR in [result.route for result in part.results] for part in event.parts)
    findings = [finding for event in one for part in event.parts for finding in part.findings]
    leads = [lead for event in one for lead in event.feedback.get("leads", ())]
    assert len(leads) == len({finding.key for finding in findings if finding.counts})
    two = run(tmp_path / "two", jobs=2, stops=(CASES // 2,))
    assert [event.case_id for event in two] == [event.case_id for event in one]
