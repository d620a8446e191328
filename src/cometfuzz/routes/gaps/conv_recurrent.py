"""Gaps of ConvLSTM."""

from collections.abc import Callable
from typing import Any

from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.volumes import places, reads_stray_memory, shifts_windows

ALL = ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")


def _grid(x: Any, p: Any) -> tuple[int, tuple[int, ...]]:
    """Channels and spatial sizes of one step."""
    return (x.shape[-1], x.shape[2:-1]) if p.data_format == "channels_last" else (x.shape[2], x.shape[3:])


def _shifts_windows(x: Any, p: Any) -> bool:
    undilated = max(p.dilation_rate) == 1
    by_eigen = x.dtype in ("float16", "float64")
    return by_eigen and undilated and shifts_windows(_grid(x, p)[1], p.kernel_size, p.strides, p.padding)


def _reads_stray_memory(x: Any, p: Any) -> bool:
    """Of the input's convolution or, which is never dilated, the state's."""
    (channels, sizes), kernel = _grid(x, p), p.kernel_size
    if max(p.dilation_rate) == 1 and reads_stray_memory(x.dtype, channels, sizes, kernel, p.strides, p.padding):
        return True
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, p.dilation_rate, strict=True)]
    state = places(sizes, extents, p.strides, p.padding)
    return reads_stray_memory(x.dtype, p.filters, state, kernel, (1, 1, 1), "same")


def _wrong_volumes(route: str, when: Callable[[Any, Any], bool], evidence: str, by_chance: bool = False) -> Gap:
    """Keras 3 computes channels-first volumes by XLA, Keras 2 transposes them."""
    transposes = route == "keras2-tf"
    return Gap(
        routes=(route,),
        layers=("ConvLSTM3D",),
        when=lambda x, p: (transposes or p.data_format == "channels_last") and when(x, p),
        symptom="value",
        always=False,
        kind="bug",
        evidence=evidence,
        by_chance=by_chance,
    )


_SHIFTED = "TensorFlow's Conv3D, SAME with strides: windows start at the wrong place in float16 and float64"
_STRAY = "TensorFlow's Conv3D with oneDNN reads memory that nobody has set, and so gives NaN now and then"

GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-tf",),
        layers=("ConvLSTM1D", "ConvLSTM2D"),
        when=lambda x, p: p.data_format == "channels_first" and x.dtype in ("float16", "float64"),
        raises="UnimplementedError",
        evidence="The Conv2D op currently only supports the NHWC tensor format on the CPU",
    ),
    Gap(
        routes=("keras2-tf",),
        layers=ALL,
        when=lambda x, p: p.stateful and x.dtype != "float32",
        raises="ValueError",
        kind="bug",
        evidence="ConvLSTM2D(2, 2, stateful=True, dtype='float64'): the state is float32, "
        "Tensor conversion requested dtype float32 for Tensor with dtype float64",
    ),
    *(_wrong_volumes(route, _shifts_windows, _SHIFTED) for route in ("keras-tf", "keras2-tf")),
    *(_wrong_volumes(route, _reads_stray_memory, _STRAY, by_chance=True) for route in ("keras-tf", "keras2-tf")),
    Gap(
        routes=("keras-torch",),
        layers=("ConvLSTM3D",),
        when=lambda x, p: x.dtype == "bfloat16" and _reads_stray_memory(x, p),
        symptom="value",
        always=False,
        by_chance=True,
        kind="bug",
        evidence="oneDNN's convolution of one channel in bfloat16 reads unset memory under PyTorch too: NaN, or 1e22",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=ALL,
        when=lambda x, p: x.dtype in ("float32", "bfloat16") and x.elements == 0,
        symptom="any",
        always=False,
        kind="bug",
        evidence="oneDNN's convolution of an empty tensor has its input's shape: what is added to it may not fit",
    ),
)
