"""Pooling and convolution as operators, by the functions of the layers."""

from cometfuzz.catalogue.operators.windows import spread
from cometfuzz.reference import convolution, pooling
from cometfuzz.reference.call import Array, Call, meaning


def as_layer(call: Call) -> Call:
    """The same call, with parameters as layers have them."""
    types = tuple(call.types)
    return call.inner(call.layer, spread(types if len(types) > 1 else types[0], call.params))


@meaning("ops.max_pool")
def max_pool(call: Call) -> Array | list[Array]:
    return pooling.max_pooling(as_layer(call))


@meaning("ops.average_pool")
def average_pool(call: Call) -> Array | list[Array]:
    return pooling.average_pooling(as_layer(call))


@meaning("ops.adaptive_max_pool")
def adaptive_max_pool(call: Call) -> Array | list[Array]:
    return pooling.adaptive_max_pooling(as_layer(call))


@meaning("ops.adaptive_average_pool")
def adaptive_average_pool(call: Call) -> Array | list[Array]:
    return pooling.adaptive_average_pooling(as_layer(call))


@meaning("ops.conv")
def conv(call: Call) -> Array:
    p = as_layer(call).params
    x, kernel = call.inputs
    return convolution.convolve(call, x, kernel, p.strides, p.dilation_rate, p.padding, p.data_format)


@meaning("ops.depthwise_conv")
def depthwise_conv(call: Call) -> Array:
    deep = convolution.depthwise(as_layer(call), call.inputs[1])
    return convolution.in_format(deep, call.params.data_format)


@meaning("ops.separable_conv")
def separable_conv(call: Call) -> Array:
    _, kernel, mixer = call.inputs
    deep = convolution.depthwise(as_layer(call), kernel)
    mixed = call.contract("...c,cf->...f", deep, mixer.reshape(mixer.shape[-2:]))
    return convolution.in_format(mixed, call.params.data_format)


@meaning("ops.conv_transpose")
def conv_transpose(call: Call) -> Array:
    return convolution.in_format(convolution.transposed(as_layer(call), call.inputs[1]), call.params.data_format)
