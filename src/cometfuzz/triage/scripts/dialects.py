"""What distinguishes the generations of Keras in a script: imports, default values, operations.

The catalogue's simplest values are the defaults of Keras 3 but for what is listed here; a conformance test compares
this with the signatures of the installed libraries.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cometfuzz.ir.graph import Node
from cometfuzz.routes import Route
from cometfuzz.routes.keras2 import RENAMED
from cometfuzz.routes.libraries import MXNET

REQUIRED = {
    *("filters", "kernel_size", "units", "rate", "stddev", "pool_size", "output_size", "target_shape", "dims", "n"),
    *("input_dim", "output_dim", "num_heads", "key_dim", "head_dim", "num_query_heads", "num_key_value_heads"),
    *("num_tokens", "height", "width", "axes", "equation", "layer", "cell", "cells"),
    *("factor", "height_factor", "width_factor", "max_number", "num_bins", "layers"),
}
"""Parameters without a default, in all layers that have them; pool_size and factors have one in some."""

REQUIRED_IN = {
    *(("Activation", "activation"), ("EinsumDense", "output_shape"), ("Rescaling", "scale")),
    *(("Normalization", "mean"), ("Normalization", "variance")),
    *(("STFTSpectrogram", "frame_length"), ("MelSpectrogram", "fft_length")),
    *(("Discretization", "bin_boundaries"), ("IntegerLookup", "vocabulary")),
    *(("MelSpectrogram", "sequence_stride"), ("MelSpectrogram", "num_mel_bins")),
}
"""Parameters that have a default in other layers only, or whose default asks for `adapt`, or for large inputs."""

_CONV_LSTM = ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
_GATED = ("LSTM", "LSTMCell", "GRU", "GRUCell")


@dataclass(frozen=True)
class Dialect:
    """How one generation of Keras is written.

    module: what is imported as `keras`. backend: KERAS_BACKEND. defaults: those that are not the catalogue's simplest.
    layer_dtypes: whether a layer takes a dtype; else it is set for the whole process.
    symbolic_dtype, symbolic_shape: what it says of a symbolic tensor, named `{}`.
    """

    module: str
    backend: str
    operations: str
    input: str = "keras.Input"
    model: str = "keras.Model"
    renamed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    defaults: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    layer_dtypes: bool = True
    symbolic_dtype: str = "{}.dtype"
    symbolic_shape: str = "tuple({}.shape)"


_OLD_DEFAULTS = {(layer, "recurrent_activation"): "hard_sigmoid" for layer in _CONV_LSTM}
_MXNET_DEFAULTS = {
    **_OLD_DEFAULTS,
    **{(layer, "recurrent_activation"): "hard_sigmoid" for layer in _GATED},
    **{(layer, "reset_after"): False for layer in ("GRU", "GRUCell")},
}


def dialect_of(route: Route) -> Dialect:
    """The dialect in which a route builds its model."""
    step = route.steps[0]
    backend = step.group.environ.get("KERAS_BACKEND", "")
    if backend == MXNET.name:
        return Dialect(
            "keras",
            backend,
            "",
            *("keras.layers.Input", "keras.models.Model", RENAMED, _MXNET_DEFAULTS, False),
            *("keras.backend.dtype({})", "keras.backend.int_shape({})"),
        )
    if route.speaks == "keras2":
        package = step.options.get("package", "keras")
        return Dialect(package, "", "tf", renamed=RENAMED, defaults=_OLD_DEFAULTS, symbolic_dtype="{}.dtype.name")
    return Dialect("keras", backend, "keras.ops")


def utility(dialect: Dialect, node: Node, x: str, dtype: str) -> str:
    """A utility node as an expression on the tensor named `x` of that dtype."""
    if dialect.operations == "keras.ops":
        return _utility(node, x, dtype)
    if dialect.operations == "tf":
        return _old_utility(node, x, dtype)
    return f"keras.layers.Lambda({_mxnet_utility(node, dtype)})({x})"


def _utility(node: Node, x: str, dtype: str) -> str:
    p, shape, ops = node.params, tuple(node.outputs[0].shape), "keras.ops"
    if node.layer == "cast" and p.dtype == "int32":
        if "float" in dtype:
            x = f"{ops}.clip({ops}.where({ops}.isnan({x}), {ops}.zeros_like({x}), {x}), 0, {p.high - 1})"
        return f'{ops}.clip({ops}.cast({x}, "int32"), 0, {p.high - 1})'
    if node.layer == "cast" and p.dtype == dtype:  # a cast to the same dtype would hand on the mask
        return f"{ops}.squeeze({ops}.expand_dims({x}, 0), 0)"
    if node.layer == "cast":
        return f"{ops}.not_equal({x}, 0)" if p.dtype == "bool" and dtype != "bool" else f'{ops}.cast({x}, "{p.dtype}")'
    if node.layer == "scale":
        product = f"{ops}.multiply({x}, {_special(node)})"
        return f'{ops}.cast({product}, "float64")' if dtype == "float64" else product  # PyTorch: else it is float32
    if node.layer == "special":
        text = _special(node)
        filled = f"{ops}.full_like({x}, {text})"
        chosen = f"np.arange({node.outputs[0].elements}).reshape{shape} == 0"
        return filled if p.elements == "all" else f"{ops}.where({chosen}, {filled}, {x})"
    texts = {
        "pad": lambda: f"pad({x}, {p.paddings!r}, constant_values={p.value if 'float' in dtype else int(p.value)})",
        "crop": lambda: f"slice({x}, {[before for before, _ in p.crops]}, {shape})",
        "expand": lambda: f"expand_dims({x}, {p.axis})",
        "squeeze": lambda: f"squeeze({x}, {p.axis})",
        "reshape": lambda: f"reshape({x}, {p.shape!r})",
    }
    return f"{ops}.{texts[node.layer]()}"


def _special(node: Node) -> str:
    """The number that a special value stands for."""
    return "0.0" if node.params.value == "zero" else f'float("{node.params.value}")'


def _old_utility(node: Node, x: str, dtype: str) -> str:
    p, shape = node.params, tuple(node.outputs[0].shape)
    if node.layer == "cast" and p.dtype == "int32":
        if "float" in dtype:
            x = f"tf.where(tf.math.is_nan({x}), tf.zeros_like({x}), {x})"
            x = f'tf.clip_by_value(tf.cast({x}, "float32"), 0, {p.high - 1})'
        return f'tf.clip_by_value(tf.cast({x}, "int32"), 0, {p.high - 1})'
    if node.layer == "cast" and p.dtype == "bool" and dtype != "bool":
        return f"tf.not_equal({x}, tf.zeros_like({x}))"
    if node.layer == "scale":
        return f"tf.multiply({x}, {_special(node)})"
    if node.layer == "special":
        text = _special(node)
        filled = f"tf.zeros_like({x}) + tf.cast({text}, {x}.dtype)"
        chosen = f"np.arange({node.outputs[0].elements}).reshape{shape} == 0"
        return filled if p.elements == "all" else f"tf.where({chosen}, {filled}, {x})"
    texts = {
        "cast": lambda: f'cast({x}, "{p.dtype}")',
        "pad": lambda: f"pad({x}, {p.paddings!r}, constant_values={p.value if 'float' in dtype else int(p.value)})",
        "crop": lambda: f"slice({x}, {[before for before, _ in p.crops]}, {shape})",
        "expand": lambda: f"expand_dims({x}, {p.axis})",
        "squeeze": lambda: f"squeeze({x}, [{p.axis}])",
        "reshape": lambda: f"reshape({x}, {p.shape!r})",
    }
    return f"tf.{texts[node.layer]()}"


def _mxnet_utility(node: Node, dtype: str) -> str:
    """A utility node as a function that a Lambda of Keras-MXNet takes: of Keras' backend, or of MXNet's operators."""
    p, shape, backend = node.params, tuple(node.outputs[0].shape), "keras.backend"
    arguments = {"expand": ("expand_dims", "axis"), "squeeze": ("squeeze", "axis"), "reshape": ("reshape", "shape")}
    if node.layer in arguments:
        name, parameter = arguments[node.layer]
        return f"lambda t: {backend}.{name}(t, {p[parameter]!r})"
    if node.layer == "crop":
        slices = (f"{before}:{before + size}" for (before, _), size in zip(p.crops, shape, strict=True))
        return f"lambda t: t[{', '.join(slices)}]"
    if node.layer == "scale":
        symbol = f"t.symbol * {_special(node)}"
    else:
        symbol = {"cast": _mxnet_cast, "pad": _mxnet_pad, "special": _mxnet_special}[node.layer](node, dtype)
    return f"{backend}.keras_mxnet_symbol(lambda t: {backend}.KerasSymbol({symbol}))"


def _mxnet_cast(node: Node, dtype: str) -> str:
    p, x = node.params, "t.symbol"
    if p.dtype == "int32":
        known = f"mxnet.sym.where({x} == {x}, {x}, mxnet.sym.zeros_like({x}))" if "float" in dtype else x
        x = f"mxnet.sym.clip({known}, 0, {p.high - 1})"
    return f'mxnet.sym.cast({x}, "{p.dtype}")'


def _mxnet_pad(node: Node, dtype: str) -> str:
    """Axis by axis: MXNet's own pad knows images only."""
    x = "t.symbol"
    sizes = [size - sum(pads) for size, pads in zip(node.outputs[0].shape, node.params.paddings, strict=True)]
    for axis, (before, after) in enumerate(node.params.paddings):
        parts = [_mxnet_full((*sizes[:axis], n, *sizes[axis + 1 :]), node.params.value, dtype) for n in (before, after)]
        given = [part for part, there in ((parts[0], before), (x, True), (parts[1], after)) if there]
        x = f"mxnet.sym.concat({', '.join(given)}, dim={axis})" if len(given) > 1 else x
        sizes[axis] += before + after
    return x


def _mxnet_special(node: Node, dtype: str) -> str:
    p, shape = node.params, tuple(node.outputs[0].shape)
    filled = _mxnet_full(shape, 0.0 if p.value == "zero" else float(p.value), dtype)
    if p.elements == "all":
        return f"mxnet.sym.broadcast_add(mxnet.sym.zeros_like(t.symbol), {filled})"
    first = f"mxnet.sym.reshape(mxnet.sym.arange(0, {node.outputs[0].elements}) == 0, shape={shape})"
    return f"mxnet.sym.where({first}, {filled}, t.symbol)"


def _mxnet_full(shape: tuple[int, ...], value: float, dtype: str) -> str:
    text = repr(value) if math.isfinite(value) else f'float("{value}")'
    return f'mxnet.sym.full({shape}, {text}, dtype="{dtype}")'
