"""How the layers whose call is not simply `layer(x)` or `layer([x, y])` are called in Keras."""

from collections.abc import Callable, Sequence
from typing import Any

from cometfuzz.ir.graph import Node

CALL_PARAMS: dict[str, tuple[str, ...]] = {}
"""Parameters that go to the call, not to the constructor; as `call_params` in the catalogue (a test compares)."""

CALLS: dict[str, Callable[[Any, Node, Sequence[Any]], Any]] = {}
"""Layers with a call of their own: (layer, node, tensors) -> outputs."""


def call_layer(layer: Any, node: Node, tensors: Sequence[Any]) -> Any:
    """Call a layer on its input tensors."""
    if node.layer in CALLS:
        return CALLS[node.layer](layer, node, tensors)
    extra = {name: node.params[name] for name in CALL_PARAMS.get(node.layer, ())}
    return layer(tensors[0] if len(tensors) == 1 else list(tensors), **extra)
