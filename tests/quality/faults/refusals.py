"""Point 5: a rule of a layer that a library does not check, though all others refuse a call that breaks it.

They wait for calls that break a rule: those of a campaign are all valid, and on them these routes are right. A planted
library refuses an invalid call when it builds (`planted.Planted.build`); these go on, with what their twists say.
"""

import os
import signal

import numpy as np

from cometfuzz.reference.call import Array, Call, Meaning
from faults.fault import plant


@plant("window-too-large", "build", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", unchecked="pool fits", point=5)
def window_too_large(call: Call, right: Meaning) -> list[Array]:
    """One window, of what there is and what lies behind it."""
    return [np.full((*call.x.shape[:1], *[1] * (call.x.ndim - 2), *call.x.shape[-1:]), -np.inf)]


@plant("groups-round-down", "build", "Conv1D", "Conv2D", "Conv3D", unchecked="groups divide channels", point=5)
def groups_round_down(call: Call, right: Meaning) -> list[Array]:
    """Channels that are left over are left out."""
    return [np.zeros((*call.x.shape[:-1], call.params.filters))]


@plant("reshape-repeats", "build", "Reshape", unchecked="same number of elements", point=5)
def reshape_repeats(call: Call, right: Meaning) -> list[Array]:
    """As many elements as are asked for, from the beginning again where there are too few."""
    sizes = [max(size, 1) for size in call.params.target_shape]
    return [np.resize(call.x, (call.x.shape[0], *sizes))]


@plant("crop-of-everything", "build", "Cropping1D", "Cropping2D", "Cropping3D", unchecked="something is left", point=5)
def crop_of_everything(call: Call, right: Meaning) -> list[Array]:
    """Nothing, in a tensor without elements."""
    return [call.x[:, :0]]


@plant("permute-some-axes", "build", "Permute", unchecked="one entry for each axis", point=5)
def permute_some_axes(call: Call, right: Meaning) -> list[Array]:
    """Axes that are not named stay where they are."""
    return [call.x]


@plant(
    *("concatenate-reads-on", "build", "Concatenate"),
    unchecked="shapes agree but for the axis",
    deadly=True,
    point=5,
)
def concatenate_reads_on(call: Call, right: Meaning) -> list[Array]:
    """Sizes are taken from the first input: the others are read beyond their end."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return []
