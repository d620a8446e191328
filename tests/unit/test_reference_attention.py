"""Attention in the reference, against loops over queries, keys and heads; and EinsumDense."""

from typing import Any

import numpy as np
import pytest
from calling import Array, mask_after, numbers, output, outputs

from cometfuzz.catalogue import spec_of
from cometfuzz.catalogue.einsum import parse
from cometfuzz.draw import Draw
from cometfuzz.ir.types import TensorType


def soft(scores: Array) -> Array:
    return np.exp(scores) / np.exp(scores).sum()


def test_dot_attention_by_loops() -> None:
    query, value, key = numbers(2, 3, 4), numbers(2, 5, 2, start=1.0), numbers(2, 5, 4, start=2.0)
    y, weights = outputs(
        "Attention",
        query,
        value,
        key,
        weights={"scale": np.array(0.5)},
        use_scale=True,
        return_attention_scores=True,
    )
    for b, i in np.ndindex(2, 3):
        expected = soft(np.array([0.5 * query[b, i] @ key[b, j] for j in range(5)]))
        assert np.allclose(weights[b, i], expected)
        assert np.allclose(y[b, i], sum(expected[j] * value[b, j] for j in range(5)))


def test_sums_of_tangents() -> None:
    query, value, scale = numbers(1, 3, 4), numbers(1, 2, 4, start=1.0), numbers(4, start=3.0)
    y = output("AdditiveAttention", query, value, weights={"scale": scale})
    concat = output("Attention", query, value, weights={"concat_score_weight": np.array(2.0)}, score_mode="concat")
    for i in range(3):
        scores = np.array([np.sum(scale * np.tanh(query[0, i] + value[0, j])) for j in range(2)])
        assert np.allclose(y[0, i], soft(scores) @ value[0])
        scores = np.array([2.0 * np.sum(np.tanh(query[0, i] + value[0, j])) for j in range(2)])
        assert np.allclose(concat[0, i], soft(scores) @ value[0])


def test_masks_of_single_head_attention() -> None:
    x, value_mask = numbers(1, 3, 2), np.array([[True, False, True]])
    query_mask = np.array([[True, True, False]])
    arguments: dict[str, Any] = {
        "masks": (query_mask, value_mask),
        "use_causal_mask": True,
        "return_attention_scores": True,
    }
    y, weights = outputs("Attention", x, x, **arguments)
    assert np.array_equal(weights[0] > 0, [[True, False, False], [True, False, False], [True, False, True]])
    assert np.allclose(y[0, 1], x[0, 0])
    assert not y[0, 2].any()
    assert np.array_equal(mask_after("Attention", x, x, masks=(query_mask, value_mask)), query_mask)


def head_weights(
    query: int, key: int, value: int, heads: int, key_heads: int, size: int, width: int, output_size: int
) -> dict[str, Array]:
    return {
        "kernel_query": numbers(query, heads, size),
        "bias_query": numbers(heads, size),
        "kernel_key": numbers(key, key_heads, size, start=1.0),
        "bias_key": numbers(key_heads, size, start=1.0),
        "kernel_value": numbers(value, key_heads, width, start=2.0),
        "bias_value": numbers(key_heads, width, start=2.0),
        "kernel_output": numbers(heads, width, output_size, start=3.0),
        "bias_output": numbers(output_size, start=3.0),
    }


def by_loops(query: Array, value: Array, w: dict[str, Array], allowed: Array) -> Array:
    """Many heads for one element of the batch, head by head."""
    heads, groups = w["kernel_query"].shape[1], w["kernel_key"].shape[1]
    total = np.tile(w["bias_output"], (len(query), 1))
    for head in range(heads):
        group = head // (heads // groups)
        q = query @ w["kernel_query"][:, head] + w["bias_query"][head]
        k = value @ w["kernel_key"][:, group] + w["bias_key"][group]
        v = value @ w["kernel_value"][:, group] + w["bias_value"][group]
        for i in range(len(query)):
            scores = q[i] @ k.T / np.sqrt(q.shape[-1])
            seen = allowed[i]
            attended = soft(scores[seen]) @ v[seen] if seen.any() else np.zeros(v.shape[-1])
            total[i] += attended @ w["kernel_output"][head]
    return total


def test_many_heads_by_loops() -> None:
    query, value, w = numbers(2, 3, 4), numbers(2, 5, 6, start=1.0), head_weights(4, 6, 6, 2, 2, 3, 2, 4)
    y = output("MultiHeadAttention", query, value, weights=w, num_heads=2, key_dim=3, value_dim=2)
    for b in range(2):
        assert np.allclose(y[b], by_loops(query[b], value[b], w, np.ones((3, 5), bool)))


def test_query_heads_share_keys() -> None:
    x, w = numbers(1, 4, 3), head_weights(3, 3, 3, 4, 2, 2, 2, 3)
    y = output(
        "GroupQueryAttention",
        x,
        x,
        weights=w,
        head_dim=2,
        num_query_heads=4,
        num_key_value_heads=2,
        use_causal_mask=True,
    )
    assert np.allclose(y[0], by_loops(x[0], x[0], w, np.tri(4, dtype=bool)))


