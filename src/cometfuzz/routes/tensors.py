"""Tensors between the wire and numpy, in the child. bfloat16 arrives as what it is where ml_dtypes is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from cometfuzz.protocol import WireTensor


def dtype_of(name: str) -> Any:
    """The numpy dtype of that name."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def to_array(tensor: WireTensor) -> Any:
    """An array of its own memory, which a library may write to."""
    return np.frombuffer(tensor.data, dtype=dtype_of(tensor.dtype)).reshape(tensor.shape).copy()


def to_wire(values: Any, dtype: str = "") -> WireTensor:
    """`dtype` where numpy does not say it: of bfloat16 values that a library widened, or handed out as their bits."""
    array = np.asarray(values)
    if dtype == "bfloat16":
        array = array.view(np.uint16) if array.dtype.itemsize == 2 else array.astype(dtype_of(dtype))
    return WireTensor(dtype or array.dtype.name, tuple(array.shape), np.ascontiguousarray(array).tobytes())
