"""Gaps of the LiteRT converter and of LiteRT."""

from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.onnx import CONV_LSTM, CONVOLUTIONS, DEPTHWISE, TRANSPOSES, dtypes, empty, window_exceeds

_CONVERTER = ("tflite",)

GAPS: tuple[Gap, ...] = (
    Gap(
        _CONVERTER,
        (),
        lambda x, p: "bfloat16" in dtypes(x, p),
        evidence="Unsupported TensorFlow type `<dtype: 'bfloat16'>` provided for the input type of the model",
        raises="Exception",
    ),
    Gap(
        _CONVERTER,
        (),
        lambda x, p: bool(dtypes(x, p) & {"float16", "float64"}),
        evidence="'tf.MatMul' op is neither a custom op nor a flex op, for nearly every operator in these dtypes",
        raises="ConverterError",
        always=False,
    ),
    Gap(
        _CONVERTER,
        tuple(f"Adaptive{kind}Pooling{axes}D" for kind in ("Max", "Average") for axes in (1, 2, 3)),
        window_exceeds,
        evidence="'NoneType' object is not callable: the model cannot be traced, see tf-graph",
        raises="TypeError",
        kind="bug",
    ),
    Gap(
        ("tflite", "litert"),
        (),
        empty,
        evidence="Invalid tensor size.",
        raises="Exception",
        always=False,
    ),
    Gap(
        _CONVERTER,
        tuple(f"{kind}Pooling3D" for kind in ("Max", "Average", "AdaptiveMax", "AdaptiveAverage")),
        lambda x, p: not empty(x, p),
        evidence="'tf.MaxPool3D' op is neither a custom op nor a flex op; the same for AvgPool3D",
        raises="Exception",
    ),
    Gap(
        ("tflite", "litert"),
        (*CONVOLUTIONS, *DEPTHWISE, *TRANSPOSES, *CONV_LSTM),
        lambda x, p: p.data_format == "channels_first" or max(p.dilation_rate) > 1 or p.get("groups", 1) > 1,
        evidence="'tf.SpaceToBatchND' op is neither a custom op nor a flex op; at BiasAdd if channels_first",
        raises="Exception",
        always=False,
    ),
    Gap(
        _CONVERTER,
        ("PReLU",),
        lambda x, p: bool(p.shared_axes),
        evidence="error: loc(fused[callsite(fused['AddV2:', 'functional_1/layer_1/add'; only with shared_axes",
        raises="ConverterError",
        always=False,
        kind="bug",
    ),
)
