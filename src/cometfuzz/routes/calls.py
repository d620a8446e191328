"""How the layers whose call is not simply `layer(x)` or `layer([x, y])` are called in Keras."""

from __future__ import annotations

import operator as python
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from cometfuzz.ir.graph import Graph, Node
from cometfuzz.ir.types import POLICIES, POLICY
from cometfuzz.routes.offers import without_idle

NOTHING: Mapping[str, Any] = MappingProxyType({})

_SCORES = ("return_attention_scores", "use_causal_mask")
CALL_PARAMS: dict[str, tuple[str, ...]] = {
    "Attention": _SCORES,
    "AdditiveAttention": _SCORES,
    "MultiHeadAttention": ("attention_mask", *_SCORES),
    "GroupQueryAttention": ("attention_mask", *_SCORES),
    "ReversibleEmbedding": ("reverse",),
}
"""Parameters that go to the call, not to the constructor; as `call_params` in the catalogue (a test compares)."""

WITHOUT_DTYPE = ("Pipeline",)
"""Layers that take no dtype: those inside them have it."""


def _call_heads(layer: Any, node: Node, tensors: Sequence[Any]) -> Any:
    """query, value and key one by one; the last tensor is the attention mask if the parameter says so."""
    *inputs, mask = tensors if node.params.attention_mask else (*tensors, None)
    flags = {name: node.params[name] for name in _SCORES}
    return layer(*inputs, attention_mask=mask, **flags)


def _call_lookup(layer: Any, node: Node, tensors: Sequence[Any]) -> Any:
    """Indices are int64, which a graph does not have: they are cast."""
    import keras

    result = layer(tensors[0])
    return keras.ops.cast(result, "int32") if node.params.output_mode == "int" else result


CALLS: dict[str, Callable[[Any, Node, Sequence[Any]], Any]] = {
    "MultiHeadAttention": _call_heads,
    "GroupQueryAttention": _call_heads,
    "IntegerLookup": _call_lookup,
}
"""Layers with a call of their own: (layer, node, tensors) -> outputs."""


BEGINS = ("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Bidirectional")
"""Layers of which further inputs are their initial states: those with `states` in the catalogue (a test compares)."""

STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}
"""How many states a call begins with; as in the catalogue (a test compares)."""


def policy(graph: Graph, node: Node) -> str:
    """The dtype policy of a layer: named by the case, else its output's or input's float, else its output's dtype."""
    kinds = [*(() if node.is_broken else node.outputs[:1]), *graph.input_types(node)]
    named = node.params.get(POLICY) or node.params.get("dtype")
    return str(named or next((kind.dtype for kind in kinds if kind.is_float), kinds[0].dtype))


def needs_64_bits(graph: Graph) -> bool:
    """Whether anything in a graph is a float64: a tensor, or what a parameter (a cast, a policy) says.

    JAX has such numbers only where jax_enable_x64 is set, and then gives int64 where it gave int32. So it is set for
    the cases that need it and for no others, as users do. Weights have the dtype of a tensor or of a policy.
    """
    said = (kind.dtype == "float64" for node in graph.nodes for kind in node.outputs)
    return any(said) or any("'float64'" in node.params.key for node in graph.nodes)


def explicit_arguments(graph: Graph, node: Node) -> dict[str, tuple[Any, ...]]:
    """What a call of a recurrent layer may say though it is so anyway, each as a dtype and shapes: its first states,
    which are zeros, and its mask, which is ones, unless one arrives with the input."""
    if node.layer not in STATES:
        return {}
    x = graph.input_types(node)[0]
    states = ((x.shape[0], node.params.units),) * STATES[node.layer]
    found = {"initial_state": (POLICIES[policy(graph, node)][0], *states)} if len(node.inputs) == 1 else {}
    return found if x.masked else {**found, "mask": ("bool", x.shape[:2])}


def call_layer(layer: Any, node: Node, tensors: Sequence[Any], explicit: Mapping[str, Any] = NOTHING) -> Any:
    """Call a layer on its input tensors; explicit: what it says besides."""
    if node.layer in CALLS:
        return CALLS[node.layer](layer, node, tensors)
    extra = {name: node.params[name] for name in CALL_PARAMS.get(node.layer, ())}
    extra = {**without_idle(node.layer, type(layer), extra), **explicit}
    if node.layer in BEGINS and len(tensors) > 1:
        return layer(tensors[0], initial_state=list(tensors[1:]), **extra)
    return layer(tensors[0] if len(tensors) == 1 else list(tensors), **extra)


