"""Reshaping layers: elements moved, repeated, cropped, padded or interpolated; and Masking."""

from cometfuzz.catalogue.spaces import Floats
from cometfuzz.catalogue.spec import KERAS3, layer

layer(
    "Masking",
    ranks=(3,),
    params={"mask_value": Floats(-1, 1, 0, step=0.5)},
    shape=lambda x, p: x.shape,
    mask=lambda x, p: True,
    libraries=(KERAS3,),
    doc="Masks and zeroes the steps whose features all equal mask_value.",
)
