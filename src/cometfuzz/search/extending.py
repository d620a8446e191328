"""Longer sequences: when every layer has followed every other, chains of three whose families are new."""

from collections.abc import Callable, Iterable

from cometfuzz.catalogue import LAYERS
from cometfuzz.coverage.chains import ChainCoverage
from cometfuzz.ir.graph import Node
from cometfuzz.mutation.base import readers
from cometfuzz.mutation.repair import Editor


def extension(
    editor: Editor, chains: ChainCoverage, after: Iterable[str], is_easy: Callable[[str, str], bool]
) -> tuple[Node, list[str]] | None:
    """A node of a graph that reads another layer, and the layers that would make an unseen sequence of three families
    with the two, out of `after` and as far as it is easy to let one follow the other."""
    for node in editor.draw.shuffled(editor.sources()):
        before = [editor.nodes[edge.node].layer for edge in node.inputs]
        before = [layer for layer in before if layer in LAYERS]
        if node.layer not in LAYERS or not before:
            continue
        new = {
            family for family, name in _one_of_each() if any(chains.wants(first, node.layer, name) for first in before)
        }
        reading = readers(node.outputs[0])
        names = [name for name in after if name in LAYERS and LAYERS[name].family in new]
        if fitting := [name for name in names if name in reading and is_easy(node.layer, name)]:
            return node, fitting
    return None


def _one_of_each() -> list[tuple[str, str]]:
    """Every family, with a layer of it."""
    return list({spec.family: name for name, spec in LAYERS.items()}.items())
