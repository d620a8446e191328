"""Campaigns on a cluster: the same cases whatever the nodes, each on a node, and what nodes differ in is found."""

import json
import subprocess
from pathlib import Path

import pytest
from nodes import Cluster, certificates, cluster, events, what_ran

from cometfuzz.campaign.records import Records

CASES = 60
RUN = ("run", "--seed", "3", "--cases", str(CASES), "--window", "12", "--json")
pytestmark = pytest.mark.usefixtures("networked")


def campaign(made: Cluster, out: str, *more: str, routes: str = "one,two") -> list[tuple[object, ...]]:
    """What ran in a campaign: ids, statuses, digests; it is sound."""
    ended = made.run(*RUN, "--cluster", made.address, "--routes", routes, "--out", out, *more)
    assert ended.returncode == 0, ended.stderr
    return what_ran(made.folder / out)


def test_the_same_cases_on_one_two_and_four_nodes(tmp_path: Path) -> None:
    with cluster(tmp_path, 1, ["one", "two"]) as made:
        one = campaign(made, "one")
        made.start_node("node1")
        two = campaign(made, "two")
        for name in ("node2", "node3"):
            made.start_node(name)
        four = campaign(made, "four")
        ended = made.run(*RUN, "--cluster", "none", "--routes", "one,two", "--out", "here", "--no-branches")
        with Records(tmp_path / "four") as records:
            took_part = {each.node for each in records.ran_on()}
            assert took_part == set(records.nodes)
    assert one == two == four
    assert len(one) > 2 * CASES
    assert all(digests for *_, status, digests in one if status == "completed")
    assert len(took_part) == 4
    assert ended.returncode == 0
    assert [each[:-1] for each in what_ran(tmp_path / "here")] == [each[:-1] for each in one]


def test_nodes_that_differ_are_found(tmp_path: Path) -> None:
    """Two of one kind, one of which computes another bit: one case in 50 runs on both, and is no case more."""
    with cluster(tmp_path, 1, ["one", "twisted"]) as made:
        made.start_node("node1", STANDIN_TWISTED="yes")
        for seed in ("3", "4", "5"):
            more = ("--seed", seed)
            campaign(made, f"differ-{seed}", *more, routes="one,twisted")
    found = []
    for seed in ("3", "4", "5"):
        with Records(tmp_path / f"differ-{seed}") as records:
            assert records.done == CASES
            found += [each.finding for each in records.findings() if each.finding.failure == "between nodes"]
    assert found
    assert {finding.symptom for finding in found} == {"nondeterminism"}
    assert {finding.camps[0].routes for finding in found} == {("twisted",)}
    assert len(found[0].evidence["nodes"]) == 2


def test_a_case_that_kills_its_nodes_is_a_death(tmp_path: Path) -> None:
    with cluster(tmp_path, 2, ["one", "killer"]) as made:
        ended = made.run(
            *("run", "--seed", "3", "--cases", "25", "--window", "4", "--json", "--out", "killed"),
            *("--cluster", made.address, "--routes", "one,killer"),
        )
        assert ended.returncode == 0, ended.stderr
    said = events(ended.stdout)
    with Records(tmp_path / "killed") as records:
        assert records.done == 25
        assert records.check() == []
        deaths = [each for each in records.outcomes() if each.result.stage == "node"]
        notices = [text for _, text in records.notices()]
    assert deaths
    assert {each.result.status for each in deaths} == {"signal"}
    assert {each.result.route for each in deaths} == {"one", "killer"}
    assert len({(each.index, each.part) for each in deaths}) < 8
    assert any("is gone" in text for text in notices)
    assert any("takes part" in text for text in notices)
    assert sum("recorded as a death" in text for text in notices) == len({(each.index, each.part) for each in deaths})
    assert [event["index"] for event in said if event["event"] == "case"] == list(range(25))


def test_findings_are_worked_out_on_nodes(tmp_path: Path) -> None:
    with cluster(tmp_path, 2, ["one", "two", "wrong"]) as made:
        campaign(made, "wrong", "--cases", "12", routes="one,two,wrong")
        ended = made.run("triage", "wrong", "--cluster", made.address, "--json")
        assert ended.returncode == 0, ended.stderr
    with Records(tmp_path / "wrong") as records:
        bugs = [bug for bug in records.bugs() if bug.blame.library == "standin"]
    assert bugs
    assert all(len(bug.minimal.graph.nodes) <= 3 for bug in bugs)
    assert {bug.signature.layers for bug in bugs} == {("Dense",)}


