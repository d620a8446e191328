"""Edits of a case for the reducer: each gives a valid case, or None."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cometfuzz.catalogue.cutting import cut_out, needed, outputs_of, with_mask_sources
from cometfuzz.catalogue.data import NUMPY, Array, Data, draw_data, expected_tensors, to_array, to_tensor
from cometfuzz.catalogue.manners import fitting, of_part
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Draft, Edge, Graph
from cometfuzz.ir.types import FLOATS
from cometfuzz.reference.run import narrow, run


@dataclass(frozen=True)
class Workpiece:
    """A case under reduction, with what the reference computes in it, which is worked out when first asked for."""

    case: Case

    @property
    def graph(self) -> Graph:
        return self.case.graph

    @cached_property
    def data(self) -> Data:
        return draw_data(self.case)

    @cached_property
    def values(self) -> Mapping[Edge, Array]:
        """The value of every edge, in its real dtype."""
        seen = run(self.graph, self.data).values
        return {edge: narrow(value, self.graph.type_of(edge).dtype) for edge, value in seen.items()}

    def rebuilt(
        self, drafts: Iterable[Draft], outputs: Sequence[Edge], data: Mapping[str, Tensor] | None = None
    ) -> Case | None:
        """The case of other nodes: pruned and typed, its tensors cut to fit; None if that is not valid."""
        try:
            graph = assemble(needed(drafts, outputs), list(dict.fromkeys(outputs)))
        except InvalidCase:
            return None
        kept = fitted(graph, self.case.data if data is None else data)
        return Case(graph, self.case.rng_seed, kept, manner=fitting(graph, self.case.manner))

    def part(self, keep: Collection[str], outputs: Sequence[Edge], values: Mapping[Edge, Array]) -> Case | None:
        """Some nodes; what they read of others becomes an input with the values seen there."""
        part = cut_out(self.graph, keep, outputs)
        if part is None:
            return None
        seen = {name: to_tensor(values[edge]) for name, edge in part.cut.items()}
        kept = fitted(part.graph, {**self.case.data, **seen})
        return Case(part.graph, self.case.rng_seed, kept, manner=of_part(self.case, part))

    def alone(self, name: str, values: Mapping[Edge, Array]) -> Case | None:
        """One node, and what its inputs have their masks from."""
        return self.part(with_mask_sources(self.graph, [name]), outputs_of(self.graph, name), values)


def fitted(graph: Graph, data: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What a case brings of its own, cut or repeated to the shapes and cast to the dtypes of a changed graph."""
    kept: dict[str, Tensor] = {}
    for key, (dtype, shape) in expected_tensors(graph).items():
        given = data.get(key)
        if given is None:
            continue
        if (given.dtype, given.shape) == (dtype, shape):
            kept[key] = given
            continue
        array = to_array(given)
        if len(given.shape) != len(shape) or array.size == 0:
            if array.size == 0:
                continue  # drawn anew
            array = np.resize(array, shape)
        elif shape:  # a number has nothing to cut
            array = array[tuple(slice(size) for size in shape)]
            array = np.pad(array, [(0, size - have) for size, have in zip(shape, array.shape, strict=True)], "wrap")
        with np.errstate(all="ignore"):
            array = array.astype(np.float64) if given.dtype in FLOATS and dtype not in FLOATS else array
            kept[key] = to_tensor(
                np.nan_to_num(array).astype(NUMPY[dtype]) if dtype not in FLOATS else array.astype(NUMPY[dtype])
            )
    for node in graph.inputs:
        if node.id in kept and node.params.high is not None:
            kept[node.id] = to_tensor(np.clip(to_array(kept[node.id]), 0, node.params.high - 1))
    return kept
