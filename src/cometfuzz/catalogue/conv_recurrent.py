"""ConvLSTM over sequences of lines, images or volumes: an LSTM whose products are convolutions."""

from collections.abc import Callable, Mapping
from typing import Any

from cometfuzz.catalogue.recurrent import (
    HAS_STEPS,
    LOOP,
    SEED,
    dropouts,
    gate_activation,
    looped,
    sequence_masked,
    step_type,
)
from cometfuzz.catalogue.shapes import Shape, channels, ones, spatial, window, with_channels
from cometfuzz.catalogue.spaces import (
    BOOLEAN_TRUE,
    DATA_FORMAT,
    SAME_OR_VALID,
    Choice,
    Ints,
    PerAxis,
    Space,
    build_params,
)
from cometfuzz.catalogue.spec import Ours, draw_shape, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.types import FLOATS, TensorType


def _params(axes: int) -> dict[str, Space]:
    return {
        "filters": Ints(1, 5),
        "kernel_size": PerAxis(axes, Ints(1, 5)),
        "strides": PerAxis(axes, Ints(1, 5)),
        "padding": SAME_OR_VALID,
        "data_format": DATA_FORMAT,
        "dilation_rate": PerAxis(axes, Ints(1, 5)),
        "activation": gate_activation("tanh"),
        "recurrent_activation": gate_activation("sigmoid"),
        "use_bias": BOOLEAN_TRUE,
        "unit_forget_bias": Choice(True, False, effect="build"),
        **build_params("kernel", "recurrent", "bias"),
        **dropouts(),
        **LOOP,
    }


def _places(x: TensorType, p: Any) -> Shape:
    """Where the kernel can stand in one step; the sizes of the state."""
    return window(spatial(step_type(x), p), p.kernel_size, p.strides, p.dilation_rate, p.padding)


def _states(x: TensorType, p: Any) -> list[Shape]:
    return [with_channels(x.shape[0], _places(x, p), p.filters, p.data_format)] * 2


def _shape(x: TensorType, p: Any) -> Shape | list[Shape]:
    output, memory = _states(x, p)
    return looped(x, p, [output, output, memory])


def _weights(x: TensorType, p: Any) -> Mapping[str, Shape]:
    shapes: dict[str, Shape] = {
        "kernel": (*p.kernel_size, channels(step_type(x), p), 4 * p.filters),
        "recurrent_kernel": (*p.kernel_size, p.filters, 4 * p.filters),
    }
    return {**shapes, "bias": (4 * p.filters,)} if p.use_bias else shapes


def _inputs(axes: int) -> Callable[[Draw], tuple[TensorType, ...]]:
    """Few steps and small images, because each step costs eight convolutions."""
    return lambda draw: (TensorType(draw.choice(FLOATS), draw_shape(draw, axes + 3, high=6 if axes < 2 else 5)),)


for _axes in (1, 2, 3):
    layer(
        f"ConvLSTM{_axes}D",
        ranks=[_axes + 3],
        output_ranks=[_axes + 2, _axes + 3],
        params=_params(_axes),
        rules={
            **HAS_STEPS,
            "strides or dilation, not both": Ours(lambda x, p: ones(p.strides) or ones(p.dilation_rate)),
            "input has channels": Ours(lambda x, p: channels(step_type(x), p) >= 1),
            "kernel fits": lambda x, p: min(_places(x, p)) >= 1,
        },
        shape=_shape,
        weights=_weights,
        mask=sequence_masked,
        states=_states,
        inputs=_inputs(_axes),
        excluded=SEED,
        doc=f"An LSTM over {_axes}D grids: its gates convolve the input and, with 'same' padding, the state.",
    )
