"""Gaps of tf2onnx, which stand against every route that reads its file, and of those readers."""

from typing import Any

from cometfuzz.catalogue.shapes import spatial
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.activation import activations
from cometfuzz.routes.gaps.initialising import compute_dtype
from cometfuzz.routes.gaps.pooling import lopsided

TRANSPOSES = tuple(f"Conv{axes}DTranspose" for axes in (1, 2, 3))
CONVOLUTIONS = tuple(f"Conv{axes}D" for axes in (1, 2, 3))
DEPTHWISE = ("DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D")
CONV_LSTM = tuple(f"ConvLSTM{axes}D" for axes in (1, 2, 3))
RECURRENT = ("LSTM", "GRU", "SimpleRNN", "RNN", *CONV_LSTM)
AVERAGE = tuple(f"{kind}AveragePooling{axes}D" for kind in ("", "Adaptive") for axes in (1, 2, 3))
GLOBAL = tuple(f"Global{kind}Pooling{axes}D" for kind in ("Max", "Average") for axes in (1, 2, 3))
MAX = tuple(f"MaxPooling{axes}D" for axes in (1, 2, 3))
TRACED = ("tf-graph", "tf-xla", "saved-model", "tf2onnx")
_SINGLE = ("elu", "selu", "mish", "softplus", "softsign", "log_sigmoid")
_RUNTIMES = ("onnxruntime", "onnxruntime-noopt")


def dtypes(x: Any, p: Params) -> set[str]:
    """The dtypes of a layer's inputs and of its weights."""
    kinds = x if isinstance(x, tuple) else (x,)
    return {kind.dtype for kind in kinds} | {compute_dtype(x, p)}


def names(p: Params, *wanted: str) -> bool:
    """Whether the layer names one of these activations."""
    return any(name in wanted for name in activations(p))


def loops(x: Any, p: Params) -> bool:
    """Whether the recurrent layer becomes a loop in the graph."""
    return not p.get("unroll", False)


def empty(x: Any, p: Params) -> bool:
    """Whether an input has no elements."""
    return any(kind.elements == 0 for kind in (x if isinstance(x, tuple) else (x,)))


