"""Which routes a case runs on: base routes always, dear ones seldom and on small cuts."""

import pytest

from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.config import PolicyConfig
from cometfuzz.draw import Draw
from cometfuzz.execution.policy import Assignment, assign, cut
from cometfuzz.execution.versions import usual_view, versions_of, view_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.matching import View, rules
from cometfuzz.mutation.dialect import Dialect
from cometfuzz.routes.registry import ROUTES

POLICY = PolicyConfig()
VIEW = usual_view()


def wanted(*nodes: str, **failed: int) -> dict[str, dict[str, int]]:
    """Nodes that every dear route lacks; `failed`: how often some of them have failed."""
    each = {node: failed.get(node, 0) for node in nodes}
    return dict.fromkeys((*POLICY.converters, *POLICY.sampled, "keras-mxnet"), each) if nodes else {}


def chain(length: int, layer: str = "ReLU") -> Case:
    drafts = [Draft("x", INPUT, {"shape": (2, 3)}, ())]
    for index in range(length):
        drafts.append(Draft(f"n{index}", layer, {}, (Edge(drafts[-1].id),)))
    return Case(assemble(drafts, [Edge(drafts[-1].id)]), 5)


def layers(graph: Graph) -> list[str]:
    return [node.id for node in graph.nodes if node.layer != INPUT]


def test_base_routes_take_every_case() -> None:
    for index in range(50):
        first = assign(POLICY, VIEW, chain(3), index, 1, wanted())[0]
        assert first.routes[:2] == ("keras-tf", "keras-torch")
        assert not set(first.routes) & set(POLICY.converters)


def test_converters_take_a_cut_around_what_is_new() -> None:
    lacking = {name: {"n10": 0} for name in POLICY.converters}
    whole, part = assign(POLICY, VIEW, chain(20), 0, 1, lacking)
    assert not set(whole.routes) & set(POLICY.converters)
    assert set(POLICY.converters) <= set(part.routes)
    assert (len(layers(part.case.graph)), "n10" in layers(part.case.graph)) == (12, True)
    (small,) = assign(POLICY, VIEW, chain(5), 0, 1, {name: {"n1": 0} for name in POLICY.converters})
    assert "openvino" in small.routes


def test_a_dear_route_gets_what_it_lacks_and_no_more() -> None:
    lacking = {"openvino": {"n25": 0}, "litert": {"n1": 0}}
    seen = [assign(POLICY, VIEW, chain(30), index, 1, lacking)[1:] for index in range(400)]
    for part in (part for parts in seen for part in parts):
        plain = [name for name in part.routes if "+" not in name]
        assert plain in (["keras-tf", "keras-torch", "openvino"], ["keras-tf", "keras-torch", "litert"]), (
            "n1 and n25 are too far from each other for one cut"
        )
        assert ("n25" if "openvino" in plain else "n1") in layers(part.case.graph)
    assert {len(parts) for parts in seen} == {1}
    for index in range(8):
        assert "openvino" in assign(POLICY, VIEW, chain(5), index, 1, {"openvino": {"n1": 0}})[0].routes
        assert "openvino" not in assign(POLICY, VIEW, chain(5), index, 1, {"litert": {"n1": 0}})[0].routes


def test_what_has_failed_comes_again_in_smaller_cuts_when_nothing_else_is_new() -> None:
    for failures, size in ((0, 12), (1, 3), (2, 1)):
        _, part = assign(POLICY, VIEW, chain(20), 0, 1, {"openvino": {"n10": failures}})
        assert len(layers(part.case.graph)) == size
        assert "n10" in layers(part.case.graph)
    _, part = assign(POLICY, VIEW, chain(20), 0, 1, {"openvino": {"n1": 2, "n15": 0}})
    assert "n15" in layers(part.case.graph)


def test_nothing_depends_on_when() -> None:
    runs = [[assign(POLICY, VIEW, chain(3), index, 7, wanted("n1")) for index in range(30)] for _ in range(2)]
    assert runs[0] == runs[1]
    assert all("tf-xla" in assigned[0].routes for assigned in runs[0])
    assert "tf-xla" not in assign(POLICY, VIEW, chain(3), 1, 7, {"openvino": {"n1": 0}})[0].routes


def test_what_only_keras_2_has_goes_there() -> None:
    assigned = assign(POLICY, VIEW, chain(3, "ThresholdedReLU"), 1, 1, wanted("n1"))
    assert assigned[0].routes[0] == "keras2-tf"
    assert all(ROUTES[name].speaks in ("keras2", "") for name in assigned[0].routes)


def test_routes_that_are_not_there_are_not_named() -> None:
    assigned = assign(POLICY, view_of({"keras-torch": ROUTES["keras-torch"]}), chain(3), 1, 1, wanted("n1"))
    assert [part.routes for part in assigned] == [("keras-torch",)]


def mixed() -> Case:
    """ReLU of float32, MultiHeadAttention that Keras 2 does not have, and then half precision with a utility in it."""
    drafts = [
        Draft("x", INPUT, {"shape": (2, 3, 4)}, ()),
        Draft("relu", "ReLU", {}, (Edge("x"),)),
        Draft("attend", "MultiHeadAttention", {"num_heads": 1, "key_dim": 2}, (Edge("relu"), Edge("relu"))),
        Draft("elu", "ELU", {}, (Edge("attend"),)),
        Draft("half", "cast", {"dtype": "float16"}, (Edge("elu"),)),
        Draft("border", "pad", {"paddings": ((0, 0), (0, 0), (1, 1)), "value": 0.0}, (Edge("half"),)),
        Draft("soft", "Softmax", {}, (Edge("border"),)),
    ]
    return Case(assemble(drafts, [Edge("soft")]), 5)


