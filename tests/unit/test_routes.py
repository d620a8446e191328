"""The table of routes: complete, consistent, and open to others."""

import ast
import builtins
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
from bugs import bug, finding, pooling
from trials import chain

from cometfuzz import plugins
from cometfuzz.config import PolicyConfig
from cometfuzz.errors import NoScript, UnknownName
from cometfuzz.execution import configuring
from cometfuzz.execution.configuring import lacking, on_demand, usable
from cometfuzz.execution.environments import Environment
from cometfuzz.execution.policy import joined
from cometfuzz.execution.versions import versions_of
from cometfuzz.plugins import in_declared_order
from cometfuzz.routes import Library, registry
from cometfuzz.routes.keras_utilities import utility
from cometfuzz.routes.litert import in_order
from cometfuzz.routes.openvino_frontends import by_place, in_our_order
from cometfuzz.routes.registry import BROKEN, ROUTES, base_of, choose, library_named
from cometfuzz.triage.bug import Blame
from cometfuzz.triage.reproducer import Task, make_script
from cometfuzz.triage.scripts.readers import engine_reading, written

IMPORT = (ast.Import, ast.ImportFrom)

NAMES = (
    *("keras-tf", "keras-torch", "keras-jax", "keras2-tf", "tf-graph", "tf-xla", "keras-saved", "tf-saved"),
    *("onnxruntime", "onnxruntime-noopt", "onnx-reference", "onnx2torch", "onnx2pytorch", "openvino", "litert"),
    *("torch-onnx", "keras-mxnet", "opencv", "tract", "onnxsim", "iree", "tvm", "reference"),
    *("direct-onnxruntime", "direct-onnxruntime-noopt", "direct-openvino", "direct-onnx-reference"),
    *("direct-onnx2torch", "direct-onnx2pytorch"),
    *("torch-export", "torch-decomposed", "torch-export-saved", "torch-aot-eager", "torch-inductor"),
    *("torch-aotinductor", "torch-traced", "openvino-saved", "openvino-tflite", "openvino-torch"),
    *("openvino-export-tf", "openvino-export-torch", "keras-openvino", "keras-numpy", "jax-export", "jax-saved"),
    "keras-h5",
)


def test_a_name_that_nobody_knows_is_told_from_one_that_was_mistyped() -> None:
    with pytest.raises(UnknownName, match=r"received route='keras-ft': did you mean keras-tf\?$"):
        choose("keras-ft", ROUTES)
    with pytest.raises(UnknownName, match=r"received route='nothing-like-it'$"):
        choose("nothing-like-it", ROUTES)


def test_all_of_ours_are_there() -> None:
    assert tuple(ROUTES)[: len(NAMES)] == NAMES  # those of others come after
    assert not BROKEN


@pytest.mark.parametrize("name", NAMES)
def test_a_route_is_consistent(name: str) -> None:
    route = ROUTES[name]
    stages = [stage.name for stage in route.stages]
    assert len(stages) == len(set(stages)), "stages are named apart"
    for before, after in zip(route.steps, route.steps[1:], strict=False):
        assert not before.live or before.group == after.group, "what is live stays in its child"


def test_readers_of_the_onnx_file_share_its_making() -> None:
    shared = {ROUTES[name].keys[1] for name in NAMES if "tf2onnx" in [step.name for step in ROUTES[name].steps]}
    assert len(shared) == 1


@pytest.mark.parametrize("name", ["opencv", "tract", "onnxsim", "iree", "tvm"])
def test_a_reader_in_an_environment_on_demand_waits_to_be_named(name: str) -> None:
    route = ROUTES[name]
    assert on_demand(route) == [route.steps[2].group.environment]
    assert versions_of(route).keys() >= {route.steps[2].stages[0].library}, "its library is pinned there"
    assert not any(name in names for names in PolicyConfig().names.values())
    joining = joined(PolicyConfig(), [ROUTES["keras-tf"], route, ROUTES["reference"]])
    assert joining.converters == (*PolicyConfig().converters, name)


