"""Calls one layer of the reference on arrays, through the catalogue's own checks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cometfuzz.reference  # noqa: F401  (registers the meanings)
from cometfuzz.catalogue import spec_of
from cometfuzz.catalogue.validate import type_call
from cometfuzz.draw import Draw
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.call import Call, evaluate, output_masks

Array = NDArray[Any]


def make_call(
    layer: str,
    /,
    *inputs: Array,
    weights: Mapping[str, Array] | None = None,
    masks: Sequence[Array | None] | None = None,
    **params: Any,
) -> Call:
    """A call that the catalogue accepts, with weights of the shapes that it names."""
    spec, masks = spec_of(layer), masks or [None] * len(inputs)
    kinds = {"f": "float64", "i": "int32", "b": "bool"}
    types = [
        TensorType(kinds[x.dtype.kind], x.shape, mask is not None, 100 if x.dtype.kind == "i" else None)
        for x, mask in zip(inputs, masks, strict=True)
    ]
    complete, given = spec.complete(params), weights or {}
    results = type_call(layer, tuple(types), complete)
    assert isinstance(results, tuple), results
    assert {name: w.shape for name, w in given.items()} == dict(spec.weights(spec.view(types), complete))
    return Call(layer, complete, inputs, masks, given, types, results)


def outputs(layer: str, /, *inputs: Array, **rest: Any) -> list[Array]:
    """What the reference computes, in the shapes that the catalogue states."""
    call = make_call(layer, *inputs, **rest)
    results = evaluate(call)
    assert [result.shape for result in results] == [kind.shape for kind in call.outputs]
    return results


def output(layer: str, /, *inputs: Array, **rest: Any) -> Array:
    (result,) = outputs(layer, *inputs, **rest)
    return result


def mask_after(layer: str, /, *inputs: Array, **rest: Any) -> Array | None:
    """The mask that travels with the first output."""
    return output_masks(make_call(layer, *inputs, **rest))[0]


def numbers(*shape: int, start: float = 0.0) -> Array:
    """Numbers without a pattern that a permutation of axes would keep."""
    count = int(np.prod(shape))
    return np.sin(np.arange(count) * 1.7 + start).reshape(shape) * 2.0


def drawn_weights(layer: str, x: Array, params: Mapping[str, Any]) -> dict[str, Array]:
    """Weights of a layer of one float input, drawn from a fixed stream."""
    spec, draw = spec_of(layer), Draw("weights", layer)
    shapes = spec.weights(TensorType("float64", x.shape), spec.complete(params))
    return {name: draw.bells(shape) * 0.5 for name, shape in shapes.items()}


def value(operator: str, *arrays: Any, **params: Any) -> Any:
    """What the operator of that name in keras.ops gives for numbers, as a list."""
    inputs = [np.asarray(array, dtype=float) for array in arrays]
    return evaluate(make_call(f"ops.{operator}", *inputs, **params))[0].tolist()
