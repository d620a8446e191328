"""What operators that put in order, look up and count compute, by hand."""

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from cometfuzz.catalogue.data import draw_data, to_tensor
from cometfuzz.catalogue.drawing import layer_case
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.bound import Expected, expect, judge


def outputs(name: str, *arrays: Any, **params: Any) -> list[Expected]:
    """What one call of an operator on these arrays should give."""
    given, spec = [np.asarray(array) for array in arrays], spec_of(f"ops.{name}")
    types = [
        TensorType(array.dtype.name, array.shape, high=int(array.max()) + 1 if array.dtype == np.int32 else None)
        for array in given
    ]
    graph = layer_case(spec, types, spec.complete(params), 0).graph
    case = Case(graph, 0, {f"x{slot}": to_tensor(array) for slot, array in enumerate(given)})
    return [expect(graph, draw_data(case))[edge] for edge in graph.outputs]


def floats(*values: float) -> Any:
    return np.array(values, dtype=np.float32)


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def test_the_order_of_equal_elements_is_open() -> None:
    (expected,) = outputs("argsort", ints(5, 1, 5, 0))
    assert judge(expected, ints(3, 1, 0, 2)).ok
    assert judge(expected, ints(3, 1, 2, 0)).ok
    assert not judge(expected, ints(1, 3, 0, 2)).ok


def test_top_k_is_strict_about_values_and_not_about_which_of_equal_ones() -> None:
    values, places = outputs("top_k", floats(2, 9, 2, 4), k=3)
    assert judge(values, floats(9, 4, 2)).ok
    assert not judge(values, floats(4, 9, 2)).ok
    assert judge(places, ints(1, 3, 0)).ok
    assert judge(places, ints(1, 3, 2)).ok
    assert not judge(places, ints(3, 1, 0)).ok


def test_a_target_is_among_the_largest_if_fewer_than_k_are_larger() -> None:
    scores = np.array([[0.1, 0.4, 0.6, 0.9, 0.5], [0.1, 0.7, 0.9, 0.8, 0.3]], dtype=np.float32)
    (expected,) = outputs("in_top_k", ints(2, 4), scores, k=3)
    assert_array_equal(expected.value, [True, False])
    tie = np.array([[0.5, 0.5, 0.9]], dtype=np.float32)
    (expected,) = outputs("in_top_k", ints(0), tie, k=2)
    assert judge(expected, np.array([False])).ok


def test_limits_are_sorted_first_and_equal_numbers_lie_on_the_named_side() -> None:
    limits, numbers = floats(3, 1, 2), floats(0, 2, 5)
    assert_array_equal(outputs("searchsorted", limits, numbers, side="left")[0].value, [0, 1, 3])
    assert_array_equal(outputs("searchsorted", limits, numbers, side="right")[0].value, [0, 2, 3])
    assert_array_equal(outputs("digitize", numbers, limits)[0].value, [0, 2, 3])
    assert_array_equal(outputs("digitize", numbers, floats())[0].value, [0, 0, 0])


def test_labels_become_ones_along_the_named_axis() -> None:
    labels = np.array([[0, 2], [1, 1]], dtype=np.int32)
    (expected,) = outputs("one_hot", labels, num_classes=3, axis=1)
    assert_array_equal(expected.value[0], [[1, 0], [0, 0], [0, 1]])
    assert_array_equal(outputs("multi_hot", labels, num_classes=4)[0].value, [[1, 0, 1, 0], [0, 1, 0, 0]])


def test_segments_without_rows_have_the_neutral_element_or_anything() -> None:
    data, numbers = floats(1, 2, 3, 4), ints(0, 2, 0, 2)
    assert_array_equal(outputs("segment_sum", data, numbers, num_segments=3)[0].value, [4, 0, 6])
    assert_array_equal(outputs("segment_prod", data, numbers, num_segments=3)[0].value, [3, 1, 8])
    (largest,) = outputs("segment_max", data, numbers, num_segments=3)
    assert judge(largest, floats(3, -np.inf, 4)).ok
    assert not judge(largest, floats(3, 0, 2)).ok


def test_the_last_part_of_a_range_has_its_end() -> None:
    counts, limits = outputs("histogram", floats(-2.5, -1.9, 0.3, 0.4, 1.9), bins=4, range=(-2.0, 2.0))
    assert_array_equal(counts.value, [1, 0, 2, 1])
    assert_array_equal(limits.value, [-2, -1, 0, 1, 2])
