"""Determinants near singular matrices."""

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data, to_tensor
from cometfuzz.catalogue.drawing import layer_case
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Edge
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.bound import expect, judge


@pytest.mark.parametrize(
    ("rows", "free"),
    [
        ([[0.1, 0.1], [0.3, 0.3]], True),  # singular but for rounding: the logarithm is -Inf, or that of an error
        ([[np.inf, 1.0], [0.0, 1.0]], True),
        ([[0.0, 0.0], [0.0, 0.0]], True),
        ([[1e-9, 0.0], [0.0, 2e-9]], False),  # a small determinant is no reason
        ([[2.0, 1.0], [1.0, 3.0]], False),
    ],
)
def test_the_sign_of_a_determinant_is_open_where_the_matrix_may_be_singular(
    rows: list[list[float]], free: bool
) -> None:
    given, spec = np.array(rows, np.float32), spec_of("ops.slogdet")
    graph = layer_case(spec, [TensorType("float32", given.shape)], spec.complete({}), 0).graph
    expected = expect(graph, draw_data(Case(graph, 0, {"x0": to_tensor(given)})))
    assert judge(expected[Edge("layer", 1)], np.array(-np.inf, np.float32)).ok == free
    assert judge(expected[Edge("layer")], np.array(-1.0, np.float32)).ok == free