def test_a_case_is_reduced_on_a_node(tmp_path: Path) -> None:
    """It comes to what it comes to here; what shows nothing is said to show nothing."""
    with cluster(tmp_path, 1, ["one", "wrong"]) as made:
        campaign(made, "wrong", "--cases", "12", routes="one,wrong")
        with Records(tmp_path / "wrong") as records:
            shown = next(each for each in records.findings() if each.finding.camps[0].routes == ("wrong",))
            file = str(records.files.path(shown.case_id))
        reduce = ("reduce", file, "--route", "wrong", "--beside", "one", "--json")
        there = made.run(*reduce, "--cluster", made.address)
        assert there.returncode == 0, there.stderr
        here = made.run(*reduce, "--cluster", "none")
        fine = made.run("reduce", file, "--route", "one", "--beside", "wrong", "--cluster", made.address)
    found = [json.loads(each.stdout) for each in (there, here)]
    assert len({each["minimal"] for each in found}) == 1
    assert found[0]["layers"] == ["Dense"]
    assert fine.returncode == 1
    assert "nothing to reduce: one shows nothing" in fine.stderr


def test_every_node_is_shown(tmp_path: Path) -> None:
    with cluster(tmp_path, 1, ["one"]) as made:
        made.start_node("bare", COMETFUZZ_CACHE=str(tmp_path / "nothing"))
        ended = made.run("doctor", "--cluster", made.address, "--routes", "one")
        assert ended.returncode == 1
        assert "standin 1.0" in ended.stdout
        assert "cometfuzz env create tool" in " ".join(ended.stdout.split())
        ran = campaign(made, "without")
        with Records(tmp_path / "without") as records:
            assert {each.node.rpartition(":")[0] for each in records.ran_on()} == {f"tls://{made.addresses['node0']}"}
    assert ran


def test_a_stranger_without_a_certificate_gets_nothing(tmp_path: Path) -> None:
    with cluster(tmp_path, 1, ["one"]) as made:
        plain = made.address.replace("tls", "tcp")
        refused = made.run("run", "--cluster", plain, "--routes", "one", "--cases", "1", "--out", "a")
        assert refused.returncode == 2
        assert "--insecure" in refused.stderr
        insisting = made.run("run", "--cluster", plain, "--insecure", "--routes", "one", "--cases", "1", "--out", "b")
        assert insisting.returncode == 3, insisting.stderr
        for name in ("ca.pem", "ca-key.pem", "head.pem", "head-key.pem"):
            (tmp_path / name).unlink()
        certificates(tmp_path)  # of another authority
        stranger = made.run("run", "--cluster", made.address, "--routes", "one", "--cases", "1", "--out", "c")
        assert stranger.returncode == 3, stranger.stderr


def test_a_lost_scheduler_ends_the_campaign_in_order(tmp_path: Path) -> None:
    """Exit code 3, in one line; resumed on another scheduler, the campaign is as if nothing had been."""
    chosen = ("--seed", "3", "--window", "8", "--json", "--routes", "one,two")
    with cluster(tmp_path, 1, ["one", "two"]) as made:
        command = made.command("run", *chosen, "--cases", "30", "--cluster", made.address, "--out", "lost")
        with open(tmp_path / "head.log", "w+") as log:
            head = subprocess.Popen(
                command, cwd=tmp_path, env=made.environ(), stdout=subprocess.PIPE, stderr=log, text=True
            )
            with head:
                assert head.stdout is not None
                said = [json.loads(head.stdout.readline()) for _ in range(6)]
                made.stop("scheduler")
                said += [json.loads(line) for line in head.stdout]
            log.seek(0)
            errors = log.read().splitlines()
        assert head.returncode == 3
        assert said[-1]["event"] == "ended"
        assert said[-1]["reason"] == "lost"
        assert "lost" in errors[-1]
        assert not any("Traceback" in line for line in errors)
        made.stop("node0")
        made.start_scheduler()
        made.start_node("node0")
        ended = made.run("resume", "lost", "--json", "--cluster", made.address)
        assert ended.returncode == 0, ended.stderr
        assert events(ended.stdout)[0]["done"] == said[-1]["done"] < 30
        made.run("run", *chosen, "--cases", "30", "--cluster", "none", "--out", "here", "--no-branches")
    assert [each[:-1] for each in what_ran(tmp_path / "lost")] == [each[:-1] for each in what_ran(tmp_path / "here")]
