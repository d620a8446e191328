"""Regularising layers: in inference mode all of them hand their input on."""

from cometfuzz.reference.call import Array, Call, meaning


@meaning(
    *(
        "Dropout",
        "GaussianDropout",
        "AlphaDropout",
        "SpatialDropout1D",
        "SpatialDropout2D",
        "SpatialDropout3D",
    ),
    *("GaussianNoise", "ActivityRegularization"),
)
def unchanged(call: Call) -> Array:
    return call.x
