"""Points 1 and 2: a library that is wrong where another one is known to be.

The planted ledger holds the defects that are `known` here. The front end's readers get its models as files: where it is
only its own runtime that is wrong, the file is right; where its builder is, the file says so, and a reader answers for
what it was given. What is known shows wherever the fault beside it does, so that nobody sees the fault alone. If it is
excused or swallowed by what is known of another library, it has not been found.
"""

from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.reshaping import as_pairs
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.reference.call import Array, Call, Meaning
from faults.fault import break_down, known, outputs, plant


@known("known-tiled", "front run", "UpSampling1D")
def known_tiled(call: Call, right: Meaning) -> list[Array]:
    """The whole sequence again and again, instead of each step."""
    return [np.concatenate([call.x] * int(call.params.size), axis=1)]


@plant("reader-repeats-backwards", "run", "UpSampling1D", behind_front=True, point=1)
def reader_repeats_backwards(call: Call, right: Meaning) -> list[Array]:
    """The reader counts the steps of the sequence from its end."""
    return [value[:, ::-1] for value in outputs(call, right)]


@known("known-crop-side", "front run", "Cropping3D")
def known_crop_side(call: Call, right: Meaning) -> list[Array]:
    """What is to be cut off behind is cut off in front."""
    pairs = tuple((after, before) for before, after in as_pairs(call.params.cropping))
    return outputs(replace(call, params=call.params.replace(cropping=pairs)), right)


@break_down("loader-wants-a-crop", "run", "Cropping3D", behind_front=True, point=1)
def loader_wants_a_crop(graph: Graph, node: Node) -> None:
    """The reader dies of a slice that leaves an axis as it is."""
    if any(pair == (0, 0) for pair in as_pairs(node.params.cropping)):
        raise RuntimeError(f"Slice: ends must be greater than starts at {node.id}")


@known("known-bias-lost", "front build", "SeparableConv1D")
def known_bias_lost(call: Call, right: Meaning) -> list[Array]:
    """The model is built without its bias, and saved so."""
    return outputs(replace(call, params=call.params.replace(use_bias=False)), right)


@plant("reader-flips-kernel", "run", "SeparableConv1D", behind_front=True, point=1)
def reader_flips_kernel(call: Call, right: Meaning) -> list[Array]:
    """A convolution in the sense of mathematics, of a file that has no bias to begin with."""
    flipped = {name: np.flip(value, 0) if "depthwise" in name else value for name, value in call.weights.items()}
    return outputs(replace(call, weights=flipped), right)


@known("known-kernel-flipped", "front run", "Conv3D")
def known_kernel_flipped(call: Call, right: Meaning) -> list[Array]:
    flipped = {name: np.flip(value, 0) if name == "kernel" else value for name, value in call.weights.items()}
    return outputs(replace(call, weights=flipped), right)


@plant("export-drops-bias", "convert", "Conv3D", behind_front=True, point=1)
def export_drops_bias(call: Call, right: Meaning) -> list[Array]:
    """What is saved is not the model that it was made from."""
    return outputs(replace(call, params=call.params.replace(use_bias=False)), right)


@known("known-border-in-front", "front run", "ZeroPadding3D")
def known_border_in_front(call: Call, right: Meaning) -> list[Array]:
    """Both borders of an axis in front."""
    pairs = tuple((before + after, 0) for before, after in as_pairs(call.params.padding))
    return outputs(replace(call, params=call.params.replace(padding=pairs)), right)


@plant("compiled-border-repeats", "graph", "ZeroPadding3D", behind_front=True, point=1)
def compiled_border_repeats(call: Call, right: Meaning) -> list[Array]:
    """Compiled, the border repeats the outermost numbers; eager, it is merely misplaced, as is known."""
    first = 1 if call.params.data_format == "channels_last" else 2
    borders = [(0, 0)] * call.x.ndim
    borders[first : first + 3] = as_pairs(call.params.padding)
    return [np.pad(call.x, borders, mode="edge")] if call.x.size else outputs(call, right)


@known("known-slope-shared", "reader run", "PReLU")
def known_slope_shared(call: Call, right: Meaning) -> list[Array]:
    """One slope for all elements."""
    alpha = call.weights["alpha"]
    shared = np.full_like(alpha, alpha.flat[0]) if alpha.size else alpha
    return outputs(replace(call, weights={**call.weights, "alpha": shared}), right)


@plant("slope-of-the-neighbour", "run", "PReLU", point=2)
def slope_of_the_neighbour(call: Call, right: Meaning) -> list[Array]:
    alpha = call.weights["alpha"]
    return outputs(replace(call, weights={**call.weights, "alpha": np.roll(alpha, 1)}), right)


@known("known-mean-of-one-more", "reader run", "GlobalAveragePooling1D", "GlobalAveragePooling2D")
def known_mean_of_one_more(call: Call, right: Meaning) -> list[Array]:
    """Divided by n + 1."""
    first = 1 if call.params.data_format == "channels_last" else 2
    n = int(np.prod(call.x.shape[first : first + call.x.ndim - 2]))
    return [value * n / (n + 1) for value in outputs(call, right)]


@plant("mean-without-the-last", "run", "GlobalAveragePooling1D", "GlobalAveragePooling2D", point=2)
def mean_without_the_last(call: Call, right: Meaning) -> list[Array]:
    """The last place of the first spatial axis counts as zero."""
    axis = 1 if call.params.data_format == "channels_last" else 2
    x = np.moveaxis(call.x.copy(), axis, 0)
    x[-1:] = 0.0
    return outputs(replace(call, inputs=[np.moveaxis(x, 0, axis)]), right)


@known("known-step-lost", "reader run", "ConvLSTM1D", "ConvLSTM2D")
def known_step_lost(call: Call, right: Meaning) -> list[Array]:
    """The first step counts as zeros."""
    x = call.x.copy()
    x[:, :1] = 0.0
    return outputs(replace(call, inputs=[x]), right)


@plant("steps-backwards", "run", "ConvLSTM1D", "ConvLSTM2D", point=2)
def steps_backwards(call: Call, right: Meaning) -> list[Array]:
    """The sequence is read from its end."""
    return outputs(
        replace(call, inputs=[call.x[:, ::-1]], masks=[None if m is None else m[:, ::-1] for m in call.masks]), right
    )


@plant("offset-before-scale", "run", "Rescaling", point=2)
def offset_before_scale(call: Call, right: Meaning) -> list[Array]:
    """(x + offset) * scale, beside a library that forgets the offset."""
    zero, (value,) = outputs(replace(call, inputs=[np.zeros_like(call.x)]), right)[0], outputs(call, right)
    return [value - zero + zero * np.asarray(call.params.scale)]


@plant("offset-forgotten", "run", "Rescaling", point=2)
def offset_forgotten(call: Call, right: Meaning) -> list[Array]:
    return [outputs(call, right)[0] - outputs(replace(call, inputs=[np.zeros_like(call.x)]), right)[0]]
