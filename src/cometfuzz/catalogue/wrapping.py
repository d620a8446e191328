"""Wrappers: layers that hold another layer and call it in their own way."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cometfuzz.catalogue.recurrent import HAS_STEPS, STATES, sequence_masked, step_type
from cometfuzz.catalogue.spaces import Choice, InnerLayer, Ints, Optional, Space
from cometfuzz.catalogue.spec import CATALOGUE, KERAS3, InnerCall, Shape, draw_shape, layer, spec_of
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import FLOATS, TensorType


def _draw_inner(
    names: Sequence[str], view: Callable[[TensorType], TensorType], fixed: Mapping[str, Any]
) -> Callable[[Draw, Any, Params], Inner]:
    """Draws one of the named layers with parameters that fit what the wrapper shows to it."""

    def draw_inner(draw: Draw, x: TensorType, p: Params) -> Inner:
        seen = view(x)
        fitting = [name for name in names if name in CATALOGUE and seen.rank in CATALOGUE[name].ranks]
        name = draw.choice(fitting or names)
        spec = spec_of(name)
        params = spec.draw_params(draw, [seen], {key: value for key, value in fixed.items() if key in spec.params})
        return Inner(name, params or spec.complete({}))

    return draw_inner


def _inside(inner: Inner, x: TensorType) -> tuple[TensorType, ...]:
    """The types that the layer inside makes of `x`."""
    return spec_of(inner.layer).outputs([x], inner.params)


def _weights_inside(inner: Inner, x: TensorType, prefix: str = "") -> dict[str, Shape]:
    shapes = spec_of(inner.layer).weights(x, inner.params)
    return {prefix + name: shape for name, shape in shapes.items()}


RECURRENT = tuple(STATES)
_SHARED = ("units", "return_sequences", "return_state", "stateful")
"""What the two directions must agree on, so that their outputs can be merged."""


def _draw_backward(draw: Draw, x: TensorType, p: Params) -> Inner:
    spec = spec_of(p["layer"].layer)
    forward = spec.complete(p["layer"].params)
    fixed = {name: forward[name] for name in _SHARED}
    params = spec.draw_params(draw, [x], {**fixed, "go_backwards": not forward.go_backwards})
    return Inner(spec.name, params or forward.replace(go_backwards=not forward.go_backwards))


def backward_of(p: Any) -> Inner:
    """The layer that reads the sequence from its end: the one given, or a copy of the forward one."""
    given: Inner | None = p.backward_layer
    return given or Inner(p.layer.layer, p.layer.params.replace(go_backwards=True))


def _directions_agree(x: TensorType, p: Any) -> bool:
    forward, backward = p.layer, backward_of(p)
    alike = all(forward.params[name] == backward.params[name] for name in _SHARED)
    return alike and (not forward.params.return_state or STATES[forward.layer] == STATES[backward.layer])


def _bidirectional_shape(x: TensorType, p: Any) -> list[Shape]:
    (output, *states), (_, *more) = ([kind.shape for kind in _inside(inner, x)] for inner in (p.layer, backward_of(p)))
    if p.merge_mode is None:
        return [output, output, *states, *more]
    return [(*output[:-1], output[-1] * (2 if p.merge_mode == "concat" else 1)), *states, *more]


def _bidirectional_states(x: TensorType, p: Any) -> list[Shape]:
    """Those of the forward layer, then those of the other one; Keras gives either half of them."""
    inside = [spec_of(inner.layer).given_states([x], inner.params) for inner in (p.layer, backward_of(p))]
    return [*inside[0], *inside[1]] if len(inside[0]) == len(inside[1]) else []


def _bidirectional_mask(x: TensorType, p: Any) -> list[bool]:
    masked = sequence_masked(x, p.layer.params)
    count = len(_bidirectional_shape(x, p))
    return ([masked] * (2 if p.merge_mode is None else 1) + [False] * count)[:count]


layer(
    "Bidirectional",
    ranks=[3],
    output_ranks=[2, 3],
    params={
        "layer": InnerLayer(
            *RECURRENT,
            draw=_draw_inner(RECURRENT, lambda x: x, {"go_backwards": False}),
            simplest=Inner("LSTM", Params()),
        ),
        "merge_mode": Choice("concat", "sum", "mul", "ave", None),
        "backward_layer": Optional(InnerLayer(*RECURRENT, draw=_draw_backward, simplest=Inner("LSTM", Params()))),
    },
    inner=lambda x, p: [(p.layer, (x,)), (backward_of(p), (x,))],
    rules={
        "one direction forwards, one backwards": lambda x, p: (
            p.layer.params.go_backwards != backward_of(p).params.go_backwards
        ),
        "both directions agree": _directions_agree,
    },
    shape=_bidirectional_shape,
    weights=lambda x, p: {
        **_weights_inside(p.layer, x, "forward_"),
        **_weights_inside(backward_of(p), x, "backward_"),
    },
    mask=_bidirectional_mask,
    states=_bidirectional_states,
    excluded={"weights": "weights are set explicitly"},
    doc="A recurrent layer from the first step to the last and one from the last to the first, merged step by step.",
)

UNARY = (
    *("ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax", "Dense", "Conv1D", "Conv2D", "DepthwiseConv2D"),
    *("MaxPooling1D", "MaxPooling2D", "AveragePooling1D", "AveragePooling2D", "GlobalMaxPooling1D"),
    *(
        "GlobalAveragePooling2D",
        "Flatten",
        "RepeatVector",
        "Permute",
        "ZeroPadding1D",
        "ZeroPadding2D",
        "UpSampling1D",
    ),
    *("LayerNormalization", "BatchNormalization", "Dropout", "LSTM", "GRU"),
)
"""What TimeDistributed is drawn with: layers of one input, from every family, that both dialects have."""


def _one_output(x: TensorType, p: Any) -> bool:
    return not p.layer.params.get("return_state")


layer(
    "TimeDistributed",
    ranks=range(3, 7),
    params={
        "layer": InnerLayer(
            *UNARY,
            draw=_draw_inner(UNARY, step_type, {"return_state": False, "stateful": False}),
            simplest=Inner("ReLU", Params()),
        ),
    },
    inner=lambda x, p: [(p.layer, (step_type(x),))],
    rules={
        **HAS_STEPS,
        "inner layer has one output": _one_output,
        "inner layer keeps no state from step to step": lambda x, p: not p.layer.params.get("stateful"),
    },
    shape=lambda x, p: (lambda y: (y[0], x.shape[1], *y[1:]))(_inside(p.layer, step_type(x))[0].shape),
    weights=lambda x, p: _weights_inside(p.layer, step_type(x)),
    mask=lambda x, p: x.masked,
    doc="The same layer applied to every step (axis 1).",
)

WITH_KERNEL = ("Dense", "Conv1D", "Conv2D", "Conv3D")


def _spectral_weights(x: TensorType, p: Any) -> dict[str, Shape]:
    """The kernel belongs to both layers and so comes first; the bias is the inner layer's alone."""
    inside = _weights_inside(p.layer, x)
    kernel = inside.pop("kernel")
    return {"kernel": kernel, "vector_u": (1, kernel[-1]), **inside}


