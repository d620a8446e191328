"""Packages that `cometfuzz new` makes: one of each kind, installed as an installer would, and used together."""

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from test_plugins import POLICY
from typer.testing import CliRunner

from cometfuzz.catalogue.files import save
from cometfuzz.catalogue.validate import assemble
from cometfuzz.cli import app
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge

PACKAGES = {
    "layer": "HalfOf",
    "route": "my-library",
    "oracle": "too-large",
    "mutation": "AddOne",
    "strategy": "by-lot",
}


def command(folder: Path, *arguments: str, path: str = "") -> "subprocess.CompletedProcess[str]":
    usual = {"PYTHONPATH": path, "COMETFUZZ_PLUGINS": "", "COLUMNS": "100", "TERM": "dumb"}
    return subprocess.run(
        [sys.executable, "-P", "-m", "cometfuzz", *arguments],
        cwd=folder,
        env={**os.environ, **usual},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def install(package: Path) -> None:
    """What an installer leaves beside the modules, of what pyproject.toml declares."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    declared = package / "src" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in points.items()), ""]
    (declared / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all five, and a model to begin with."""
    folder = tmp_path_factory.mktemp("new")
    for kind, name in PACKAGES.items():
        told = CliRunner().invoke(app, ["new", kind, name, "--out", str(folder / kind)])
        assert told.exit_code == 0, told
        install(folder / kind)
    drafts = [
        Draft("x", "input", {"dtype": "float32", "shape": (2, 3), "high": None}, ()),
        Draft("a", "ReLU", {}, (Edge("x"),)),
    ]
    save(Case(assemble(drafts, [Edge("a")]), 1), folder / "seed.json")
    (folder / "cometfuzz.toml").write_text(POLICY.replace('"toy"', '"my-library"'))
    return folder


def path_of(folder: Path) -> str:
    return os.pathsep.join(str(folder / kind / "src") for kind in PACKAGES)


def change(module: Path, old: str, new: str) -> None:
    text = module.read_text()
    assert old in text
    module.write_text(text.replace(old, new))


def test_all_of_them_take_part_in_a_campaign(made: Path) -> None:
    path = path_of(made)
    shown = command(made, "layers", "HalfOf", path=path)
    assert "Multiplies by a factor." in shown.stdout, shown
    change(made / "mutation" / "src" / "cometfuzz_add_one" / "__init__.py", 'LAYER = "ReLU"', 'LAYER = "HalfOf"')
    change(made / "oracle" / "src" / "cometfuzz_too_large" / "__init__.py", "MOST = 1e30", "MOST = 1e-30")
    options = (
        "--strategy",
        "by-lot",
        "--mutations",
        "AddOne",
        "--seeds",
        "seed.json",
        "--routes",
        "my-library,reference",
    )
    ran = command(made, "run", "--out", "found", "--no-branches", "--cases", "12", "--quiet", *options, path=path)
    assert ran.returncode == 0, ran
    told = json.loads(command(made, "report", "found", "--format", "json", path=path).stdout)
    assert told["campaign"]["executed"] == 12
    assert told["campaign"]["settings"]["strategy"] == "by-lot"
    findings = [group["finding"] for group in told["not_counted"]]
    assert [(each["symptom"], each["library"]) for each in findings] == [("too-large", "my-library")]
    exported = command(made, "export", "found", path=path)
    assert "AddOne" in exported.stdout
    cases = [json.loads(file.read_text()) for file in (made / "found").rglob("*.json")]
    assert any("HalfOf" in json.dumps(case) for case in cases)


@pytest.mark.library
def test_a_layer_is_what_keras_computes(made: Path) -> None:
    asked = ("--layers", "HalfOf", "--routes", "keras-jax", "--draws", "3", "--json")
    told = command(made, "conformance", *asked, path=path_of(made))
    assert told.returncode == 0, told
    assert "HalfOf" in told.stdout


def test_what_it_writes_is_python_that_reads_well(made: Path) -> None:
    for kind in PACKAGES:
        (module,) = (made / kind / "src").glob("*/__init__.py")
        tree = ast.parse(module.read_text())
        assert ast.get_docstring(tree)
        assert all(len(line) <= 120 for line in module.read_text().splitlines())
        assert "$" not in module.read_text() + (made / kind / "README.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("route", "My_Library"), "expected small letters and digits"),
        (("layer", "half"), "expected a name as of a class"),
        (("layer", "Dense"), "does not use for a layer"),
        (("route", "keras-tf"), "does not use for a route"),
        (("route", "my-library", "--out", "route"), "route: expected a folder that is not there yet"),
    ],
)
def test_it_refuses_what_could_not_work(
    made: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(made)
    ended = CliRunner().invoke(app, ["new", *arguments])
    assert isinstance(ended.exception, CometfuzzError)
    assert words in str(ended.exception)
