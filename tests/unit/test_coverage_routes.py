"""What has executed on each route, and what is left there."""

from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import full_space, ops_space, paper_space
from cometfuzz.coverage.routes import PARKED_AFTER, RouteCoverage
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph

SPACES = {"one": [paper_space(), full_space()], "two": [paper_space(), full_space()], "front": [ops_space()]}


def model(*layers: str) -> Graph:
    drafts = [Draft("x", INPUT, {"shape": (2, 3)}, ())]
    for index, layer in enumerate(layers):
        drafts.append(Draft(f"n{index}", layer, {}, (Edge(drafts[-1].id),)))
    return assemble(drafts, [Edge(drafts[-1].id)])


def test_what_ran_on_one_route_says_nothing_of_another() -> None:
    ran = RouteCoverage(SPACES)
    graph = model("ReLU", "Softmax")
    ran.learn(graph, {"one": True})
    alone = Coverage(full_space())
    alone.cover(graph)
    assert ran.summary()["one"]["full"]["inputs"]["covered"] == alone.covered("inputs") > 0
    assert ran.summary()["two"]["full"]["inputs"]["covered"] == 0
    assert ran.wanted(graph, ["one", "two"]) == {"two": {"n0": 0, "n1": 0}}


def test_each_space_is_asked_of_the_routes_that_have_it() -> None:
    ran = RouteCoverage(SPACES)
    assert ran.wanted(model("ReLU", "ops.exp"), ["one", "front", "nowhere"]) == {"one": {"n0": 0}, "front": {"n1": 0}}


def test_a_failure_counts_for_its_route_and_parks_what_fails_again_and_again() -> None:
    ran = RouteCoverage(SPACES)
    graph = model("ReLU")
    for times in range(1, PARKED_AFTER):
        ran.learn(graph, {"one": False})
        assert ran.wanted(graph, ["one", "two"]) == {"one": {"n0": times}, "two": {"n0": 0}}
    ran.learn(graph, {"one": False})
    assert ran.wanted(graph, ["one"]) == {}
    assert ran.wanted(model("Softmax", "ReLU"), ["one"]) == {"one": {"n0": 0, "n1": 0}}, "the sequence is new"
