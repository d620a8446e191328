"""Merging campaigns: nothing counted twice, nothing lost, coverage as a recount has it, sources as they were."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import reporting
from stand_in import FINDING, SETTINGS, campaign, counts, fresh, result
from typer.testing import CliRunner

from cometfuzz.campaign.events import CaseDone, Ended, Notice, Started
from cometfuzz.campaign.merging import merge
from cometfuzz.campaign.reached import save_branches, stored_branches
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.replay import recount
from cometfuzz.campaign.retelling import retold
from cometfuzz.campaign.schema import VERSION
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import Settled
from cometfuzz.cli import app
from cometfuzz.coverage.branches import Branches
from cometfuzz.errors import InvalidCampaign
from cometfuzz.oracles.finding import Camp
from cometfuzz.reports.facts import gather
from cometfuzz.reports.html import rerun_command
from cometfuzz.triage.bug import Bug

ROUTES = ["keras-tf", "keras-torch"]
SHOWN = reporting.bug("onnxruntime", "value", ("Conv2D", "ReLU"))
UNSHOWN = replace(SHOWN, script=None, draft="")
Change = Callable[[CaseDone], CaseDone]


def elsewhere(event: CaseDone) -> CaseDone:
    """The same case, run on one route more, with one finding more, and not at all on the first."""
    (part,) = event.parts
    more = replace(FINDING, symptom="value", layer="Dense", camps=(Camp(("keras-jax",), "off"),))
    return replace(event, parts=[replace(part, results=[*part.results, result("keras-jax")], findings=[FINDING, more])])


def write(
    folder: Path, seed: int, cases: int, bugs: tuple[Bug, ...] = (), change: Change = lambda event: event
) -> Path:
    routes = [*ROUTES, "keras-jax"] if change is elsewhere else ROUTES
    settings = {**SETTINGS, "seed": seed, "routes": routes}
    with Store.create(folder, settings) as store:
        store.handle(Started(settings, 0, {}))
        for event in islice(campaign(fresh(seed=seed)), cases):
            store.handle(change(event))
            if event.index == 1:
                store.handle(Notice("a route is paused"))
        store.handle(Ended("cases", cases, float(cases), {}, 1.0, 2.0))
        for bug in bugs:
            store.keep(bug)
            store.settle(Settled((0, 0, 0), bug.id, True, "", 1.0))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All files, but those that SQLite keeps beside a database for readers."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {str(path): path.read_bytes() for path in files}


def test_campaigns_of_other_seeds_add_up(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", 7, 8), write(tmp_path / "other", 8, 6)
    before = contents(one) | contents(other)
    parts = merge([one, other], tmp_path / "both")
    assert [(part.cases, part.new, part.again, part.left_out) for part in parts] == [(8, 8, 0, 0), (6, 6, 0, 0)]
    assert contents(one) | contents(other) == before
    with Records(tmp_path / "both") as records, Records(one) as first, Records(other) as second:
        assert records.check() == []
        assert records.done == 14
        assert counts(records.coverage) == counts(recount(records))
        assert [each.case_id for each in records.feedbacks()] == [
            each.case_id for source in (first, second) for each in source.feedbacks()
        ]
        curve = [point.elapsed_s for point in records.curve()]
        assert curve == sorted(curve)
        assert records.elapsed_s == 8.0 + 6.0
        assert [(each.first_index, each.done, each.settings["campaign"]) for each in records.sessions()] == [
            (0, 8, str(one)),
            (8, 14, str(other)),
        ]
        assert [text for _, text in records.notices()] == [f"{name}: a route is paused" for name in (one, other)]
        assert records.by_route.keys() == set(ROUTES)
        assert records.by_route["keras-torch"]["full"]["inputs"]["covered"] > 0
        facts = gather(records)
    assert facts.routes["keras-tf"].runs == 14
    assert rerun_command(facts) == f"cometfuzz merge {one} {other} --out both-again"


def test_a_case_of_two_campaigns_is_counted_once_and_what_is_new_of_it_is_kept(tmp_path: Path) -> None:
    one = write(tmp_path / "one", 7, 6, (UNSHOWN,))
    more = write(tmp_path / "more", 7, 8, (SHOWN,), elsewhere)
    parts = merge([one, more], tmp_path / "both")
    assert [(part.new, part.again) for part in parts] == [(6, 0), (2, 6)]
    with Records(tmp_path / "both") as records:
        assert records.check() == []
        facts = gather(records)
        assert {name: health.runs for name, health in facts.routes.items()} == {
            "keras-tf": 8,
            "keras-torch": 8,
            "keras-jax": 8,
        }
        assert len(list(records.findings())) == 8 + 8
        assert len(records.kinds()) == 2
        assert counts(records.coverage) == counts(recount(records))
        jax, torch = (records.by_route[name]["full"]["inputs"]["covered"] for name in ("keras-jax", "keras-torch"))
        assert jax == torch > 0
        (kept,) = records.bugs()
        assert kept == SHOWN
        assert [(each.finding, each.first) for each in records.settled()] == [((0, 0, 0), True)]
        assert records.sightings() == {SHOWN.id: 1}


def test_the_same_campaign_twice_is_what_it_was(tmp_path: Path) -> None:
    one, copy = (write(tmp_path / name, 7, 6, (SHOWN,)) for name in ("one", "copy"))
    merge([one, copy], tmp_path / "both")
    with Records(one) as alone, Records(tmp_path / "both") as both:
        rows = "SELECT case_index, part, place, route, status FROM outcomes"
        assert [tuple(row) for row in both.select(rows)] == [tuple(row) for row in alone.select(rows)]
        assert list(both.findings()) == list(alone.findings())
        assert list(both.settled()) == list(alone.settled())


def observed(name: str, digest: str, *reached: int) -> Branches:
    """Branches of one module of ten, as a campaign leaves them."""
    branches = [[number, number + 1] for number in reached]
    return Branches.from_plain({name: {"digest": digest, "all": [10, 10], "branches": branches, "lines": [*reached]}})


def test_branches_are_put_together(tmp_path: Path) -> None:
    """Those that both have reached count once; those of another version are other branches."""
    counted: Change = lambda event: replace(event, branches={"covered": event.index, "total": 10})  # noqa: E731
    folders = [write(tmp_path / str(seed), seed, 4, change=counted) for seed in (7, 8, 9)]
    save_branches(folders[0], observed("keras.src.a", "1", 1, 2, 3))
    save_branches(folders[1], observed("keras.src.a", "1", 3, 4))
    save_branches(folders[2], observed("keras.src.a", "2", 5, 6, 7))
    merge(folders, tmp_path / "all")
    assert stored_branches(tmp_path / "all").to_plain() == observed("keras.src.a", "1", 1, 2, 3, 4).to_plain()
    with Records(tmp_path / "all") as records:
        shown = [point.branches and point.branches["covered"] for point in records.curve()]
        notices = [text for _, text in records.notices()]
    assert shown == [0, 1, 2, 3, None, None, None, 4, None, None, None, 4]
    assert f"{folders[2]}: 1 of 1 observed modules have other sources there; their branches are left out" in notices


def on_a_node(address: str) -> Change:
    def change(event: CaseDone) -> CaseDone:
        (part,) = event.parts
        return replace(event, parts=[replace(part, node=address, digests={"keras-tf": ["ab"]})])

    return change


def test_nodes_go_with_their_cases(tmp_path: Path) -> None:
    """Two clusters may give one address to two machines."""
    folders = []
    for name, seed in (("one", 7), ("other", 8)):
        folders.append(write(tmp_path / name, seed, 2, change=on_a_node("10.0.0.1")))
        with Store.open(folders[-1]) as store:
            store.handle(Started({"nodes": {"10.0.0.1": {"host": name}}}, 2, {}))
    merge(folders, tmp_path / "both")
    again = f"10.0.0.1 ({folders[1]})"
    with Records(tmp_path / "both") as records:
        assert records.nodes == {"10.0.0.1": {"host": "one"}, again: {"host": "other"}}
        assert [(each.index, each.node) for each in records.ran_on()] == [
            (0, "10.0.0.1"),
            (1, "10.0.0.1"),
            (2, again),
            (3, again),
        ]
        assert {tuple(each.digests["keras-tf"]) for each in records.ran_on()} == {("ab",)}


def test_merged_campaigns_merge_again(tmp_path: Path) -> None:
    folders = [write(tmp_path / name, seed, 4) for name, seed in (("a", 7), ("b", 8), ("c", 9))]
    merge(folders[:2], tmp_path / "two")
    merge([tmp_path / "two", folders[2]], tmp_path / "nested")
    merge(folders, tmp_path / "flat")
    with Records(tmp_path / "nested") as nested, Records(tmp_path / "flat") as flat:
        assert nested.coverage == flat.coverage
        assert nested.by_route == flat.by_route
        assert list(nested.feedbacks()) == list(flat.feedbacks())


def test_a_case_whose_file_is_gone_is_left_out_and_said(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", 7, 5), write(tmp_path / "other", 8, 4)
    with Records(one) as records:
        name = list(records.feedbacks())[2].case_id
        records.files.path(name).write_bytes(b"{}")
    parts = merge([one, other], tmp_path / "both")
    assert [(part.new, part.left_out) for part in parts] == [(4, 1), (4, 0)]
    with Records(tmp_path / "both") as records:
        assert records.done == 8
        assert records.check() == []
        assert any("1 cases were left out" in text for _, text in records.notices())


def test_what_is_no_campaign_of_this_schema_leaves_nothing_behind(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", 7, 3), write(tmp_path / "other", 8, 3)
    with Store.open(other) as store:
        store.connection.execute(f"PRAGMA user_version = {VERSION - 1}")
    with pytest.raises(InvalidCampaign, match="made by an older cometfuzz"):
        merge([one, other], tmp_path / "both")
    with pytest.raises(InvalidCampaign, match="one without"):
        merge([one, one / "cases"], tmp_path / "both")
    with pytest.raises(InvalidCampaign, match="each of them once"):
        merge([one, tmp_path / "." / "one"], tmp_path / "both")
    with pytest.raises(InvalidCampaign, match="outside of the campaigns"):
        merge([one, write(tmp_path / "third", 9, 3)], one / "both")
    with pytest.raises(InvalidCampaign, match="has something in it"):
        merge([one, tmp_path / "third"], other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other", "third"]


def test_an_interruption_leaves_nothing_behind(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", 7, 3), write(tmp_path / "other", 8, 3)

    def interrupt(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        merge([one, other], tmp_path / "both", interrupt)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]


def test_what_is_retold_is_what_was_told(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", 7, 7)
    told = list(islice(campaign(fresh()), 7))
    with Records(folder) as records:
        again = list(retold(records, 2, 7, records.case))
    newest = told[-1].coverage
    for event, same in zip(told[2:], again, strict=True):
        assert (same.index, same.case, same.parts) == (event.index, event.case, list(event.parts))
        assert counts(same.coverage) == counts(event.coverage)
        assert (same.feedback, same.gained, same.elapsed_s) == (event.feedback, event.gained, event.elapsed_s)
        assert same.coverage["full"]["inputs"]["total"] == newest["full"]["inputs"]["total"]


def test_all_that_reads_a_campaign_reads_what_was_merged(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", 7, 3, (SHOWN,)), write(tmp_path / "other", 8, 3, (SHOWN,))
    for folder in (one, other):
        with Store.open(folder) as store:
            for name in store.waiting():
                store.settle(Settled(name, SHOWN.id, False, "", 0.1))
    both = str(tmp_path / "both")

    def run(*words: str) -> str:
        ended = CliRunner().invoke(app, words)
        assert ended.exit_code == 0, ended
        return ended.stdout

    said = json.loads(run("merge", str(one), str(other), "--out", both, "--json"))
    assert {name: said[name] for name in ("cases", "findings", "kinds", "bugs")} == {
        "cases": 6,
        "findings": 6,
        "kinds": 1,
        "bugs": 1,
    }
    (bug,) = json.loads(run("bugs", both, "--json"))["bugs"]
    assert (bug["id"], bug["findings"]) == (SHOWN.id, 6)
    assert len(run("export", both, "--json").splitlines()) == 12
    assert len(run("export", both, "--findings", "--json").splitlines()) == 6
    assert json.loads(run("triage", both, "--json"))["waiting"] == 0
    assert Path(run("report", both).strip()).is_file()
    ended = CliRunner().invoke(app, ["resume", both])
    assert "several that were merged" in str(ended.exception)
