"""Dense and EinsumDense: contractions of the last axes with a kernel."""

from cometfuzz.catalogue.spaces import BOOLEAN_TRUE, Ints, activations, build_params
from cometfuzz.catalogue.spec import layer

TUNING = {
    "lora_rank": "training only",
    "lora_alpha": "training only",
    "quantization_config": "quantised models are not in the space",
}

layer(
    "Dense",
    ranks=range(2, 7),
    params={
        "units": Ints(1, 9),
        "activation": activations(),
        "use_bias": BOOLEAN_TRUE,
        **build_params("kernel", "bias"),
    },
    rules={"input has features": lambda x, p: x.shape[-1] >= 1},
    shape=lambda x, p: (*x.shape[:-1], p.units),
    weights=lambda x, p: {"kernel": (x.shape[-1], p.units), **({"bias": (p.units,)} if p.use_bias else {})},
    mask=lambda x, p: x.masked,
    excluded=TUNING,
    doc="activation(x . kernel + bias) over the last axis.",
)
