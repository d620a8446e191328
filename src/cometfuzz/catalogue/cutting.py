"""Cutting a part out of a graph: what its nodes read of others becomes inputs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph


class Part(NamedTuple):
    """A graph that was cut out of another one, and the edge of that one which each new input stands for."""

    graph: Graph
    cut: Mapping[str, Edge]

    @property
    def sources(self) -> dict[str, Edge]:
        """For each input, new or not, the edge of the whole graph whose values it takes."""
        return {node.id: self.cut.get(node.id, Edge(node.id)) for node in self.graph.inputs}


def cut_out(graph: Graph, keep: Collection[str], outputs: Sequence[Edge]) -> Part | None:
    """The kept nodes that some output stands on; None if they are not valid without the others.

    They keep their names, and so their weights; inputs of the whole graph that they read stay what they are. A new
    input is named after the edge that it stands for. It carries no mask: see `with_mask_sources`.
    """
    drafts: list[Draft] = []
    cut: dict[str, Edge] = {}
    for node in graph.nodes:
        if node.id not in keep:
            continue
        inputs = []
        for edge in node.inputs:
            source, read = graph.by_id[edge.node], edge
            if edge.node not in keep and source.layer == INPUT:
                drafts.append(source.draft)
            elif edge.node not in keep:
                read = Edge(f"cut_{edge.node}_{edge.output}")
                drafts.append(Draft(read.node, INPUT, input_params(graph.type_of(edge)), ()))
                cut[read.node] = edge
            inputs.append(read)
        drafts.append(node.draft._replace(inputs=tuple(inputs)))
    try:
        part = assemble(needed(drafts, outputs), list(dict.fromkeys(outputs)))
    except InvalidCase:  # a bound or a mask that was cut off
        return None
    return Part(part, {name: edge for name, edge in cut.items() if name in part.by_id})


def taken_apart(graph: Graph) -> Graph | None:
    """A graph in which every layer reads inputs of its own, and whose outputs are those of all layers; None if that
    is not a model.

    Only what an input can stand for is cut: a float without a mask. Utilities are there for what they lead to, so they
    stay only where nothing was cut behind them.
    """
    drafts: list[Draft] = []
    for node in graph.nodes:
        inputs = []
        for place, edge in enumerate(node.inputs):
            kind, read = graph.type_of(edge), edge
            if kind.is_float and not kind.masked and graph.by_id[edge.node].layer != INPUT:
                same = node.inputs.index(edge)  # a tensor that is read twice is one input
                read = Edge(f"apart_{node.id}_{same}")
                if same == place:
                    drafts.append(Draft(read.node, INPUT, input_params(kind), ()))
            inputs.append(read)
        drafts.append(node.draft._replace(inputs=tuple(inputs)))
    counted = [node for node in graph.nodes if CATALOGUE[node.layer].counted]
    outputs = [edge for node in counted for edge in outputs_of(graph, node.id)]
    try:
        return assemble(needed(drafts, outputs), outputs) if outputs else None
    except InvalidCase:
        return None


def needed(drafts: Iterable[Draft], outputs: Sequence[Edge]) -> list[Draft]:
    """The drafts that some output stands on, in their order; of several with one id the first."""
    every: dict[str, Draft] = {}
    for draft in drafts:
        every.setdefault(draft.id, draft)
    kept: set[str] = set()
    waiting = [edge.node for edge in outputs]
    while waiting:
        at = waiting.pop()
        if at not in kept and at in every:
            kept.add(at)
            waiting += [edge.node for edge in every[at].inputs]
    return [draft for draft in every.values() if draft.id in kept]


def with_mask_sources(graph: Graph, names: Iterable[str]) -> set[str]:
    """Nodes, and those that their inputs have their masks from: a mask travels unseen, so no input can replace it."""
    kept = set(names)
    waiting = list(kept)
    while waiting:
        for edge in graph.by_id[waiting.pop()].inputs:
            if graph.type_of(edge).masked and edge.node not in kept:
                kept.add(edge.node)
                waiting.append(edge.node)
    return kept


def outputs_of(graph: Graph, name: str) -> list[Edge]:
    """All outputs of a node."""
    return [Edge(name, index) for index in range(len(graph.by_id[name].outputs))]


def open_ends(graph: Graph, names: Collection[str]) -> list[Edge]:
    """The outputs of some nodes that none of these nodes reads."""
    nodes = [node for node in graph.nodes if node.id in names]
    read = {edge for node in nodes for edge in node.inputs}
    return [edge for node in nodes for edge in outputs_of(graph, node.id) if edge not in read]
