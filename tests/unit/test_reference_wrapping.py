"""The meaning of wrappers, against the layers inside them."""

from typing import Any

import numpy as np
import pytest
from calling import drawn_weights, make_call, numbers, output

from cometfuzz.catalogue import spec_of
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.call import Array, Call, evaluate


def call_of(name: str, x: Array, params: Any, weights: Any = None, mask: Any = None) -> Call:
    """A call with drawn weights unless some are given."""
    return make_call(
        name,
        x,
        weights=drawn_weights(name, x, params) if weights is None else weights,
        masks=[mask],
        **params,
    )


def run(call: Call) -> list[Array]:
    results = evaluate(call)
    assert [result.shape for result in results] == [kind.shape for kind in call.outputs]
    return results


def inner(name: str, **params: Any) -> Inner:
    return Inner(name, Params(params))


def broken(name: str, shape: tuple[int, ...], **params: Any) -> list[str]:
    spec = spec_of(name)
    return spec.broken_rules([TensorType("float32", shape)], spec.complete(params))


X = Draw("x").bells((2, 4, 3))


def directions(layer: str, mask: Any = None, **params: Any) -> tuple[Call, list[Array], list[Array]]:
    """A Bidirectional call that keeps both outputs, and what its two layers compute by themselves."""
    call = call_of("Bidirectional", X, {"layer": inner(layer, **params), "merge_mode": None}, mask=mask)
    alone = []
    for prefix, x, seen in (
        ("forward_", X, mask),
        ("backward_", X[:, ::-1], None if mask is None else mask[:, ::-1]),
    ):
        weights = {name.removeprefix(prefix): w for name, w in call.weights.items() if name.startswith(prefix)}
        alone.append(run(call_of(layer, x, params, weights, seen)))
    return call, alone[0], alone[1]


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
def test_bidirectional_outputs_and_states(layer: str) -> None:
    call, there, back = directions(layer, units=2, return_sequences=True, return_state=True)
    forward, backward, *states = run(call)
    np.testing.assert_array_equal(forward, there[0])
    np.testing.assert_array_equal(backward, back[0][:, ::-1])
    np.testing.assert_array_equal(states, [*there[1:], *back[1:]])


@pytest.mark.parametrize(
    ("mode", "merge"),
    [
        ("concat", lambda a, b: np.concatenate([a, b], axis=-1)),
        ("sum", np.add),
        ("mul", np.multiply),
        ("ave", lambda a, b: (a + b) / 2),
    ],
)
def test_bidirectional_merges_the_last_outputs(mode: str, merge: Any) -> None:
    call, (there,), (back,) = directions("GRU", units=2)
    merged = call_of("Bidirectional", X, {"layer": call.params.layer, "merge_mode": mode}, call.weights)
    np.testing.assert_allclose(run(merged)[0], merge(there, back), rtol=1e-15)


def test_bidirectional_sequences_are_zero_where_masked() -> None:
    mask = np.array([[True, False, True, False], [False, True, True, True]])
    call, there, back = directions("LSTM", mask, units=2, return_sequences=True)
    forward, backward = run(call)
    np.testing.assert_array_equal(forward, there[0] * mask[..., None])
    np.testing.assert_array_equal(backward, back[0][:, ::-1] * mask[..., None])
    call, there, back = directions("LSTM", mask, units=2)
    np.testing.assert_array_equal(run(call), [there[0], back[0]])


def test_bidirectional_with_its_own_backward_layer() -> None:
    own = inner("LSTM", units=2, activation="relu", go_backwards=True)
    call = call_of("Bidirectional", X, {"layer": inner("LSTM", units=2), "backward_layer": own, "merge_mode": None})
    weights = {name.removeprefix("backward_"): w for name, w in call.weights.items() if name.startswith("backward_")}
    (alone,) = run(call_of("LSTM", X[:, ::-1], {"units": 2, "activation": "relu"}, weights))
    np.testing.assert_array_equal(run(call)[1], alone)


def test_bidirectional_rules() -> None:
    forwards = inner("LSTM", units=2)
    assert broken("Bidirectional", (2, 4, 3), layer=forwards) == []
    assert "one direction forwards, one backwards" in broken(
        "Bidirectional", (2, 4, 3), layer=inner("LSTM", go_backwards=True)
    )
    other = inner("LSTM", units=3, go_backwards=True)
    assert broken("Bidirectional", (2, 4, 3), layer=forwards, backward_layer=other) == ["both directions agree"]


@pytest.mark.parametrize("name", ["Dense", "ReLU"])
def test_time_distributed_is_a_loop_over_steps(name: str) -> None:
    params = {"units": 5} if name == "Dense" else {"negative_slope": 0.5}
    call = call_of("TimeDistributed", X, {"layer": inner(name, **params)})
    (together,) = run(call)
    for step in range(X.shape[1]):
        (alone,) = run(call_of(name, X[:, step], params, call.weights))
        np.testing.assert_allclose(together[:, step], alone, rtol=1e-14)


def test_time_distributed_recurrence_starts_anew_at_each_step() -> None:
    x = Draw("y").bells((2, 3, 4, 2))
    call = call_of("TimeDistributed", x, {"layer": inner("LSTM", units=2)})
    (alone,) = run(call_of("LSTM", x[:, 2], {"units": 2}, call.weights))
    np.testing.assert_allclose(run(call)[0][:, 2], alone, rtol=1e-14)


def test_time_distributed_rules() -> None:
    assert "inner layer accepts its input" in broken("TimeDistributed", (2, 4, 3), layer=inner("Conv2D"))
    assert "inner layer has one output" in broken(
        "TimeDistributed", (2, 4, 3, 3), layer=inner("GRU", return_state=True)
    )
    assert "sequence has steps" in broken("TimeDistributed", (2, 0, 3))


def test_spectral_normalization_leaves_inference_alone() -> None:
    call = call_of("SpectralNormalization", X, {"layer": inner("Dense", units=2), "power_iterations": 3})
    assert list(call.weights) == ["kernel", "vector_u", "bias"]
    assert call.weights["vector_u"].shape == (1, 2)
    weights = {name: call.weights[name] for name in ("kernel", "bias")}
    np.testing.assert_array_equal(run(call)[0], run(call_of("Dense", X, {"units": 2}, weights))[0])


def test_a_pipeline_is_one_layer_after_the_other() -> None:
    x = numbers(2, 5, 6, 3)
    layers = (
        Inner("Rescaling", Params({"scale": 2.0, "offset": -1.0})),
        Inner("Conv2D", Params({"filters": 2})),
        Inner("ReLU", Params()),
    )
    weights = {"layer1_kernel": numbers(1, 1, 3, 2), "layer1_bias": numbers(2)}
    y = output("Pipeline", x, layers=layers, weights=weights)
    expected = (2 * x - 1) @ weights["layer1_kernel"][0, 0] + weights["layer1_bias"]
    assert np.allclose(y, np.maximum(expected, 0))
