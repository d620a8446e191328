"""Gaps of convolutions.

TensorFlow runs float32 and bfloat16 by oneDNN on the CPU and the other dtypes by kernels of its own, which know
less. Grouped convolutions, and 3D ones with channels first, go through XLA instead.
"""

from typing import Any

from cometfuzz.catalogue.convolution import transposed_places
from cometfuzz.catalogue.shapes import channels, ones, spatial, window
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap
from cometfuzz.routes.gaps.volumes import reads_stray_memory, shifts_windows

TF, KERAS2 = ("keras-tf",), ("keras2-tf",)
CONV = ("Conv1D", "Conv2D", "Conv3D")
DEPTHWISE = ("DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D")
_EMPTY = "tf.nn.conv2d(tf.zeros((0, 6, 6, 1)), tf.zeros((2, 2, 1, 5)), 1, 'VALID').shape is (0, 6, 6, 1)"
_NEGATIVE = "Negative dimension size caused by subtracting 2 from 1 (empty input, dilated)"
_OUT_OF_STEP = (
    "Size of out_backprop doesn't match computed: actual = 6, computed = 5 "
    "(even kernel, output_padding=0, padding='same')"
)
_NO_PRIMITIVE = (
    "could not create a primitive descriptor for the convolution forward propagation primitive "
    "(even kernel, output_padding=0, padding='same')"
)
TRANSPOSED = ("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")


def _own_kernels(x: TensorType) -> bool:
    """Whether TensorFlow uses its own kernels, not oneDNN's."""
    return x.dtype in ("float16", "float64")


def _channels_first(p: Any) -> bool:
    return bool(p.data_format == "channels_first")


def _filters(x: TensorType, p: Any) -> int:
    return int(p.filters if "filters" in p else channels(x, p) * p.depth_multiplier)


def _by_xla(x: TensorType, p: Any) -> bool:
    return "groups" in p and (p.groups > 1 or (x.rank == 5 and _channels_first(p)))


def _no_places(x: TensorType, p: Any) -> bool:
    return 0 in spatial(x, p)


def _shrinks_away(p: Any) -> bool:
    """Whether some axis of a transposed convolution ends at a multiple of the stride that no input reaches."""
    if p.padding != "same" or p.output_padding is None:
        return False
    extents = [(k - 1) * d + 1 for k, d in zip(p.kernel_size, p.dilation_rate, strict=True)]
    return any(extent % 2 == 0 and extra == 0 for extent, extra in zip(extents, p.output_padding, strict=True))


def _has_output(x: TensorType, p: Any) -> bool:
    return x.elements > 0 and 0 not in transposed_places(spatial(x, p), p)


def _empty_by_onednn(x: TensorType, p: Any) -> bool:
    return x.elements == 0 and not _own_kernels(x) and not _by_xla(x, p)


def _empty_misfits(x: TensorType, p: Any) -> bool:
    """Whether the next operation refuses what oneDNN makes of an empty input: the input's shape, maybe padded."""
    if not _empty_by_onednn(x, p):
        return False
    sizes, depth = spatial(x, p), channels(x, p)
    if p.padding == "same" and not ones(p.dilation_rate):
        extra = [(k - 1) * d for k, d in zip(p.kernel_size, p.dilation_rate, strict=True)]
        sizes = tuple(n + more for n, more in zip(sizes, extra, strict=True))
    if "pointwise_initializer" in p:
        if p.depth_multiplier > 1:
            return True
        if 0 not in (x.shape[0], *sizes):
            return False
    ends = (depth, sizes[-1]) if _channels_first(p) else (sizes[0], depth)
    return bool(p.use_bias) and _filters(x, p) != 1 and depth != 1 and _filters(x, p) not in ends


def _bias_on_last_axis(x: TensorType, p: Any) -> bool:
    if not (p.use_bias and _channels_first(p) and _filters(x, p) > 1):
        return False
    if "output_padding" in p:
        places = transposed_places(spatial(x, p), p)
    else:
        places = window(spatial(x, p), p.kernel_size, p.strides, p.dilation_rate, p.padding)
    return places[-1] == _filters(x, p)


def _undilated(p: Params) -> Params:
    """What the Conv3DTranspose of Keras 2 makes of its parameters."""
    return p.replace(dilation_rate=(1,) * len(p.kernel_size))


def _lost_places(x: TensorType, p: Params) -> bool:
    return transposed_places(spatial(x, p), p) != transposed_places(spatial(x, p), _undilated(p))


