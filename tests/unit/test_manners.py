"""Manners: how they are written down, what a graph allows of them, and what is left when it changes."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cometfuzz.catalogue import recurrent
from cometfuzz.catalogue.cutting import cut_out
from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.manners import (
    EXPLICIT,
    at_sizes,
    chain,
    exchanged,
    expect_manner,
    fitting,
    manner_size,
    may_be_explicit,
    may_be_open,
    may_lie_inside,
    of_part,
    simpler_manners,
)
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import PLAIN, Case, Manner
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import Draft, Edge, Graph
from cometfuzz.ir.plain import manner_from_plain, manner_to_plain
from cometfuzz.routes.calls import STATES, explicit_arguments

SHAPE = (2, 5, 4)


def _draft(name: str, layer: str, *inputs: str, **params: Any) -> Draft:
    return Draft(name, layer, params, tuple(map(Edge, inputs)))


def _input(name: str = "x", shape: tuple[int, ...] = SHAPE) -> Draft:
    return _draft(name, "input", dtype="float32", shape=shape)


def branches() -> Graph:
    """Two calls that may be one layer, added."""
    drafts = [
        _input(),
        _draft("a", "Dense", "x", units=4),
        _draft("b", "Dense", "a", units=4),
        _draft("c", "ReLU", "b"),
    ]
    return assemble([*drafts, _draft("sum", "Add", "a", "c")], [Edge("sum")])


def row(*more: Draft) -> Graph:
    drafts = [_input(), _draft("conv", "Conv1D", "x", filters=3, kernel_size=(2,)), *more]
    return assemble(drafts, [Edge(drafts[-1].id)])


OPEN = Manner(opened={"x": (0, 1)}, before=({"x": (3, 7)},))
ALL = Manner(
    opset=18,
    exporter="from_keras",
    inside=("b", "c"),
    named=True,
    opened={"x": (0, 1)},
    before=({"x": (3, 7)}, {"x": (1, 4)}),
)


def test_a_case_in_the_plain_manner_says_nothing_of_it() -> None:
    assert b"manner" not in encode(Case(branches(), 1))
    assert manner_to_plain(PLAIN) == {}


@pytest.mark.parametrize("manner", [ALL, OPEN, Manner(shared=(("a", "b"),))])
def test_a_manner_goes_into_text_and_over_the_wire_and_back(manner: Manner) -> None:
    case = Case(branches(), 1, manner=manner)
    assert decode(encode(case)) == case
    assert manner_from_plain(json.loads(json.dumps(manner_to_plain(manner)))) == manner


WRONG: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "an opset that no exporter writes": ({"opset": 12}, "opset"),
    "a field that nobody knows": ({"colour": 1}, "colour"),
    "an exporter that nobody knows": ({"exporter": "pickle"}, "exporter"),
    "a Sequential that branches": ({"sequential": True}, "sequential"),
    "an input inside": ({"inside": ["x"]}, "inside"),
    "no node inside": ({"inside": ["nobody"]}, "inside"),
    "a way out and back": ({"inside": ["a", "sum"]}, "inside"),
    "one node that shares": ({"shared": [["a"]]}, "shared"),
    "different layers": ({"shared": [["a", "c"]]}, "shared"),
    "a node that shares twice": ({"shared": [["a", "b"], ["b", "a"]]}, "shared"),
    "sharing across the border": ({"shared": [["a", "b"]], "inside": ["b", "c"]}, "shared"),
    "no call that takes a state": ({"explicit": True}, "explicit"),
    "an open node": ({"opened": {"a": [0]}}, "opened"),
    "an axis that is not there": ({"opened": {"x": [3]}}, "opened"),
    "axes in disorder": ({"opened": {"x": [1, 0]}}, "opened"),
    "a negative axis": ({"opened": {"x": [-1]}}, "opened"),
    "no size for an axis": ({"opened": {"x": [0, 1]}, "before": [{"x": [3]}]}, "before"),
    "other weights": ({"opened": {"x": [2]}}, "opened"),
    "other sizes than the graph bears": ({"opened": {"x": [0]}, "before": [{"x": [2**24]}]}, "before"),
    "a huge size": ({"opened": {"x": [0]}, "before": [{"x": [2**30]}]}, "before"),
    "many runs": ({"opened": {"x": [0]}, "before": [{"x": [1]}] * 5}, "before"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_manner_that_the_graph_does_not_allow_is_refused_by_the_name_of_its_field(name: str) -> None:
    manner, words = WRONG[name]
    text = json.dumps({**json.loads(encode(Case(branches(), 1))), "manner": manner}).encode()
    with pytest.raises(InvalidCase, match=words):
        decode(text)


def test_a_graph_is_typed_anew_at_other_sizes_if_its_weights_stay() -> None:
    other = at_sizes(row(), {"x": (3, 9, 4)})
    assert other is not None
    assert other.type_of(Edge("conv")).shape == (3, 8, 3)
    assert at_sizes(row(), {"x": (3, 1, 4)}) is None, "the kernel does not fit"
    assert at_sizes(row(), {"x": (2, 5, 5)}) is None, "the kernel is another one"
    assert at_sizes(row(_draft("fixed", "reshape", "conv", shape=(24,))), {"x": (4, 2, 4)}) is None


def test_what_comes_to_the_same_at_the_next_size_is_not_open() -> None:
    pooled = [_draft("pool", "MaxPooling1D", "conv", pool_size=(4,), strides=(4,)), _draft("flat", "Flatten", "pool")]
    graph = row(*pooled, _draft("dense", "Dense", "flat", units=2))
    assert at_sizes(graph, {"x": (2, 6, 4)}) is not None
    assert not may_be_open(graph, {"x": (1,)})
    assert may_be_open(graph, {"x": (0,)})


def test_layers_that_must_know_their_space_keep_it() -> None:
    layers = [_input(shape=(2, 3, 5, 4)), _draft("rnn", "ConvLSTM1D", "x", filters=2, kernel_size=(2,))]
    graph = assemble(layers, [Edge("rnn")])
    assert at_sizes(graph, {"x": (3, 4, 5, 4)}) is not None
    assert at_sizes(graph, {"x": (2, 3, 6, 4)}) is None
    unrolled = row(_draft("gru", "GRU", "conv", units=2, unroll=True))
    assert not may_be_open(unrolled, {"x": (1,)})
    assert may_be_open(unrolled, {"x": (0,)})


def test_the_exchanged_case_is_the_same_model_the_other_way_round() -> None:
    case = Case(row(), 3, manner=OPEN)
    other = exchanged(case)
    assert other is not None
    assert other.graph.inputs[0].params.shape == (3, 7, 4)
    assert other.manner.before == ({"x": (2, 5)},)
    back = exchanged(other)
    assert back is not None
    assert (back.graph, back.manner) == (case.graph, case.manner)
    for one, two in zip(
        draw_data(case).weights["conv"].values(), draw_data(other).weights["conv"].values(), strict=True
    ):
        np.testing.assert_array_equal(one, two)


def test_nodes_that_share_a_layer_have_the_weights_of_the_first() -> None:
    graph = branches()
    plain, shared = draw_data(Case(graph, 5)), draw_data(Case(graph, 5, manner=Manner(shared=(("a", "b"),))))
    assert not np.array_equal(plain.weights["a"]["kernel"], plain.weights["b"]["kernel"])
    np.testing.assert_array_equal(shared.weights["a"]["kernel"], plain.weights["a"]["kernel"])
    np.testing.assert_array_equal(shared.weights["b"]["kernel"], plain.weights["a"]["kernel"])


def test_only_recurrent_layers_without_a_state_say_with_what_they_begin() -> None:
    plain = assemble([_input(), _draft("a", "LSTM", "x", units=3)], [Edge("a")])
    kept = assemble([_input(), _draft("a", "LSTM", "x", units=3, stateful=True)], [Edge("a")])
    masked = assemble([_input(), _draft("m", "Masking", "x"), _draft("a", "GRU", "m", units=3)], [Edge("a")])
    assert [may_be_explicit(graph) for graph in (plain, kept, masked, branches())] == [True, False, True, False]
    states = ("float32", (2, 3), (2, 3))
    assert explicit_arguments(plain, plain.by_id["a"]) == {"initial_state": states, "mask": ("bool", (2, 5))}
    assert explicit_arguments(masked, masked.by_id["a"]) == {"initial_state": states[:2]}
    assert STATES == recurrent.STATES
    assert tuple(STATES) == EXPLICIT
    with pytest.raises(InvalidCase, match="explicit"):
        expect_manner(plain, Manner(explicit=True, opened={"x": (0,)}))


def test_only_a_row_of_layers_is_a_chain() -> None:
    assert chain(row(_draft("relu", "ReLU", "conv")))
    assert not chain(branches())
    assert not chain(row(_draft("cast", "cast", "conv", dtype="float64"))), "a utility is no layer"
    assert not chain(row(_draft("gru", "GRU", "conv", units=2, return_state=True)))
    drafts = [_input(), _draft("relu", "ReLU", "x"), _draft("elu", "ELU", "relu")]
    assert not chain(assemble(drafts, [Edge("relu"), Edge("elu")])), "two outputs"


def test_masks_do_not_cross_the_border_of_a_model_inside() -> None:
    drafts = [_input(), _draft("mask", "Masking", "x"), _draft("gru", "GRU", "mask", units=2)]
    graph = assemble(drafts, [Edge("gru")])
    assert not may_lie_inside(graph, ["gru"])
    assert may_lie_inside(graph, ["mask", "gru"])


def test_what_a_changed_graph_does_not_allow_is_dropped() -> None:
    graph = assemble([_input(), _draft("a", "Dense", "x", units=4)], [Edge("a")])
    kept = fitting(graph, ALL)
    assert kept == replace(ALL, inside=())
    assert fitting(row(), replace(OPEN, before=({"x": (3, 1)},))) == replace(OPEN, before=())
    assert fitting(graph, Manner(shared=(("a", "b"),), sequential=True)) == Manner(sequential=True)
    flat = assemble([_input(shape=(2,)), _draft("wide", "expand", "x", axis=1)], [Edge("wide")])
    assert fitting(flat, OPEN) == Manner(opened={"x": (0,)}, before=({"x": (3,)},))


def test_what_stands_for_a_cut_edge_is_open_where_the_edge_is() -> None:
    graph = row(_draft("relu", "ReLU", "conv"))
    part = cut_out(graph, ["relu"], [Edge("relu")])
    assert part is not None
    assert of_part(Case(graph, 1, manner=OPEN), part) == Manner(
        opened={"cut_conv_0": (0, 1)}, before=({"cut_conv_0": (3, 6)},)
    )


@pytest.mark.parametrize("manner", [ALL, OPEN, Manner(shared=(("a", "b"),))])
def test_the_way_to_the_plain_manner_is_simpler_at_every_step(manner: Manner) -> None:
    waiting, seen = [manner], 0
    while waiting:
        at = waiting.pop()
        for simpler in simpler_manners(at):
            assert manner_size(fitting(branches(), simpler)) < manner_size(at)
            if seen < 200:
                waiting.append(fitting(branches(), simpler))
            seen += 1
    assert seen
    assert manner_size(PLAIN) == 0


def test_a_manner_says_how_an_input_is_declared_and_what_shapes_it_had() -> None:
    assert OPEN.shape("x", SHAPE) == (None, None, 4)
    assert OPEN.shape("y", SHAPE) == SHAPE
    assert OPEN.earlier("x", SHAPE) == [(3, 7, 4)]
    assert OPEN.earlier("y", SHAPE) == [SHAPE]
