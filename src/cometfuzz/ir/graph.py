"""Graphs: immutable, typed, acyclic. Edits make new graphs out of drafts; see `catalogue.validate.assemble`."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cometfuzz.compat import SLOTS
from cometfuzz.ir.types import UNKNOWN, TensorType


class Params(Mapping[str, Any]):
    """The parameters of one layer call: an immutable mapping, readable as attributes (`p.strides`).

    Values are None, bool, int, float, str, tuples of these, and `Inner` for the layer inside a wrapper.
    """

    __slots__ = ("_hash", "_key", "_values")

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values: dict[str, Any] = dict(values or {})
        self._key: str | None = None
        self._hash: int | None = None

    @classmethod
    def over(cls, values: dict[str, Any]) -> Params:
        """A view of a dictionary that is still being filled; for reading only, and not to be kept."""
        view = cls()
        view._values = values
        return view

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def items(self) -> ItemsView[str, Any]:
        return self._values.items()

    @property
    def key(self) -> str:
        """The values as text; equal for equal parameters only, so that True is not 1."""
        if self._key is None:
            self._key = repr(sorted(self._values.items()))
        return self._key

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.key)
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Params) and self.key == other.key)

    def __repr__(self) -> str:
        return f"Params({', '.join(f'{name}={value!r}' for name, value in sorted(self._values.items()))})"

    def replace(self, **changes: Any) -> Params:
        return Params({**self._values, **changes})


@dataclass(frozen=True, **SLOTS)
class Inner:
    """The layer inside a wrapper (TimeDistributed, Bidirectional, RNN over a cell...)."""

    layer: str
    params: Params


class Edge(NamedTuple):
    """One output of one node."""

    node: str
    output: int = 0


class Draft(NamedTuple):
    """An untyped node."""

    id: str
    layer: str
    params: Mapping[str, Any]
    inputs: tuple[Edge, ...]


@dataclass(frozen=True, **SLOTS)
class Node:
    """A layer call with complete parameters and the types of its outputs."""

    id: str
    layer: str
    params: Params
    inputs: tuple[Edge, ...]
    outputs: tuple[TensorType, ...]

    @property
    def is_broken(self) -> bool:
        """Whether the call breaks a rule, on purpose; see `Case.breaks`."""
        return self.outputs == (UNKNOWN,)

    @property
    def draft(self) -> Draft:
        return Draft(self.id, self.layer, self.params, self.inputs)


@dataclass(frozen=True)
class Graph:
    """Nodes in topological order, and the edges that are the model's outputs."""

    nodes: tuple[Node, ...]
    outputs: tuple[Edge, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        return {node.id: node for node in self.nodes}

    @property
    def inputs(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.layer == INPUT)

    def type_of(self, edge: Edge) -> TensorType:
        return self.by_id[edge.node].outputs[edge.output]

    def input_types(self, node: Node) -> tuple[TensorType, ...]:
        by_id = self.by_id
        return tuple([by_id[edge.node].outputs[edge.output] for edge in node.inputs])

    @property
    def drafts(self) -> tuple[Draft, ...]:
        return tuple(node.draft for node in self.nodes)


INPUT = "input"
OPERATOR = "ops."
"""Begins the name of an operator: a node that is a function of keras.ops, as "ops.image.resize"."""


def is_operator(layer: str) -> bool:
    """Whether a name is that of an operator."""
    return layer.startswith(OPERATOR)


def is_utility(layer: str) -> bool:
    """Whether a name is that of a utility node, or of an input of the graph."""
    return layer.islower() and not is_operator(layer)
