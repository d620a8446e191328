"""`cometfuzz profile`: the CPU time of a stored campaign, by route, stage and tenth."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from stand_in import SETTINGS, campaign, fresh, result
from typer.testing import CliRunner

from cometfuzz.campaign.store import Store
from cometfuzz.cli import app

BUILD, RUN = ("build", "keras"), ("run", "tensorflow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cases: keras-tf and a route that shares its model, then keras-tf alone."""
    folder = tmp_path_factory.mktemp("profile") / "a campaign"
    first, second = islice(campaign(fresh()), 2)
    shared = (*BUILD, 0.5, 0.4, 2)
    both = [
        replace(result("keras-tf"), times=(shared, (*RUN, 0.1, 0.1, 1))),
        replace(result("tf-graph", "exception"), times=(shared, ("trace", "tensorflow", 0.3, 0.2, 1))),
    ]
    alone = [replace(result("keras-tf"), times=((*BUILD, 0.5, 0.4, 1),))]
    with Store.create(folder, SETTINGS) as store:
        store.handle(replace(first, parts=[replace(first.parts[0], results=both)], elapsed_s=1.0))
        store.handle(replace(second, parts=[replace(second.parts[0], results=alone)], elapsed_s=10.0))
    return folder


def test_what_routes_share_is_charged_in_equal_parts(folder: Path) -> None:
    ended = CliRunner().invoke(app, ["profile", str(folder), "--json"])
    assert ended.exit_code == 0, ended.output
    seen = json.loads(ended.stdout)
    assert seen["library_cpu_s"] == pytest.approx(1.1)
    routes = {row["route"]: row for row in seen["routes"]}
    assert [(row["route"], row["models"], row["completed"], row["cpu_s"]) for row in seen["routes"]] == [
        ("keras-tf", 2, 2, 0.7),
        ("tf-graph", 1, 0, 0.4),
    ]
    assert routes["keras-tf"]["tenths"] == [0.0, 0.42857, *[0.0] * 7, 1.0]
    assert routes["tf-graph"]["tenths"] == [0.0, 0.57143, *[0.0] * 8]
    assert [(row["stage"], row["runs"], row["cpu_s"]) for row in seen["stages"]] == [
        ("build", 2, 0.8),
        ("trace", 1, 0.2),
        ("run", 1, 0.1),
    ]


def test_the_table_names_the_dearest_stages(folder: Path) -> None:
    ended = CliRunner().invoke(app, ["profile", str(folder), "--stages", "1"])
    assert "build" in ended.stdout
    assert "trace" not in ended.stdout
    assert "1 CPU seconds of the libraries in 10 seconds" in ended.stdout
