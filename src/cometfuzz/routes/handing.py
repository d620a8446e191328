"""How a model in any manner is handed its inputs, in the child: shapes that are declared, runs before the one that is
judged, lists or dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cometfuzz.compat import zip_strictly
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.routes import Work
from cometfuzz.routes.tensors import to_array


def declared_shapes(work: Work) -> list[tuple[int | None, ...]]:
    """The shapes of the inputs, with None where a size is open."""
    return [work.manner.shape(node.id, node.outputs[0].shape) for node in work.graph.inputs]


def signature(keras: Any, work: Work) -> list[Any]:
    """What Keras' own export is told of the inputs; left to itself, it forgets the size of the batch."""
    shapes = declared_shapes(work)
    specs = [
        keras.InputSpec(node.outputs[0].dtype, shapes[index], name=node.id)
        for index, node in enumerate(work.graph.inputs)
    ]
    return [arranged(work, specs)]


def runs(work: Work) -> Iterator[list[Any]]:
    """The inputs of each run of the model as arrays: ones at the sizes that it has before, last those of the case.

    Integers are zeros, which are in every range.
    """
    own = [to_array(tensor) for tensor in work.inputs]
    shapes = [work.manner.earlier(node.id, node.outputs[0].shape) for node in work.graph.inputs]
    for each in zip_strictly(*shapes):
        yield [np.full(shape, array.dtype.kind not in "iub", array.dtype) for shape, array in zip_strictly(each, own)]
    yield own


def arranged(work: Work, tensors: Sequence[Any]) -> Any:
    """The inputs as the model takes them: a list, a dictionary, or the one of a Sequential."""
    if work.manner.named:
        return dict(zip_strictly([node.id for node in work.graph.inputs], tensors))
    return tensors[0] if work.manner.sequential else list(tensors)


def output_name(index: int) -> str:
    """The name of an output where outputs have names; in the order of their names they are in their own."""
    return f"output_{index:03}"


def parts(graph: Graph, inside: Sequence[str]) -> tuple[list[Node], list[Node], list[Node]]:
    """The nodes before a model inside, in it, and after it: all that stands on it, and nothing else."""
    after: set[str] = set()
    found: tuple[list[Node], list[Node], list[Node]] = ([], [], [])
    for node in graph.nodes:
        if node.id in inside:
            found[1].append(node)
        elif any(edge.node in inside or edge.node in after for edge in node.inputs):
            after.add(node.id)
            found[2].append(node)
        else:
            found[0].append(node)
    return found


def opset_of(step_options: Any, wanted: int) -> int:
    """The opset that an exporter writes if a case wants one: at most the newest that it knows."""
    usual, newest = int(step_options["opset"]), int(step_options["newest"])
    return min(wanted, newest) if wanted else usual
