"""Conditions on convolutions.

TensorFlow runs float32 and bfloat16 by oneDNN on the CPU and the other dtypes by kernels of its own, which know
less. Grouped convolutions, and 3D ones with channels first, go through XLA instead.
"""

from collections.abc import Sequence
from typing import Any

from cometfuzz.catalogue.convolution import transposed_places
from cometfuzz.catalogue.operators.windows import spread
from cometfuzz.catalogue.shapes import channels, ones, spatial, window
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.predicates import predicate

Sizes = Sequence[int]


def _channels_first(p: Params) -> bool:
    return bool(p.data_format == "channels_first")


def _filters(x: TensorType, p: Params) -> int:
    return int(p.filters if "filters" in p else channels(x, p) * p.depth_multiplier)


@predicate
def compiled_by_xla(x: TensorType, p: Params) -> bool:
    """Keras has the convolution compiled by XLA: a grouped one, or a 3D one with channels first."""
    return "groups" in p and bool(p.groups > 1 or (x.rank == 5 and _channels_first(p)))


@predicate
def grouped(x: Any, p: Params) -> bool:
    """A convolution in groups."""
    return bool(p.get("groups", 1) > 1)


@predicate
def dilated(x: Any, p: Params) -> bool:
    """A dilated kernel."""
    return not ones(p.dilation_rate)


@predicate
def strided_and_dilated(x: Any, p: Params) -> bool:
    """Both strides and a dilated kernel."""
    return not ones(p.strides) and not ones(p.dilation_rate)


@predicate
def dilated_unevenly(x: Any, p: Params) -> bool:
    """Dilated by different rates along the first two axes."""
    return bool(p.dilation_rate[0] != p.dilation_rate[1])


@predicate
def strides_unevenly(x: Any, p: Params) -> bool:
    """Different strides along the first two axes."""
    return bool(p.strides[0] != p.strides[1])


@predicate
def channels_first_or_dilated(x: Any, p: Params) -> bool:
    """Channels first, or a dilated kernel."""
    return _channels_first(p) or not ones(p.dilation_rate)


@predicate
def channels_first_dilated_or_grouped(x: Any, p: Params) -> bool:
    """Channels first, a dilated kernel, or groups."""
    return _channels_first(p) or max(p.dilation_rate) > 1 or grouped(x, p)


@predicate
def multiplies_depth(x: Any, p: Params) -> bool:
    """A depthwise convolution with a depth_multiplier above 1."""
    return bool(p.depth_multiplier > 1)


@predicate
def same_or_output_padding(x: Any, p: Params) -> bool:
    """A transposed convolution that does not keep all of its result."""
    return p.padding == "same" or p.output_padding is not None


@predicate
def ends_where_no_input_reaches(x: Any, p: Params) -> bool:
    """Some axis of a transposed convolution ends at a multiple of the stride that no input reaches."""
    if p.padding != "same" or p.output_padding is None:
        return False
    extents = [(k - 1) * d + 1 for k, d in zip(p.kernel_size, p.dilation_rate, strict=True)]
    return any(extent % 2 == 0 and extra == 0 for extent, extra in zip(extents, p.output_padding, strict=True))


@predicate
def transposed_has_output(x: TensorType, p: Params) -> bool:
    """A transposed convolution has an output with elements."""
    return x.elements > 0 and 0 not in transposed_places(spatial(x, p), p)


def _undilated(p: Params) -> Params:
    """What the Conv3DTranspose of Keras 2 makes of its parameters."""
    return p.replace(dilation_rate=(1,) * len(p.kernel_size))


@predicate
def undilated_has_output(x: TensorType, p: Params) -> bool:
    """The same without dilation, which Keras 2 forgets."""
    return transposed_has_output(x, _undilated(p))


@predicate
def undilated_ends_where_no_input_reaches(x: TensorType, p: Params) -> bool:
    """Some axis ends where no input reaches, in Keras 2, which forgets the dilation of volumes."""
    return (x.rank == 5 or ones(p.dilation_rate)) and ends_where_no_input_reaches(x, _undilated(p))


@predicate
def undilated_has_another_size(x: TensorType, p: Params) -> bool:
    """Without its dilation, a transposed convolution has another size."""
    return transposed_places(spatial(x, p), p) != transposed_places(spatial(x, p), _undilated(p))


@predicate
def dilation_matters(x: Any, p: Params) -> bool:
    """Some axis is dilated and has a kernel above 1."""
    return any(k > 1 and d > 1 for k, d in zip(p.kernel_size, p.dilation_rate, strict=True))


@predicate
def crops_less_than_nothing(x: TensorType, p: Params) -> bool:
    """ONNX's ConvTranspose crops its result to size; Keras asks for a larger one."""
    shape = spec_of(f"Conv{x.rank - 2}DTranspose").outputs([x], p)[0].shape
    sizes = shape[1:-1] if p.data_format == "channels_last" else shape[2:]
    axes = zip(sizes, spatial(x, p), p.kernel_size, p.strides, strict=True)
    return any(size > (n - 1) * stride + kernel for size, n, kernel, stride in axes)


@predicate
def empty_result_misfits(x: TensorType, p: Params) -> bool:
    """The next operation refuses what oneDNN makes of an empty input: the input's shape, maybe padded."""
    if x.elements or x.dtype in ("float16", "float64") or compiled_by_xla(x, p):
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


