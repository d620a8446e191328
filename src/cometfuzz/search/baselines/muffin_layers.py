"""Muffin's layers: where each may stand, and how its parameters are drawn, each by even chance of a few values."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Inapplicable
from cometfuzz.search.baselines.editing import with_defaults

LEAST, MOST = 2, 5
"""Ranks (with batch), sizes, filters, units and amounts."""

VOCABULARY = 1001
MERGING = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate", "Dot")
ACTIVATING = ("Activation", "ReLU", "Softmax", "LeakyReLU", "PReLU", "ELU", "ThresholdedReLU")
RECURRENT = ("LSTM", "GRU", "SimpleRNN", "ConvLSTM2D")
CONVOLVING = (
    *("Conv1D", "Conv2D", "Conv3D", "SeparableConv1D", "SeparableConv2D", "DepthwiseConv2D"),
    *("Conv2DTranspose", "Conv3DTranspose", "LocallyConnected1D", "LocallyConnected2D"),
)
POOLING = tuple(
    f"{kind}Pooling{axes}D" for kind in ("Max", "Average", "GlobalMax", "GlobalAverage") for axes in (1, 2, 3)
)
LAYERS = (
    *("Dense", "Embedding", *CONVOLVING, *POOLING, "TimeDistributed", "Bidirectional", "BatchNormalization"),
    *("Reshape", "Flatten", "RepeatVector", "Permute"),
    *(f"{kind}{axes}D" for kind in ("Cropping", "UpSampling", "ZeroPadding") for axes in (1, 2, 3)),
    *(*RECURRENT, *ACTIVATING, *MERGING),
)
"""The 59."""

BEHIND = ("Dense", *CONVOLVING, *RECURRENT)
"""What an activation layer may stand behind."""

FUNCTIONS = ("relu", "sigmoid", "softmax", "softplus", "tanh", "selu", "elu", "linear")


def may_stand(layer: str, before: str, kind: TensorType) -> bool:
    """Whether a layer of one input may stand behind another one, or behind the graph's input, on a type of tensor."""
    if layer == "Embedding":
        return kind.rank == 2 and before == "input"
    if layer in ACTIVATING:
        return before in BEHIND
    if layer in ("Flatten", "TimeDistributed") and kind.rank < 3:
        return False
    return kind.rank in CATALOGUE[layer].ranks


def draw_params(layer: str, kind: TensorType, draw: Draw, dialect_has: Callable[[str], bool]) -> Params:
    """Parameters of a layer of one input; Inapplicable if those that were drawn do not suit its rules."""
    spec = CATALOGUE[layer]
    if layer == "TimeDistributed":
        params: dict[str, Any] = {"layer": _inside(spec, kind, draw, dialect_has)}
    elif layer == "Bidirectional":
        name = draw.choice([each for each in ("LSTM", "GRU", "SimpleRNN") if dialect_has(each)])
        inner = draw_params(name, kind, draw, dialect_has).replace(go_backwards=False)
        params = {"layer": Inner(name, inner), "merge_mode": draw.choice(("sum", "mul", "concat", "ave"))}
    else:
        params = _drawn(spec, kind, draw)
    complete = spec.complete(with_defaults(layer, params))
    if not spec.accepts((kind,), complete):
        raise Inapplicable(f"{layer} does not take what was drawn")
    return complete


def _inside(spec: LayerSpec, kind: TensorType, draw: Draw, dialect_has: Callable[[str], bool]) -> Inner:
    """The layer that TimeDistributed holds: any that is no activation."""
    step = TensorType(kind.dtype, (kind.shape[0], *kind.shape[2:]))
    names = [
        name
        for name in LAYERS
        if name not in (*ACTIVATING, *MERGING, "Embedding", "TimeDistributed", "Bidirectional")
        and dialect_has(name)
        and step.rank in CATALOGUE[name].ranks
        and spec.params["layer"].problem(Inner(name, Params())) is None
    ]
    if not names:
        raise Inapplicable("no layer stands inside")
    name = draw.choice(names)
    return Inner(name, draw_params(name, step, draw, dialect_has))


