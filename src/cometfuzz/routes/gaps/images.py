"""Gaps of converters and runtimes on layers that resize images or count tokens."""

from cometfuzz.catalogue.shapes import spatial
from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.onnx import dtypes, names

_RESIZING = ("UpSampling2D", "Resizing")


def _antialiased(p: Params) -> bool:
    return bool(p.get("antialias", False)) and p.interpolation != "nearest"


def _scaled(p: Params) -> bool:
    """Whether TensorFlow resizes by its operator ScaleAndTranslate."""
    return p.interpolation in ("lanczos3", "lanczos5") or _antialiased(p)


GAPS: tuple[Gap, ...] = (
    Gap(
        ("tflite",),
        _RESIZING,
        lambda x, p: _scaled(p) or p.interpolation == "bicubic",
        evidence="'tf.ScaleAndTranslate' op is neither a custom op nor a flex op; the same for ResizeBicubic",
        raises="ConverterError",
        always=False,
    ),
    Gap(
        ("torch.onnx",),
        _RESIZING,
        lambda x, p: _antialiased(p),
        evidence="Exporting the operator 'aten::_upsample_bicubic2d_aa' to ONNX opset version 18 is not supported",
        raises="UnsupportedOperatorError",
        always=False,
    ),
    Gap(
        ("tf2onnx",),
        _RESIZING,
        lambda x, p: _scaled(p),
        evidence="No Op registered for ScaleAndTranslate: tf2onnx leaves it in the file as it is",
        raises="ValidationError",
        always=False,
    ),
    Gap(
        ("tf-xla",),
        _RESIZING,
        lambda x, p: p.interpolation in ("lanczos3", "lanczos5", "bicubic"),
        evidence="Detected unsupported operations on XLA_CPU_JIT: ScaleAndTranslate; the same for ResizeBicubic",
        raises="InvalidArgumentError",
        always=False,
    ),
    Gap(
        ("tf-xla",),
        _RESIZING,
        lambda x, p: p.interpolation == "bilinear",
        evidence="UpSampling2D((4, 3), interpolation='bilinear') of a 2 x 6 image: 112 of 1008 elements differ, by 5%",
        symptom="value",
        always=False,
        kind="bug",
    ),
    Gap(
        ("tf2onnx",),
        _RESIZING,
        lambda x, p: x.dtype == "float64" or (p.interpolation != "nearest" and x.dtype == "float16"),
        evidence="(op_type:Transpose, node name: resize/ResizeNearestNeighbor): Inferred shape and existing differ;"
        " (op_type:Min, node name: clip_by_value/Minimum): data_0 has inconsistent type tensor(float)",
        raises="InferenceError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnxruntime", "onnxruntime-noopt", "torch-onnx"),
        _RESIZING,
        lambda x, p: x.dtype == "float64",
        evidence="Could not find an implementation for Resize(13); the same for Resize(18)",
        raises="NotImplemented",
        always=False,
    ),
    Gap(
        ("tf2onnx",),
        ("CategoryEncoding",),
        lambda x, p: p.output_mode == "one_hot",
        evidence="Node(one_hot) with schema(::OneHot:11) has input size 4 not in range [min=3, max=3]",
        raises="ValidationError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnx-reference",),
        _RESIZING,
        lambda x, p: p.interpolation == "nearest",
        evidence="Invalid coordinate_transformation_mode: 'tf_half_pixel_for_nn'.",
        raises="ValueError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnx-reference",),
        ("CategoryEncoding",),
        lambda x, p: True,
        evidence="TypeError: Issues with types of the inputs of OneHot",
        raises="Exception",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnx2torch",),
        ("CategoryEncoding", "Resizing"),
        lambda x, p: True,
        evidence="Converter is not implemented (OperationDescription(operation_type='Unique')); the same for If",
        raises="NotImplementedError",
        always=False,
    ),
    Gap(
        ("onnx2torch", "onnx2pytorch"),
        _RESIZING,
        lambda x, p: p.interpolation == "nearest",
        evidence="Resizing(3, 7, 'nearest') of a 5 x 4 image: 384 of 504 elements differ, alike on both converters",
        symptom="value",
        always=False,
        kind="bug",
    ),
    Gap(
        ("openvino",),
        ("Resizing",),
        lambda x, p: p.pad_to_aspect_ratio,
        evidence="OpConversionFailure: Model wasn't fully converted: Concat in a branch of If",
        raises="RuntimeError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("tf-xla",),
        ("Resizing",),
        lambda x, p: p.pad_to_aspect_ratio,
        evidence="Cannot concatenate arrays that differ in dimensions other than the one being concatenated",
        raises="InvalidArgumentError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("torch.onnx",),
        _RESIZING,
        lambda x, p: p.interpolation == "nearest",
        evidence="Exporting the operator 'aten::_upsample_nearest_exact2d' to ONNX opset version 18 is not supported",
        raises="UnsupportedOperatorError",
        always=False,
    ),
    Gap(
        ("torch-onnx",),
        ("CenterCrop",),
        lambda x, p: any(n < size for n, size in zip(spatial(x, p), (p.height, p.width), strict=True)),
        evidence="CenterCrop(4, 2) of a 1 x 7 image: expected float32[2, 5, 4, 2]; received float32[2, 5, 1, 2]",
        symptom="result",
        always=False,
        kind="bug",
    ),
    Gap(
        ("torch-onnx",),
        (),
        lambda x, p: "float16" in dtypes(x, p) and names(p, "celu"),
        evidence="Type 'tensor(float16)' of input parameter of operator (Celu) is invalid",
        raises="InvalidGraph",
        always=False,
    ),
)
