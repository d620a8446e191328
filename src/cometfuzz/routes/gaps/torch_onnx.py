"""Gaps of torch.onnx and of ONNX Runtime on its files."""

from typing import Any

from cometfuzz.catalogue.shapes import spatial
from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.onnx import (
    AVERAGE,
    CONV_LSTM,
    CONVOLUTIONS,
    DEPTHWISE,
    RECURRENT,
    TRANSPOSES,
    dtypes,
    empty,
)

_EXPORT, _RUNTIME = ("torch.onnx",), ("torch-onnx",)


def _no_factor(x: Any, p: Params) -> bool:
    return any(n % size for n, size in zip(spatial(x, p), p.output_size, strict=True))


GAPS: tuple[Gap, ...] = (
    Gap(
        _RUNTIME,
        (),
        lambda x, p: "bfloat16" in dtypes(x, p),
        evidence="Could not find an implementation for MatMul(13); Type 'tensor(bfloat16)' of Conv is invalid: ONNX"
        " Runtime has bfloat16 for few operators on CPUs",
        raises="Exception",
        always=False,
    ),
    Gap(
        _EXPORT,
        tuple(f"Adaptive{kind}Pooling{axes}D" for kind in ("Max", "Average") for axes in (1, 2, 3)),
        _no_factor,
        evidence="Unsupported: ONNX export of operator adaptive_max_pool2d, output size that are not factor of input",
        raises="SymbolicValueError",
        always=False,
    ),
    Gap(
        _RUNTIME,
        (*CONVOLUTIONS, *DEPTHWISE, *TRANSPOSES, *CONV_LSTM, *AVERAGE),
        lambda x, p: "float64" in dtypes(x, p),
        evidence="Could not find an implementation for Conv(11); the same for ConvTranspose, AveragePool",
        raises="NotImplemented",
        always=False,
    ),
    Gap(
        _EXPORT,
        ("Conv3D", "ConvLSTM3D"),
        lambda x, p: p.data_format == "channels_last",
        evidence="onnx memory_format support is not implemented",
        raises="SymbolicValueError",
        always=False,
    ),
    Gap(
        _RUNTIME,
        RECURRENT,
        lambda x, p: True,
        evidence="Node (/model/ReduceMax) Op (ReduceMax) [ShapeInferenceError] axis must be in [-rank, rank-1]",
        raises="Fail",
        always=False,
        kind="bug",
    ),
    Gap(
        _RUNTIME,
        RECURRENT,
        lambda x, p: "float16" in dtypes(x, p),
        evidence="SIGSEGV in ONNX Runtime's load of an exported LSTM in float16 with softmax",
        symptom="death",
        always=False,
        kind="bug",
    ),
    Gap(
        _RUNTIME,
        (),
        lambda x, p: "float64" in dtypes(x, p),
        evidence="attributes of ONNX operators are float32: LeakyReLU(0.96) of float64 multiplies by float32(0.96)",
        symptom="value",
        always=False,
        kind="bug",
    ),
    Gap(
        (*_EXPORT, *_RUNTIME),
        (),
        empty,
        evidence="Calculated padded input size per channel: (9 x 0). Kernel size can't be greater than input size;"
        " Non-zero status code returned while running Squeeze node",
        symptom="any",
        always=False,
    ),
    Gap(
        _EXPORT,
        ("RMSNormalization",),
        lambda x, p: True,
        evidence="Exporting the operator 'aten::rms_norm' to ONNX opset version 18 is not supported",
        raises="UnsupportedOperatorError",
        always=False,
    ),
    Gap(
        _RUNTIME,
        RECURRENT,
        lambda x, p: bool(p.stateful),
        evidence="torch.onnx runs the model to trace it, and the file holds the states after that run",
        symptom="value",
        always=False,
        kind="bug",
    ),
)