def _lost_dilation(p: Params) -> bool:
    return any(k > 1 and d > 1 for k, d in zip(p.kernel_size, p.dilation_rate, strict=True))


def _shrinks_on_keras2(x: TensorType, p: Params) -> bool:
    return (x.rank == 5 or ones(p.dilation_rate)) and _shrinks_away(_undilated(p))


def _empty_on_keras2(x: TensorType, p: Params) -> bool:
    return x.elements == 0 and not _own_kernels(x) and p.get("groups", 1) == 1


_ON_KERAS2 = (
    Gap(
        routes=KERAS2,
        layers=("SeparableConv1D", "SeparableConv2D"),
        when=_no_places,
        raises="ValueError",
        kind="bug",
        evidence="Negative dimension size caused by subtracting 1 from 0 (the pointwise step of an empty input)",
    ),
    Gap(
        routes=KERAS2,
        layers=CONV + DEPTHWISE,
        when=lambda x, p: _no_places(x, p) and not ones(p.dilation_rate),
        raises="ValueError",
        kind="bug",
        evidence=_NEGATIVE,
    ),
    Gap(
        routes=KERAS2,
        layers=CONV + DEPTHWISE,
        when=_empty_on_keras2,
        raises="InvalidArgumentError",
        kind="bug",
        always=False,
        evidence="as below; then: Must provide as many biases as the last dimension of the input tensor",
    ),
    Gap(
        routes=KERAS2,
        layers=CONV + DEPTHWISE,
        when=_empty_on_keras2,
        symptom="shape",
        kind="bug",
        always=False,
        evidence=_EMPTY,
    ),
    Gap(
        routes=KERAS2,
        layers=("Conv3D",),
        when=lambda x, p: _own_kernels(x) and _channels_first(p) and p.groups == 1 and x.elements > 0,
        raises="InvalidArgumentError",
        evidence="CPU implementation of Conv3D currently only supports the NHWC tensor format.",
    ),
    Gap(
        routes=KERAS2,
        layers=("DepthwiseConv1D", "SeparableConv1D", "SeparableConv2D"),
        when=lambda x, p: _own_kernels(x) and _channels_first(p) and x.elements > 0,
        raises="UnimplementedError",
        evidence="Depthwise convolution on CPU is only supported for NHWC format",
    ),
    Gap(
        routes=KERAS2,
        layers=("Conv3DTranspose",),
        when=lambda x, p: _own_kernels(x) and _channels_first(p),
        raises="InvalidArgumentError",
        evidence="Conv3DBackpropInputOpV2 only supports NDHWC on the CPU.",
    ),
    Gap(
        routes=KERAS2,
        layers=("Conv2DTranspose",),
        when=lambda x, p: p.dilation_rate[0] != p.dilation_rate[1],
        raises="ValueError",
        evidence="Expected the 2 dimensions of the `dilation_rate` argument to be equal to each other.",
    ),
    Gap(
        routes=KERAS2,
        layers=("Conv3DTranspose",),
        when=_lost_places,
        raises="StaticTypeMismatch",
        kind="bug",
        evidence="Conv3DTranspose(1, 2, dilation_rate=4) on (1, 3, 3, 3, 1) makes (1, 4, 4, 4, 1), not (1, 7, 7, 7, 1)",
    ),
    Gap(
        routes=KERAS2,
        layers=("Conv3DTranspose",),
        when=lambda x, p: _lost_dilation(p) and not _lost_places(x, p),
        symptom="value",
        kind="bug",
        always=False,
        evidence="Conv3DTranspose(..., padding='same') gives the same values with and without dilation_rate",
    ),
    Gap(
        routes=KERAS2,
        layers=TRANSPOSED,
        when=lambda x, p: _own_kernels(x) and _shrinks_on_keras2(x, p),
        raises="InvalidArgumentError",
        kind="bug",
        evidence=_OUT_OF_STEP,
    ),
    Gap(
        routes=KERAS2,
        layers=TRANSPOSED,
        when=lambda x, p: not _own_kernels(x) and _shrinks_on_keras2(x, p) and _has_output(x, _undilated(p)),
        raises="AbortedError",
        kind="bug",
        evidence=_NO_PRIMITIVE,
    ),
)


def _direct_volume(x: TensorType, p: Any) -> bool:
    """Whether a Conv3D runs on TensorFlow's own 3D convolution; see `volumes`."""
    return not _by_xla(x, p) and not _channels_first(p) and ones(p.dilation_rate)


