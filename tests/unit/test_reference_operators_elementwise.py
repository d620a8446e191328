"""What the less obvious operators on single elements compute."""

import math

import numpy as np
from numpy.testing import assert_allclose

from cometfuzz.catalogue.spec import spec_of
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.call import Array, Call, evaluate


def compute(name: str, *arrays: Array, **params: object) -> Array:
    spec = spec_of(f"ops.{name}")
    types = [TensorType("float64", array.shape) for array in arrays]
    values = spec.complete(params)
    return evaluate(Call(spec.name, values, arrays, [None] * len(arrays), {}, types, spec.outputs(types, values)))[0]


def test_erfinv_undoes_erf() -> None:
    y = np.array([-3.0, -1.0, -1e-9, 0.0, 1e-300, 0.3, 2.5])
    x = np.array([math.erf(each) for each in y])
    assert_allclose(compute("erfinv", x), y, rtol=1e-11)
    assert_allclose(compute("erfinv", np.array([1.0, -1.0, 1.5])), [np.inf, -np.inf, np.nan])


def test_numbers_are_close_if_both_tolerances_together_say_so() -> None:
    x, y = np.array([1.0, 1.0, np.nan, np.inf, np.inf]), np.array([1.6, 1.8, np.nan, np.inf, 1.0])
    assert compute("isclose", x, y, rtol=0.25, atol=0.25).tolist() == [True, False, False, True, False]
    assert compute("isclose", x, y, rtol=0.25, atol=0.25, equal_nan=True).tolist() == [True, False, True, True, False]
