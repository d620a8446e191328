"""Point 8: faults at one setting of a library only, out of `fault.SETTINGS`.

Routes run with the usual settings, at which all but one of these are right. They wait for somebody who runs a route
with another level, another number of threads, or another environment.
"""

from dataclasses import replace

import numpy as np

from cometfuzz.reference.call import Array, Call, Meaning
from faults.fault import FAULTS, Fault, outputs, plant
from faults.layers import pool_counts_padding


@plant(
    *("dropout-scaled-at-basic", "run", "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
    switched=("level", "basic"),
    point=8,
)
def dropout_scaled_at_basic(call: Call, right: Meaning) -> list[Array]:
    """Removing the node leaves its factor behind."""
    return [value * (1.0 - call.params.rate) for value in outputs(call, right)]


@plant("unfused-epsilon", "run", "BatchNormalization", switched=("level", "none"), point=8)
def unfused_epsilon(call: Call, right: Meaning) -> list[Array]:
    """Without any fusion another kernel runs, which has an epsilon of its own."""
    return outputs(replace(call, params=call.params.replace(epsilon=0.1)), right)


@plant("fused-bias-last", "run", "Conv2D", switched=("level", "extended"), point=8)
def fused_bias_last(call: Call, right: Meaning) -> list[Array]:
    """Fused with its activation, a convolution adds its bias last."""
    if not call.params.use_bias:
        return outputs(call, right)
    (value,) = outputs(replace(call, params=call.params.replace(use_bias=False)), right)
    bias = call.weights["bias"]
    return [value + (bias if call.params.data_format == "channels_last" else bias[:, None, None])]


@plant("identity-doubled-at-all", "run", "Identity", "ActivityRegularization", switched=("level", "all"), point=8)
def identity_doubled_at_all(call: Call, right: Meaning) -> list[Array]:
    """At the usual level, where anybody sees it; the level is to blame."""
    return [value + value if value.dtype.kind == "f" else value for value in outputs(call, right)]


@plant("tail-of-the-sum", "run", "Add", switched=("PLANTED_ISA", "sse"), point=8)
def tail_of_the_sum(call: Call, right: Meaning) -> list[Array]:
    """In short vectors, what is left over of a row is not added."""
    value, first = (
        outputs(call, right)[0].copy(),
        outputs(replace(call, inputs=[call.x, *map(np.zeros_like, call.inputs[1:])]), right)[0],
    )
    tail = value.size - max(value.size % 4, 1)
    value.reshape(-1)[tail:] = first.reshape(-1)[tail:]
    return [value]


FAULTS["other-kernels-count-padding"] = Fault(
    *("other-kernels-count-padding", "run", ("AveragePooling3D", "AveragePooling2D"), pool_counts_padding),
    switched=("PLANTED_ONEDNN", "0"),
    point=8,
)


@plant("second-thread-starts-over", "run", "DepthwiseConv1D", "LocallyConnected1D", switched=("threads", "2"), point=8)
def second_thread_starts_over(call: Call, right: Meaning) -> list[Array]:
    """The second of two threads computes the first half again."""
    (value,) = outputs(call, right)
    flat = value.reshape(-1).copy()
    half = flat.size // 2
    flat[half : 2 * half] = flat[:half]
    return [flat.reshape(value.shape)]
