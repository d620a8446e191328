"""Operators that put elements at places that indices name; formulas say what those do that choose elements."""

from collections.abc import Callable

import numpy as np

from cometfuzz.reference.call import Array, Call, meaning

_REDUCTIONS: dict[str | None, Callable[[Array, Array], Array]] = {
    None: lambda old, new: new,
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
}


@meaning("ops.scatter")
def scatter(call: Call) -> Array:
    indices, values = call.inputs
    result = np.zeros(call.params.shape, values.dtype)
    for index, value in zip(indices, values, strict=True):
        result[tuple(index)] = value
    return result


@meaning("ops.scatter_update")
def scatter_update(call: Call) -> Array:
    """One update after the other, so that the last one counts where nothing is reduced."""
    inputs, indices, updates = call.inputs
    result, reduce = inputs.copy(), _REDUCTIONS[call.params.reduction]
    for index, update in zip(indices, updates, strict=True):
        result[tuple(index)] = call.rounded(np.asarray(reduce(result[tuple(index)], update)))
    return result
