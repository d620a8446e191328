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
from cometfuzz.mutation import PAPER

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
from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step
from cometfuzz.routes.keras import BUILD_TF
from cometfuzz.routes.tf2onnx import STEPS
from cometfuzz.routes.trackers import Tracker

TOYLIB = Library("toylib", "Toy Lib", Tracker("https://example.org/toys/issues"))
GROUP, STAGES = Group("toy", "tool", QUIET), (Stage("run", TOYLIB),)
ROUTE = Route("toy", "a toy", "", (Step("toy", GROUP, "toy_route", "run", STAGES),))
FUSED = Route("toy-fused", "a toy", "", (Step("toy-fused", GROUP, "toy_route", "fused", STAGES),))
RUN = Step("toy-keras", BUILD_TF.group, "toy_route", "run", STAGES, engine="toy_route:of_keras")
KERAS = Route("toy-keras", "keras-tf > a toy", "keras3", (BUILD_TF, RUN), turn="sampled")
READ = Step("toy-onnx", GROUP, "toy_route", "run", STAGES, reader="toy_route:of_onnx")
ONNX = Route("toy-onnx", "keras-tf > tf2onnx > a toy", "keras3", (*STEPS, READ), clear=True)


def start(options):
    from cometfuzz.execution.reference import ReferenceAdapter

    class Adapter(ReferenceAdapter):
        def versions(self):
            return {"toylib": "1.0"}

        def fused(self, work, value):
            outputs = self.run(work, value)
            if len(work.graph.nodes) > 2 and len(outputs) == 1:  # as long as nobody looks between the nodes
                outputs = [outputs[0]._replace(data=bytes(len(outputs[0].data)))]
            return outputs

    return Adapter()


def of_keras(situation):
    from cometfuzz.triage.scripts.pieces import ARRAYS, Engine

    return Engine(f"toylib.play(model, {situation.given})", ARRAYS, ("import toylib",))


def of_onnx(feeds, single):
    from cometfuzz.triage.scripts.pieces import ARRAYS, Engine

    return Engine(f"toylib.play_onnx(proto, {', '.join(feeds.values())})", ARRAYS, ("import onnx", "import toylib"))
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
    "toy_route": (
        ROUTE,
        "routes",
        "toy = toy_route:ROUTE\ntoy-fused = toy_route:FUSED\ntoy-keras = toy_route:KERAS\ntoy-onnx = toy_route:ONNX",
    ),
    "toy_oracle": (ORACLE, "oracles", "listen = toy_oracle:listen\n[cometfuzz.symptoms]\nwhisper = toy_oracle:WHISPER"),
    "toy_strategy": (STRATEGY, "strategies", "halving = toy_strategy:Halving"),
}
UNIT = Path(__file__).parent.parent / "unit"
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
    return python(project, "-P", "-m", "cometfuzz", *arguments, plugins=plugins)


