"""Properties of graphs, cases and the catalogue, on drawn graphs and drawn layer calls."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cometfuzz.catalogue import COUNTED, LAYERS
from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import draw_graph, draw_layer
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.validate import check, validate
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id, encode
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.ir.plain import typed_from_plain, typed_to_plain
from cometfuzz.reference.run import run

seeds = st.integers(0, 2**32)
cases = st.builds(lambda seed, nodes: Case(draw_graph(Draw(seed), nodes), seed), seeds, st.integers(2, 25))


def shuffled_keys(value: Any, draw: Draw) -> Any:
    if isinstance(value, dict):
        return {key: shuffled_keys(value[key], draw) for key in draw.shuffled(list(value))}
    if isinstance(value, list):
        return [shuffled_keys(item, draw) for item in value]
    return value


@given(cases)
@settings(deadline=None, max_examples=60)
def test_codec_round_trip(case: Case) -> None:
    again = decode(encode(case))
    assert again.graph == case.graph
    assert encode(again) == encode(case)


@given(cases, seeds)
@settings(deadline=None, max_examples=40)
def test_the_id_is_stable_across_key_order(case: Case, seed: int) -> None:
    mixed = shuffled_keys(json.loads(encode(case)), Draw(seed))
    assert case_id(decode(json.dumps(mixed, indent=1).encode())) == case_id(case)


@given(cases)
@settings(deadline=None, max_examples=40)
def test_a_worker_sees_the_same_graph(case: Case) -> None:
    assert typed_from_plain(json.loads(json.dumps(typed_to_plain(case.graph)))) == case.graph


@given(cases, seeds)
@settings(deadline=None, max_examples=80)
def test_edits_never_give_an_untyped_graph(case: Case, seed: int) -> None:
    """Whatever is done to the drafts, the result is a fully typed valid graph or none at all."""
    draw = Draw(seed)
    drafts = list(case.graph.drafts)
    for _ in range(draw.integer(1, 3)):
        at = draw.integer(0, len(drafts) - 1)
        drafts[at] = _edited(drafts[at], drafts, draw)
    graph, violations = check(drafts, case.graph.outputs)
    assert (graph is None) == bool(violations)
    if graph is not None:
        assert validate(graph) == []
        assert all(node.outputs for node in graph.nodes)


def _edited(draft: Draft, drafts: list[Draft], draw: Draw) -> Draft:
    kind = draw.integer(0, 3)
    if kind == 0:
        return draft._replace(layer=draw.choice(list(LAYERS)), params={})
    if kind == 1 and draft.inputs:
        return draft._replace(inputs=tuple(Edge(draw.choice(drafts).id) for _ in draft.inputs))
    if kind == 2 and draft.params:
        name = draw.choice(list(draft.params))
        return draft._replace(
            params={**draft.params, name: draw.choice([0, 1, -1, 3, None, True, "same", (1, 2), 0.5])}
        )
    return draft._replace(id=draw.choice(drafts).id)


@given(cases)
@settings(deadline=None, max_examples=40)
def test_a_case_draws_the_same_data_every_time(case: Case) -> None:
    one, other = draw_data(case), draw_data(decode(encode(case)))
    for name, array in one.inputs.items():
        np.testing.assert_array_equal(array.view(np.uint8) if array.ndim else array, other.inputs[name].view(np.uint8))
    assert {node: list(weights) for node, weights in one.weights.items()} == {
        node: list(weights) for node, weights in other.weights.items()
    }


@pytest.mark.parametrize("name", COUNTED)
def test_the_shape_rule_agrees_with_the_reference(name: str) -> None:
    """For every layer and operator: the reference's real output has the predicted shape, and draws are valid."""
    spec = COUNTED[name]
    for index in range(25):
        drawn = draw_layer(name, 2, index)
        graph = drawn.case.graph
        assert validate(graph) == []
        values = run(graph, draw_data(drawn.case)).values
        for edge in graph.outputs:
            predicted = graph.type_of(edge)
            assert values[edge].shape == predicted.shape, (index, drawn.params)
        assert graph.type_of(graph.outputs[0]).rank in spec.output_ranks
