"""Gaps of ConvLSTM."""

from typing import Any

from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.volumes import places, reads_stray_memory, shifts_windows


def _plain_volumes(p: Any) -> bool:
    """Whether a ConvLSTM3D convolves its input by TensorFlow's own kernel; the state's convolution is never dilated."""
    return bool(p.data_format == "channels_last" and max(p.dilation_rate) == 1)


def _shifts_windows(x: Any, p: Any) -> bool:
    return _plain_volumes(p) and shifts_windows(x.shape[2:5], p.kernel_size, p.strides, p.padding)


def _reads_stray_memory(x: Any, p: Any) -> bool:
    if p.data_format != "channels_last":
        return False
    sizes, kernel = x.shape[2:5], p.kernel_size
    if _plain_volumes(p) and reads_stray_memory(x.dtype, x.shape[5], sizes, kernel, p.strides, p.padding):
        return True
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, p.dilation_rate, strict=True)]
    state = places(sizes, extents, p.strides, p.padding)
    return reads_stray_memory(x.dtype, p.filters, state, kernel, (1, 1, 1), "same")


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-tf",),
        layers=("ConvLSTM1D", "ConvLSTM2D"),
        when=lambda x, p: p.data_format == "channels_first" and x.dtype in ("float16", "float64"),
        raises="UnimplementedError",
        evidence="The Conv2D op currently only supports the NHWC tensor format on the CPU",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=("ConvLSTM3D",),
        when=lambda x, p: x.dtype in ("float16", "float64") and _shifts_windows(x, p),
        symptom="value",
        always=False,
        kind="bug",
        evidence="TensorFlow's Conv3D, SAME with strides: windows start at the wrong place in float16 and float64",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=("ConvLSTM3D",),
        when=_reads_stray_memory,
        symptom="value",
        always=False,
        kind="bug",
        evidence="TensorFlow's Conv3D with oneDNN reads memory that nobody has set, and so gives NaN now and then",
    ),
)
