"""How the layers whose call is not simply `layer(x)` or `layer([x, y])` are called in Keras."""

from collections.abc import Callable, Sequence
from typing import Any

from cometfuzz.ir.graph import Node

_SCORES = ("return_attention_scores", "use_causal_mask")
CALL_PARAMS: dict[str, tuple[str, ...]] = {
    "Attention": _SCORES,
    "AdditiveAttention": _SCORES,
    "MultiHeadAttention": ("attention_mask", *_SCORES),
    "GroupQueryAttention": ("attention_mask", *_SCORES),
    "ReversibleEmbedding": ("reverse",),
}
"""Parameters that go to the call, not to the constructor; as `call_params` in the catalogue (a test compares)."""


def _call_heads(layer: Any, node: Node, tensors: Sequence[Any]) -> Any:
    """query, value and key one by one; the last tensor is the attention mask if the parameter says so."""
    *inputs, mask = tensors if node.params.attention_mask else (*tensors, None)
    flags = {name: node.params[name] for name in _SCORES}
    return layer(*inputs, attention_mask=mask, **flags)


CALLS: dict[str, Callable[[Any, Node, Sequence[Any]], Any]] = {
    "MultiHeadAttention": _call_heads,
    "GroupQueryAttention": _call_heads,
}
"""Layers with a call of their own: (layer, node, tensors) -> outputs."""


def call_layer(layer: Any, node: Node, tensors: Sequence[Any]) -> Any:
    """Call a layer on its input tensors."""
    if node.layer in CALLS:
        return CALLS[node.layer](layer, node, tensors)
    extra = {name: node.params[name] for name in CALL_PARAMS.get(node.layer, ())}
    return layer(tensors[0] if len(tensors) == 1 else list(tensors), **extra)


def flat(result: Any) -> list[Any]:
    """The output tensors of a call, however deeply a layer nests its states."""
    if isinstance(result, list | tuple):
        return [tensor for part in result for tensor in flat(part)]
    return [result]