def test_all_routes_are_those_that_lack_no_environment_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        configuring, "find", lambda name: Environment(name, Path(), Path(), Path(), "", ready=name != "iree")
    )
    assert lacking(ROUTES["iree"]) == ["iree"]
    assert lacking(ROUTES["tvm"]) == lacking(ROUTES["keras-tf"]) == []
    assert {*ROUTES} - {route.name for route in usable("all", ROUTES)} == {"iree"}
    assert [route.name for route in usable("iree", ROUTES)] == ["iree"], "one that is named is tried"


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("name", ["opencv", "tract", "onnxsim", "iree", "tvm"])
def test_a_script_has_each_stage_of_a_reader_and_names_what_it_imports(name: str, single: bool) -> None:
    step = ROUTES[name].steps[2]
    engine = engine_reading(step, {"x": "data", "y": "more"}, single)
    lines = [line for _, piece in engine.pieces for line in piece]
    stages = {stage.name for stage in ROUTES[name].stages}
    assert {stage for stage, _ in engine.pieces} <= stages, "stages of the route"
    assert {stage.name for stage in step.stages} <= {*dict(engine.pieces), "run"}
    tree = ast.parse(
        "\n".join([*engine.standard, *engine.imports, *engine.late_imports, *lines, f"seen = {engine.call}"])
    )
    bound = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, IMPORT) for alias in node.names}
    made = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert {"data", "more"} <= read
    assert read - {*bound, *made, *dir(builtins)} <= {"proto", "np", "data", "more"}


def test_the_blamed_step_says_how_its_file_is_read() -> None:
    """What onnxsim does wrong is shown on the file before it, what ONNX Runtime does on the file that it gets."""
    found = finding("onnxsim", "crash", "onnxsim", "onnxsim", failure="RuntimeError: no")
    who = Blame("onnxsim", "onnxsim", "converter onnxsim", "", 0.9)
    assert Task(replace(bug(pooling(), found), blame=who), ROUTES).step.name == "onnxsim"
    runtime = Blame("onnxruntime", "run", "runtime ONNX Runtime", "", 0.9)
    assert Task(replace(bug(pooling(), found), blame=runtime), ROUTES).step.name == "onnxruntime"


def test_outputs_of_litert_are_in_the_order_of_the_model() -> None:
    names = [f"output_{number}" for number in range(12)]
    assert in_order(sorted(names)) == names


@pytest.mark.parametrize("name", [name for name in NAMES if name != "reference" and not name.startswith("direct-")])
def test_every_route_says_how_a_script_runs_it(name: str) -> None:
    first, second, *more = ROUTES[name].steps
    assert callable(written(second, second.engine))
    takes_onnx = second.name in ("tf2onnx", "torch.onnx")
    assert [bool(step.reader) for step in more] == [takes_onnx] * len(more)
    assert all(callable(written(step, step.reader)) for step in more if takes_onnx)
    assert not first.engine


@pytest.mark.parametrize("place", ["", "nowhere:run", "cometfuzz.triage.scripts.engines:nope"])
def test_a_step_that_does_not_say_it_has_no_script(place: str) -> None:
    with pytest.raises(NoScript, match=r"expected .*; received "):
        written(ROUTES["keras-tf"].steps[1], place)


def test_a_route_of_one_step_has_no_script() -> None:
    found = finding("reference", "crash", "run", "reference", failure="ValueError: no")
    with pytest.raises(NoScript, match="route='reference'"):
        make_script(bug(pooling(), found))


def test_of_a_library_that_nobody_knows_there_is_its_name() -> None:
    stranger = library_named("toylib")
    assert (stranger.title, stranger.packages, stranger.tracker.address) == ("toylib", ("toylib",), "")
    assert library_named("torch").title == "PyTorch"
    assert stranger == Library("toylib", "Toy Lib")


def test_base_routes() -> None:
    assert base_of("openvino") == base_of("keras-saved") == "keras-tf"
    assert base_of("torch-onnx") == base_of("torch-inductor") == base_of("openvino-torch") == "keras-torch"
    assert base_of("jax-export") == "keras-jax"
    assert base_of("keras-tf") is base_of("reference") is base_of("nobody's") is None


def test_what_compiles_stands_on_what_is_cheaper() -> None:
    """Who fails and who does right among them says which part of PyTorch is to blame."""
    dear, cheap, plain = (ROUTES[name].keys for name in ("torch-inductor", "torch-aot-eager", "torch-export"))
    assert dear[:3] == cheap[:3]
    assert dear[:2] == plain[:2] == ROUTES["torch-aotinductor"].keys[:2] == ROUTES["openvino-torch"].keys[:2]
    assert ROUTES["openvino-tflite"].keys[:2] == ROUTES["litert"].keys[:2]
    assert ROUTES["openvino-saved"].keys[:2] == ROUTES["tf-saved"].keys[:2]


