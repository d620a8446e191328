"""Switches: routes with a setting of their library changed, who gets them, who is blamed, and what a script sets."""

from dataclasses import replace

import pytest
from bugs import bug, finding, pooling
from triaging import Acting, crash_of
from trials import chain, completed, raised

from cometfuzz.config import PolicyConfig
from cometfuzz.errors import UnknownName
from cometfuzz.execution.outcome import Trial
from cometfuzz.execution.policy import SWITCHED_TOGETHER, assign, assign_breaking
from cometfuzz.execution.versions import view_of
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.crash import crash
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.routes.registry import ROUTES, base_of, choose
from cometfuzz.routes.switches import plain_name, route_named, shared_switch, with_switches
from cometfuzz.triage.blame import blame
from cometfuzz.triage.confirm import Target
from cometfuzz.triage.reproducer import make_script
from cometfuzz.triage.scripts.readers import engine_reading
from cometfuzz.triage.signature import covers, same_bug, sign
from cometfuzz.triage.triage import Triage

EVERY = {route.name: route for route in with_switches(ROUTES.values())}
SWITCHED = {name: route for name, route in EVERY.items() if route.switch is not None}
SOME = ("keras-tf", "keras-torch", "onnxruntime", "openvino")
VIEW = view_of({route.name: route for route in with_switches(ROUTES[name] for name in SOME)})
CASE = chain((2, 3), ("ReLU", {}), ("ELU", {}))
LACKING = {name: {"n0": 0} for name in PolicyConfig().converters}


@pytest.mark.parametrize("name", SWITCHED)
def test_a_switched_route_is_the_plain_one_but_for_its_switch(name: str) -> None:
    route, plain = SWITCHED[name], ROUTES[plain_name(name)]
    assert route.switch is not None
    assert route.names == plain.names, "what the ledger knows of the plain route holds"
    assert [step.call for step in route.steps] == [step.call for step in plain.steps]
    assert route.keys[-1] != plain.keys[-1]
    assert bool(route.switch.environ) != bool(route.switch.options)
    assert route.steps[-1].group.extra == bool(route.switch.environ)
    assert route.switch.environ.items() <= route.steps[-1].group.environ.items()
    assert base_of(name) == base_of(plain.name)


def test_groups_of_one_name_are_one_group() -> None:
    groups = {step.group.name: step.group for route in EVERY.values() for step in route.steps}
    assert all(step.group == groups[step.group.name] for route in EVERY.values() for step in route.steps)


def test_switched_routes_are_chosen_by_name_only() -> None:
    assert not any(route.switch for route in choose("all", ROUTES))
    (route,) = choose("keras-tf+no-onednn", ROUTES)
    assert route.steps[0].group.environ["TF_ENABLE_ONEDNN_OPTS"] == "0"
    assert route_named("keras-tf+nothing", ROUTES) is None
    with pytest.raises(UnknownName, match=r"received route='keras-tf\+nothing'"):
        choose("keras-tf+nothing", ROUTES)
    assert shared_switch(["a+x", "b+x"]) == "x"
    assert shared_switch(["a+x", "b"]) == shared_switch(["a+x", "b+y"]) == ""


def switched_at(index: int, policy: PolicyConfig, seed: int = 1) -> list[str]:
    parts = assign(policy, VIEW, CASE, index, seed, LACKING)
    return [name for part in parts for name in part.routes if name in SWITCHED]


def test_a_few_cases_have_switches_and_the_other_draws_stay() -> None:
    never, usual = PolicyConfig(switched_one_in=10**6, options_one_in=10**6), PolicyConfig()
    names = [switched_at(index, usual) for index in range(1000)]
    assert names == [switched_at(index, usual) for index in range(1000)], "no state"
    processes = sum(any(EVERY[name].steps[-1].group.extra for name in each) for each in names)
    assert 20 <= processes <= 200
    for index in range(200):
        with_some, without = (assign(policy, VIEW, CASE, index, 1, LACKING) for policy in (usual, never))
        plain = [replace(part, routes=tuple(set(part.routes) - {*SWITCHED})) for part in with_some]
        assert [(part.case, set(part.routes)) for part in plain] == [(part.case, set(part.routes)) for part in without]


def test_one_process_at_a_time_and_each_has_its_turn() -> None:
    policy, seen = PolicyConfig(switched_one_in=1), list[set[str]]()
    for block in range(5):
        indices = range(block * SWITCHED_TOGETHER, (block + 1) * SWITCHED_TOGETHER)
        names = [name for index in indices for name in switched_at(index, policy)]
        seen.append({EVERY[name].steps[-1].group.name for name in names if EVERY[name].steps[-1].group.extra})
    assert all(len(groups) == 1 for groups in seen)
    assert len(set.union(*seen)) == 5, "of tf and torch"


def test_a_switch_stands_beside_its_plain_route_only() -> None:
    policy = PolicyConfig(switched_one_in=1, options_one_in=1)
    for index in range(40):
        for part in assign(policy, VIEW, CASE, index, 3, LACKING):
            switched = [name for name in part.routes if name in SWITCHED]
            assert all(plain_name(name) in part.routes for name in switched)
            assert sum(name.startswith("onnxruntime+") for name in switched) == ("onnxruntime" in part.routes)
    assert not {*assign_breaking(VIEW, CASE).routes} & {*SWITCHED}


