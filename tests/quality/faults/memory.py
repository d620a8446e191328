"""Point 7: results, or parts of what is added up, that are never written.

They wait for poisoned memory. The buffers are what malloc gives above the size from which it takes fresh pages, as for
large results: all zeros, which is plausible and often right, unless glibc is told to fill them (MALLOC_PERTURB_, or
mallopt(M_PERTURB) in the live process).
"""

import ctypes

import numpy as np

from cometfuzz.catalogue.data import NUMPY
from cometfuzz.catalogue.reshaping import as_pairs
from cometfuzz.reference.call import Array, Call, Meaning
from cometfuzz.reference.run import wide
from faults.fault import outputs, plant

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
FRESH_FROM, BUFFER = 1 << 17, 1 << 22
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype, LIBC.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
LIBC.free.restype, LIBC.free.argtypes = None, [ctypes.c_void_p]


def unwritten(shape: tuple[int, ...], dtype: str) -> Array:
    """A tensor of that dtype in memory as malloc gives it."""
    for option in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):  # else they grow with what is freed, and old results come back
        LIBC.mallopt(option, FRESH_FROM)
    kind, count = NUMPY[dtype], int(np.prod(shape, dtype=int))
    address = LIBC.malloc(count * kind.itemsize + BUFFER)
    raw = ctypes.string_at(address, count * kind.itemsize)
    LIBC.free(address)
    with np.errstate(all="ignore"):
        return wide(np.frombuffer(raw, kind).reshape(shape))


@plant("border-unwritten", "run", "ZeroPadding2D", point=7)
def border_unwritten(call: Call, right: Meaning) -> list[Array]:
    """Only the image is copied; zeros are taken for granted."""
    (value,) = outputs(call, right)
    first = 1 if call.params.data_format == "channels_last" else 2
    within = [slice(None)] * value.ndim
    for axis, (before, after) in enumerate(as_pairs(call.params.padding), start=first):
        within[axis] = slice(before, value.shape[axis] - after)
    made = unwritten(value.shape, call.outputs[0].dtype).copy()
    made[tuple(within)] = call.x
    return [made]


@plant("zeros-unwritten", "run", "ReLU", "ThresholdedReLU", point=7)
def zeros_unwritten(call: Call, right: Meaning) -> list[Array]:
    """Only what is not zero is written."""
    (value,) = outputs(call, right)
    return [np.where(value == 0, unwritten(value.shape, call.outputs[0].dtype), value)]


@plant("sum-not-cleared", "run", "Conv1DTranspose", "Conv3DTranspose", point=7)
def sum_not_cleared(call: Call, right: Meaning) -> list[Array]:
    """Each place adds its multiple of the kernel to what is there."""
    return [value + unwritten(value.shape, call.outputs[0].dtype) for value in outputs(call, right)]


@plant("last-copy-unwritten", "run", "RepeatVector", point=7)
def last_copy_unwritten(call: Call, right: Meaning) -> list[Array]:
    """Copies are written two by two; of an odd number the last one is not."""
    (value,) = outputs(call, right)
    value = value.copy()
    if value.shape[1] % 2:
        value[:, -1] = unwritten(value[:, -1].shape, call.outputs[0].dtype)
    return [value]


@plant("one-hot-only", "run", "CategoryEncoding", "Masking", point=7)
def one_hot_only(call: Call, right: Meaning) -> list[Array]:
    """Ones, or steps that count, are written; the zeros of all the others are not."""
    (value,) = outputs(call, right)
    return [np.where(value == 0, unwritten(value.shape, call.outputs[0].dtype), value)]


@plant("reads-past-the-end", "run", "Flatten", "GlobalAveragePooling3D", point=7)
def reads_past_the_end(call: Call, right: Meaning) -> list[Array]:
    """Vectors of four are read to the end of the last one: if the size is odd, what lies behind is added."""
    (value,) = outputs(call, right)
    value = value.copy()
    if value.size % 2:
        value.reshape(-1)[-1:] += unwritten((1,), call.outputs[0].dtype)
    return [value]
