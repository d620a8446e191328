"""Reshaping layers and Masking."""

import numpy as np

from cometfuzz.catalogue.reshaping import as_pairs
from cometfuzz.reference.call import Array, Call, Mask, mask_of, meaning
from cometfuzz.reference.interpolation import leave_interpolation, resample
from cometfuzz.reference.run import narrow, smallest

_KINDS = ("1D", "2D", "3D")


def steps_to_keep(call: Call) -> Mask:
    """True for steps with a feature that is not mask_value, as the input's dtype holds it."""
    value = narrow(np.asarray(call.params.mask_value), call.types[0].dtype).astype(np.float64)
    return np.asarray((call.x != value).any(axis=-1))


mask_of("Masking")(steps_to_keep)


@meaning("Masking")
def masking(call: Call) -> Array:
    """Of a step that differs from the mask's value by less than a normal number, libraries may say that it does not."""
    apart = np.max(np.abs(call.x - call.params.mask_value), axis=-1, initial=0.0)
    call.step(np.where((apart > 0) & (apart < smallest(call.types[0].dtype)), 0.0, np.inf))
    return np.where(steps_to_keep(call)[..., None], call.x, 0.0)


@meaning("Identity")
def identity(call: Call) -> Array:
    return call.x


@meaning("Reshape")
def reshape(call: Call) -> Array:
    return call.x.reshape(call.outputs[0].shape)


@meaning("Flatten")
def flatten(call: Call) -> Array:
    x = np.moveaxis(call.x, 1, -1) if call.params.data_format == "channels_first" else call.x
    return x.reshape(call.outputs[0].shape)


@meaning("Permute")
def permute(call: Call) -> Array:
    return np.transpose(call.x, (0, *call.params.dims))


@meaning("RepeatVector")
def repeat_vector(call: Call) -> Array:
    return np.repeat(call.x[:, None, :], call.params.n, axis=1)


def first_spatial_axis(call: Call) -> int:
    return 2 if call.params.get("data_format") == "channels_first" else 1


@meaning(*(f"Cropping{kind}" for kind in _KINDS))
def cropping(call: Call) -> Array:
    inner = [slice(None)] * call.x.ndim
    for axis, (before, after) in enumerate(as_pairs(call.params.cropping), start=first_spatial_axis(call)):
        inner[axis] = slice(before, call.x.shape[axis] - after)
    return call.x[tuple(inner)]


@meaning(*(f"ZeroPadding{kind}" for kind in _KINDS))
def zero_padding(call: Call) -> Array:
    borders = [(0, 0)] * call.x.ndim
    for axis, pair in enumerate(as_pairs(call.params.padding), start=first_spatial_axis(call)):
        borders[axis] = pair
    return np.pad(call.x, borders)


@meaning(*(f"UpSampling{kind}" for kind in _KINDS))
def up_sampling(call: Call) -> Array:
    p, x = call.params, call.x
    factors = p.size if isinstance(p.size, tuple) else (p.size,)
    method = p.get("interpolation", "nearest")
    leave_interpolation(call, method)
    for axis, factor in enumerate(factors, start=first_spatial_axis(call)):
        x = resample(call, x, axis, x.shape[axis] * factor, method) if x.shape[axis] else x
    return x if method == "nearest" else call.rounded(x)