def test_where_the_plain_route_is_right_the_library_of_the_switch_is_to_blame() -> None:
    found = blame(EVERY, ["keras-tf+no-onednn"], ["keras-tf", "keras-torch"])
    assert (found.library, found.stage) == ("tensorflow", "run")
    assert found.role == "runtime TensorFlow, only without oneDNN"
    assert "keras-tf does right: only without oneDNN" in found.reasoning
    level = blame(EVERY, ["onnxruntime+level-basic"], ["onnxruntime", "keras-tf"])
    assert level.role == "runtime ONNX Runtime, only at optimisation level basic"


def test_where_the_plain_route_fails_too_the_switch_has_no_part_in_it() -> None:
    plain = blame(EVERY, ["keras-tf"], ["keras-torch"])
    both = blame(EVERY, ["keras-tf", "keras-tf+no-onednn"], ["keras-torch", "keras-torch+old-cpu"])
    assert both == plain


def claim(route: str, *right: str) -> Finding:
    camps = Camp((route,), "wrong"), Camp(right, "within the bound")
    return Finding("value", "value", "ordinary", camps, "run", "torch", "far off", layer="AveragePooling1D")


def test_what_shows_only_with_a_switch_is_a_bug_of_its_own() -> None:
    plain, switched = claim("keras-torch", "keras-tf"), claim("keras-torch+old-cpu", "keras-torch")
    assert plain.key != switched.key
    known = bug(pooling(), plain)
    assert covers(known, plain, pooling().graph)
    assert not covers(known, switched, pooling().graph)
    one, two = (sign(found, known.blame, pooling().graph) for found in (plain, switched))
    assert two.switch == "old-cpu"
    assert one.key != two.key
    assert not same_bug(one, two)


def test_it_is_compared_with_the_plain_route() -> None:
    found = claim("tf-graph+no-onednn", "keras-tf", "tf-graph", "keras-torch")
    assert Target.of(found, pooling().graph, EVERY).agreeing == "tf-graph"


def test_scripts_set_the_switch_before_the_import_and_say_so() -> None:
    found = finding("keras-tf+no-onednn", library="tensorflow")
    text = make_script(bug(pooling(), found), EVERY)
    assert "# This runs TensorFlow without oneDNN.\n" in text
    assert text.index('os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"') < text.index("import keras")
    plain = make_script(bug(pooling(), replace(found, camps=(Camp(("keras-tf",), "wrong"),))), EVERY)
    assert "ONEDNN" not in plain


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("onnxruntime+level-none", "ORT_DISABLE_ALL"),
        ("onnxruntime+level-extended", "ORT_ENABLE_EXTENDED"),
        ("torch-onnx+two-threads", "options.intra_op_num_threads = 2"),
        ("openvino+accuracy", '{"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "EXECUTION_MODE_HINT": "ACCURACY"}'),
        ("openvino+two-threads", '"INFERENCE_NUM_THREADS": "2"'),
    ],
)
def test_scripts_of_readers_set_their_options(name: str, line: str) -> None:
    engine = engine_reading(EVERY[name].steps[-1], {"x": "data"}, True)
    assert any(line in text for _, lines in engine.pieces for text in lines)


def test_every_reader_with_a_switch_says_how_a_script_does_it() -> None:
    readers = [route for route in SWITCHED.values() if route.switch and route.switch.options]
    plain = {route.name: engine_reading(ROUTES[plain_name(route.name)].steps[-1], {}, True) for route in readers}
    assert all(engine_reading(route.steps[-1], {}, True) != plain[route.name] for route in readers)


def test_triage_says_at_which_level_it_appears() -> None:
    names = [*SOME, *(name for name in SWITCHED if name.startswith("onnxruntime+"))]
    wrong = ("onnxruntime", "onnxruntime+level-extended", "onnxruntime+level-layout", "onnxruntime+two-threads")
    acting = Acting({name: lambda graph: True for name in wrong}, names)
    made = Triage(acting).triage(crash_of("onnxruntime", "openvino"), CASE).bug  # type: ignore[arg-type]
    assert made is not None
    assert "it appears at optimisation level extended" in made.blame.reasoning
    assert "it does not show at optimisation level none or at optimisation level basic" in made.blame.reasoning
    assert made.finding.camps[0].routes == ("onnxruntime",), "switches are asked for apart"


@pytest.mark.parametrize(
    ("route", "message", "symptom"),
    [
        ("keras-tf+no-onednn", "Conv2DCustomBackpropInputOp only supports NHWC.", "unsupported"),
        ("keras-tf+old-cpu", "could not create a descriptor for a pooling primitive", "unsupported"),
        ("keras-tf+old-cpu", "Conv2DCustomBackpropInputOp only supports NHWC.", "crash"),
        ("keras-tf", "Conv2DCustomBackpropInputOp only supports NHWC.", "crash"),
    ],
)
def test_what_is_switched_off_is_lacking_and_no_bug(route: str, message: str, symptom: str) -> None:
    outcomes = {route: raised(route, "InvalidArgumentError", message), "keras-torch": completed("keras-torch", [])}
    (found,) = crash(Bench(Trial(CASE, outcomes), rerun=Acting({}).run, view=VIEW))
    assert found.symptom == symptom