def window_exceeds(x: Any, p: Params) -> bool:
    """Keras' adaptive pooling tries windows of ceil(n / outputs) + 1 as well, whether or not they fit."""
    return any(-(-n // size) + 1 > n for n, size in zip(spatial(x, p), p.output_size, strict=True))


def crops_less_than_nothing(name: str) -> Any:
    """ONNX's ConvTranspose crops its result to size; Keras may ask for a larger one."""

    def when(x: Any, p: Params) -> bool:
        shape = spec_of(name).outputs([x], p)[0].shape
        sizes = shape[1:-1] if p.data_format == "channels_last" else shape[2:]
        axes = zip(sizes, spatial(x, p), p.kernel_size, p.strides, strict=True)
        return any(size > (n - 1) * stride + kernel for size, n, kernel, stride in axes)

    return when


def grouped(x: Any, p: Params) -> bool:
    """Keras has such convolutions compiled by XLA, inside the graph."""
    return bool(p.groups > 1 or (p.data_format == "channels_first" and x.rank == 5))


GAPS: tuple[Gap, ...] = (
    Gap(
        TRACED,
        tuple(f"Adaptive{kind}Pooling{axes}D" for kind in ("Max", "Average") for axes in (1, 2, 3)),
        window_exceeds,
        evidence="AdaptiveAveragePooling1D(1) of 1 step as a tf.function: Negative dimension size caused by subtracting"
        " 2 from 1 for AvgPool: it pools with windows of ceil(n / outputs) + 1 as well, whether or not they fit",
        raises="ValueError",
        kind="bug",
    ),
    Gap(
        ("tf2onnx",),
        (),
        lambda x, p: "bfloat16" in dtypes(x, p),
        evidence="expected x0 in bfloat16; received dtype=float16: tf2onnx takes bfloat16 for float16",
        raises="Exception",
        kind="bug",
    ),
    Gap(
        ("tf2onnx",),
        (),
        lambda x, p: names(p, "gelu"),
        evidence="No Op registered for Erfc: tf2onnx leaves it in the file as it is",
        raises="ValidationError",
    ),
    Gap(
        ("tf2onnx",),
        (),
        lambda x, p: names(p, "celu"),
        evidence="No Op registered for Expm1: tf2onnx leaves it in the file as it is",
        raises="ValidationError",
    ),
    *(
        Gap(
            ("tf2onnx",),
            (name,),
            crops_less_than_nothing(name),
            evidence="(op_type:ConvTranspose): Attribute pads must not contain negative values",
            raises="InferenceError",
            kind="bug",
        )
        for name in TRANSPOSES
    ),
    Gap(
        ("tf2onnx",),
        CONVOLUTIONS,
        grouped,
        evidence="No Op registered for StatefulPartitionedCall: tf2onnx leaves XLA's call in the file as it is",
        raises="ValidationError",
    ),
    Gap(
        ("tf2onnx",),
        ("ConvLSTM3D",),
        lambda x, p: p.data_format == "channels_first",
        evidence="No Op registered for PartitionedCall: tf2onnx leaves XLA's call in the file as it is",
        raises="ValidationError",
    ),
    Gap(
        _RUNTIMES,
        (*CONVOLUTIONS, *DEPTHWISE, *TRANSPOSES, *CONV_LSTM, *AVERAGE, "ELU"),
        lambda x, p: "float64" in dtypes(x, p),
        evidence="Could not find an implementation for Conv(11); the same for ConvTranspose, AveragePool and Elu",
        raises="NotImplemented",
    ),
    Gap(
        _RUNTIMES,
        GLOBAL,
        lambda x, p: x.dtype == "float64",
        evidence="Could not find an implementation for GlobalMaxPool(1); the same for GlobalAveragePool",
        raises="NotImplemented",
        always=False,
    ),
    Gap(
        _RUNTIMES,
        (),
        lambda x, p: "float64" in dtypes(x, p) and names(p, *_SINGLE),
        evidence="Could not find an implementation for Selu(6); the same for Elu, Softplus and Softsign",
        raises="NotImplemented",
    ),
    Gap(
        ("onnx2torch",),
        RECURRENT,
        loops,
        evidence="Converter is not implemented (OperationDescription(domain='', operation_type='Loop', version=13))",
        raises="NotImplementedError",
    ),
    Gap(
        ("openvino",),
        (),
        lambda x, p: "float64" in dtypes(x, p),
        evidence="the CPU plug-in computes float64 in float32",
        symptom="value",
        always=False,
    ),
    Gap(
        ("onnx-reference",),
        RECURRENT,
        loops,
        evidence="onnx's Loop concatenates its scan outputs instead of stacking them: expected float32[3, 7]; received"
        " float32[7]",
        symptom="any",
        always=False,
        kind="bug",
    ),
    Gap(
        ("tf2onnx",),
        ("Softmax",),
        lambda x, p: x.dtype == "float16" and isinstance(p.axis, tuple) and len(p.axis) > 1,
        evidence="(op_type:IsInf, node name: ReduceLogSumExp/IsFinite): X typestr: T1, has unsupported type float16",
        raises="InferenceError",
        kind="bug",
    ),
    Gap(
        ("tf2onnx",),
        (*CONVOLUTIONS, *DEPTHWISE, *TRANSPOSES, *AVERAGE, *MAX),
        empty,
        evidence="(op_type:Reshape, node name: AvgPool__73): Inferred shape and existing shape differ: (1) vs (0)",
        raises="Exception",
        always=False,
    ),
    Gap(
        (*_RUNTIMES, "onnx-reference", "onnx2torch", "onnx2pytorch", "openvino"),
        (),
        empty,
        evidence="ONNX Runtime: Non-zero status code returned while running Conv node: Invalid input shape: {6,0};"
        " OpenVINO: object is not initialized, SIGFPE in compile; PyTorch: Kernel size can't be greater than input",
        symptom="any",
        always=False,
    ),
    Gap(
        ("onnx-reference",),
        tuple(f"GlobalMaxPooling{axes}D" for axes in (1, 2, 3)),
        lambda x, p: p.data_format == "channels_first" or p.keepdims,  # or behind a convolution
        evidence="onnx's GlobalMaxPool knows images only: expected float32[2, 6, 1]; received float32[2, 1]",
        symptom="any",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnx-reference",),
        MAX,
        lopsided,
        evidence="onnx's MaxPool swaps uneven pads of its axes: expected [2, 7, 7, 4]; received [2, 7, 6, 5]",
        symptom="result",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnx2torch",),
        tuple(f"GlobalMaxPooling{axes}D" for axes in (1, 2, 3)),
        lambda x, p: p.data_format == "channels_first",
        evidence="Converter is not implemented (OperationDescription(operation_type='GlobalMaxPool', version=1))",
        raises="NotImplementedError",
        always=False,
    ),
    Gap(
        ("onnx2torch",),
        tuple(f"AveragePooling{axes}D" for axes in (1, 2, 3)),
        lopsided,
        evidence="AvgPool with non symmetrical padding is not implemented.",
        raises="NotImplementedError",
        always=False,
    ),
    Gap(
        ("onnx2torch",),
        TRANSPOSES,
        lambda x, p: p.padding == "same" or p.output_padding is not None,
        evidence="ConvTranspose with non symmetrical padding is not implemented.",
        raises="NotImplementedError",
        always=False,
    ),
    Gap(
        ("onnx2torch",),
        RECURRENT,
        lambda x, p: not loops(x, p),
        evidence="squeeze() received an invalid combination of arguments - got (tuple, dim=Tensor)",
        raises="TypeError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnx2torch",),
        RECURRENT,
        lambda x, p: not loops(x, p) and p.go_backwards,
        evidence="Converter is not implemented (OperationDescription(operation_type='ReverseSequence', version=10))",
        raises="NotImplementedError",
        always=False,
    ),
    Gap(
        ("onnx2pytorch",),
        (*RECURRENT, "EinsumDense"),
        lambda x, p: True,
        evidence="Unexpected number of parameters: 0; Linear.forward() takes 2 positional arguments but 3 were given;"
        " Conv1d.__init__() missing 2 required positional arguments; t() expects a tensor with <= 2 dimensions",
        raises="Exception",
        always=False,
        kind="bug",
    ),
    Gap(
        ("openvino",),
        RECURRENT,
        lambda x, p: True,
        evidence="SIGSEGV in compile_model of an unrolled GRU without bias, go_backwards, reset_after=False",
        symptom="death",
        always=False,
        kind="bug",
    ),
    Gap(
        ("openvino",),
        RECURRENT,
        lambda x, p: True,
        evidence="Exception from src/common/snippets: a SimpleRNNCell in float16 does not compile",
        raises="RuntimeError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("saved-model",),
        RECURRENT,
        lambda x, p: bool(p.stateful),
        evidence="export: Input tensor ReadVariableOp enters the loop with shape (1, 1, 2, 5), but has (None, 1, 2, 5)"
        " after one iteration: it forgets the batch of a model that has one",
        raises="ValueError",
        always=False,
        kind="bug",
    ),
    Gap(
        _RUNTIMES,
        ("GroupNormalization",),
        lambda x, p: 1 in x.shape,
        evidence="Non-zero status code returned while running GlobalAveragePool node: Unsupported pooling size.",
        raises="InvalidArgument",
        always=False,
        kind="bug",
    ),
    Gap(
        ("tf2onnx",),
        ("MultiHeadAttention", "GroupQueryAttention", "EinsumDense"),
        lambda x, p: True,
        evidence="the conversion of MultiHeadAttention over several axes does not end in 120 s",
        symptom="death",
        always=False,
        kind="bug",
    ),
    Gap(
        ("onnx2pytorch",),
        ("MultiHeadAttention", "GroupQueryAttention"),
        lambda x, p: True,
        evidence="Unexpected number of parameters: 0",
        raises="ValueError",
        always=False,
        kind="bug",
    ),
    Gap(
        ("tf2onnx",),
        (),
        lambda x, p: "float64" in dtypes(x, p) and names(p, *_SINGLE, "leaky_relu"),
        evidence="attributes of ONNX operators are float32: Selu(float64) multiplies by float32(1.0507)",
        symptom="value",
        always=False,
    ),
    Gap(
        ("onnxruntime",),
        ("Attention", "MultiHeadAttention", "GroupQueryAttention"),
        lambda x, p: "float64" in dtypes(x, p),
        evidence="optimised, the scale of float64 scores is an attribute, so float32; right without optimisations",
        symptom="value",
        always=False,
        kind="bug",
    ),
)
