"""Related cases: the case that a relation asks about beside the first one, made by changing its data or its nodes."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.data import Array, draw_data, expected_tensors, to_tensor
from cometfuzz.catalogue.manners import fitting
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft

Change = Callable[[Array], Array]


def _changed(case: Case, change: Change, weights: Change = lambda array: array) -> Case:
    """A case with other inputs and weights of the same shapes."""
    data = draw_data(case)
    arrays = {name: change(array) for name, array in data.inputs.items()}
    for node, tensors in data.weights.items():
        arrays |= {f"{node}/{name}": weights(array) for name, array in tensors.items()}
    return replace(case, data={name: to_tensor(array) for name, array in arrays.items()})


def rows_of(case: Case) -> int:
    """The size of the batch, if all inputs and outputs have one and the same; else 0."""
    graph = case.graph
    kinds = [*(node.outputs[0] for node in graph.inputs), *map(graph.type_of, graph.outputs)]
    sizes = {kind.shape[0] if kind.shape else 0 for kind in kinds}
    return sizes.pop() if len(sizes) == 1 else 0


def other_rows(case: Case) -> Case | None:
    return _changed(case, lambda array: array[::-1]) if rows_of(case) > 1 else None


def last_row(case: Case) -> Case | None:
    if rows_of(case) < 2:
        return None
    return resized(case, 1, lambda array: array[-1:])


def resized(case: Case, rows: int, change: Change) -> Case | None:
    """The case with a batch of another size; None if its layers do not allow that."""
    drafts = [
        node.draft._replace(params={**node.params, "shape": (rows, *node.params.shape[1:])})
        if node.layer == INPUT
        else node.draft
        for node in case.graph.nodes
    ]
    return _rebuilt(_changed(case, change), drafts)


def _rebuilt(case: Case, drafts: Sequence[Draft]) -> Case | None:
    """The data of a case on other nodes; None if these are not valid, or take weights of other shapes."""
    try:
        graph = assemble(drafts, case.graph.outputs)
    except InvalidCase:
        return None
    given = {key: (tensor.dtype, tensor.shape) for key, tensor in case.data.items()}
    return replace(case, graph=graph, manner=fitting(graph, case.manner)) if given == expected_tensors(graph) else None


def other_last_axis(case: Case) -> Case | None:
    return _turned(case, -1)


def other_second_axis(case: Case) -> Case | None:
    """Only where a layer has its channels there: its last axis is asked about anyway."""
    last = case.graph.by_id[case.graph.outputs[0].node]
    return _turned(case, 1) if last.params.get("data_format") == "channels_first" else None


def _turned(case: Case, axis: int) -> Case | None:
    """An axis of all inputs reversed, and with it the last axis of that size of every weight."""
    sizes = {node.outputs[0].shape[axis] if node.outputs[0].rank > 1 else 0 for node in case.graph.inputs}
    if len(sizes) != 1 or max(sizes) < 2:
        return None
    (size,) = sizes

    def follow(array: Array) -> Array:
        axes = [axis for axis, length in enumerate(array.shape) if length == size]
        return np.flip(array, axes[-1]) if axes else array

    return _changed(case, lambda array: np.flip(array, axis), follow)


def other_operands(case: Case) -> Case | None:
    """The inputs of the last layer in reverse order."""
    last = case.graph.by_id[case.graph.outputs[0].node]
    if len(set(last.inputs)) < 2:
        return None
    turned = last.draft._replace(inputs=last.inputs[::-1])
    drafts = [turned if node.id == last.id else node.draft for node in case.graph.nodes]
    return _rebuilt(_changed(case, lambda array: array), drafts)


def same(case: Case) -> Case:
    return case
