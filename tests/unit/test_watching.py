"""What the live page shows is what the live screen shows, and a count of routes is what a recount says."""

import json
import os
import sys
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from campaigning import SETTINGS, campaign
from reporting import write_campaign
from stand_in import campaign as real_campaign
from stand_in import fresh
from typer.testing import CliRunner

from cometfuzz.campaign.events import CaseDone
from cometfuzz.campaign.folder import DATABASE
from cometfuzz.campaign.merging import merge
from cometfuzz.campaign.store import Store
from cometfuzz.cli import app
from cometfuzz.ir.codec import case_id
from cometfuzz.reports.tally import Tally, share_of
from cometfuzz.serving.curves import Curve
from cometfuzz.serving.numbers import nodes, numbers
from cometfuzz.serving.running import is_loopback
from cometfuzz.serving.watching import Watched


def looked_at(watched: Watched) -> dict[str, Any]:
    while watched.look():
        pass
    return dict(json.loads(watched.shown.numbers))


def test_the_page_has_the_numbers_of_the_screen(tmp_path: Path) -> None:
    tally = Tally()
    with Store.create(tmp_path / "monday", SETTINGS) as store:
        for event in campaign(90):
            if isinstance(event, CaseDone):
                name = case_id(event.case)
                parts = [replace(part, case_id=name) for part in event.parts]
                event = replace(event, case_id=name, parts=parts)
            store.handle(event)
            tally.handle(event)
    told = looked_at(Watched(0, tmp_path / "monday"))
    expected = json.loads(json.dumps(numbers(tally, tally.elapsed_s)))
    assert {name: told[name] for name in expected} == expected
    assert [each["symptom"] for each in told["latest"]] == [each.finding.symptom for each in reversed(tally.latest)]
    assert (told["state"], told["running"], told["reading"]) == ("the time is over", False, None)


def test_what_comes_later_is_told_and_what_stays_the_same_is_not(tmp_path: Path) -> None:
    with Store.create(tmp_path / "one", {"routes": ["keras-tf"]}) as store:
        events = real_campaign(fresh())
        watched = Watched(0, tmp_path / "one")
        assert looked_at(watched)["done"] == 0
        for event in islice(events, 3):
            store.handle(event)
        assert looked_at(watched)["done"] == 3
        version = watched.shown.numbers_version
        watched.look()
        assert watched.shown.numbers_version == version
        store.handle(next(events))
        assert looked_at(watched)["done"] == 4
        assert watched.shown.numbers_version > version
        watched.close()


def test_the_curve_of_a_route_ends_where_a_recount_does(tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 8)):
        with Store.create(tmp_path / name, {"routes": ["keras-tf", "keras-torch"]}) as store:
            for event in islice(real_campaign(fresh(seed=seed)), 5):
                store.handle(event)
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    watched = Watched(0, tmp_path / "both")
    told = looked_at(watched)
    curves = json.loads(watched.shown.curves)
    assert curves["counted"] == [10, 10]
    assert told["state"] == "merged of 2 campaigns"
    with Store.open(tmp_path / "both") as store:
        for route, points in curves["routes"].items():
            assert points[-1][1] == pytest.approx(share_of(store.by_route[route]), abs=1e-5)
            assert [share for _, share in points] == sorted(share for _, share in points)
    assert curves["routes"].keys() == {"keras-tf", "keras-torch"}


def test_a_campaign_that_goes_away_is_a_problem_that_is_said(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "one", 5)
    watched = Watched(0, folder)
    assert looked_at(watched)["problem"] == ""
    watched.close()
    os.rename(folder / DATABASE, tmp_path / "elsewhere")
    told = looked_at(watched)
    assert "expected the folder of a campaign" in told["problem"]
    assert told["done"] == 5


@pytest.mark.parametrize(
    "wrong", [{"minutes": "x"}, {"cases": ["many"]}, {"minutes": -0.0}, {"machine": 5}, {"jobs": {}}]
)
def test_settings_of_strangers_end_nothing(wrong: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "one"
    with Store.create(folder, {"routes": [], **wrong}) as store:
        for event in islice(real_campaign(fresh()), 1):
            store.handle(event)
    looked_at(Watched(0, folder))


def test_nodes_are_shown_as_far_as_they_are_recorded() -> None:
    assert nodes(None, {}) == nodes([1], {}) == nodes({"a": 3}, {}) == []
    machine = {"cpu": "avx512", "model": "A processor", "features": ["amx"], "caps": {}}
    versions = {"keras-tf": {"keras": "3.1", "tensorflow": "2.2"}, "keras-jax": {"keras": "3.1", "jax": "1"}}
    recorded = {"10.0.0.1": {"host": "one\x1b[31m", "machine": machine, "versions": versions, "lacks": []}}
    (told,) = nodes(recorded, {"10.0.0.1": 7})
    assert (told["name"], told["parts"]) == ("10.0.0.1", 7)
    assert told["facts"] == [
        ["host", "one"],
        ["machine", "avx512 (A processor); amx"],
        ["versions", "keras 3.1, tensorflow 2.2, jax 1"],
    ]
    assert nodes({"x": {"machine": "old", "versions": 5}}, {})[0]["facts"] == [["machine", "old"], ["versions", "5"]]


def test_a_curve_keeps_its_ends_and_its_form() -> None:
    curve = Curve()
    for at in range(10_000):
        curve.add(float(at), at / 10_000)
    points = curve.points
    assert len(points) < 200
    assert (points[0][0], points[-1][0]) == (0.0, 9999.0)
    steps = {after - before for (before, _), (after, _) in pairwise(points[:-1])}
    assert len(steps) == 1


def test_what_is_missing_is_named_with_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_campaign(tmp_path / "one", 3)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ended = CliRunner().invoke(app, ["serve", str(folder)])
    assert "pip install '.[cluster]'" in str(ended.exception)


def test_what_is_loopback() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.3.2.1", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "")))
