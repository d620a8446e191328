"""Gaps of Keras-MXNet, a Keras of 2018, and of MXNet."""

from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.activation import activations
from cometfuzz.routes.gaps.initialising import initialisers
from cometfuzz.routes.gaps.onnx import (
    AVERAGE,
    CONV_LSTM,
    CONVOLUTIONS,
    GLOBAL,
    MAX,
    RECURRENT,
    TRANSPOSES,
    dtypes,
    empty,
)

_MXNET = ("keras-mxnet",)
KNOWN_ACTIVATIONS = (
    *(None, "softmax", "elu", "selu", "softplus", "softsign", "relu", "tanh", "sigmoid", "hard_sigmoid"),
    *("exponential", "linear"),
)

GAPS: tuple[Gap, ...] = (
    Gap(
        _MXNET,
        (),
        lambda x, p: "bfloat16" in dtypes(x, p),
        evidence="Unknown floatx type: bfloat16",
        raises="Exception",
    ),
    Gap(
        _MXNET,
        (),
        lambda x, p: any(name not in KNOWN_ACTIVATIONS for name in activations(p)),
        evidence="Unknown activation function:silu",
        raises="Exception",
    ),
    Gap(
        _MXNET,
        ("DepthwiseConv1D", "ConvLSTM1D", "ConvLSTM3D", "LayerNormalization", "Conv1DTranspose", "UnitNormalization"),
        lambda x, p: True,
        evidence="no layer LayerNormalization in Keras 2.2.4",
        raises="Exception",
    ),
    Gap(
        _MXNET,
        GLOBAL,
        lambda x, p: p.keepdims,
        evidence="GlobalMaxPooling1D has no parameter keepdims in Keras 2.2.4",
        raises="NotInKerasMxnet",
    ),
    Gap(
        _MXNET,
        CONVOLUTIONS,
        lambda x, p: p.groups > 1,
        evidence="Conv2D has no parameter groups in Keras 2.2.4",
        raises="Exception",
    ),
    Gap(
        _MXNET,
        ("LocallyConnected1D", "LocallyConnected2D", "SeparableConv1D", "Conv3DTranspose"),
        lambda x, p: True,
        evidence="MXNet Backend: local_conv1d operator is not supported yet; Separable Conv1D not supported yet;"
        " Conv3D Transpose is only supported on GPU with CUDNN",
        raises="Exception",
    ),
    Gap(
        _MXNET,
        ("DepthwiseConv2D", "SeparableConv2D"),
        lambda x, p: p.depth_multiplier > 1,
        evidence="MXNet Backend: Does not support depth multiplier not equal to 1",
        raises="Exception",
    ),
    Gap(
        _MXNET,
        (),
        lambda x, p: bool(dtypes(x, p) & {"float16", "float64"}) and "Zeros" in initialisers(p),
        evidence="Redefinition of variable layer/kernel1: zeros in another dtype than float32 are made twice",
        raises="Exception",
        always=False,
        kind="bug",
    ),
    Gap(
        _MXNET,
        (),
        lambda x, p: bool({"Identity", "Orthogonal", "he_normal", "he_uniform"} & {*initialisers(p)}),
        evidence="Long side should be multiple of short side; Unexpected bias dimensions 0, expect to be 1 or 2",
        raises="Exception",
        always=False,
    ),
    Gap(
        _MXNET,
        (*CONVOLUTIONS, *TRANSPOSES, "DepthwiseConv2D", "SeparableConv2D", *CONV_LSTM),
        lambda x, p: True,
        evidence="Layer weight shape (9, 8, 2, 3) not compatible with provided weight shape (2, 3, 8, 9): kernels of"
        " channels_first layers lie otherwise; same padding with strides or dilation pads otherwise",
        symptom="any",
        always=False,
    ),
    Gap(
        _MXNET,
        (*MAX, *AVERAGE),
        lambda x, p: p.padding == "same",
        evidence="same padding is even on both sides, and is counted in averages",
        symptom="result",
        always=False,
        kind="bug",
    ),
    Gap(
        _MXNET,
        (),
        lambda x, p: any(kind.masked for kind in (x if isinstance(x, tuple) else (x,))),
        evidence="Layer layer does not support masking, but was passed an input_mask",
        symptom="any",
        always=False,
    ),
    Gap(
        _MXNET,
        (),
        lambda x, p: "float64" in dtypes(x, p),
        evidence="numbers of a layer are rounded to float32",
        symptom="value",
        always=False,
        kind="bug",
    ),
    Gap(
        _MXNET,
        (),
        lambda x, p: "hard_sigmoid" in activations(p),
        evidence="Keras 2 documents hard_sigmoid as clip(0.2 x + 0.5, 0, 1), Keras 3 as clip(x / 6 + 0.5, 0, 1)",
        symptom="value",
        always=False,
    ),
    Gap(
        _MXNET,
        (),
        empty,
        evidence="simple_bind error: MXNet has no empty tensors",
        symptom="any",
        always=False,
    ),
    Gap(
        _MXNET,
        RECURRENT,
        lambda x, p: True,
        evidence="AssertionError [Debug Info] <Symbol layer/dropout1>; SimpleRNN of go_backwards gives other values",
        symptom="any",
        always=False,
        kind="bug",
    ),
    Gap(
        _MXNET,
        ("PReLU",),
        lambda x, p: any(axis < 0 for axis in p.shared_axes or ()),
        evidence="Layer weight shape (3, 1, 3, 4) not compatible: build() uses param_shape[i - 1], as later Keras does",
        raises="Exception",
        always=False,
        kind="bug",
    ),
    Gap(
        _MXNET,
        ("BatchNormalization",),
        lambda x, p: not p.scale or not p.center,
        evidence="You called `set_weights(weights)` with a weight list of length 3, but the layer was expecting 4",
        raises="Exception",
        always=False,
    ),
)
