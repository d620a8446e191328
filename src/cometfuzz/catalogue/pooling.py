"""Pooling layers: the maximum or the average of windows, of everything, or of as many windows as asked for.

No integers: some backends take them, some do not, and Keras infers float32 where the result is int32.
"""

from cometfuzz.catalogue.shapes import channels, spatial, window, with_channels
from cometfuzz.catalogue.spaces import BOOLEAN_FALSE, DATA_FORMAT, SAME_OR_VALID, Ints, Optional, PerAxis
from cometfuzz.catalogue.spec import KERAS3, Ours, Rule, Shape, layer
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType


def _windows(x: TensorType, p: Params) -> Shape:
    sizes = spatial(x, p)
    return window(sizes, p.pool_size, p.strides or p.pool_size, (1,) * len(sizes), p.padding)


def _global_shape(x: TensorType, p: Params) -> Shape:
    kept = (1,) * (x.rank - 2) if p.keepdims else ()
    return with_channels(x.shape[0], kept, channels(x, p), p.data_format)


def _declare(axes: int) -> None:
    """The pooling layers with this number of spatial axes."""
    rank = axes + 2
    for kind in ("Max", "Average"):
        layer(
            f"{kind}Pooling{axes}D",
            ranks=(rank,),
            params={
                "pool_size": PerAxis(axes, Ints(1, 5, simplest=2)),
                "strides": Optional(PerAxis(axes, Ints(1, 4))),
                "padding": SAME_OR_VALID,
                "data_format": DATA_FORMAT,
            },
            rules={"pool fits": lambda x, p: p.padding == "same" or min(_windows(x, p)) >= 1},
            shape=lambda x, p: with_channels(x.shape[0], _windows(x, p), channels(x, p), p.data_format),
            doc=f"The {kind.lower()} of each window; what pads an input does not count.",
        )
        rules: dict[str, Rule] = {}
        if kind == "Max":
            rules["input is not empty"] = Ours(lambda x, p: x.elements > 0)  # ONNX defines the maximum of nothing
        elif axes == 1:
            rules["mask has one value for each step"] = lambda x, p: (
                not x.masked or p.data_format == "channels_last" or x.shape[1] == x.shape[2]
            )
        layer(
            f"Global{kind}Pooling{axes}D",
            ranks=(rank,),
            output_ranks=(2, rank),
            params={"data_format": DATA_FORMAT, "keepdims": BOOLEAN_FALSE},
            rules=rules,
            shape=_global_shape,
            doc=f"The {kind.lower()} over all spatial axes"
            + (", masked steps left out." if rules and kind != "Max" else "."),
        )
        layer(
            f"Adaptive{kind}Pooling{axes}D",
            ranks=(rank,),
            params={"output_size": PerAxis(axes, Ints(1, 6)), "data_format": DATA_FORMAT},
            rules={"there is something to pool": lambda x, p: min(spatial(x, p)) >= 1},
            shape=lambda x, p: with_channels(x.shape[0], p.output_size, channels(x, p), p.data_format),
            libraries=(KERAS3,),
            doc=f"The {kind.lower()} of output_size windows that cover the input evenly; neighbours may overlap.",
        )


for _axes in (1, 2, 3):
    _declare(_axes)
