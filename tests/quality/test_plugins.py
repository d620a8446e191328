"""What other packages add, one file each: layer, mutation, route, oracle with a symptom, strategy, in one campaign."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cometfuzz.catalogue.files import save
from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.layers import paper_space
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge

LAYER = """
from cometfuzz.catalogue.spec import layer
from cometfuzz.reference.call import meaning

layer(
    "ToyHalf",
    ranks=range(1, 6),
    shape=lambda x, p: x.shape,
    builder="toy_layer:half",
    doc="Divides by two.",
)


@meaning("ToyHalf")
def _half(call):
    return call.x / 2


def half(keras):
    class ToyHalf(keras.layers.Layer):
        def call(self, x):
            return x / 2

    return ToyHalf
"""
MUTATION = """
from cometfuzz.ir.graph import Edge
from cometfuzz.mutation.base import Inapplicable
from cometfuzz.mutation.repair import Editor


def add_half(graph, guide, draw, limits):
    editor = Editor(graph, draw, limits)
    floats = [node for node in editor.sources() if node.outputs[0].is_float and node.outputs[0].rank < 6]
    if not floats:
        raise Inapplicable("no tensor of floats")
    editor.expose(Edge(editor.add("ToyHalf", {}, (Edge(draw.choice(floats).id),)).id))
    return editor.finish()
"""
ROUTE = """
from cometfuzz.routes import QUIET, Group, Route, Stage, Step

STEP = Step("toy", Group("toy", "tool", QUIET), "toy_route", "run", (Stage("run", "toylib"),))
ROUTE = Route("toy", "a toy", "", (STEP,))


def start(options):
    from cometfuzz.execution.reference import ReferenceSession

    class Session(ReferenceSession):
        def versions(self):
            return {"toylib": "1.0"}

    return Session()
"""
ORACLE = """
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.oracles.symptoms import SymptomRecord

WHISPER = SymptomRecord("whisper", "whispers", "It whispers where it should be silent.", "green")


def listen(bench):
    place = next((node for node in bench.graph.nodes if node.layer == "ToyHalf"), None)
    if place is not None and "toy" in bench.completed:
        others = tuple(name for name in bench.completed if name != "toy")
        camps = (Camp(("toy",), "whispers"), *((Camp(others, "silent"),) if others else ()))
        yield Finding("listen", "whisper", "ordinary", camps, "run", "toylib", "psst", place.id, place.layer)
"""
STRATEGY = """
from cometfuzz.mutation import MUTATIONS
from cometfuzz.search.strategies import Search


class Halving(Search):
    def make(self, draw):
        mutant = MUTATIONS["AddHalf"](self.pool.choose(draw), self.guide, draw, self.limits)
        return self.launch(mutant, "AddHalf", draw)

    def learn(self, case, feedback):
        self.land(case, feedback)

    def operators(self):
        return {}
"""
PACKAGES = {
    "toy_layer": (LAYER, "layers", "toy = toy_layer"),
    "toy_mutation": (MUTATION, "mutations", "AddHalf = toy_mutation:add_half"),
    "toy_route": (ROUTE, "routes", "toy = toy_route:ROUTE"),
    "toy_oracle": (ORACLE, "oracles", "listen = toy_oracle:listen\n[cometfuzz.symptoms]\nwhisper = toy_oracle:WHISPER"),
    "toy_strategy": (STRATEGY, "strategies", "halving = toy_strategy:Halving"),
}
POLICY = """
[policy]
base = ["toy", "reference"]
clear = []
only = []
converters = []
sampled = []
"""


def install(folder: Path, name: str, source: str, group: str, points: str) -> None:
    """A package of one file, as an installer leaves it."""
    (folder / f"{name}.py").write_text(source)
    declared = folder / f"{name}-1.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (declared / "entry_points.txt").write_text(f"[cometfuzz.{group}]\n{points}\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cometfuzz.toml").write_text(POLICY)
    site = tmp_path / "site"
    site.mkdir()
    for name, (source, group, points) in PACKAGES.items():
        install(site, name, source, group, points)
    drafts = [
        Draft("x", "input", {"dtype": "float32", "shape": (2, 3), "high": None}, ()),
        Draft("a", "ReLU", {}, (Edge("x"),)),
    ]
    save(Case(assemble(drafts, [Edge("a")]), 1), tmp_path / "seed.json")
    return tmp_path


def command(project: Path, *arguments: str, plugins: str = "") -> "subprocess.CompletedProcess[str]":
    usual = {"PYTHONPATH": str(project / "site"), "COMETFUZZ_PLUGINS": plugins, "COLUMNS": "100", "TERM": "dumb"}
    return subprocess.run(
        [sys.executable, "-P", "-m", "cometfuzz", *arguments],
        cwd=project,
        env={**os.environ, **usual},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_packages_from_outside_take_part_in_a_campaign(project: Path) -> None:
    campaign = ("--strategy", "halving", "--seeds", "seed.json", "--routes", "toy,reference", "--cases", "4")
    ended = command(project, "run", "--out", "campaign", "--no-branches", *campaign, "--fail-on", "new")
    assert ended.returncode == 1, ended
    assert "whisper" in ended.stdout  # the closing summary
    told = json.loads(command(project, "report", "campaign", "--format", "json").stdout)
    (bug,) = told["bugs"]
    signature = bug["signature"]
    assert [signature[name] for name in ("symptom", "layers", "library")] == ["whisper", ["ToyHalf"], "toylib"], bug
    assert bug["title"].startswith("ToyHalf whispers: ")
    again = json.loads(command(project, "triage", "campaign", "--json").stdout)
    assert {each["reason"] for each in again["findings"] if each["first"]} == {"no script can be written"}
    ran = command(project, "export", "campaign")
    assert {row["status"] for row in csv.DictReader(io.StringIO(ran.stdout))} == {"completed"}, ran
    report = command(project, "report", "campaign", "--out", "pages")
    assert report.returncode == 0, report
    assert any("whisper" in page.read_text() for page in (project / "pages").rglob("*.html"))
    rows = command(project, "export", "campaign", "--findings")
    assert "whisper" in {row["symptom"] for row in csv.DictReader(io.StringIO(rows.stdout))}, rows


def test_what_is_installed_shifts_nothing_that_is_published(project: Path) -> None:
    space = json.loads(command(project, "space", "--json").stdout)
    paper = paper_space()
    assert {name: space["paper"][name]["total"] for name in paper.items} == {
        name: paper.total(name) for name in paper.items
    }
    names = [each["name"] for each in json.loads(command(project, "layers", "--json").stdout)["layers"]]
    assert names[-1] == "ToyHalf"
    ours = [each["name"] for each in json.loads(command(project, "layers", "--json", plugins="none").stdout)["layers"]]
    assert names[:-1] == ours


def test_a_broken_layer_is_named_and_stops_a_campaign(project: Path) -> None:
    install(project / "site", "bad_layer", LAYER.replace("ToyHalf", "Dense"), "layers", "bad = bad_layer")
    listed = command(project, "layers")
    assert listed.returncode == 0
    said = " ".join(listed.stdout.split())
    assert "cometfuzz.layers, bad: bad_layer: ValueError: expected one block per layer" in said
    ended = command(project, "run", "--out", "campaign", "--routes", "toy,reference", "--cases", "1")
    assert ended.returncode == 2
    assert "cometfuzz.layers: expected 'bad' to be usable" in ended.stderr
