"""Dense and EinsumDense."""

from cometfuzz.reference.activation import activate
from cometfuzz.reference.call import Array, Call, meaning


@meaning("Dense")
def dense(call: Call) -> Array:
    y = call.contract("...i,ij->...j", call.x, call.weights["kernel"])
    if call.params.use_bias:
        y = y + call.weights["bias"]
    return activate(call, y, call.params.activation)


@meaning("EinsumDense")
def einsum_dense(call: Call) -> Array:
    y = call.contract(call.params.equation, call.x, call.weights["kernel"])
    if call.params.bias_axes is not None:
        y = y + call.weights["bias"]
    return activate(call, y, call.params.activation)
