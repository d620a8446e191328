"""The meaning of recurrent layers, against naive loops and identities."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from calling import drawn_weights, make_call

from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.reference.call import Array, Call, Judging, evaluate, output_masks


def call_of(layer: str, x: Array, params: Mapping[str, Any], weights: Any = None, mask: Any = None) -> Call:
    """A call with drawn weights unless some are given."""
    if weights is None:
        weights = drawn_weights(layer, x, params)
    return make_call(layer, x, weights=weights, masks=[None if mask is None else np.asarray(mask, bool)], **params)


def run(layer: str, x: Array, mask: Any = None, weights: Any = None, **params: Any) -> list[Array]:
    return evaluate(call_of(layer, x, params, weights, mask))


def sequence(*shape: int) -> Array:
    return Draw("x").bells(shape)


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


def test_simple_rnn_by_hand() -> None:
    weights = {"kernel": np.array([[2.0]]), "recurrent_kernel": np.array([[3.0]]), "bias": np.array([1.0])}
    x = np.array([[[1.0], [2.0]]])
    output, state = run(
        "SimpleRNN",
        x,
        weights=weights,
        activation="linear",
        units=1,
        return_sequences=True,
        return_state=True,
    )
    assert output.ravel().tolist() == [3.0, 14.0]
    assert state.tolist() == [[14.0]]


def test_lstm_against_a_scalar_loop() -> None:
    x = sequence(2, 3, 2)
    call = call_of("LSTM", x, {"units": 2, "return_sequences": True, "return_state": True})
    kernel, recurrent, bias = (call.weights[name] for name in ("kernel", "recurrent_kernel", "bias"))
    outputs, hidden, memory = evaluate(call)
    for sample in range(2):
        h, c = [0.0, 0.0], [0.0, 0.0]
        for step in range(3):
            flow = [
                sum(x[sample, step, i] * kernel[i, j] for i in range(2))
                + sum(h[i] * recurrent[i, j] for i in range(2))
                + bias[j]
                for j in range(8)
            ]
            for unit in range(2):
                enter, forget = sigmoid(flow[unit]), sigmoid(flow[2 + unit])
                c[unit] = forget * c[unit] + enter * math.tanh(flow[4 + unit])
                h[unit] = sigmoid(flow[6 + unit]) * math.tanh(c[unit])
            np.testing.assert_allclose(outputs[sample, step], h, rtol=1e-12)
        np.testing.assert_allclose(hidden[sample], h, rtol=1e-12)
        np.testing.assert_allclose(memory[sample], c, rtol=1e-12)


@pytest.mark.parametrize("reset_after", [True, False])
def test_gru_against_a_scalar_loop(reset_after: bool) -> None:
    x = sequence(1, 3, 2)
    call = call_of("GRU", x, {"units": 1, "reset_after": reset_after, "return_sequences": True})
    kernel, recurrent, bias = (call.weights[name] for name in ("kernel", "recurrent_kernel", "bias"))
    for_input, for_state = bias if reset_after else (bias, np.zeros(3))
    h, outputs = 0.0, []
    for step in range(3):
        flow = [sum(x[0, step, i] * kernel[i, j] for i in range(2)) + for_input[j] for j in range(3)]
        update = sigmoid(flow[0] + h * recurrent[0, 0] + for_state[0])
        reset = sigmoid(flow[1] + h * recurrent[0, 1] + for_state[1])
        if reset_after:
            candidate = math.tanh(flow[2] + reset * (h * recurrent[0, 2] + for_state[2]))
        else:
            candidate = math.tanh(flow[2] + (reset * h) * recurrent[0, 2])
        h = update * h + (1 - update) * candidate
        outputs.append(h)
    np.testing.assert_allclose(evaluate(call)[0].ravel(), outputs, rtol=1e-12)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
def test_backwards_is_forwards_on_the_reversed_sequence(layer: str) -> None:
    x, mask = sequence(2, 4, 3), np.array([[1, 0, 1, 1], [0, 1, 1, 0]])
    there = run(layer, x, mask, units=2, return_sequences=True, return_state=True, go_backwards=True)
    back = run(layer, x[:, ::-1], mask[:, ::-1], units=2, return_sequences=True, return_state=True)
    for left, right in zip(there, back, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
def test_a_masked_step_might_as_well_not_be_there(layer: str) -> None:
    x = sequence(1, 4, 3)
    outputs, *states = run(layer, x, [[0, 1, 0, 1]], units=2, return_sequences=True, return_state=True)
    without, *expected = run(layer, x[:, [1, 3]], units=2, return_sequences=True, return_state=True)
    assert not outputs[0, 0].any()
    np.testing.assert_array_equal(outputs[0, 1:], without[0, [0, 0, 1]])
    np.testing.assert_array_equal(states, expected)


def test_zeros_for_masked_steps_only_in_returned_sequences() -> None:
    x, mask = sequence(1, 3, 3), [[1, 1, 0]]
    repeated = run("RNN", x, mask, return_sequences=True)[0]
    zeros = run("RNN", x, mask, return_sequences=True, zero_output_for_mask=True)[0]
    last = run("RNN", x, mask, zero_output_for_mask=True)[0]
    assert not zeros[0, 2].any()
    assert repeated[0, 2].any()
    np.testing.assert_array_equal(zeros[:, :2], repeated[:, :2])
    np.testing.assert_array_equal(last, repeated[:, 2])


def test_an_unset_activation_is_linear() -> None:
    x = sequence(2, 3, 2)
    left = run("LSTM", x, units=2, activation=None, recurrent_activation=None)
    right = run("LSTM", x, units=2, activation="linear", recurrent_activation="linear")
    np.testing.assert_array_equal(left[0], right[0])


def test_stacked_cells_are_layers_on_top_of_each_other() -> None:
    x = sequence(2, 3, 2)
    first, second = Params({"units": 3}), Params({"units": 2})
    stack = Inner("StackedRNNCells", Params({"cells": (Inner("LSTMCell", first), Inner("GRUCell", second))}))
    call = call_of("RNN", x, {"cell": stack, "return_sequences": True, "return_state": True})

    def own(prefix: str) -> dict[str, Array]:
        return {name.removeprefix(prefix): w for name, w in call.weights.items() if name.startswith(prefix)}

    outputs, *states = evaluate(call)
    below, *below_states = run("LSTM", x, weights=own("cell0_"), **first, return_sequences=True, return_state=True)
    above, *above_states = run("GRU", below, weights=own("cell1_"), **second, return_sequences=True, return_state=True)
    np.testing.assert_allclose(outputs, above, rtol=1e-12)
    for seen, expected in zip(states, [*below_states, *above_states], strict=True):
        np.testing.assert_allclose(seen, expected, rtol=1e-12)


def test_conv_lstm_of_single_points_is_an_lstm() -> None:
    x = sequence(2, 3, 4)
    wanted = call_of("LSTM", x, {"units": 2, "return_sequences": True, "return_state": True})
    weights = {name: w if name == "bias" else w[None, None] for name, w in wanted.weights.items()}
    seen = run(
        "ConvLSTM2D",
        x[:, :, None, None],
        weights=weights,
        filters=2,
        kernel_size=(1, 1),
        return_sequences=True,
        return_state=True,
    )
    for left, right in zip(seen, evaluate(wanted), strict=True):
        np.testing.assert_allclose(left.reshape(right.shape), right, rtol=1e-12)


def test_conv_lstm_convolves_the_state_with_same_padding() -> None:
    """Linear gates, an empty second step: what is left of the first step is its output, convolved."""
    x = np.zeros((1, 2, 3, 1))
    x[0, 0] = [[1.0], [2.0], [4.0]]
    kernel, recurrent = np.zeros((3, 1, 4)), np.zeros((3, 1, 4))
    kernel[1, 0, 2] = 1.0  # the candidate is the input
    recurrent[:, 0, 2] = 1.0  # and the sum of the neighbours' last outputs
    bias = np.array([1.0, 0.0, 0.0, 1.0])  # enter and leave freely, forget everything
    (outputs,) = run(
        "ConvLSTM1D",
        x,
        weights={"kernel": kernel, "recurrent_kernel": recurrent, "bias": bias},
        filters=1,
        kernel_size=(3,),
        padding="same",
        activation="linear",
        recurrent_activation="linear",
        return_sequences=True,
    )
    assert outputs[0, :, :, 0].tolist() == [[1.0, 2.0, 4.0], [3.0, 7.0, 6.0]]


def test_conv_lstm_channels_first_only_moves_axes() -> None:
    x, given = sequence(2, 2, 5, 4, 3), {"filters": 2, "kernel_size": (2, 3), "dilation_rate": (2, 1)}
    last = run("ConvLSTM2D", x, **given)[0]
    first = run("ConvLSTM2D", np.moveaxis(x, -1, 2), **given, data_format="channels_first")[0]
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, rtol=1e-12)


def test_only_returned_sequences_carry_the_mask() -> None:
    x, mask = sequence(1, 2, 2), np.array([[True, False]])
    with_sequences = call_of("LSTM", x, {"return_sequences": True, "return_state": True}, mask=mask)
    np.testing.assert_array_equal(output_masks(with_sequences)[0], mask)
    assert output_masks(with_sequences)[1:] == [None, None]
    assert output_masks(call_of("LSTM", x, {}, mask=mask)) == [None]


def test_the_state_is_rounded_at_each_step() -> None:
    """Nothing flows in, and the recurrence doubles: what rounding does to an early state grows with every step."""
    weights = {"kernel": np.zeros((1, 1)), "recurrent_kernel": np.full((1, 1), -1.0), "bias": np.ones(1)}
    call = call_of("SimpleRNN", np.zeros((1, 3, 1)), {"activation": "linear", "return_sequences": True}, weights)
    perturbed = call.inner(call.layer, call.params, judging=Judging(2.0**-11, draw=Draw("p")))
    exact, moved = evaluate(call)[0].ravel(), evaluate(perturbed)[0].ravel()
    assert exact.tolist() == [1.0, 0.0, 1.0]
    assert moved[1] != 0.0  # 1 - 1 with the first state rounded
    assert np.abs(moved - exact).max() < 4 * 3 * 2.0**-11
