"""What each ONNX operator takes, by opset: a test holds it against the schemas of the installed onnx.

The parent has no onnx, and must know without a child what can be written at an opset.
"""

from __future__ import annotations

NEWEST = 28
"""The newest opset that the table knows."""

TAKES: dict[str, tuple[tuple[int, str], ...]] = {
    "Abs": ((13, "efdbil"),),
    "Acos": (
        (7, "efd"),
        (22, "efdb"),
    ),
    "Acosh": (
        (9, "efd"),
        (22, "efdb"),
    ),
    "Add": ((13, "efdbil,efdbil"),),
    "And": ((7, "?,?"),),
    "ArgMax": ((13, "efdbil"),),
    "ArgMin": ((13, "efdbil"),),
    "Asin": (
        (7, "efd"),
        (22, "efdb"),
    ),
    "Asinh": (
        (9, "efd"),
        (22, "efdb"),
    ),
    "Atan": (
        (7, "efd"),
        (22, "efdb"),
    ),
    "Atanh": (
        (9, "efd"),
        (22, "efdb"),
    ),
    "Attention": (
        (23, "efdb,efdb,efdb,efdbil?,efdb,efdb"),
        (24, "efdb,efdb,efdb,efdbil?,efdb,efdb,l"),
    ),
    "AveragePool": (
        (11, "efd"),
        (22, "efdb"),
    ),
    "BatchNormalization": (
        (9, "efd,efd,efd,efd,efd"),
        (14, "efdb,efdb,efdb,efdb,efdb"),
    ),
    "BitShift": (
        (11, ","),
        (28, "il,il"),
    ),
    "BitwiseAnd": ((18, "il,il"),),
    "BitwiseNot": ((18, "il"),),
    "BitwiseOr": ((18, "il,il"),),
    "BitwiseXor": ((18, "il,il"),),
    "Cast": ((13, "efdbil?"),),
    "Ceil": ((13, "efdb"),),
    "Celu": (
        (12, "f"),
        (28, "efdb"),
    ),
    "Clip": ((13, "efdbil,efdbil,efdbil"),),
    "Concat": ((13, "efdbil?"),),
    "Conv": (
        (11, "efd,efd,efd"),
        (22, "efdb,efdb,efdb"),
    ),
    "ConvTranspose": (
        (11, "efd,efd,efd"),
        (22, "efdb,efdb,efdb"),
    ),
    "Cos": (
        (7, "efd"),
        (22, "efdb"),
    ),
    "Cosh": (
        (9, "efd"),
        (22, "efdb"),
    ),
    "CumSum": (
        (11, "fdil,il"),
        (14, "efdbil,il"),
    ),
    "DepthToSpace": ((13, "efdbil?"),),
    "Det": (
        (11, "efd"),
        (22, "efdb"),
    ),
    "Div": ((13, "efdbil,efdbil"),),
    "Dropout": (
        (13, "efdb,efd,?"),
        (22, "efdb,efdb,?"),
    ),
    "Einsum": (
        (12, "efdil"),
        (28, "efdbil"),
    ),
    "Elu": (
        (6, "efd"),
        (22, "efdb"),
    ),
    "Equal": ((13, "efdbil?,efdbil?"),),
    "Erf": ((13, "efdb"),),
    "Exp": ((13, "efdb"),),
    "Expand": ((13, "efdbil?,l"),),
    "EyeLike": (
        (9, "efdil?"),
        (22, "efdbil?"),
    ),
    "Flatten": ((13, "efdbil?"),),
    "Floor": ((13, "efdb"),),
    "GRU": (
        (7, "efd,efd,efd,efd,i,efd"),
        (22, "efdb,efdb,efdb,efdb,i,efdb"),
    ),
    "Gather": ((13, "efdbil?,il"),),
    "GatherElements": ((13, "efdbil?,il"),),
    "GatherND": ((13, "efdbil?,l"),),
    "Gelu": ((20, "efdb"),),
    "Gemm": ((13, "efdbil,efdbil,efdbil"),),
    "GlobalAveragePool": (
        (1, "efd"),
        (22, "efdb"),
    ),
    "GlobalMaxPool": (
        (1, "efd"),
        (22, "efdb"),
    ),
    "Greater": ((13, "efdbil,efdbil"),),
    "GreaterOrEqual": (
        (12, "efdil,efdil"),
        (16, "efdbil,efdbil"),
    ),
    "GroupNormalization": ((21, "efdb,efdb,efdb"),),
    "HardSigmoid": (
        (6, "efd"),
        (22, "efdb"),
    ),
    "HardSwish": (
        (14, "efd"),
        (22, "efdb"),
    ),
    "Identity": ((13, "efdbil?"),),
    "InstanceNormalization": (
        (6, "efd,efd,efd"),
        (22, "efdb,efdb,efdb"),
    ),
    "IsInf": (
        (10, "fd"),
        (20, "efdb"),
    ),
    "IsNaN": ((13, "efdb"),),
    "LSTM": (
        (7, "efd,efd,efd,efd,i,efd,efd,efd"),
        (22, "efdb,efdb,efdb,efdb,i,efdb,efdb,efdb"),
    ),
    "LayerNormalization": ((17, "efdb,efdb,efdb"),),
    "LeakyRelu": (
        (6, "efd"),
        (16, "efdb"),
    ),
    "Less": ((13, "efdbil,efdbil"),),
    "LessOrEqual": (
        (12, "efdil,efdil"),
        (16, "efdbil,efdbil"),
    ),
    "Log": ((13, "efdb"),),
    "LogSoftmax": ((13, "efdb"),),
    "MatMul": ((13, "efdbil,efdbil"),),
    "Max": ((13, "efdbil"),),
    "MaxPool": (
        (12, "efd"),
        (22, "efdb"),
    ),
    "Mean": ((13, "efdb"),),
    "Min": ((13, "efdbil"),),
    "Mish": (
        (18, "efd"),
        (22, "efdb"),
    ),
    "Mod": ((13, "efdbil,efdbil"),),
    "Mul": ((13, "efdbil,efdbil"),),
    "Neg": ((13, "efdbil"),),
    "Not": ((1, "?"),),
    "OneHot": (
        (11, "efdil,efdil,efdil?"),
        (28, "efdil,efdil,efdbil?"),
    ),
    "Or": ((7, "?,?"),),
    "PRelu": (
        (9, "efdil,efdil"),
        (16, "efdbil,efdbil"),
    ),
    "Pad": (
        (13, "efdbil?,l,efdbil?"),
        (18, "efdbil?,l,efdbil?,il"),
    ),
    "Pow": (
        (13, "efdbil,efdil"),
        (15, "efdbil,efdbil"),
    ),
    "RMSNormalization": ((23, "efdb,efdb"),),
    "RNN": (
        (7, "efd,efd,efd,efd,i,efd"),
        (22, "efdb,efdb,efdb,efdb,i,efdb"),
    ),
    "Range": (
        (11, "fdil,fdil,fdil"),
        (27, "efdbil,efdbil,efdbil"),
    ),
    "Reciprocal": ((13, "efdb"),),
    "ReduceL1": (
        (13, "efdbil"),
        (18, "efdbil,l"),
    ),
    "ReduceL2": (
        (13, "efdbil"),
        (18, "efdbil,l"),
    ),
    "ReduceLogSumExp": (
        (13, "efdbil"),
        (18, "efdbil,l"),
        (28, "efdb,l"),
    ),
    "ReduceMax": (
        (13, "efdbil"),
        (18, "efdbil,l"),
        (20, "efdbil?,l"),
    ),
    "ReduceMean": (
        (13, "efdbil"),
        (18, "efdbil,l"),
    ),
    "ReduceMin": (
        (13, "efdbil"),
        (18, "efdbil,l"),
        (20, "efdbil?,l"),
    ),
    "ReduceProd": (
        (13, "efdbil"),
        (18, "efdbil,l"),
    ),
    "ReduceSum": ((13, "efdbil,l"),),
    "ReduceSumSquare": (
        (13, "efdbil"),
        (18, "efdbil,l"),
    ),
    "Relu": (
        (13, "efdb"),
        (14, "efdbil"),
    ),
    "Reshape": ((13, "efdbil?,l"),),
    "Resize": ((13, "efdbil?,efd,f,l"),),
    "Round": (
        (11, "efd"),
        (22, "efdb"),
    ),
    "ScatterElements": ((13, "efdbil?,il,efdbil?"),),
    "ScatterND": ((13, "efdbil?,l,efdbil?"),),
    "Selu": (
        (6, "efd"),
        (22, "efdb"),
    ),
    "Shrink": ((9, "efdil"),),
    "Sigmoid": ((13, "efdb"),),
    "Sign": ((13, "efdbil"),),
    "Sin": (
        (7, "efd"),
        (22, "efdb"),
    ),
    "Sinh": (
        (9, "efd"),
        (22, "efdb"),
    ),
    "Size": ((13, "efdbil?"),),
    "Slice": ((13, "efdbil?,il,il,il,il"),),
    "Softmax": ((13, "efdb"),),
    "Softplus": (
        (1, "efd"),
        (22, "efdb"),
    ),
    "Softsign": (
        (1, "efd"),
        (22, "efdb"),
    ),
    "SpaceToDepth": ((13, "efdbil?"),),
    "Split": ((13, "efdbil?,l"),),
    "Sqrt": ((13, "efdb"),),
    "Squeeze": ((13, "efdbil?,l"),),
    "Sub": ((13, "efdbil,efdbil"),),
    "Sum": ((13, "efdb"),),
    "Swish": ((24, "efdb"),),
    "Tan": (
        (7, "efd"),
        (22, "efdb"),
    ),
    "Tanh": ((13, "efdb"),),
    "ThresholdedRelu": (
        (10, "efd"),
        (22, "efdb"),
    ),
    "Tile": ((13, "efdbil?,l"),),
    "TopK": (
        (11, "efdil,l"),
        (24, "efdbil,l"),
    ),
    "Transpose": ((13, "efdbil?"),),
    "Trilu": ((14, "efdbil?,l"),),
    "Unsqueeze": ((13, "efdbil?,l"),),
    "Where": (
        (9, "?,efdil?,efdil?"),
        (16, "?,efdbil?,efdbil?"),
    ),
    "Xor": ((7, "?,?"),),
}
"""Operator -> (since which opset, the dtypes of its inputs) from opset 13 on: e float16, f float32, d float64,
b bfloat16, i int32, l int64, ? bool; the last input may be repeated where there are more."""
