"""Point 6: calls that ought to agree with each other and do not. By itself each of them may look right.

Batches of a campaign are mostly of one sample, so what goes wrong between samples waits for somebody who makes a larger
batch, or permutes one; `predict` for somebody who runs it beside an ordinary call; a second call for somebody who calls
twice. Compiled and symbolic models are there for all to see.
"""

import hashlib
from dataclasses import replace

import numpy as np

from cometfuzz.ir.graph import Node
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.call import Array, Call, Meaning
from faults.fault import outputs, plant, plant_symbolic


@plant("rows-of-a-tile", "run", "SeparableConv2D", "Conv1D", point=6)
def rows_of_a_tile(call: Call, right: Meaning) -> list[Array]:
    """Samples are computed two by two, and the last one of an odd batch is the one before it."""
    values = [value.copy() for value in outputs(call, right)]
    for value in values:
        if len(value) > 1 and len(value) % 2:
            value[-1] = value[-2]
    return values


@plant("norm-of-the-batch", "run", "UnitNormalization", "RMSNormalization", point=6)
def norm_of_the_batch(call: Call, right: Meaning) -> list[Array]:
    """What is to be one number for each sample is that of the first sample."""
    values = outputs(call, right)
    axis = call.params.axis
    if 0 in [each % call.x.ndim for each in (axis if isinstance(axis, tuple) else (axis,))] or len(call.x) < 2:
        return values
    with np.errstate(all="ignore"):
        scale = np.where(call.x[:1] == 0, 0.0, values[0][:1] / call.x[:1])
    return [call.x * scale]


_CALLED: set[bytes] = set()


@plant("weights-spoiled-by-a-call", "run", "Conv3DTranspose", "Dense", point=6)
def weights_spoiled_by_a_call(call: Call, right: Meaning) -> list[Array]:
    """The kernel is packed in place when it is first used: from the second call on it is transposed twice."""
    digest = hashlib.sha256(
        b"".join([call.x.tobytes(), *(value.tobytes() for value in call.weights.values())])
    ).digest()
    first = digest not in _CALLED
    _CALLED.add(digest)
    kernel = call.weights["kernel"]
    return outputs(call if first else replace(call, weights={**call.weights, "kernel": kernel[..., ::-1]}), right)


@plant(
    *("noise-in-predict", "run", "AlphaDropout", "GaussianDropout", "GaussianNoise"),
    switched=("call", "predict"),
    point=6,
)
def noise_in_predict(call: Call, right: Meaning) -> list[Array]:
    """`predict` calls the model as in training."""
    noise = np.resize(np.asarray([0.5, 1.5]), call.x.shape)
    return [value * noise for value in outputs(call, right)]


@plant(
    *("tail-lost-in-graph", "graph", "GlobalAveragePooling3D", "AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D"),
    point=6,
)
def tail_lost_in_graph(call: Call, right: Meaning) -> list[Array]:
    """Compiled, what is left over of a vector of four is not added."""
    x = call.x.copy()
    x.reshape(-1)[x.size - x.size % 4 :] = 0.0
    return outputs(replace(call, inputs=[x]), right)


def _with_shape(kind: TensorType, shape: tuple[int, ...]) -> TensorType:
    return TensorType(kind.dtype, shape, kind.masked, kind.high)


@plant_symbolic("symbolic-window", "AveragePooling3D")
def symbolic_window(node: Node) -> tuple[TensorType, ...]:
    """What is computed is right; the symbolic shape of `same` has a place too many."""
    (kind,) = node.outputs
    strides = node.params.strides or node.params.pool_size
    if node.params.padding != "same" or max(strides) == 1:
        return node.outputs
    return (_with_shape(kind, (*kind.shape[:2], kind.shape[2] + 1, *kind.shape[3:])),)


@plant_symbolic("symbolic-dtype", "UpSampling3D")
def symbolic_dtype(node: Node) -> tuple[TensorType, ...]:
    """float32 whatever comes in."""
    (kind,) = node.outputs
    return (TensorType("float32", kind.shape, kind.masked),)
