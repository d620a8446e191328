"""Dense and EinsumDense: contractions of the last axes with a kernel."""

from cometfuzz.catalogue import einsum
from cometfuzz.catalogue.spaces import BOOLEAN_TRUE, Computed, Optional, Sizes, activations, build_params
from cometfuzz.catalogue.spec import KERAS3, NO_FLOATS, Ours, layer

TUNING = {
    "lora_rank": "training only",
    "lora_alpha": "training only",
    "quantization_config": "quantised models are not in the space",
}

layer(
    "Dense",
    as_floats=NO_FLOATS,
    ranks=range(2, 7),
    params={
        "units": Sizes(1, 9, rare=(0,)),
        "activation": activations(),
        "use_bias": BOOLEAN_TRUE,
        **build_params("kernel", "bias"),
    },
    shape=lambda x, p: (*x.shape[:-1], p.units),
    weights=lambda x, p: {"kernel": (x.shape[-1], p.units), **({"bias": (p.units,)} if p.use_bias else {})},
    mask=lambda x, p: x.masked,
    excluded=TUNING,
    doc="activation(x . kernel + bias) over the last axis.",
)


def _is_output_shape(value: object) -> bool:
    return isinstance(value, tuple) and all(size is None or (type(size) is int and size >= 0) for size in value)


layer(
    "EinsumDense",
    ranks=range(2, 6),
    params={
        "equation": Computed(
            "an equation of the form ab,bc->ac, ...ab,bc->...ac or ab...,bc->ac...",
            simplest="ab,bc->ac",
            check=einsum.is_equation,
            draw=einsum.draw_equation,
        ),
        "output_shape": Computed(
            "the sizes of the output's letters after the batch, null where the input says it",
            simplest=(1,),
            check=_is_output_shape,
            draw=einsum.draw_output_shape,
        ),
        "activation": activations(),
        "bias_axes": Optional(
            Computed(
                "letters of the output",
                simplest="c",
                check=lambda value: isinstance(value, str) and value.isalpha(),
                draw=einsum.draw_bias_axes,
            )
        ),
        **build_params("kernel", "bias", activity=False),
    },
    rules={
        "the equation fits the input's rank": einsum.rank_fits,
        "the batch stays in front and out of the kernel": Ours(einsum.batch_stays),
        "every letter is known": einsum.letters_are_known,
        "the output shape fits": einsum.output_shape_fits,
        "bias axes are axes of the output": einsum.bias_fits,
        "sizes of weights are stated": Ours(einsum.weights_are_stated),
    },
    output_ranks=range(2, 8),
    shape=einsum.output_shape,
    weights=einsum.weights,
    excluded={**TUNING, "gptq_unpacked_column_size": "quantised models are not in the space"},
    libraries=(KERAS3,),
    doc="activation(einsum(equation, x, kernel) + bias).",
)
