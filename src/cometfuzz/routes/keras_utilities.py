"""Utility nodes in keras.ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from cometfuzz.ir.graph import Node


def _dtype_name(x: Any) -> str:
    """The dtype of a tensor of any backend, or of a symbolic one, as the IR names it."""
    return str(getattr(x.dtype, "name", x.dtype)).removeprefix("torch.")


def utility(ops: Any, node: Node, x: Any) -> Any:
    """A utility node in keras.ops."""
    p, shape = node.params, tuple(node.outputs[0].shape)
    if node.layer == "cast":
        if p.dtype == "int32":
            x = ops.clip(ops.where(ops.isnan(x), ops.zeros_like(x), x), 0, p.high - 1) if "float" in str(x.dtype) else x
            return ops.clip(ops.cast(x, "int32"), 0, p.high - 1)
        if p.dtype == _dtype_name(x):  # Keras would give back x itself, and with it the mask that a utility drops
            return ops.squeeze(ops.expand_dims(x, 0), 0)
        return ops.not_equal(x, 0) if p.dtype == "bool" else ops.cast(x, p.dtype)
    if node.layer == "pad":
        value = p.value if "float" in str(x.dtype) else int(p.value)
        return ops.pad(x, p.paddings, constant_values=value)
    if node.layer == "crop":
        if None in tuple(x.shape):
            return x[tuple(slice(before, -after or None) for before, after in p.crops)]
        starts = [before for before, _ in p.crops]
        return ops.slice(x, starts, shape)
    if node.layer == "expand":
        return ops.expand_dims(x, p.axis)
    if node.layer == "squeeze":
        return ops.squeeze(x, p.axis)
    if node.layer == "reshape":
        return ops.reshape(x, p.shape)
    value = 0.0 if p.value == "zero" else float(p.value)
    if node.layer == "scale":
        return ops.cast(ops.multiply(x, value), node.outputs[0].dtype)  # on PyTorch, Keras makes float32 of float64
    filled = ops.full_like(x, value)
    if p.elements == "first":
        first = np.zeros(shape, dtype=bool)
        first.reshape(-1)[:1] = True
        filled = ops.where(first, filled, x)
    return ops.cast(filled, node.outputs[0].dtype)  # the same