def _spectral_inner(x: TensorType, p: Any) -> list[InnerCall]:
    return [(p.layer, (x,))]


layer(
    "SpectralNormalization",
    libraries=(KERAS3,),
    ranks=range(2, 6),
    params={
        "layer": InnerLayer(
            *WITH_KERNEL,
            draw=_draw_inner(WITH_KERNEL, lambda x: x, {}),
            simplest=Inner("Dense", Params()),
        ),
        "power_iterations": Ints(1, 4, effect="train"),
    },
    inner=_spectral_inner,
    shape=lambda x, p: _inside(p.layer, x)[0].shape,
    weights=_spectral_weights,
    inputs=lambda draw: (TensorType(draw.choice(FLOATS), draw_shape(draw, draw.choice(range(2, 6)))),),
    doc="A layer whose kernel training divides by its largest singular value; in inference the layer itself.",
)

PIPED = (
    *("Rescaling", "Normalization", "Resizing", "CenterCrop", "AutoContrast", "ZeroPadding2D", "UpSampling2D"),
    *("ReLU", "LeakyReLU", "ELU", "Dense", "Conv1D", "Conv2D", "LayerNormalization", "Flatten"),
)
"""What a Pipeline is drawn with: layers that no mask and no training changes."""


class _Layers(Space):
    """Layers one after the other, each fed with the output of the one before."""

    simplest = (Inner("ReLU", Params()),)

    def problem(self, value: Any) -> str | None:
        fits = isinstance(value, tuple) and all(isinstance(each, Inner) and each.layer in PIPED for each in value)
        return None if fits and value else self.describe()

    def draw(self, draw: Draw, x: TensorType, p: Params) -> tuple[Inner, ...]:
        layers: list[Inner] = []
        for _ in range(draw.integer(1, 3)):
            inner = _draw_inner(PIPED, lambda x: x, {})(draw, x, p)
            if not spec_of(inner.layer).accepts([x], inner.params):
                break
            layers.append(inner)
            x = _inside(inner, x)[0]
        return tuple(layers) or self.simplest

    def describe(self) -> str:
        return "a list of layers, each one of " + ", ".join(PIPED)


def piped(x: TensorType, p: Any) -> list[InnerCall]:
    """The layers of a Pipeline with the types of their inputs, as far as each accepts what it is given."""
    calls: list[InnerCall] = []
    for inner in p.layers:
        calls.append((inner, (x,)))
        if not spec_of(inner.layer).accepts([x], inner.params):
            break
        x = _inside(inner, x)[0]
    return calls


def _piped_output(x: TensorType, p: Any) -> TensorType:
    inner, types = piped(x, p)[-1]
    return _inside(inner, types[0])[0]


layer(
    "Pipeline",
    autocast=None,
    libraries=(KERAS3,),
    ranks=range(2, 6),
    params={"layers": _Layers()},
    inner=piped,
    shape=lambda x, p: _piped_output(x, p).shape,
    weights=lambda x, p: {
        name: shape
        for place, (inner, types) in enumerate(piped(x, p))
        for name, shape in _weights_inside(inner, types[0], f"layer{place}_").items()
    },
    doc="Layers one after the other, as one layer.",
)