def python(project: Path, *arguments: str, plugins: str = "") -> "subprocess.CompletedProcess[str]":
    path = f"{project / 'site'}{os.pathsep}{UNIT}"
    usual = {"PYTHONPATH": path, "COMETFUZZ_PLUGINS": plugins, "COLUMNS": "100", "TERM": "dumb"}
    return subprocess.run(
        [sys.executable, *arguments],
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
    draft = command(project, "draft", "campaign", bug["id"])
    assert "<!-- for https://example.org/toys/issues -->" in draft.stdout, draft
    again = json.loads(command(project, "triage", "campaign", "--json").stdout)
    assert {each["reason"] for each in again["findings"] if each["first"]} == {"no script can be written"}
    ran = command(project, "export", "campaign")
    assert {row["status"] for row in csv.DictReader(io.StringIO(ran.stdout))} == {"completed"}, ran
    report = command(project, "report", "campaign", "--out", "pages")
    assert report.returncode == 0, report
    assert any("whisper" in page.read_text() for page in (project / "pages").rglob("*.html"))
    rows = command(project, "export", "campaign", "--findings")
    assert "whisper" in {row["symptom"] for row in csv.DictReader(io.StringIO(rows.stdout))}, rows


WINDOWS = """
import json, pathlib
from cometfuzz.catalogue.files import load
from cometfuzz.execution.executor import Executor
from cometfuzz.oracles.bench import Bench
from cometfuzz.routes.registry import ROUTES

with Executor([ROUTES["toy-fused"]]) as executor:
    bench = Bench(executor.run(load(pathlib.Path("two.json"))), executor.run, view=executor.view)
    print(json.dumps([[node.id for node in each.window] for each in bench.wrong_nodes]))
"""
SCRIPTS = """
from bugs import bug, finding, pooling
from cometfuzz.triage.reproducer import make_script

for route, stage, library in (("toy-keras", "run", "toylib"), ("toy-onnx", "tf2onnx", "tf2onnx")):
    print(make_script(bug(pooling(), finding(route, "value", stage, library))))
"""
BLAMED = """
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.blame import blame

print(blame(ROUTES, ["toy-onnx"], ["onnxruntime"]).role)
"""
LISTS = """
import json
from cometfuzz.config import PolicyConfig

print(json.dumps(PolicyConfig().names))
"""


def test_a_window_is_judged_on_a_route_from_outside(project: Path) -> None:
    drafts = [Draft("x", "input", {"dtype": "float32", "shape": (2, 3), "high": None}, ())]
    drafts += [Draft("a", "Softmax", {}, (Edge("x"),)), Draft("b", "ReLU", {}, (Edge("a"),))]
    save(Case(assemble(drafts, [Edge("b")]), 1), project / "two.json")
    ran = python(project, "-c", WINDOWS)
    assert json.loads(ran.stdout or "null") == [["a", "b"]], ran


def test_a_route_from_outside_says_how_a_script_runs_it(project: Path) -> None:
    ran = python(project, "-c", SCRIPTS)
    for line in ("import toylib", "toylib.play(model, data)", "toylib.play_onnx(proto, data)"):
        assert line in ran.stdout, ran


def test_a_library_from_outside_is_blamed_by_its_proper_name(project: Path) -> None:
    assert python(project, "-c", BLAMED).stdout == "runtime Toy Lib\n"


def test_a_route_from_outside_has_its_place_in_the_policy(project: Path) -> None:
    ours, all_of_them = (json.loads(python(project, "-c", LISTS, plugins=which).stdout) for which in ("none", ""))
    added = {name: all_of_them[name][len(ours[name]) :] for name in ours}
    assert all(all_of_them[name][: len(ours[name])] == ours[name] for name in ours)
    assert added == {
        "base": [],
        "only": [],
        "converters": ["toy", "toy-fused", "toy-onnx"],
        "sampled": ["toy-keras"],
        "clear": ["toy-onnx"],
    }


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


NINTH = """
from cometfuzz.mutation.base import Inapplicable

def same(graph, guide, draw, limits):
    return graph
"""


def test_a_ninth_mutation_takes_part_only_when_asked_for(tmp_path: Path) -> None:
    (tmp_path / "ninth.py").write_text(NINTH)
    metadata = tmp_path / "ninth-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ninth\nVersion: 1\n")
    points = "Same = ninth:same\nGone = ninth:gone\nMDims = ninth:same\n"
    (metadata / "entry_points.txt").write_text(f"[cometfuzz.mutations]\n{points}")
    program = (
        "import contextlib, io, json, sys\n"
        "from cometfuzz.cli import main\n"
        "from cometfuzz.mutation import MUTATIONS, PAPER\n"
        "ours = [*PAPER, 'SpecialBranch', 'Precision', 'InitialStates']\n"
        "assert list(MUTATIONS) == [*ours, 'Gone', 'Same'], list(MUTATIONS)\n"
        "assert MUTATIONS['MDims'].__module__ == 'cometfuzz.mutation.change_rank'\n"  # nobody takes the place of ours
        "for arguments in json.loads(sys.argv[1]):\n"
        "    sys.argv = ['cometfuzz', 'generate', '--cases', '40', '--json', *arguments]\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:\n"
        "        try:\n"
        "            main()\n"
        "        except SystemExit as end:\n"
        "            code = end.code\n"
        "    print(json.dumps([code, out.getvalue(), err.getvalue()]))\n"
    )
    asked = ([], ["--mutations", "Same"], ["--mutations", "Other"], ["--mutations", "Gone"])
    command = [sys.executable, "-c", program, json.dumps([*asked, ["--strategy", "odd", "--mutations", "Same"]])]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "COMETFUZZ_PLUGINS": ""}
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    codes, printed, (_, _, other, gone, odd) = zip(*map(json.loads, ended.stdout.splitlines()), strict=True)
    assert codes == (0, 0, 2, 2, 2)
    eight, nine = (json.loads(text)["operators"] for text in printed[:2])
    assert tuple(eight) == PAPER
    assert (tuple(nine), nine["Same"]["applied"] > 0) == ((*PAPER, "Same"), True)
    assert "received mutation='Other'" in other
    assert "expected 'Gone' at ninth:gone; received AttributeError" in gone
    assert "expected no mutation for odd" in odd