def _drawn(spec: LayerSpec, kind: TensorType, draw: Draw) -> dict[str, Any]:
    """Values for the parameters that the tool draws; those that come first decide what others may be."""
    params: dict[str, Any] = {}
    if "data_format" in spec.params:
        params["data_format"] = draw.choice(("channels_last", "channels_first"))
    sizes = _places(spec.name, kind, params)
    for name in spec.params:
        if name in PLAIN:
            params[name] = PLAIN[name](draw)
    for name in ("kernel_size", "pool_size"):
        if name in spec.params:
            params[name] = draw.integer(1, max(1, min(sizes, default=1)))
            _strides(spec, params, max(1, min(sizes, default=1)) // params[name], draw)
    if "padding" in spec.params and "cropping" not in spec.params and not spec.name.startswith("ZeroPadding"):
        causal = ("causal",) if spec.name == "Conv1D" and params.get("data_format") == "channels_last" else ()
        params["padding"] = draw.choice(("valid", "same", *causal))
    if spec.name in SPECIAL:
        params |= SPECIAL[spec.name](kind, sizes, draw)
    for name, amounts in (("cropping", None), ("padding", (LEAST, MOST))):
        if name in spec.params and spec.name.startswith(("Cropping", "ZeroPadding")):
            pairs = tuple(_pair(size, amounts, draw) for size in sizes)
            params[name] = pairs[0] if len(pairs) == 1 else pairs
    return params


def _places(layer: str, kind: TensorType, params: Mapping[str, Any]) -> tuple[int, ...]:
    """The sizes that a window lies on."""
    shape = kind.shape[2:] if layer == "ConvLSTM2D" else kind.shape[1:]
    return shape[1:] if params.get("data_format") == "channels_first" else shape[:-1]


def _strides(spec: LayerSpec, params: dict[str, Any], most: int, draw: Draw) -> None:
    """Strides or dilation, by a coin; strides of poolings are given or not."""
    if "pool_size" in params:
        params["strides"] = draw.integer(1, max(1, most)) if draw.chance(0.5) else None
        return
    name = "dilation_rate" if "dilation_rate" in spec.params and draw.chance(0.5) else "strides"
    params[name] = draw.integer(1, max(1, most))


def _pair(size: int, amounts: tuple[int, int] | None, draw: Draw) -> tuple[int, int]:
    """How much goes before and after: so much, or as much as leaves something."""
    if amounts is not None:
        return draw.integer(*amounts), draw.integer(*amounts)
    before = draw.integer(0, max(0, size - 1))
    return before, draw.integer(0, max(0, size - 1 - before))


def _amount(draw: Draw) -> int:
    return draw.integer(LEAST, MOST)


def _coin(draw: Draw) -> bool:
    return draw.chance(0.5)


def _function(draw: Draw) -> str:
    return draw.choice(FUNCTIONS)


PLAIN: Mapping[str, Callable[[Draw], Any]] = MappingProxyType(
    {
        **dict.fromkeys(("filters", "units", "depth_multiplier", "n", "size", "output_dim"), _amount),
        **dict.fromkeys(("activation", "recurrent_activation"), _function),
        **dict.fromkeys(("use_bias", "return_sequences", "go_backwards", "unroll"), _coin),
        **dict.fromkeys(("unit_forget_bias", "reset_after", "center", "scale"), _coin),
        "momentum": lambda draw: round(draw.fraction(), 6),
        "epsilon": lambda draw: max(1e-6, round(draw.fraction(), 6)),
        "input_dim": lambda draw: VOCABULARY,
    }
)
"""Parameters that are drawn in the same way in all layers."""

Special = Callable[[TensorType, tuple[int, ...], Draw], dict[str, Any]]


def _reshaped(kind: TensorType, draw: Draw) -> tuple[int, ...]:
    """The sizes of an instance in another order, sometimes with two of them as one."""
    sizes = draw.shuffled(kind.shape[1:])
    if len(sizes) > 1 and draw.chance(0.5):
        sizes = [sizes[0] * sizes[1], *sizes[2:]]
    return tuple(sizes)


def _shared(kind: TensorType, draw: Draw) -> tuple[int, ...] | None:
    axes = tuple(axis for axis in range(1, kind.rank) if draw.chance(0.5))
    return axes or None


SPECIAL: Mapping[str, Special] = MappingProxyType(
    {
        "BatchNormalization": lambda kind, sizes, draw: {"axis": draw.choice((-1, draw.integer(1, kind.rank - 1)))},
        "Reshape": lambda kind, sizes, draw: {"target_shape": _reshaped(kind, draw)},
        "Permute": lambda kind, sizes, draw: {"dims": tuple(draw.shuffled(range(1, kind.rank)))},
        "PReLU": lambda kind, sizes, draw: {"shared_axes": _shared(kind, draw)},
        "ReLU": lambda kind, sizes, draw: {
            "max_value": draw.choice((None, 1.0 + draw.fraction())),
            "negative_slope": round(draw.fraction(), 6),
            "threshold": round(draw.fraction(), 6),
        },
        "Softmax": lambda kind, sizes, draw: {"axis": draw.choice((-1, draw.integer(1, kind.rank - 1)))},
        "LeakyReLU": lambda kind, sizes, draw: {"negative_slope": round(draw.fraction(), 6)},
        "ELU": lambda kind, sizes, draw: {"alpha": round(draw.fraction(), 6)},
        "ThresholdedReLU": lambda kind, sizes, draw: {"theta": round(draw.fraction(), 6)},
        "UpSampling2D": lambda kind, sizes, draw: {"interpolation": draw.choice(("nearest", "bilinear"))},
        **dict.fromkeys(
            ("LocallyConnected1D", "LocallyConnected2D"),
            lambda kind, sizes, draw: {"padding": "valid", "implementation": draw.integer(1, 2)},
        ),
    }
)
"""Parameters of single layers."""
