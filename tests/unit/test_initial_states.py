"""Initial states: what a recurrent layer begins with, as further inputs of its call."""

from typing import Any

import numpy as np
import pytest
from bugs import bug, finding
from calling import Array, drawn_weights, numbers, outputs
from test_triage_reduce import reduced

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.drawing import GIVEN, TARGET, draw_layer
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Inner, Params
from cometfuzz.mutation.base import Guide, ModelLimits
from cometfuzz.mutation.initial_states import give_states
from cometfuzz.routes.calls import BEGINS
from cometfuzz.triage.reproducer import make_script

BEGINNING = [name for name, spec in LAYERS.items() if spec.states is not None]


def decoder(*states: Edge, **params: Any) -> Graph:
    """An encoder that returns its states, and an LSTM of two units that begins with them, or with zeros."""
    drafts = [
        Draft("read", INPUT, {"shape": (2, 4, 3)}, ()),
        Draft("written", INPUT, {"shape": (2, 5, 3)}, ()),
        Draft("encoder", "LSTM", {"units": 2, "return_state": True}, (Edge("read"),)),
        Draft("decoder", "LSTM", {"units": 2, **params}, (Edge("written"), *states)),
    ]
    return assemble(drafts, [Edge("encoder"), Edge("decoder")])


STATES = Edge("encoder", 1), Edge("encoder", 2)


@pytest.mark.parametrize(
    ("layer", "shape", "params"),
    [
        ("LSTM", (2, 5, 3), {"units": 2}),
        ("GRU", (2, 5, 3), {"units": 2}),
        ("SimpleRNN", (2, 5, 3), {"units": 2}),
        ("RNN", (2, 5, 3), {"cell": Inner("LSTMCell", Params({"units": 2}))}),
        ("ConvLSTM1D", (2, 5, 4, 3), {"filters": 2, "kernel_size": (2,), "padding": "same"}),
    ],
)
def test_a_sequence_in_two_parts_is_the_sequence(layer: str, shape: tuple[int, ...], params: dict[str, Any]) -> None:
    x, params = numbers(*shape), {**params, "return_state": True}
    weights = drawn_weights(layer, x, params)
    whole = outputs(layer, x, weights=weights, **params)
    _, *states = outputs(layer, x[:, :2], weights=weights, **params)
    for one, two in zip(whole, outputs(layer, x[:, 2:], *states, weights=weights, **params), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)


def test_either_direction_begins_with_half_of_the_states() -> None:
    params = {"layer": Inner("LSTM", Params({"units": 2})), "merge_mode": None}
    x, states = numbers(2, 4, 3), [numbers(2, 2, start=float(place)) for place in range(4)]
    weights = drawn_weights("Bidirectional", x, params)
    found = outputs("Bidirectional", x, *states, weights=weights, **params)

    def alone(prefix: str, begins: list[Array], backwards: bool) -> Array:
        own = {name.removeprefix(prefix): array for name, array in weights.items() if name.startswith(prefix)}
        return outputs("LSTM", x, *begins, weights=own, units=2, go_backwards=backwards)[0]

    np.testing.assert_allclose(found[0], alone("forward_", states[:2], False))
    np.testing.assert_allclose(found[1], alone("backward_", states[2:], True))


@pytest.mark.parametrize(
    ("states", "params"),
    [
        (STATES[:1], {}),
        ((*STATES, STATES[0]), {}),
        (STATES, {"units": 3}),
        ((Edge("written"), Edge("written")), {}),
        (STATES, {"stateful": True}),
    ],
)
def test_a_layer_gets_all_states_that_it_has_or_none(states: tuple[Edge, ...], params: dict[str, Any]) -> None:
    with pytest.raises(InvalidCase, match="initial states"):
        decoder(*states, **params)


def test_states_of_several_cells_are_not_given() -> None:
    stacked = spec_of("RNN").complete({"cell": spec_of("RNN").params["cell"].simplest})
    assert spec_of("RNN").given_states(decoder().input_types(decoder().by_id["decoder"]), stacked)
    several = stacked.replace(cell=Inner("StackedRNNCells", spec_of("StackedRNNCells").complete({})))
    assert not spec_of("RNN").given_states(decoder().input_types(decoder().by_id["decoder"]), several)


@pytest.mark.parametrize("name", BEGINNING)
def test_some_calls_are_drawn_with_states(name: str) -> None:
    drawn = [draw_layer(name, 5, index).case.graph.by_id[TARGET] for index in range(40)]
    given = [node for node in drawn if len(node.inputs) > 1]
    assert 0 < len(given) < 4 * GIVEN * len(drawn)


def test_the_child_calls_the_same_layers_with_states() -> None:
    assert sorted(BEGINS) == sorted(BEGINNING)


def test_the_mutation_gives_states_that_are_there() -> None:
    found = 0
    for seed in range(20):
        graph = give_states(decoder(), Guide([]), Draw(seed), ModelLimits())
        assert validate(graph) == []
        given = {name: graph.by_id[name].inputs[1:] for name in ("encoder", "decoder")}
        assert any(given.values())
        found += {edge.node for edge in given["decoder"]} == {"encoder"}  # which has such tensors as they are
    assert found >= 5, "unless the encoder reads the decoder, the decoder reads it"


def test_states_stay_where_a_fault_needs_them_and_leave_where_it_does_not() -> None:
    def begun(graph: Graph) -> bool:
        return any(node.layer == "LSTM" and len(node.inputs) > 1 for node in graph.nodes)

    small = reduced(Case(decoder(*STATES), 1), begun).case.graph
    assert sorted(node.layer for node in small.nodes) in (["LSTM", INPUT, INPUT], ["LSTM", INPUT, INPUT, INPUT])
    small = reduced(
        Case(decoder(*STATES), 1), lambda graph: any(node.layer == "LSTM" for node in graph.nodes)
    ).case.graph
    assert [node.layer for node in small.nodes] == [INPUT, "LSTM"]


def test_a_script_gives_the_states() -> None:
    text = make_script(bug(Case(decoder(*STATES), 1), finding("keras-torch")))
    assert "initial_state=[h" in text


def test_the_ledger_sees_that_states_are_given() -> None:
    """Given states, a mask is lost; without, it is not."""
    drafts = [*decoder().drafts[:3], Draft("masking", "Masking", {}, (Edge("written"),))]
    found = []
    for states in ((), STATES):
        last = Draft("decoder", "LSTM", {"units": 2}, (Edge("masking"), *states))
        graph = assemble([*drafts, last], [Edge("decoder")])
        node, spec = graph.by_id["decoder"], spec_of("LSTM")
        x = spec.view(graph.input_types(node), node.params)
        known = usual_view().excuses("keras-torch", spec, x, node.params)
        found.append("keras-recurrent-initial-state-mask-value" in [rule.id for rule in known])
    assert found == [False, True]