class OperatorForm(NamedTuple):
    """How an operator is called where it is not `ops.name(*tensors, **parameters)`.

    listed: tensors come as so many lists of the same length. leading: parameters that come before the tensors, without
    their names. names: the keywords of the tensors behind the first one, or of the last ones if there are more; the
    last may be missing. slices: the parameter that is a key: an index, (start, stop, step), null for a new axis, or
    "..." at a time. ordered: the place of a tensor that must be sorted, so that it is given as ops.sort(tensor).
    spread: the parameter that has pairs of a keyword and its value. arrays: parameters that are given as arrays of
    float32.
    """

    listed: int = 0
    leading: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    slices: str = ""
    ordered: int | None = None
    spread: str = ""
    arrays: tuple[str, ...] = ()


FORMS: dict[str, OperatorForm] = {
    "ops.einsum": OperatorForm(leading=("subscripts",)),
    "ops.batch_normalization": OperatorForm(names=("mean", "variance", "offset", "scale")),
    "ops.dot_product_attention": OperatorForm(names=("key", "value", "bias", "mask")),
    "ops.fft": OperatorForm(listed=1),
    "ops.fft2": OperatorForm(listed=1),
    "ops.ifft2": OperatorForm(listed=1),
    "ops.irfft": OperatorForm(listed=1),
    "ops.average": OperatorForm(names=("weights",)),
    "ops.searchsorted": OperatorForm(ordered=0),
    "ops.digitize": OperatorForm(ordered=1),
    "ops.concatenate": OperatorForm(listed=1),
    "ops.stack": OperatorForm(listed=1),
    "ops.hstack": OperatorForm(listed=1),
    "ops.vstack": OperatorForm(listed=1),
    "ops.dstack": OperatorForm(listed=1),
    "ops.select": OperatorForm(listed=2),
    "ops.get_item": OperatorForm(slices="key"),
    "ops.slice_update": OperatorForm(names=("updates",)),
    "ops.rearrange": OperatorForm(spread="axes_lengths"),
    "ops.image.affine_transform": OperatorForm(arrays=("transform",)),
    "ops.image.scale_and_translate": OperatorForm(arrays=("scale", "translation")),
}
"""Operators with a form of their own."""

NOTATION = "notation"
"""The parameter that says whether an operator is written as a function or with a Python operator."""

SIGNS: dict[str, str] = {
    "ops.add": "+",
    "ops.subtract": "-",
    "ops.multiply": "*",
    "ops.divide": "/",
    "ops.floor_divide": "//",
    "ops.mod": "%",
    "ops.greater": ">",
    "ops.greater_equal": ">=",
    "ops.less": "<",
    "ops.less_equal": "<=",
    "ops.negative": "-",
    "ops.abs": "abs",
    "ops.matmul": "@",
    "ops.power": "**",
    "ops.get_item": "[]",
}
"""Python's operators for those that may be written so."""


def call_operator(ops: Any, node: Node, tensors: Sequence[Any]) -> Any:
    """Call a function of keras.ops on its input tensors."""
    params, form = dict(node.params), FORMS.get(node.layer, OperatorForm())
    if form.slices:
        params[form.slices] = tuple(map(_key_part, params[form.slices]))
    if params.pop(NOTATION, "function") != "function":
        return _SIGNED[SIGNS[node.layer]](*tensors, *params.values())
    function = ops
    for part in node.layer.split(".")[1:]:
        function = getattr(function, part)
    if form.ordered is not None:
        tensors = [ops.sort(tensor) if place == form.ordered else tensor for place, tensor in enumerate(tensors)]
    if form.spread:
        params.update(params.pop(form.spread))
    params = without_idle(node.layer, function, params)
    params.update({name: np.array(params[name], dtype="float32") for name in form.arrays if name in params})
    leading = [params.pop(name) for name in form.leading]
    plain = max(1, len(tensors) - len(form.names))
    params.update(zip(form.names, tensors[plain:]))
    return function(*leading, *lists_of(tensors[:plain], form.listed), **params)


def lists_of(tensors: Sequence[Any], count: int) -> list[Any]:
    """Tensors as so many lists of the same length, or as they are."""
    if not count:
        return list(tensors)
    size = len(tensors) // count
    return [list(tensors[place * size : (place + 1) * size]) for place in range(count)]


def _key_part(part: Any) -> Any:
    if part == "...":
        return Ellipsis
    return slice(*part) if isinstance(part, tuple) else part


_SIGNED: dict[str, Callable[..., Any]] = {
    "+": python.add,
    "-": lambda *given: -given[0] if len(given) == 1 else given[0] - given[1],
    "*": python.mul,
    "/": python.truediv,
    "//": python.floordiv,
    "%": python.mod,
    "**": python.pow,
    "@": python.matmul,
    ">": python.gt,
    ">=": python.ge,
    "<": python.lt,
    "<=": python.le,
    "abs": abs,
    "[]": python.getitem,
}


def flat(result: Any) -> list[Any]:
    """The output tensors of a call, however deeply a layer nests its states; those of a dictionary by their names."""
    if isinstance(result, dict):
        return [tensor for name in sorted(result) for tensor in flat(result[name])]
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in flat(part)]
    return [result]