def test_a_sampled_route_gets_the_part_that_it_can_build() -> None:
    policy = PolicyConfig(sampled=("keras-mxnet",))
    known = {name: ROUTES[name] for name in ("keras-tf", "keras-torch", "keras-mxnet")}
    seen, any_of_it = set(), {"keras-mxnet": {"another": 0}}
    for index in range(40):
        whole, part = assign(policy, view_of(known), mixed(), index, 1, any_of_it)
        assert whole == Assignment(mixed(), ("keras-tf", "keras-torch"))
        assert part.routes == ("keras-tf", "keras-torch", "keras-mxnet")
        seen.add(tuple(layers(part.case.graph)))
    assert seen == {("relu",), ("elu",), ("border", "soft")}
    assert layers(assign(policy, view_of(known), mixed(), 1, 1, wanted("relu"))[1].case.graph) == ["relu"]
    assert "keras-mxnet" in assign(policy, view_of(known), chain(3), 1, 1, any_of_it)[0].routes
    assert "keras-mxnet" not in assign(policy, view_of(known), chain(3), 1, 1, wanted())[0].routes
    assert "keras-mxnet" not in str(assign(policy, view_of(known), chain(3, "RMSNormalization"), 1, 1, any_of_it))


def test_a_part_never_stands_for_a_case_that_runs_nowhere() -> None:
    policy, lacking = PolicyConfig(sampled=("keras-mxnet",)), {"keras-mxnet": {"soft": 0}}
    old = [Draft("soft", "Softmax", {}, (Edge("x"),)), Draft("old", "ThresholdedReLU", {}, (Edge("soft"),))]
    absent = Draft("absent", "UnitNormalization", {}, (Edge("old"),))
    case = Case(assemble([Draft("x", INPUT, {"shape": (2, 3)}, ()), *old, absent], [Edge("absent")]), 5)
    known = {name: ROUTES[name] for name in ("keras-tf", "keras2-tf", "keras-mxnet")}
    assert [part.routes[0] for part in assign(policy, view_of(known), case, 1, 1, lacking)] == [
        "keras2-tf",
        "keras2-tf",
    ]
    del known["keras2-tf"]
    assert assign(policy, view_of(known), case, 1, 1, lacking) == []


def test_cuts_for_converters_keep_clear_of_utilities_that_fail_too() -> None:
    taken = [assign(POLICY, VIEW, mixed(), index, 1, wanted("elu", "soft"))[-1] for index in range(30)]
    parts = [layers(assigned.case.graph) for assigned in taken if "litert" in assigned.routes]
    assert parts
    for part in parts:
        assert part == ["relu", "attend", "elu"], "not the cast, the pad and what is in half precision"


def test_a_cut_holds_what_is_new_and_its_neighbours() -> None:
    part = cut(chain(30), ["n20"], 12)
    assert part is not None
    assert len(layers(part.graph)) == 12
    assert set(layers(part.graph)) == {f"n{index}" for index in range(15, 27)} or "n20" in layers(part.graph)
    assert cut(chain(12), ["n3"], 12) == chain(12)


@pytest.mark.parametrize("seed", range(30))
def test_cuts_of_drawn_graphs_are_valid(seed: int) -> None:
    case = Case(draw_graph(Draw("cut", seed), 40), seed)
    names = layers(case.graph)
    part = cut(case, names[seed % len(names) : seed % len(names) + 1], 12)
    if part is not None:
        assert not validate(part.graph)
        assert 1 <= len(layers(part.graph)) <= 12
        assert names[seed % len(names)] in layers(part.graph)


def test_converters_get_operators_too() -> None:
    drafts = [Draft("x", INPUT, {"shape": (2, 4)}, ()), Draft("d", "Dense", {"units": 3}, (Edge("x"),))]
    drafts += [Draft("o", "ops.exp", {}, (Edge("d"),)), Draft("r", "ReLU", {}, (Edge("o"),))]
    case = Case(assemble(drafts, [Edge("r")]), 1)
    view = view_of({name: ROUTES[name] for name in ("keras-tf", "keras-torch", "onnxruntime", "tf-graph")})
    (whole,) = assign(PolicyConfig(), view, case, 0, 1, {"onnxruntime": {"o": 0}, "tf-graph": {"d": 0}})
    assert {"keras-tf", "keras-torch", "onnxruntime", "tf-graph"} == set(whole.routes)


def test_an_entry_that_says_nothing_of_a_call_keeps_no_model_away() -> None:
    """It explains a failure by what is seen, wherever that is."""
    vague = [rule for rule in rules() if rule.vague]
    assert vague
    assert not any(rule.layers or rule.always for rule in vague)
    for rule in vague:
        for route in rule.routes:
            spec = CATALOGUE["ReLU"]
            types = (TensorType("float32", (2, 3)),)
            params = spec.complete({})
            view = View({route: ROUTES[route]}, {route: versions_of(ROUTES[route])}, [rule])
            assert list(view.rules_against(route, spec, spec.view(types), params)) == [rule]
            assert not Dialect("keras3", (route,), view).objection("ReLU", types, params)
