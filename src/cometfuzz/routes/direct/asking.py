"""What can be written, asked without a child: a call is written with weights of zeros, and forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import POLICY, TensorType
from cometfuzz.routes.direct.families import WRITERS
from cometfuzz.routes.direct.unsaid import UNSAID
from cometfuzz.routes.direct.writing import Call, Unsaid, Writing, written

USUAL, NEWEST = 15, 26
"""The opset that files have: what all readers know; where that cannot say a graph, the newest that ONNX Runtime says it
knows."""


def objection(
    layer: str,
    params: Params,
    types: Sequence[TensorType],
    outputs: Sequence[TensorType],
    shapes: Sequence[tuple[int, ...]],
) -> str:
    """Why a call cannot be written at any opset, or nothing."""
    if layer in UNSAID:
        return UNSAID[layer]
    return why_not(layer, params, types, outputs, shapes, NEWEST)


def why_not(layer: str, params: Params, types: Any, outputs: Any, shapes: Any, opset: int) -> str:
    """The same at one opset."""
    if POLICY in params:
        return "nobody writes dtype policies"
    w = Writing(opset)
    names = tuple(f"x{place}" for place in range(len(types)))
    w.dtypes.update({name: kind.dtype for name, kind in zip(names, types)})
    weights = tuple(np.broadcast_to(np.zeros(()), shape) for shape in shapes)
    try:
        written(Call(w, layer, params, names, tuple(types), tuple(outputs), weights))
    except Unsaid as reason:
        return str(reason)
    return ""


def is_written(layer: str) -> bool:
    """Whether there is a writer for a layer."""
    return layer in WRITERS
