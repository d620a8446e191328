"""Editing a graph so that what is not touched keeps its types.

An Editor works on a copy. `adapt` leads a tensor to another type through utility nodes (cast, crop, pad, squeeze,
expand); `redo` runs a node again with other inputs or parameters and repairs its outputs for those who read them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cometfuzz.catalogue.cost import Cost, cost_of
from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.catalogue.utility import SPECIAL_NODES
from cometfuzz.catalogue.validate import assemble, type_call
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.codec import in_topological_order
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import LAYERS_AT_ONCE, Inapplicable, ModelLimits, how_many

HALF = ("float16", "bfloat16")

USUAL_BOUND = 4
"""The bound of integers where the reader asks for none."""

SPARE = 4
"""Attempts beyond the number of layers to change, since some fail."""


class Editor:
    """A graph under change. `finish` gives the new graph; the old one is never touched."""

    def __init__(self, graph: Graph, draw: Draw, limits: ModelLimits) -> None:
        self.draw, self.limits = draw, limits
        self.nodes: dict[str, Node] = dict(graph.by_id)
        self.outputs: list[Edge] = list(graph.outputs)
        self.taps = draw.chance(0.5)
        """Whether what a repair crops away becomes an output, so that it is compared; else fusion stays tested."""
        self.special: set[str] = set()
        """The special value and what stands on it: a branch of its own, on which nothing else may build."""
        for node in graph.nodes:
            self._note_special(node)
        self._costs: dict[str, tuple[Node, Cost]] = {}
        self._fresh: set[str] = set()
        """What the present change has added: it goes on reading what it reads when readers are rerouted."""
        self._next = 1 + max((int(name[1:]) for name in self.nodes if name[1:].isdigit()), default=-1)

    def type_of(self, edge: Edge) -> TensorType:
        return self.nodes[edge.node].outputs[edge.output]

    def input_types(self, node: Node) -> tuple[TensorType, ...]:
        return tuple(self.type_of(edge) for edge in node.inputs)

    def layers(self) -> list[Node]:
        """The nodes that count as layers."""
        return [node for node in self.nodes.values() if CATALOGUE[node.layer].counted]

    def sources(self) -> list[Node]:
        """The nodes that something new may read: layers, or else any node, off the branch of a special value."""
        clean = [node for node in self.nodes.values() if node.id not in self.special]
        return [node for node in clean if CATALOGUE[node.layer].counted] or clean

    def _note_special(self, node: Node) -> None:
        if node.layer in SPECIAL_NODES or any(edge.node in self.special for edge in node.inputs):
            self.special.add(node.id)

    def add(self, layer: str, params: Mapping[str, Any], inputs: Sequence[Edge], node_id: str = "") -> Node:
        """A new node, typed; Inapplicable if it would be invalid or too large."""
        types = tuple(self.type_of(edge) for edge in inputs)
        complete = params if isinstance(params, Params) else CATALOGUE[layer].complete(params)
        outputs = type_call(layer, types, complete)
        if isinstance(outputs, list):
            raise Inapplicable(f"{layer} breaks {outputs[0][0]!r}")
        if any(output.elements > self.limits.elements for output in outputs):
            raise Inapplicable(f"{layer} gives more than {self.limits.elements} elements")
        if objection := self.limits.objection(layer, types, complete):
            raise Inapplicable(objection)
        if not node_id:
            node_id, self._next = f"n{self._next}", self._next + 1
            self._fresh.add(node_id)
        node = Node(node_id, layer, complete, tuple(inputs), outputs)
        self.nodes[node_id] = node
        self._note_special(node)
        return node

    def takes(self, spec: LayerSpec, types: tuple[TensorType, ...], params: Params) -> bool:
        """Whether a layer would take these inputs with these parameters, within the dialect."""
        return spec.accepts(types, params) and not self.limits.objection(spec.name, types, params)

    def utility(self, layer: str, params: Mapping[str, Any], edge: Edge) -> Edge:
        return Edge(self.add(layer, params, (edge,)).id)

    def adapt(self, edge: Edge, target: TensorType) -> Edge:
        """The same tensor, led to dtype, rank and shape of `target`; the edge itself where nothing is to do."""
        seen = self.type_of(edge)
        if target.masked and not seen.masked:
            raise Inapplicable("a mask cannot be restored")
        if (seen.dtype, seen.shape, seen.masked) == (target.dtype, target.shape, target.masked) and (
            target.high is None or seen.high == target.high
        ):
            return edge
        if seen.dtype == "bool":
            edge = self.utility("cast", {"dtype": "float32"}, edge)
        edge = self._with_shape(self._with_rank(edge, target.rank), target.shape)
        return self._with_dtype(edge, target)

    def _with_rank(self, edge: Edge, rank: int) -> Edge:
        while self.type_of(edge).rank > rank:
            shape = self.type_of(edge).shape
            thin = [axis for axis in range(1, len(shape)) if shape[axis] == 1]
            axis = self.draw.choice(thin) if thin else self.draw.integer(min(1, len(shape) - 1), len(shape) - 1)
            goal = (*shape[:axis], 1, *shape[axis + 1 :])
            edge = self.utility("squeeze", {"axis": axis}, self._with_shape(edge, goal))
        while self.type_of(edge).rank < rank:
            have = self.type_of(edge).rank
            edge = self.utility("expand", {"axis": self.draw.integer(min(1, have), have)}, edge)
        return edge

    def _with_shape(self, edge: Edge, shape: tuple[int, ...]) -> Edge:
        seen = self.type_of(edge)
        crops = tuple((0, max(0, have - want)) for have, want in zip(seen.shape, shape, strict=True))
        if any(after for _, after in crops):
            if self.taps and len(self.outputs) < 6:
                self.expose(edge)
            edge = self.utility("crop", {"crops": crops}, edge)
        pads = tuple((0, max(0, want - have)) for have, want in zip(seen.shape, shape, strict=True))
        if any(after for _, after in pads):
            value = self.draw.integer(-32, 32) / 4 if seen.is_float else 0.0
            edge = self.utility("pad", {"paddings": pads, "value": value}, edge)
        return edge

    def _with_dtype(self, edge: Edge, target: TensorType) -> Edge:
        seen = self.type_of(edge)
        narrow = seen.dtype == "float64" and target.dtype in HALF
        across = {seen.dtype, target.dtype} == set(HALF)
        if narrow or across:
            edge = self.utility("cast", {"dtype": "float32"}, edge)
        high = (target.high or USUAL_BOUND) if target.dtype == "int32" else None
        seen = self.type_of(edge)
        if seen.dtype != target.dtype or seen.masked or (high is not None and target.high is not None):
            edge = self.utility("cast", {"dtype": target.dtype, "high": high}, edge)
        return edge

    def redo(self, node: Node, inputs: Sequence[Edge], params: Params) -> None:
        """Run a node on other inputs or with other parameters; readers get what they had, repaired."""
        again = self.add(node.layer, params, inputs, node.id)
        self.reroute(node, [Edge(node.id, min(index, len(again.outputs) - 1)) for index in range(len(node.outputs))])

    def reroute(self, node: Node, edges: Sequence[Edge]) -> None:
        """Let all who read from `node` read from `edges` instead, repaired to the types they had."""
        replaced: dict[Edge, Edge] = {}
        for index, edge in enumerate(edges):
            if self.is_read(Edge(node.id, index)):
                replaced[Edge(node.id, index)] = self.adapt(edge, node.outputs[index])
        for reader in list(self.nodes.values()):
            if reader.id not in self._fresh and any(edge in replaced for edge in reader.inputs):
                inputs = tuple(replaced.get(edge, edge) for edge in reader.inputs)
                self.nodes[reader.id] = Node(reader.id, reader.layer, reader.params, inputs, reader.outputs)
        self.outputs = [replaced.get(edge, edge) for edge in self.outputs]

    def is_read(self, edge: Edge) -> bool:
        return edge in self.outputs or any(edge in node.inputs for node in self.nodes.values())

    def below(self, node_id: str) -> set[str]:
        """The nodes that read, directly or not, from a node: if it read one of them, that would close a cycle."""
        readers: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for edge in node.inputs:
                readers.setdefault(edge.node, []).append(node.id)
        found: set[str] = set()
        waiting = list(readers.get(node_id, ()))
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting += readers.get(at, ())
        return found

    def expose(self, edge: Edge) -> None:
        """Make an edge an output of the model; a graph's own input is none."""
        if edge not in self.outputs and self.nodes[edge.node].layer != INPUT:
            self.outputs.append(edge)

    def attempt(self, change: Callable[["Editor"], None]) -> str:
        """Make a change, or leave everything as it was; the reason, or nothing if it was made."""
        before = dict(self.nodes), list(self.outputs)
        try:
            change(self)
        except Inapplicable as error:
            reason = str(error)
        else:
            self._prune()
            reason = self._excess()
        if reason:
            self.nodes, self.outputs = before
        self._fresh.clear()
        return reason

    def _excess(self) -> str:
        """Which limit is exceeded, or nothing."""
        if len(self.nodes) > self.limits.nodes:
            return f"more than {self.limits.nodes} nodes"
        flops = held = 0
        for name, node in self.nodes.items():
            known = self._costs.get(name)
            if known is None or known[0] is not node:
                known = node, cost_of(node.layer, self.input_types(node), node.params, node.outputs)
                self._costs[name] = known
            flops, held = flops + known[1][0], held + known[1][1]
        if flops > self.limits.flops:
            return f"more than {self.limits.flops} flops"
        return f"more than {self.limits.bytes} bytes" if held > self.limits.bytes else ""

    def _prune(self) -> None:
        """Drop what no output stands on."""
        needed: set[str] = set()
        waiting = [edge.node for edge in self.outputs]
        while waiting:
            at = waiting.pop()
            if at not in needed:
                needed.add(at)
                waiting += [edge.node for edge in self.nodes[at].inputs]
        if len(needed) < len(self.nodes):
            self.nodes = {name: node for name, node in self.nodes.items() if name in needed}

    def finish(self) -> Graph:
        """The new graph; every node has been typed by the catalogue on what it reads now, or is typed again."""
        self._prune()
        try:
            graph = Graph(in_topological_order(list(self.nodes.values())), tuple(self.outputs))
            if any(type_call(node.layer, graph.input_types(node), node.params) != node.outputs for node in graph.nodes):
                graph = assemble(graph.drafts, self.outputs)
        except InvalidCase as error:
            raise Inapplicable(str(error)) from None
        if excess := self._excess():
            raise Inapplicable(excess)
        return graph


