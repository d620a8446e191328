"""`cometfuzz reduce` on planted faults: what it prints, writes and returns."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from faults import FAULTS
from harness import CLEAN, routes_of
from typer.testing import CliRunner, Result

from cometfuzz.catalogue.files import load, save
from cometfuzz.catalogue.validate import assemble
from cometfuzz.cli import app
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge

ROUTES = {route.name: route for route in (*CLEAN, *routes_of(FAULTS["crop-off-by-one"]))}


@pytest.fixture
def case_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.chdir(tmp_path)
    # the package's attribute of that name is the command
    monkeypatch.setattr(import_module("cometfuzz.cli.reduce"), "configured", lambda settings: ROUTES)
    drafts = [
        Draft("x", INPUT, {"shape": (2, 6, 6, 3)}, ()),
        Draft("relu", "ReLU", {}, (Edge("x"),)),
        Draft("crop", "Cropping2D", {"cropping": ((2, 1), (1, 1))}, (Edge("relu"),)),
        Draft("end", "Flatten", {}, (Edge("crop"),)),
    ]
    save(Case(assemble(drafts, [Edge("end")]), 3), tmp_path / "case.json")
    return tmp_path / "case.json"


def reduce(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["reduce", *arguments], env={"COLUMNS": "100", "TERM": "dumb"})


def test_it_writes_the_smallest_case_and_names_who_is_to_blame(case_file: Path) -> None:
    result = reduce(str(case_file), "--route", "crop-off-by-one", "--beside", "clean-b", "-o", "small.json", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["layers"] == ["Cropping2D"]
    assert said["blame"]["role"] == "runtime run-crop-off-by-one"
    assert (said["runs"], said["shown"], said["known"]) == (3, 3, "")
    assert [node.layer for node in load(Path("small.json")).graph.nodes] == [INPUT, "Cropping2D"]


def test_people_read_it_too(case_file: Path) -> None:
    result = reduce(str(case_file), "--route", "crop-off-by-one", "--beside", "clean-b")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Cropping2D gives wrong values: runtime run-crop-off-by-one (cropping)\n")
    assert "reduced from 3 layers to 1" in result.stdout
    assert "crop = Cropping2D(cropping=" in result.stdout


def test_where_nothing_shows_the_exit_code_is_1(case_file: Path) -> None:
    result = reduce(str(case_file), "--route", "clean-a", "--beside", "clean-b")
    assert result.exit_code == 1
    assert "nothing to reduce: clean-a shows nothing" in result.stderr
