"""Triples of named groups: what counts as one, when they are gone for, and which cannot be."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from cometfuzz.campaign.stored import campaign_values
from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.coverage.factors import REST, factors_of
from cometfuzz.coverage.pairs import PairCoverage, pair_space
from cometfuzz.coverage.routes import IN_PAIRS, RouteCoverage
from cometfuzz.coverage.rows import COVERED, GIVEN_UP_AFTER
from cometfuzz.coverage.triples import GROUPS, TripleCoverage, triple_space
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.search.pairs import CALLS, Pairs
from cometfuzz.search.reachable import reach

LIMITS = ModelLimits(dialect=usual_dialects().modern)


def case(layer: str, shape: tuple[int, ...] = (2, 6, 6, 3), **params: object) -> Case:
    drafts = [Draft("x", INPUT, {"shape": shape}, ()), Draft("n", layer, params, (Edge("x"),))]
    return Case(assemble(drafts, [Edge("n")]), 1)


def named(given: Case) -> list[dict[str, str]]:
    layer = given.graph.by_id["n"].layer
    return [triple_space().named(layer, int(each)) for _, ids in triple_space().of_case(given) for each in ids]


def without_pairs() -> PairCoverage:
    """A coverage in which no pair is left."""
    pairs = PairCoverage()
    pairs.state[:] = COVERED
    return pairs


def test_there_are_triples_enough_and_a_byte_for_each_of_them() -> None:
    assert 60_000 <= triple_space().total <= 150_000
    assert TripleCoverage().state.nbytes == triple_space().total


def test_groups_name_factors_that_some_layer_has() -> None:
    known = {factor.name for spec in LAYERS.values() for factor in factors_of(spec)}
    for group in GROUPS:
        assert set(group.marks) <= known, group.name
        assert set(group.factors) <= known, group.name
        assert len(group.factors) == len(set(group.factors)) >= 3, group.name


def test_every_number_stands_for_a_triple_of_its_own() -> None:
    table = triple_space().tables["Conv2D"]
    triples = [tuple(triple_space().named("Conv2D", number).items()) for number in range(table.start, table.stop)]
    assert len(set(triples)) == len(triples)
    assert all(len(triple) == 3 for triple in triples)


def test_a_call_has_the_triples_of_its_groups_and_no_others() -> None:
    seen = named(case("Conv2D", filters=3, kernel_size=(2, 4), strides=(4, 4), padding="same"))
    assert {"padding": '"same"', "kernel_size": "different", "strides": "even"} in seen
    assert {"padding": '"same"', "strides": "even", REST: "a rest"} in [dict(sorted(each.items())) for each in seen]
    assert not any("activation" in each for each in seen)


@pytest.mark.parametrize(("size", "rest"), [(6, "no rest"), (7, "a rest")])
def test_whether_a_stride_divides_the_size_is_a_value(size: int, rest: str) -> None:
    seen = named(case("MaxPooling2D", (2, size, 6, 3), pool_size=(2, 2), strides=(3, 3)))
    assert {each[REST] for each in seen if REST in each} == {rest}
    assert not any(REST in pair_space().named("MaxPooling2D", number) for number in range(*_numbers("MaxPooling2D")))


def _numbers(layer: str) -> tuple[int, int]:
    table = pair_space().tables[layer]
    return table.start, table.stop


def test_triples_wait_until_pairs_do_not_fill_a_model() -> None:
    triples = TripleCoverage()
    early, alone = Pairs(PairCoverage(), triples, LIMITS), Pairs(PairCoverage(), TripleCoverage(), LIMITS)
    alone.layers_of_triples.clear()
    for index in range(3):
        assert early.make(Draw("early", index)) == alone.make(Draw("early", index))
    assert not early.ruled_out


def test_models_for_triples_are_valid_and_each_covers_new_ones() -> None:
    triples = TripleCoverage()
    pairs, dialects, counts = Pairs(without_pairs(), triples, LIMITS), usual_dialects(), [0]
    for index in range(6):
        made = pairs.make(Draw("triples", index))
        assert made is not None
        graph, data = made
        assert not validate(graph)
        assert dialects.is_clear(graph)
        assert sum(node.layer != INPUT for node in graph.nodes) == CALLS
        triples.learn(Case(graph, 1, data), executed=True)
        counts.append(triples.summary()["covered"])
    assert all(later >= earlier + CALLS for earlier, later in pairwise(counts))


def test_the_same_draw_makes_the_same_model_for_triples() -> None:
    one, two = (Pairs(without_pairs(), TripleCoverage(), LIMITS).make(Draw("same")) for _ in range(2))
    assert one == two is not None


def test_a_triple_with_a_pair_that_cannot_be_is_ruled_out_and_no_other() -> None:
    pairs, triples = without_pairs(), TripleCoverage()
    start, stop = _numbers("Conv2D")
    lost = next(
        number for number in range(start, stop) if {"padding", "strides"} == set(pair_space().named("Conv2D", number))
    )
    pairs.state[lost] = GIVEN_UP_AFTER
    triples.rule_out("Conv2D", pairs)
    pair = pair_space().named("Conv2D", lost).items()
    table = triple_space().tables["Conv2D"]
    for number in range(table.start, table.stop):
        contains = pair <= triple_space().named("Conv2D", number).items()
        assert (triples.state[number] == GIVEN_UP_AFTER) == contains
    assert triples.summary()["reachable"] < triples.summary()["total"]


def test_what_executed_stays_covered_whatever_is_ruled_out_or_fails() -> None:
    pairs, triples = PairCoverage(), TripleCoverage()
    given = case("Conv2D", filters=3, kernel_size=(2, 4))
    triples.learn(given, executed=True)
    before = triples.summary()["covered"]
    pairs.state[:] = GIVEN_UP_AFTER
    triples.rule_out("Conv2D", pairs)
    for _ in range(3):
        triples.learn(given, executed=False)
    assert triples.summary()["covered"] == before > 0


def test_a_route_wants_triples_of_layers_that_have_no_pairs_left_there() -> None:
    ran = RouteCoverage({"one": []})
    given = case("Conv2D", filters=3, kernel_size=(2, 4))
    ran.pairs["one"].state[slice(*_numbers("Conv2D"))] = COVERED
    assert ran.wanted(given, ["one"]) == {"one": {"n": IN_PAIRS}}
    ran.pairs["one"].state[_numbers("Conv2D")[0]] = 0
    for _, ids in pair_space().of_case(given):
        ran.pairs["one"].cover(ids)
    left = len(ran.pairs["one"].missing("Conv2D"))
    assert ran.wanted(given, ["one"]) == ({} if left else {"one": {"n": IN_PAIRS}})
    ran.pairs["one"].state[:] = COVERED
    ran.learn(given, {"one": True})
    assert ran.wanted(given, ["one"]) == {}
    assert ran.summary()["one"]["triples"]["triples"]["covered"] > 0
    odd = replace(given, rng_seed=2)
    assert ran.wanted(odd, ["one"]) == {}, "the same call"


def test_each_pair_and_triple_that_cannot_be_has_a_reason() -> None:
    pairs, triples = reach("MaxPooling1D")
    for found in (pairs, triples):
        plain = found.as_plain()
        assert 0 < plain["reachable"] < plain["total"]
        assert plain["total"] - plain["reachable"] == len(plain["unreachable"])
        assert all(each["reason"] and each["values"] for each in plain["unreachable"])
    silent = [each for each in pairs.as_plain()["unreachable"] if each["values"].get("strides") == "none"]
    assert {each["reason"] for each in silent if "stride to window" in each["values"]} == {
        "stride to window says nothing in such a call"
    }


def test_what_routes_have_covered_is_stored_and_read() -> None:
    summary = RouteCoverage({"one": []}).summary()
    values = {"settings": {}, "cometfuzz": "1", "by_route": summary}
    rows = [{"name": name, "value": json.dumps(value)} for name, value in values.items()]
    assert campaign_values(iter(rows))["by_route"] == summary  # type: ignore[arg-type]
    assert set(summary["one"]) == {"pairs", "triples", "sequences of three"}
