"""Reshaping layers and Masking."""

import numpy as np

from cometfuzz.reference.call import Array, Call, Mask, mask_of, meaning
from cometfuzz.reference.run import narrow


@mask_of("Masking")
def steps_to_keep(call: Call) -> Mask:
    """True for steps with a feature that is not mask_value, as the input's dtype holds it."""
    value = narrow(np.asarray(call.params.mask_value), call.types[0].dtype).astype(np.float64)
    return np.asarray((call.x != value).any(axis=-1))


@meaning("Masking")
def masking(call: Call) -> Array:
    return np.where(steps_to_keep(call)[..., None], call.x, 0.0)
