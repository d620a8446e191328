"""Faults that show by what a route computes, or by how a stage ends, on ordinary numbers."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.reshaping import as_pairs
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.reference.activation import Rounding
from cometfuzz.reference.call import Array, Call, Meaning
from faults.fault import ANY, FAULTS, Fault, break_down, outputs, plant, plant_formula

HANGS_ABOVE = 256

FAULTS["dtype-promoted"] = Fault("dtype-promoted", "run", ("Multiply",), dtype={"float16": "float32"})


@plant("even-kernel-padding", "run", "Conv2D")
def even_kernel_padding(call: Call, right: Meaning) -> list[Array]:
    """The odd zero of `same` in front instead of behind."""
    if call.params.padding != "same" or all(size % 2 for size in call.params.kernel_size):
        return outputs(call, right)
    spatial = (1, 2) if call.params.data_format == "channels_last" else (2, 3)
    kernel = np.flip(call.weights["kernel"], (0, 1))
    flipped = replace(call, inputs=[np.flip(call.x, spatial)], weights={**call.weights, "kernel": kernel})
    return [np.flip(value, spatial) for value in outputs(flipped, right)]


@plant("nan-swallowed", "run", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "ReLU", point=3)
def nan_swallowed(call: Call, right: Meaning) -> list[Array]:
    """NaN loses every maximum."""
    if call.layer == "ReLU":
        return [np.where(np.isnan(value), 0.0, value) for value in outputs(call, right)]
    return outputs(replace(call, inputs=[np.where(np.isnan(call.x), -np.inf, call.x)]), right)


@plant("channels-first-strides", "convert", "MaxPooling2D")
def channels_first_strides(call: Call, right: Meaning) -> list[Array]:
    """The strides of the two axes are swapped, if the result has the same shape."""
    p = call.params
    if p.data_format != "channels_first" or p.strides is None:
        return outputs(call, right)
    (swapped,) = outputs(replace(call, params=p.replace(strides=p.strides[::-1])), right)
    (value,) = outputs(call, right)
    return [swapped if swapped.shape == value.shape else value[:, :, ::-1, ::-1]]


@break_down("zero-size", "convert", ANY)
def zero_size(graph: Graph, node: Node) -> None:
    if any(kind.elements == 0 for kind in graph.input_types(node)):
        raise IndexError("tuple index out of range")


@plant("crop-off-by-one", "run", "Cropping2D")
def crop_off_by_one(call: Call, right: Meaning) -> list[Array]:
    """One element less in front, one more behind."""
    pairs = tuple((max(before - 1, 0), after + min(before, 1)) for before, after in as_pairs(call.params.cropping))
    return outputs(replace(call, params=call.params.replace(cropping=pairs)), right)


@plant("hang-above-size", "run", "UpSampling2D", deadly=True)
def hang_above_size(call: Call, right: Meaning) -> list[Array]:
    if call.outputs[0].elements > HANGS_ABOVE:
        time.sleep(1000)
    return outputs(call, right)


@plant("axis-minus-two", "convert", "Softmax")
def axis_minus_two(call: Call, right: Meaning) -> list[Array]:
    return outputs(replace(call, params=call.params.replace(axis=-1)) if call.params.axis == -2 else call, right)


_REMEMBERED: dict[tuple[int, ...], Array] = {}


@plant("stale-state", "run", "GRU", point=6)
def stale_state(call: Call, right: Meaning) -> list[Array]:
    """Half of what the call before gave leaks into this one."""
    value, *states = outputs(call, right)
    leaked = value + 0.5 * _REMEMBERED.get(value.shape, np.zeros(value.shape))
    _REMEMBERED[value.shape] = value
    return [leaked, *states]


@plant("short-transposed", "run", "Conv2DTranspose")
def short_transposed(call: Call, right: Meaning) -> list[Array]:
    """One place too few where the strides leave holes."""
    (value,) = outputs(call, right)
    holes = any(stride > size for stride, size in zip(call.params.strides, call.params.kernel_size, strict=True))
    if not holes or call.params.padding != "valid":
        return [value]
    return [value[:, :-1] if call.params.data_format == "channels_last" else value[:, :, :-1]]


@plant("epsilon-ignored", "convert", "BatchNormalization")
def epsilon_ignored(call: Call, right: Meaning) -> list[Array]:
    return outputs(replace(call, params=call.params.replace(epsilon=0.0)), right)


@plant("variance-of-a-sample", "run", "LayerNormalization")
def variance_of_a_sample(call: Call, right: Meaning) -> list[Array]:
    """Divided by n - 1: all deviations get smaller."""
    axis = call.params.axis
    n = int(np.prod([call.x.shape[each] for each in (axis if isinstance(axis, tuple) else (axis,))]))
    factor = np.sqrt(max(n - 1, 1) / max(n, 1))
    weights = {name: value * factor if name == "gamma" else value for name, value in call.weights.items()}
    return outputs(replace(call, weights=weights), right)


@plant("slope-fixed", "build", "LeakyReLU")
def slope_fixed(call: Call, right: Meaning) -> list[Array]:
    return outputs(replace(call, params=call.params.replace(negative_slope=0.3)), right)


@plant("average-of-two", "run", "Average")
def average_of_two(call: Call, right: Meaning) -> list[Array]:
    return [value * len(call.inputs) / 2 for value in outputs(call, right)]


@plant("backwards-reversed", "convert", "LSTM")
def backwards_reversed(call: Call, right: Meaning) -> list[Array]:
    value, *states = outputs(call, right)
    wrong = call.params.go_backwards and call.params.return_sequences
    return [value[:, ::-1] if wrong else value, *states]


@plant("average-not-halved", "build", "Bidirectional")
def average_not_halved(call: Call, right: Meaning) -> list[Array]:
    value, *states = outputs(call, right)
    return [value * 2.0 if call.params.merge_mode == "ave" else value, *states]


@plant("last-token", "run", "Embedding")
def last_token(call: Call, right: Meaning) -> list[Array]:
    last = call.params.input_dim - 1
    return outputs(replace(call, inputs=[np.where(call.x == last, 0, call.x)]), right)


@plant("normalize-ignored", "convert", "Dot")
def normalize_ignored(call: Call, right: Meaning) -> list[Array]:
    return outputs(replace(call, params=call.params.replace(normalize=False)), right)


@plant("alpha-ignored", "run", "ELU")
def alpha_ignored(call: Call, right: Meaning) -> list[Array]:
    return outputs(replace(call, params=call.params.replace(alpha=1.0)), right)


@plant("mask-dropped", "convert", "SimpleRNN")
def mask_dropped(call: Call, right: Meaning) -> list[Array]:
    return outputs(replace(call, masks=[None] * len(call.masks)), right)


@plant("inputs-swapped", "run", "Concatenate")
def inputs_swapped(call: Call, right: Meaning) -> list[Array]:
    """From the third input on the order is lost."""
    inputs = list(call.inputs)
    return outputs(replace(call, inputs=[*inputs[:1], *inputs[:0:-1]]) if len(inputs) > 2 else call, right)


@break_down("uneven-padding", "convert", "ZeroPadding1D")
def uneven_padding(graph: Graph, node: Node) -> None:
    ((before, after),) = as_pairs(node.params.padding)
    if before != after:
        raise RuntimeError(f"pads must be symmetric, got ({before}, {after}) at {node.id}")


@plant("permutation-inverted", "convert", "Permute")
def permutation_inverted(call: Call, right: Meaning) -> list[Array]:
    """The inverse permutation, read as if the shape were right."""
    inverse = tuple(int(place) + 1 for place in np.argsort(call.params.dims))
    (value,) = outputs(replace(call, params=call.params.replace(dims=inverse)), right)
    return [value.reshape(call.outputs[0].shape)]


@plant("half-without-bias", "run", "Dense")
def half_without_bias(call: Call, right: Meaning) -> list[Array]:
    """The path for float16 forgets the bias."""
    forgets = call.outputs[0].dtype == "float16" and call.params.use_bias
    return outputs(replace(call, params=call.params.replace(use_bias=False)) if forgets else call, right)


@plant("segfault", "run", "DepthwiseConv2D", deadly=True)
def segfault(call: Call, right: Meaning) -> list[Array]:
    if call.params.depth_multiplier > 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    return outputs(call, right)


@break_down("one-group-each", "build", "GroupNormalization")
def one_group_each(graph: Graph, node: Node) -> None:
    if node.params.groups == -1:
        raise ZeroDivisionError("integer modulo by zero")


@plant("operands-swapped", "run", "Subtract")
def operands_swapped(call: Call, right: Meaning) -> list[Array]:
    return [-value for value in outputs(call, right)]


@plant("border-not-finite", "run", "AveragePooling2D")
def border_not_finite(call: Call, right: Meaning) -> list[Array]:
    """0 / 0 in the first window of `same`."""
    values = [value.copy() for value in outputs(call, right)]
    if call.params.padding == "same":
        for value in values:
            value.reshape(-1)[:1] = np.nan
    return values


@plant("scores-not-scaled", "run", "MultiHeadAttention")
def scores_not_scaled(call: Call, right: Meaning) -> list[Array]:
    factor = np.sqrt(call.params.key_dim)
    weights = {name: value * factor if name.endswith("query") else value for name, value in call.weights.items()}
    return outputs(replace(call, weights=weights), right)


@plant("pool-counts-padding", "build", "AveragePooling1D")
def pool_counts_padding(call: Call, right: Meaning) -> list[Array]:
    """Zeros of the border are counted in the mean."""
    p, first = call.params, 1 if call.params.data_format == "channels_last" else 2
    if p.padding != "same" or call.x.size == 0:
        return outputs(call, right)
    borders = [(0, 0)] * call.x.ndim
    for axis, (size, stride) in enumerate(zip(p.pool_size, p.strides or p.pool_size, strict=True), start=first):
        n = call.x.shape[axis]
        missing = max((-(-n // stride) - 1) * stride + size - n, 0)
        borders[axis] = (missing // 2, missing - missing // 2)
    return outputs(replace(call, inputs=[np.pad(call.x, borders)], params=p.replace(padding="valid")), right)


@plant_formula("activation-sign", "softsign", point=0)
def activation_sign(x: Array, right: Callable[[Array], Array], rounded: Rounding) -> Array:
    return np.where(x < 0, -right(x), right(x))