@predicate
def bias_goes_along_last_axis(x: TensorType, p: Params) -> bool:
    """Channels first, and the last axis is as long as the bias: Keras on TensorFlow adds it along that one."""
    if not (p.use_bias and _channels_first(p) and _filters(x, p) > 1):
        return False
    if "output_padding" in p:
        places = transposed_places(spatial(x, p), p)
    else:
        places = window(spatial(x, p), p.kernel_size, p.strides, p.dilation_rate, p.padding)
    return places[-1] == _filters(x, p)


# TensorFlow's own 3D convolution on CPUs: channels last, not dilated. All others take another way (XLA, or
# space-to-batch).


@predicate
def direct_volume(x: TensorType, p: Params) -> bool:
    """A Conv3D runs on TensorFlow's own 3D convolution."""
    return not compiled_by_xla(x, p) and not _channels_first(p) and ones(p.dilation_rate)


def _counts(sizes: Sizes, kernel: Sizes, strides: Sizes, padding: str) -> list[int]:
    """How often the kernel fits along each axis."""
    same = padding == "same"
    return [-(-n // s) if same else (n - k) // s + 1 for n, k, s in zip(sizes, kernel, strides, strict=True)]


def _shifts(sizes: Sizes, kernel: Sizes, strides: Sizes, padding: str) -> bool:
    """Eigen's convolution (float16, float64) pads by half of a negative number where windows skip two or more inputs.

    tf.nn.convolution(tf.constant([[[[[1.]], [[2.]], [[3.]]]]], tf.float64), tf.ones((1, 1, 1, 1, 1), tf.float64),
    (1, 3, 1), "SAME") is 2, and 1 in float32.
    """
    if padding != "same":
        return False
    counts = _counts(sizes, kernel, strides, padding)
    return any((m - 1) * s + k - n <= -2 for m, n, k, s in zip(counts, sizes, kernel, strides, strict=True))


def _strays(dtype: str, depth: int, sizes: Sizes, kernel: Sizes, strides: Sizes, padding: str) -> bool:
    """oneDNN's convolution (bfloat16, float32) of one channel reads uninitialised memory; NaN if one lies there.

    In both dtypes if a single column of several rows is made with a stride across; in bfloat16 also if the input is a
    single plane with padding before it. Found by filling freed memory with NaN before 2000 drawn convolutions.
    """
    if depth != 1 or dtype not in ("bfloat16", "float32") or kernel[-1] < 2 or len(sizes) < 2:
        return False
    counts = _counts(sizes, kernel, strides, padding)
    column = counts[-1] == 1 and counts[-2] > 1 and strides[-2] == 1 and strides[-1] > 1
    plane = len(sizes) == 3 and padding == "same" and sizes[0] == 1 and kernel[0] >= 3
    return column or (dtype == "bfloat16" and plane)


@predicate
def windows_start_late(x: TensorType, p: Params) -> bool:
    """ "same" padding where windows skip two or more inputs: TensorFlow pads by half of a negative number."""
    return _shifts(spatial(x, p), p.kernel_size, p.strides, p.padding)


@predicate
def pools_start_late(x: TensorType, p: Params) -> bool:
    """windows_start_late in a pooling, whose stride is the pool unless it is named."""
    return _shifts(spatial(x, p), p.pool_size, p.strides or p.pool_size, p.padding)


@predicate
def reads_stray_memory(x: TensorType, p: Params) -> bool:
    """oneDNN's convolution of one channel reads uninitialised memory."""
    return _strays(x.dtype, channels(x, p), spatial(x, p), p.kernel_size, p.strides, p.padding)


@predicate
def kernel_on_images_reads_stray_memory(x: Any, p: Params) -> bool:
    """reads_stray_memory in a convolution of images with a kernel that is given."""
    whole = spread(x, p)
    return x[0].rank == 4 and ones(whole.dilation_rate) and reads_stray_memory(x[0], whole)


@predicate
def kernel_reads_stray_memory(x: Any, p: Params) -> bool:
    """reads_stray_memory in a convolution with a kernel that is given, over three axes."""
    whole = spread(x, p)
    return x[0].rank == 5 and direct_volume(x[0], whole) and reads_stray_memory(x[0], whole)


def _grid(x: TensorType, p: Params) -> tuple[int, tuple[int, ...]]:
    """Channels and spatial sizes of one step of a ConvLSTM."""
    return (x.shape[-1], x.shape[2:-1]) if p.data_format == "channels_last" else (x.shape[2], x.shape[3:])


@predicate
def steps_start_late(x: TensorType, p: Params) -> bool:
    """windows_start_late in the convolution of a ConvLSTM3D."""
    return max(p.dilation_rate) == 1 and _shifts(_grid(x, p)[1], p.kernel_size, p.strides, p.padding)


@predicate
def steps_read_stray_memory(x: TensorType, p: Params) -> bool:
    """reads_stray_memory in a ConvLSTM3D: in the input's convolution or, which is never dilated, the state's."""
    (depth, sizes), kernel = _grid(x, p), p.kernel_size
    if max(p.dilation_rate) == 1 and _strays(x.dtype, depth, sizes, kernel, p.strides, p.padding):
        return True
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, p.dilation_rate, strict=True)]
    state = _counts(sizes, extents, p.strides, p.padding)
    return _strays(x.dtype, p.filters, state, kernel, (1, 1, 1), "same")