def repeat(graph: Graph, draw: Draw, limits: ModelLimits, nodes: int, change: Callable[[Editor], None]) -> Graph:
    """A graph of at most `nodes` nodes, changed 1 to 10 times; Inapplicable if no change could be made."""
    editor = Editor(trim(graph, draw, replace(limits, nodes=max(2, nodes))), draw, limits)
    goal, done, reason = how_many(draw, LAYERS_AT_ONCE, limits), 0, ""
    for _ in range(goal + SPARE):
        if done < goal:
            failed = editor.attempt(change)
            done, reason = done + (not failed), failed or reason
    if not done:
        raise Inapplicable(reason)
    return editor.finish()


def trim(graph: Graph, draw: Draw, limits: ModelLimits) -> Graph:
    """A part of the graph within the limits: what some of its nodes stand on. The graph itself if it is within."""
    allowed: dict[str, bool] = {}
    spent: dict[str, Cost] = {}
    for node in graph.nodes:
        types = graph.input_types(node)
        objection = limits.objection(node.layer, types, node.params)
        allowed[node.id] = not objection and all(allowed[edge.node] for edge in node.inputs)
        spent[node.id] = cost_of(node.layer, types, node.params, node.outputs)

    kept: set[str] = set()
    flops = held = 0

    def with_these(names: Iterable[str]) -> tuple[int, int] | None:
        """What is spent with some more; None if that is too much."""
        more = [spent[name] for name in names if name not in kept]
        all_flops, all_held = flops + sum(cost.flops for cost in more), held + sum(cost.bytes for cost in more)
        fits = len(kept) + len(more) <= limits.nodes and all_flops <= limits.flops and all_held <= limits.bytes
        return (all_flops, all_held) if fits else None

    if all(allowed.values()) and with_these(allowed):
        return graph
    below: dict[str, set[str]] = {}
    for node in graph.nodes:
        below[node.id] = {node.id}.union(*(below[edge.node] for edge in node.inputs))
    ends: list[Edge] = []
    for node in draw.shuffled(graph.nodes):
        wanted = node.layer != INPUT and node.id not in kept and allowed[node.id]
        if wanted and (spending := with_these(below[node.id])) is not None:
            flops, held = spending
            kept |= below[node.id]
            ends.append(Edge(node.id))
    if not ends:
        raise Inapplicable("no part of the graph is within the limits")
    read = {edge for node in graph.nodes if node.id in kept for edge in node.inputs}
    outputs = [edge for edge in ends if edge not in read] or ends[:1]
    return Graph(tuple(node for node in graph.nodes if node.id in kept), tuple(outputs))