def test_what_takes_long_is_in_no_campaign_that_does_not_ask_for_it() -> None:
    assert {ROUTES[name].turn for name in ("torch-inductor", "torch-aotinductor", "openvino-torch")} == {""}


def test_inputs_and_outputs_of_front_ends_are_ours_whatever_their_order() -> None:
    assert by_place(["b", "a"], [{"serving_default_a:0"}, {"serving_default_b:0"}]) == [1, 0]
    assert by_place(["b", "a"], [{"given_0"}, {"given_1"}]) == [0, 1]
    names = [f"output_{index}" for index in range(11)]
    lite = [{f"StatefulPartitionedCall_1:{number}"} for number in range(11)]  # in the order of the alphabet
    assert in_our_order(names, lite) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 2]
    assert in_our_order(names[:3], [{"output_2"}, {"output_0", "add:0"}, set()]) == [1, 2, 0]
    assert in_our_order(names[:2], [{"one"}, {"two"}]) == [0, 1]
    results = [
        {"Identity:0"},
        {"Identity_1:0"},
        {"Identity_10:0", "add:0"},
        *({f"Identity_{index}:0"} for index in range(2, 10)),
    ]
    assert in_our_order(names, results) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 2]


@pytest.fixture
def _plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "plugged.py").write_text(
        "from cometfuzz.routes import Group, Library, Route, Stage, Step\n"
        "step = Step('mine', Group('mine', 'tool'), __name__, 'run', (Stage('run', Library('mine')),))\n"
        "ROUTE = Route('mine', 'from outside', 'keras3', (step,))\n"
        "bare = Step('bare', step.group, __name__, 'run', (Stage('run', 'x'),))\n"
        "BARE = Route('bare', 'from outside', 'keras3', (bare,))\n"
        "IDLE = Route('idle', 'from outside', 'keras3', (step,), turn='never')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("plugged", None)


@pytest.mark.usefixtures("_plug_in")
def test_a_route_from_outside_is_found_and_a_broken_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"mine": "plugged:ROUTE", "gone": "plugged:NOPE", "lost": "nowhere:ROUTE", "other": "plugged:ROUTE"}
    places |= {"bare": "plugged:BARE", "idle": "plugged:IDLE"}
    points = [EntryPoint(name, place, registry.GROUP) for name, place in places.items()]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    monkeypatch.delenv(plugins.SWITCH)
    routes, broken = registry._load()
    assert list(routes) == ["mine"]
    assert sorted(broken) == ["bare", "gone", "idle", "lost", "other"]
    assert broken["bare"] == "plugged:BARE: expected a Library in each Stage; received 'x'"
    assert broken["idle"].endswith("received turn='never'")
    assert "received" in broken["other"]


@pytest.mark.parametrize(
    ("given", "wanted", "done"),
    [("bfloat16", "float16", ["cast"]), ("torch.float16", "float16", ["expand_dims", "squeeze"])],
)
def test_a_cast_is_left_out_only_where_the_dtype_is_the_same(given: str, wanted: str, done: list[str]) -> None:
    called: list[str] = []

    class Ops:
        def __getattr__(self, name: str) -> Callable[..., SimpleNamespace]:
            return lambda x, *more: (called.append(name), x)[1]

    node = chain((2, 2), ("cast", {"dtype": wanted})).graph.nodes[-1]
    utility(Ops(), node, SimpleNamespace(dtype=given))
    assert called == done


def test_what_is_ours_keeps_its_order_in_a_wheel_whose_metadata_sorts_it(tmp_path: Path) -> None:
    declared = tmp_path / "pyproject.toml"
    declared.write_text('[project.entry-points."some.group"]\nsecond = "a:b"\nfirst = "a:c"\n')
    points = [EntryPoint("first", "a:c", "some.group"), EntryPoint("second", "a:b", "some.group")]
    assert [point.name for point in in_declared_order("some.group", points, declared)] == ["second", "first"]
    assert in_declared_order("some.group", points, tmp_path / "none") == points
