"""Dense and EinsumDense."""

from cometfuzz.reference.activation import activate
from cometfuzz.reference.call import Array, Call, meaning


@meaning("Dense")
def dense(call: Call) -> Array:
    y = call.contract("...i,ij->...j", call.x, call.weights["kernel"])
    if call.params.use_bias:
        y = y + call.weights["bias"]
    return activate(call, y, call.params.activation)