def test_all_masks_are_joined_and_a_query_without_keys_gets_nothing() -> None:
    x, w = numbers(1, 4, 3), head_weights(3, 3, 3, 1, 1, 2, 2, 3)
    given = np.ones((1, 4, 4), bool)
    given[0, 3] = False
    value_mask = np.array([[True, True, False, True]])
    arguments: dict[str, Any] = {
        "num_heads": 1,
        "key_dim": 2,
        "attention_mask": True,
        "sliding_window": 2,
        "use_causal_mask": True,
    }
    y = output("MultiHeadAttention", x, x, given, weights=w, masks=(None, value_mask, None), **arguments)
    allowed = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], bool)
    assert np.allclose(y[0], by_loops(x[0], x[0], w, allowed))
    assert np.allclose(y[0, 3], w["bias_output"])


def test_a_score_that_is_not_a_number_is_no_query_without_keys() -> None:
    shapes = {"kernel_query": (1, 1, 1), "kernel_key": (1, 1, 1), "kernel_value": (1, 1, 1), "kernel_output": (1, 1, 1)}
    weights = {name: np.zeros(shape) for name, shape in shapes.items()}
    query, value = np.full((1, 1, 1), -np.inf), np.zeros((1, 1, 1))
    seen = output("GroupQueryAttention", query, value, weights=weights, use_bias=False)
    assert np.isnan(seen).all()  # 0 times Inf


def test_a_gate_of_zero_weights_halves() -> None:
    x, w = numbers(1, 4, 3), head_weights(3, 3, 3, 1, 1, 2, 2, 3)
    plain = output("MultiHeadAttention", x, x, weights=w, num_heads=1, key_dim=2)
    gated = {**w, "kernel_gate": np.zeros((3, 1, 2)), "bias_gate": np.zeros((1, 2))}
    y = output("MultiHeadAttention", x, x, weights=gated, num_heads=1, key_dim=2, use_gate=True)
    assert np.allclose(y - w["bias_output"], 0.5 * (plain - w["bias_output"]))


def test_attention_over_one_axis_of_many_is_attention_of_each_slice() -> None:
    x, w = numbers(2, 3, 4, 5), head_weights(5, 5, 5, 2, 2, 3, 3, 5)
    arguments: dict[str, Any] = {"weights": w, "num_heads": 2, "key_dim": 3}
    y = output("MultiHeadAttention", x, x, attention_axes=(2,), **arguments)
    assert np.allclose(y[:, 1], output("MultiHeadAttention", x[:, 1], x[:, 1], **arguments))
    y = output("MultiHeadAttention", x, x, **arguments)
    flat = x.reshape(2, 12, 5)
    assert np.allclose(y.reshape(flat.shape), output("MultiHeadAttention", flat, flat, **arguments))


@pytest.mark.parametrize(
    ("equation", "output_shape", "bias_axes", "bias"),
    [
        ("abc,cd->abd", (None, 4), "d", (4,)),
        ("...bc,cd->...bd", (3, 4), "b", (3, 1)),
        ("ab...,bd->ad...", (4,), "d", (4, 1)),
        ("abc,bcd->abd", (3, 4), None, None),
    ],
)
def test_einsum_dense(
    equation: str, output_shape: tuple[int, ...], bias_axes: str | None, bias: tuple[int, ...] | None
) -> None:
    x = numbers(2, 3, 5)
    letters = parse(equation)
    sizes = {"a": 2, "b": 3, "c": 5, "d": 4}
    weights = {"kernel": numbers(*(sizes[letter] for letter in letters.kernel), start=1.0)}
    if bias:
        weights["bias"] = numbers(*bias, start=2.0)
    y = output(
        "EinsumDense",
        x,
        weights=weights,
        equation=equation,
        output_shape=output_shape,
        bias_axes=bias_axes,
        activation="relu",
    )
    expected = np.einsum(equation, x, weights["kernel"]) + weights.get("bias", 0.0)
    assert np.array_equal(y > 0, expected > 0)
    assert np.allclose(y, np.maximum(expected, 0.0))


def test_drawn_equations_fit_their_input() -> None:
    spec = spec_of("EinsumDense")
    for index in range(300):
        draw = Draw(3, "einsum", index)
        types = [TensorType("float32", tuple(draw.integer(1, 5) for _ in range(draw.integer(2, 5))))]
        params = spec.draw_params(draw, types, tries=1)
        assert params is None or not spec.broken_rules(types, params)
        assert params is None or None not in params["output_shape"]  # an unknown size is one for the next layer too
        equation = spec.params["equation"].draw(draw, types[0], spec.complete({}))
        broken = spec.broken_rules(types, spec.complete({"equation": equation, "output_shape": (1,)}))
        assert "the equation fits the input's rank" not in broken
        assert "every letter is known" not in broken
