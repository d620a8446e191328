"""What has executed on each route, and what is left there."""

from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.data import to_tensor
from cometfuzz.catalogue.validate import assemble
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import full_space, ops_space, paper_space
from cometfuzz.coverage.routes import IN_PAIRS, PARKED_AFTER, RouteCoverage
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge

SPACES = {"one": [paper_space(), full_space()], "two": [paper_space(), full_space()], "front": [ops_space()]}


def model(*layers: str) -> Case:
    drafts = [Draft("x", INPUT, {"shape": (2, 3)}, ())]
    for index, layer in enumerate(layers):
        drafts.append(Draft(f"n{index}", layer, {}, (Edge(drafts[-1].id),)))
    return Case(assemble(drafts, [Edge(drafts[-1].id)]), 1)


def test_what_ran_on_one_route_says_nothing_of_another() -> None:
    ran = RouteCoverage(SPACES)
    case = model("ReLU", "Softmax")
    ran.learn(case, {"one": True})
    alone = Coverage(full_space())
    alone.cover(case.graph)
    assert ran.summary()["one"]["full"]["inputs"]["covered"] == alone.covered("inputs") > 0
    assert ran.summary()["two"]["full"]["inputs"]["covered"] == 0
    assert ran.wanted(case, ["one", "two"]) == {"two": {"n0": 0, "n1": 0}}


def test_each_space_is_asked_of_the_routes_that_have_it() -> None:
    ran = RouteCoverage(SPACES)
    wanted = ran.wanted(model("ReLU", "ops.exp"), ["one", "front", "nowhere"])
    assert wanted == {"one": {"n0": 0}, "front": {"n1": 0, "n0": IN_PAIRS}}


def test_a_failure_counts_for_its_route_and_parks_what_fails_again_and_again() -> None:
    ran = RouteCoverage(SPACES)
    case = model("ReLU")
    for times in range(1, PARKED_AFTER):
        ran.learn(case, {"one": False})
        assert ran.wanted(case, ["one", "two"]) == {"one": {"n0": times}, "two": {"n0": 0}}
    ran.learn(case, {"one": False})
    assert ran.wanted(case, ["one"]) == {}
    assert ran.wanted(model("Softmax", "ReLU"), ["one"]) == {"one": {"n0": 0, "n1": 0}}, "the sequence is new"


def test_when_each_value_was_covered_pairs_are_left() -> None:
    ran = RouteCoverage({"one": [full_space()]})
    for shape in ((2, 3), (4, 5), (6, 7), (8, 9), (3, 2)):
        plain = replace(
            model("ReLU"),
            graph=assemble(
                [Draft("x", INPUT, {"shape": shape}, ()), Draft("n0", "ReLU", {}, (Edge("x"),))], [Edge("n0")]
            ),
        )
        ran.learn(plain, {"one": True})
    assert ran.wanted(plain, ["one"]) == {}
    odd = replace(plain, data={"x": to_tensor(np.full((3, 2), np.nan, np.float32))})
    assert ran.wanted(odd, ["one"]) == {"one": {"n0": IN_PAIRS}}
    ran.learn(odd, {"one": True})
    assert ran.wanted(odd, ["one"]) == {}
    assert ran.summary()["one"]["pairs"]["pairs"]["covered"] > 0
