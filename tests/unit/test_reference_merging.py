"""Merging in the reference: values, broadcasting and what Keras masks do to them."""

import numpy as np
import pytest
from calling import make_call, mask_after, numbers, output

from cometfuzz.catalogue import spec_of
from cometfuzz.ir.types import TensorType

MASKS = (np.array([[True, False, False]]), np.array([[True, True, False]]))


@pytest.mark.parametrize(
    ("layer", "expected"), [("Add", 4.0), ("Multiply", -24.0), ("Average", 1.0), ("Maximum", 4.0), ("Minimum", -3.0)]
)
def test_four_numbers(layer: str, expected: float) -> None:
    inputs = [np.full((2, 3), value) for value in (2.0, 1.0, 4.0, -3.0)]
    assert output(layer, *inputs).tolist() == [[expected] * 3] * 2


def test_subtraction_has_an_order() -> None:
    assert output("Subtract", np.full((1, 2), 5.0), np.full((1, 2), 3.0)).tolist() == [[2.0, 2.0]]


def test_a_lower_rank_gets_axes_after_the_batch() -> None:
    x, y = numbers(2, 3, 4, 5), numbers(2, 4, 1)
    result = output("Add", y, x)
    for b, i, j, k in np.ndindex(x.shape):
        assert result[b, i, j, k] == pytest.approx(x[b, i, j, k] + y[b, j, 0])


def test_integers_stay_integers_and_keep_a_bound() -> None:
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert output("Multiply", x, x).dtype == np.int32
    types = [TensorType("int32", (2, 3), high=4), TensorType("int32", (2, 3), high=7)]
    highs = {name: spec_of(name).high(tuple(types), None) for name in ("Add", "Multiply", "Maximum", "Minimum")}
    assert highs == {"Add": 10, "Multiply": 19, "Maximum": 7, "Minimum": 4}


def test_shapes_that_do_not_broadcast_break_a_rule() -> None:
    spec = spec_of("Add")
    types = [TensorType("float32", (2, 3)), TensorType("float32", (2, 4))]
    assert spec.broken_rules(types, spec.complete({})) == ["shapes broadcast"]
    types = [TensorType("float32", (2, 3)), TensorType("float32", (1, 3))]
    assert spec.broken_rules(types, spec.complete({})) == ["shapes broadcast"]


def test_masked_factors_count_as_one_and_products_without_any_as_zero() -> None:
    x, y = np.full((1, 3, 2), 3.0), np.full((1, 3, 2), 5.0)
    assert output("Multiply", x, y, masks=MASKS)[0, :, 0].tolist() == [15.0, 5.0, 0.0]
    assert output("Multiply", x, y, masks=(MASKS[0], None))[0, :, 0].tolist() == [15.0, 5.0, 5.0]


def test_masked_elements_give_way_in_extremes() -> None:
    x, y = np.full((1, 3, 2), 9.0), np.full((1, 3, 2), 5.0)
    assert output("Maximum", x, y, masks=MASKS)[0, :, 0].tolist() == [9.0, 5.0, 9.0]
    assert output("Minimum", x, y, masks=(None, MASKS[1]))[0, :, 0].tolist() == [5.0, 5.0, 9.0]


def test_the_mask_of_a_merge_is_any_of_all() -> None:
    x = numbers(1, 3, 2)
    assert np.array_equal(mask_after("Add", x, x, masks=MASKS), [[True, True, False]])
    assert mask_after("Add", x, x, masks=(MASKS[0], None)) is None
    assert make_call("Dot", x, x, masks=MASKS).outputs[0].masked is False


def test_concatenation_and_its_mask() -> None:
    x, y = numbers(1, 3, 2), numbers(1, 3, 4)
    assert np.array_equal(output("Concatenate", x, y)[..., 2:], y)
    assert np.array_equal(mask_after("Concatenate", x, y, masks=MASKS), MASKS[0] | MASKS[1])
    assert np.array_equal(mask_after("Concatenate", x, y, masks=(MASKS[0], None)), [[True] * 3])
    longer = mask_after("Concatenate", x, numbers(1, 1, 2), masks=(MASKS[0], None), axis=1)
    assert np.array_equal(longer, [[True, False, False, True]])


def test_dot_by_loops() -> None:
    x, y = numbers(2, 3, 4), numbers(2, 5, 3, 2)
    result = output("Dot", x, y, axes=(1, 2))
    for b, i, j, k in np.ndindex(2, 4, 5, 2):
        assert result[b, i, j, k] == pytest.approx(sum(x[b, n, i] * y[b, j, n, k] for n in range(3)))


def test_dot_of_vectors_keeps_an_axis_and_normalized_is_the_cosine() -> None:
    x = np.array([[3.0, 4.0]])
    y = np.array([[4.0, 3.0]])
    assert output("Dot", x, y, axes=-1).tolist() == [[24.0]]
    assert output("Dot", x, y, axes=1, normalize=True) == pytest.approx(np.array([[24.0 / 25.0]]))
