"""What reductions compute, by hand."""

from typing import Any

import numpy as np
import pytest
from calling import output
from numpy.testing import assert_allclose

from cometfuzz.catalogue.data import draw_data, to_tensor
from cometfuzz.catalogue.drawing import layer_case
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Edge
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.bound import expect, judge
from cometfuzz.reference.run import run


def call(name: str, *arrays: Any, **params: Any) -> Case:
    """One call of an operator on these arrays."""
    given = [np.asarray(array) for array in arrays]
    spec = spec_of(f"ops.{name}")
    types = [TensorType(array.dtype.name, array.shape, high=99 if array.dtype == np.int32 else None) for array in given]
    case = layer_case(spec, types, spec.complete(params), 0)
    return Case(case.graph, 0, {f"x{slot}": to_tensor(array) for slot, array in enumerate(given)})


def value(case: Case, output: int = 0) -> Any:
    return run(case.graph, draw_data(case)).values[Edge("layer", output)]


ROWS = np.array([[1, 2, 3], [4, 5, 9]], dtype=np.float32)


def test_average_weighs_along_an_axis_and_element_by_element() -> None:
    assert_allclose(value(call("average", ROWS, np.array([1, 3], dtype=np.float32), axis=0)), [13 / 4, 17 / 4, 30 / 4])
    assert_allclose(value(call("average", ROWS, ROWS, axis=None)), (1 + 4 + 9 + 16 + 25 + 81) / 24)


def test_moments_are_mean_and_variance_without_correction() -> None:
    case = call("moments", ROWS, axes=(1,))
    assert_allclose(value(case), [2, 6])
    assert_allclose(value(case, 1), [2 / 3, 14 / 3])


@pytest.mark.parametrize(
    ("order", "axis", "expected"),
    [
        (None, None, np.sqrt(136)),
        (1, (0, 1), 12),  # the largest sum of a column
        (-1, (0, 1), 5),
        (1, (1, 0), 18),  # columns are along the second axis that is named
        (0, 1, [3, 3]),
        (3, 0, [65 ** (1 / 3), 133 ** (1 / 3), 756 ** (1 / 3)]),
        (-1, 1, [6 / 11, 1 / (1 / 4 + 1 / 5 + 1 / 9)]),
    ],
)
def test_norms(order: Any, axis: Any, expected: Any) -> None:
    assert_allclose(value(call("norm", ROWS, ord=order, axis=axis)), expected)


def test_nan_counts_for_nothing_where_the_name_says_so() -> None:
    x = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan]], dtype=np.float32)
    assert_allclose(value(call("nanmean", x, axis=1)), [2, np.nan])
    assert_allclose(value(call("nanvar", x, axis=1)), [1, np.nan])
    assert_allclose(value(call("nanprod", x, axis=1)), [3, 1])
    assert_allclose(value(call("nanmax", x, axis=1)), [3, np.nan])
    assert_allclose(value(call("nancumsum", x, axis=1)), [[1, 1, 4], [0, 0, 0]])
    assert value(call("nanargmax", x[0]))[()] == 2


def test_trapezoid_weighs_the_ends_by_half() -> None:
    assert_allclose(value(call("trapezoid", ROWS, dx=2.0, axis=1)), [8, 23])


def test_either_of_two_largest_is_right_and_no_other() -> None:
    case = call("argmax", np.array([[1, 7, 7], [3, 2, 1]], dtype=np.int32), axis=1)
    expected = expect(case.graph, draw_data(case))[Edge("layer")]
    assert judge(expected, np.array([1, 0], dtype=np.int32)).ok
    assert judge(expected, np.array([2, 0], dtype=np.int32)).ok
    assert not judge(expected, np.array([1, 1], dtype=np.int32)).ok


@pytest.mark.parametrize("name", ["median", "quantile", "nanquantile"])
def test_of_nothing_comes_nothing_along_several_axes_too(name: str) -> None:
    assert output(f"ops.{name}", np.zeros((2, 3, 0, 4)), axis=(3, 1)).shape == (2, 0)
