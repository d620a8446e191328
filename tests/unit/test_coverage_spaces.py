"""The paper's space to the unit, and the full one."""

import json

from cometfuzz.catalogue import LAYERS
from cometfuzz.coverage.layers import CRITERIA, full_space, paper_space, paper_table
from cometfuzz.ir.types import FLOATS


def test_the_paper_space_is_exact() -> None:
    space = paper_space()
    assert {criterion: space.total(criterion) for criterion in CRITERIA} == {
        "inputs": 766,
        "parameters": 2049,
        "sequences": 2170,
    }
    assert paper_table()["totals"] == {criterion: space.total(criterion) for criterion in CRITERIA}


def test_what_is_reachable_of_the_paper_space() -> None:
    space = paper_space()
    assert space.reachable("inputs") == 648
    assert space.reachable("sequences") == 2170
    out_of_reach = [item for item in space.items["parameters"] if item in space.unreachable]
    assert space.reachable("parameters") == 2049 - len(out_of_reach)
    assert {item.value for item in out_of_reach} == {'"Identity"', '"Orthogonal"'}
    assert all(item.name.endswith("_initializer") for item in out_of_reach)


def test_items_are_distinct() -> None:
    for space in (paper_space(), full_space()):
        items = [item for criterion in CRITERIA for item in space.items[criterion]]
        assert len(set(items)) == len(items)
        assert set(space.unreachable) <= set(items)


def test_the_full_space_has_real_dtypes_and_every_layer() -> None:
    inputs = full_space().items["inputs"]
    assert {item.layer for item in inputs} == set(LAYERS)
    assert {item.value for item in inputs if item.name == "dtype"} >= set(FLOATS)
    assert not {"double", "half"} & {item.value for item in inputs if item.name == "dtype"}


def test_values_without_effect_on_inference_stand_aside() -> None:
    names = {item.name for item in full_space().items["parameters"]}
    assert not any(name.endswith(("_initializer", "_regularizer", "_constraint")) for name in names)
    assert full_space().aside["build"] > 1000


def test_sigma_changes_numeric_parameters_only() -> None:
    more, less = paper_space(10), paper_space(5)
    assert more.total("parameters") > less.total("parameters")
    assert more.total("inputs") == less.total("inputs")


def test_plain_form_is_json() -> None:
    plain = json.loads(json.dumps(paper_space().as_plain()))
    assert plain["inputs"]["total"] == 766
    assert {entry["reason"] for entry in plain["inputs"]["unreachable"]} == {
        "a second name of float16",
        "a second name of float64",
    }
