"""Gaps of this family's layers."""

from typing import Any

from cometfuzz.catalogue.shapes import channels, spatial
from cometfuzz.routes.gaps import Gap

_TF, _TORCH, _KERAS2 = ("keras-tf",), ("keras-torch",), ("keras2-tf",)
_ADAPTIVE_MAX = tuple(f"AdaptiveMaxPooling{axes}D" for axes in (1, 2, 3))


def _last_axis_has_no_big_window(x: Any, p: Any) -> bool:
    """Keras pools with windows of ceil(n / outputs) + 1 as well, whether or not they fit."""
    return bool(x.elements) and (p.output_size[-1] == 1 or spatial(x, p)[-1] == 1)


def _empty_but_for_the_batch(x: Any, p: Any) -> bool:
    return 0 in x.shape[1:]


def borders(x: Any, p: Any) -> list[int]:
    """How much "same" pads each axis in all."""
    axes = zip(spatial(x, p), p.pool_size, p.strides or p.pool_size, strict=True)
    return [max((-(-n // s) - 1) * s + k - n, 0) if p.padding == "same" else 0 for n, k, s in axes]


def lopsided(x: Any, p: Any) -> bool:
    """Whether "same" pads more behind than before, which torch cannot do by itself."""
    return any(total % 2 for total in borders(x, p))


def _kernel_exceeds_input(x: Any, p: Any) -> bool:
    return not lopsided(x, p) and any(n < k for n, k in zip(spatial(x, p), p.pool_size, strict=True))


GAPS: tuple[Gap, ...] = (
    Gap(
        _TF,
        ("MaxPooling3D", "AdaptiveMaxPooling3D"),
        lambda x, p: x.dtype == "float64",
        evidence="Value for attr 'T' of double is not in the list of allowed values: half, bfloat16, float; MaxPool3D",
        raises="InvalidArgumentError",
    ),
    Gap(
        _KERAS2,
        tuple(f"GlobalAveragePooling{axes}D" for axes in (1, 2, 3)),
        lambda x, p: 0 in spatial(x, p),
        evidence="Incorrect input shape [2, 0, 3] with dimension 0 at reduction axis 1.",
        raises="ValueError",
    ),
    Gap(
        _KERAS2,
        ("MaxPooling3D",),
        lambda x, p: x.dtype == "float64",
        evidence="Value passed to parameter 'input' has DataType float64 not in list of allowed values",
        raises="TypeError",
    ),
    Gap(
        _KERAS2,
        ("MaxPooling1D", "MaxPooling2D"),
        lambda x, p: p.padding == "valid" and channels(x, p) == 0,
        evidence="Negative dimension size caused by subtracting 1 from 0: the channels are pooled by 1 as well",
        raises="ValueError",
        kind="bug",
    ),
    Gap(
        _KERAS2,
        ("MaxPooling2D", "AveragePooling2D"),
        lambda x, p: p.data_format == "channels_first" and x.dtype in ("float16", "float64"),
        evidence="Default MaxPoolingOp only supports NHWC on device type CPU",
        raises="InvalidArgumentError",
    ),
    Gap(
        _TF + _KERAS2,
        ("MaxPooling3D", "AdaptiveMaxPooling3D"),
        lambda x, p: x.dtype == "float16",
        evidence="Could not find device for node: MaxPool3D[T=DT_HALF, data_format=NDHWC]; there with AVX-512 only",
        raises="NotFoundError",
    ),
    Gap(
        _TF + _KERAS2,
        ("AveragePooling3D", "AdaptiveAveragePooling3D"),
        lambda x, p: x.dtype in ("float16", "float64"),
        evidence="Could not find device for node: AvgPool3D[T=DT_DOUBLE, data_format=NDHWC]; the same for DT_HALF",
        raises="NotFoundError",
    ),
    Gap(
        _TF,
        _ADAPTIVE_MAX,
        lambda x, p: x.dtype == "float32" and _last_axis_has_no_big_window(x, p),
        evidence="SIGFPE in oneDNN: tf.nn.pool(tf.zeros((2, 1, 5)), (2,), 'MAX', (1,), 'VALID')",
        kind="bug",
        symptom="death",
    ),
    Gap(
        _TF,
        _ADAPTIVE_MAX,
        lambda x, p: x.dtype == "bfloat16" and _last_axis_has_no_big_window(x, p),
        evidence="SIGFPE as in float32; not where all spatial sizes are 1 and channels are many",
        kind="bug",
        symptom="death",
        always=False,
    ),
    Gap(
        _TORCH,
        tuple(f"{kind}Pooling{axes}D" for kind in ("Max", "Average", "AdaptiveMax") for axes in (1, 2, 3)),
        _empty_but_for_the_batch,
        evidence="Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size, but got:[2, 3, 0, 4]",
        raises="RuntimeError",
    ),
    Gap(
        _TORCH,
        ("AdaptiveAveragePooling3D",),
        lambda x, p: _empty_but_for_the_batch(x, p) and p.output_size != (1, 1, 1),
        evidence="adaptive_avg_pool3d(): Expected input to have non-zero size for non-batch dimensions",
        raises="RuntimeError",
    ),
    Gap(
        _TORCH,
        ("AveragePooling3D",),
        _kernel_exceeds_input,
        evidence="input image (T: 2 H: 4 W: 5) smaller than kernel size (kT: 3 kH: 3 kW: 3), padding ignored",
        raises="RuntimeError",
        kind="bug",
    ),
    Gap(
        _TORCH,
        ("AveragePooling3D",),
        lambda x, p: x.dtype in ("float16", "bfloat16"),
        evidence="\"avg_pool3d_out_frame\" not implemented for 'Half'; the same for 'BFloat16'",
        raises="NotImplementedError",
    ),
    Gap(
        _TORCH,
        tuple(f"AveragePooling{axes}D" for axes in (1, 2, 3)),
        lambda x, p: bool(x.elements) and lopsided(x, p),
        evidence="AveragePooling1D(4, strides=1, padding='same') of [1, 2, 3, 6] is [1.75, 3, 4.25, 5.25], not"
        " [2, 3, 3.67, 4.5]: borders are replicated and counted where they are uneven",
        kind="bug",
        symptom="value",
        always=False,
    ),
    Gap(
        _TORCH,
        tuple(f"GlobalAveragePooling{axes}D" for axes in (1, 2, 3)),
        lambda x, p: x.dtype == "float64" and bool(x.elements) and not x.masked,
        evidence="keras.ops.mean casts to float32: keras.backend.result_type('float64', 'float32') is float32",
        kind="bug",
        symptom="value",
    ),
)
