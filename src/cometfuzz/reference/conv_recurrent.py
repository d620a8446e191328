"""ConvLSTM: the gates of an LSTM, fed by convolutions of the input and of the state."""

from collections.abc import Sequence

import numpy as np

from cometfuzz.reference.call import Array, Call, meaning
from cometfuzz.reference.convolution import convolve
from cometfuzz.reference.recurrent import first_states, loop, lstm_update


def step(call: Call, x: Array, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    """One step: the input's convolution is the layer's own, the state's keeps its size."""
    p, (output, memory) = call.params, states
    ones = (1,) * len(p.kernel_size)
    flow = convolve(call, x, call.weights["kernel"], p.strides, p.dilation_rate, p.padding, p.data_format)
    axis = -1 if p.data_format == "channels_last" else 1
    if p.use_bias:
        shape = [1] * flow.ndim
        shape[axis] = -1
        flow = call.rounded(flow + call.weights["bias"].reshape(shape))
    flow = flow + convolve(call, output, call.weights["recurrent_kernel"], ones, ones, "same", p.data_format)
    return lstm_update(call, np.split(flow, 4, axis=axis), memory)


@meaning("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
def conv_lstm(call: Call) -> list[Array]:
    shape = call.outputs[0].shape
    state = np.zeros((shape[0], *shape[2:]) if call.params.return_sequences else shape)
    return loop(call, step, call, first_states(call, [state, state]), zero_masked=False)