GAPS: tuple[Gap, ...] = (
    *_ON_KERAS2,
    Gap(
        routes=TF + KERAS2,
        layers=("Conv3D",),
        when=lambda x, p: (
            _own_kernels(x)
            and _direct_volume(x, p)
            and shifts_windows(spatial(x, p), p.kernel_size, p.strides, p.padding)
        ),
        symptom="value",
        always=False,
        kind="bug",
        evidence="a 1 x 1 x 1 convolution of [1, 2, 3] with SAME and stride 3 is [2] in float64, [1] in float32",
    ),
    Gap(
        routes=TF + KERAS2,
        layers=("Conv3D",),
        by_chance=True,
        when=lambda x, p: (
            _direct_volume(x, p)
            and reads_stray_memory(x.dtype, channels(x, p), spatial(x, p), p.kernel_size, p.strides, p.padding)
        ),
        symptom="value",
        always=False,
        kind="bug",
        evidence="oneDNN's 3D convolution of one channel reads memory that nobody has set: NaN now and then",
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=("SeparableConv1D",),
        when=lambda x, p: p.padding == "causal",
        raises="ValueError",
        evidence="The `padding` argument must be a list/tuple or one of {'same', 'valid'}. Received: causal",
    ),
    Gap(
        routes=TF + KERAS2,
        layers=("Conv1D", "Conv2D"),
        when=lambda x, p: _own_kernels(x) and _channels_first(p) and p.groups == 1 and x.elements > 0,
        raises="UnimplementedError",
        evidence="The Conv2D op currently only supports the NHWC tensor format on the CPU.",
    ),
    Gap(
        routes=TF + KERAS2,
        layers=("DepthwiseConv2D", "SeparableConv2D"),
        when=lambda x, p: _own_kernels(x) and p.strides[0] != p.strides[1],
        raises="InvalidArgumentError",
        evidence="Current implementation only supports equal length strides in the row and column dimensions.",
    ),
    Gap(
        routes=TF,
        layers=TRANSPOSED,
        when=lambda x, p: _own_kernels(x) and (_channels_first(p) or not ones(p.dilation_rate)),
        raises="InvalidArgumentError",
        evidence="Conv2DCustomBackpropInputOp only supports NHWC; "
        "Current CPU implementations do not yet support dilation rates larger than 1.",
    ),
    Gap(
        routes=TF,
        layers=TRANSPOSED,
        when=lambda x, p: _own_kernels(x) and _shrinks_away(p),
        raises="InvalidArgumentError",
        kind="bug",
        evidence=_OUT_OF_STEP,
    ),
    Gap(
        routes=TF,
        layers=TRANSPOSED,
        when=lambda x, p: not _own_kernels(x) and _shrinks_away(p) and _has_output(x, p),
        raises="AbortedError",
        kind="bug",
        evidence=_NO_PRIMITIVE,
    ),
    Gap(
        routes=TF,
        layers=CONV,
        when=lambda x, p: _by_xla(x, p) and _no_places(x, p) and not ones(p.dilation_rate),
        raises="ValueError",
        kind="bug",
        evidence=_NEGATIVE,
    ),
    Gap(
        routes=TF,
        layers=CONV + DEPTHWISE,
        when=_empty_misfits,
        raises="InvalidArgumentError",
        kind="bug",
        evidence="as below; then bias or pointwise kernel do not fit: Incompatible shapes: [0,6,6,3] vs [1,1,1,5]",
    ),
    Gap(
        routes=TF,
        layers=CONV + DEPTHWISE,
        when=_empty_by_onednn,
        symptom="shape",
        kind="bug",
        always=False,
        evidence=_EMPTY,
    ),
    Gap(
        routes=TF,
        layers=CONV + DEPTHWISE + TRANSPOSED,
        when=_bias_on_last_axis,
        symptom="value",
        kind="bug",
        always=False,
        evidence="keras.ops.add(x, bias) of shapes (1, 5, 5) and (1, 5, 1) adds the bias along the last axis",
    ),
    Gap(
        routes=("keras-torch",),
        layers=CONV + DEPTHWISE,
        when=_no_places,
        raises="RuntimeError",
        evidence="Calculated padded input size per channel: (1). Kernel size: (2). "
        "Kernel size can't be greater than actual input size",
    ),
)
