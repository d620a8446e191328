"""The layer calls of an original, as what a synthesised model is made of; sizes are chosen anew at each insertion."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.spaces import Computed, Ints, Optional, PerAxis
from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.ir.graph import Graph, Inner, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.synthesis.wanted import shrinks

LARGEST = 16
"""The size that an axis of an input shrinks to, unless a window of the original needs more."""

ChooseSize = Callable[[str, str, int, Ints], int]
"""(layer, parameter, the original's value, its space) -> a smaller value."""


@dataclass(frozen=True)
class Template:
    """One call of the original: calls that differ in nothing but sizes are one template."""

    layer: str
    params: Params
    types: tuple[TensorType, ...]

    @property
    def spec(self) -> LayerSpec:
        return LAYERS[self.layer]

    def sized(self, choose: ChooseSize) -> Params:
        """The parameters with every size above what we draw replaced by a smaller one."""
        return _sized(self.layer, self.params, choose)

    def computed(self) -> list[str]:
        """The parameters that follow from shapes, which shrink."""
        return [name for name, space in self.spec.params.items() if _is_computed(space)]


def templates_of(original: Graph) -> list[Template]:
    """The different calls of a graph."""
    found: dict[tuple[str, Params], Template] = {}
    for node in original.nodes:
        if node.layer in LAYERS:
            key = (node.layer, _sized(node.layer, node.params, lambda layer, name, value, space: 0))
            found.setdefault(key, Template(node.layer, node.params, original.input_types(node)))
    return list(found.values())


def largest_axis(original: Graph) -> int:
    """How large an axis must be so that every window of the original fits somewhere."""
    windows = [LARGEST]
    for node in original.nodes:
        for name in ("kernel_size", "pool_size"):
            if name in node.params:
                dilation, sizes = max(node.params.get("dilation_rate", (1,))), node.params[name]
                windows += [(size - 1) * dilation + 1 for size in (sizes if isinstance(sizes, tuple) else (sizes,))]
    return min(max(windows), 64)


def _is_computed(space: object) -> bool:
    return isinstance(space.inner if isinstance(space, Optional) else space, Computed)


def _sized(layer: str, params: Params, choose: ChooseSize) -> Params:
    spec = CATALOGUE[layer]
    return Params({name: _sized_value(spec, name, value, choose) for name, value in params.items()})


def _sized_value(spec: LayerSpec, name: str, value: Any, choose: ChooseSize) -> Any:
    if isinstance(value, Inner):
        return Inner(value.layer, _sized(value.layer, value.params, choose))
    if isinstance(value, tuple) and value and isinstance(value[0], Inner):
        return tuple(_sized_value(spec, name, item, choose) for item in value)
    space = spec.params.get(name)
    space = space.inner if isinstance(space, Optional) else space
    if isinstance(space, PerAxis) or not isinstance(space, Ints) or not shrinks(spec, name, value):
        return value
    return choose(spec.name, name, value, space)
