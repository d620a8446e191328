"""The config of a model, in the form of Keras 3 -> a graph of our IR, without Keras: the one translator, for all.

Layers become nodes of the same name, nested models are unfolded, masks stay implicit, an unknown batch becomes 1, and a
cast stands where a layer's dtype differs from its input's. A layer that is called several times becomes several nodes
with weights of their own. Everything else that a graph cannot say is refused with the name of the layer.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cometfuzz.catalogue.cost import weights_of
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import Violation, assemble, type_draft
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.codec import MAX_NODES, in_topological_order
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Node
from cometfuzz.ir.types import FLOATS
from cometfuzz.seeds.keras_reading import Config, as_object, field, histories_in, name_of, tensors_in, values_of
from cometfuzz.seeds.keras_values import dtype_of, layer_name, params_of

MAX_WEIGHTS = 2**29
MAX_ELEMENTS = 2**28
MAX_DEPTH = 8
Path = tuple[str, ...]


@dataclass(frozen=True)
class Translated:
    """A graph, and for each node with weights the Keras layer that has them: names from the outermost model inwards."""

    graph: Graph
    layers: Mapping[str, Path]


def translate(model: Config, open_size: int | None = None) -> Translated:
    """The graph of a serialised model. `open_size` stands for axes of unknown size, the batch apart."""
    try:
        translation = _Translation(model, open_size)
        outputs = translation.model(model, None, ())
        graph = assemble([node.draft for node in translation.nodes.values()], outputs)
    except RecursionError:
        raise InvalidCase("expected a model config; received values that are nested too deeply") from None
    if (weights := weights_of(graph)) > MAX_WEIGHTS:
        raise InvalidCase(f"expected a model of at most {MAX_WEIGHTS} weights; received weights={weights}")
    return Translated(graph, translation.layers)


class _Translation:
    def __init__(self, model: Config, open_size: int | None) -> None:
        self.nodes: dict[str, Node] = {}
        self.layers: dict[str, Path] = {}
        self.open_size = open_size
        self._called = 0
        self._names: Counter[str] = Counter()
        sizes = [size for key in ("input_dim", "num_tokens") for size in values_of(model, key) if type(size) is int]
        self.tokens = max(1, min(sizes, default=64))
        """No graph input of integers may exceed the smallest vocabulary."""

    def model(self, entry: Any, given: Sequence[Edge] | None, path: Path) -> list[Edge]:
        """The outputs of a model called on tensors; without tensors, it makes its own inputs."""
        where = _shown(path)
        if len(path) > MAX_DEPTH:
            raise InvalidCase(f"{where}: expected at most {MAX_DEPTH} nested models; received more")
        config = field(entry, "config", dict, where)
        layers = [as_object(layer, where) for layer in field(config, "layers", list, where)]
        if entry["class_name"] == "Sequential":
            return self._sequential(config, layers, given, path)
        return self._functional(config, layers, given, path)

    def _sequential(self, config: Config, layers: list[Config], given: Sequence[Edge] | None, path: Path) -> list[Edge]:
        edges = None if given is None else list(given)
        if edges is None and (not layers or layers[0].get("class_name") != "InputLayer"):
            shape = config.get("build_input_shape")
            if not isinstance(shape, list):
                raise InvalidCase(f"{_shown(path)}: expected a Sequential that is built")
            edges = [self._input("input", {"batch_shape": shape, "dtype": "float32"}, "its input")]
        for layer in layers:
            name = name_of(layer)
            if layer.get("class_name") == "InputLayer":
                edges = edges or [self._input(name, field(layer, "config", dict, name), f"layer {name!r}")]
            else:
                edges = self._layer(layer, edges or [], {}, (*path, name))
        return edges or []

    def _functional(self, config: Config, layers: list[Config], given: Sequence[Edge] | None, path: Path) -> list[Edge]:
        where = _shown(path)
        by_name = {name_of(layer): layer for layer in layers}
        values: dict[Edge, Edge | None] = {}
        inputs = [call for call, _, _ in histories_in(config.get("input_layers"))]
        for number, call in enumerate(inputs):
            layer = by_name.get(call)
            if layer is None or (given is not None and number >= len(given)):
                raise InvalidCase(f"{where}: expected an input for each input layer; received {inputs!r:.80}")
            if given is None:
                made = self._input(call, field(layer, "config", dict, call), f"layer {call!r}")
            else:
                made = given[number]
            values[Edge(f"{call}/0")] = made
        calls = self._calls(by_name, set(inputs), where)
        for draft in in_topological_order(calls):
            name = draft.id.rsplit("/", 1)[0]
            if Edge(draft.id) not in values:
                outputs = self._call(by_name[name], draft.params, values, (*path, name))
                values.update({Edge(draft.id, index): edge for index, edge in enumerate(outputs)})
        ends = [Edge(f"{name}/{call}", output) for name, call, output in histories_in(config.get("output_layers"))]
        return [_known(values, end, where) for end in ends]

    def _calls(self, by_name: Mapping[str, Config], inputs: set[str], where: str) -> list[Draft]:
        """Every call of every layer, as a draft whose parameters are its arguments, so that they can be ordered."""
        calls = [Draft(f"{name}/0", INPUT, {}, ()) for name in by_name if name in inputs]
        for name, layer in by_name.items():
            if name in inputs:
                continue
            for number, call in enumerate(field(layer, "inbound_nodes", list, f"layer {name!r}")):
                if not isinstance(call, dict) or not {"args", "kwargs"} <= set(call):
                    raise InvalidCase(f"layer {name!r}: expected calls as Keras 3 writes them; received {call!r:.80}")
                read = tuple(Edge(f"{source}/{at}", output) for source, at, output in tensors_in(call))
                calls.append(Draft(f"{name}/{number}", name, call, read))
        if len(calls) > MAX_NODES:
            raise InvalidCase(f"{where}: expected at most {MAX_NODES} layer calls; received {len(calls)}")
        known = {draft.id for draft in calls}
        for draft in calls:
            for edge in draft.inputs:
                if edge.node not in known:
                    raise InvalidCase(f"layer {draft.layer!r}: expected to read a call; received {edge.node!r:.80}")
        return calls

    def _call(
        self, layer: Config, call: Config, values: Mapping[Edge, Edge | None], path: Path
    ) -> Sequence[Edge | None]:
        """One call of one layer. An operation that only makes a mask has no edge: masks are implicit in a graph."""
        where = f"layer {path[-1]!r}"
        edges = [Edge(f"{name}/{at}", index) for name, at, index in tensors_in(call["args"])]
        arguments = [_known(values, edge, where, mask=True) for edge in edges]
        if str(layer.get("module")).startswith("keras.src.ops"):
            return self._operation(layer, arguments, path)
        extra: dict[str, Any] = {}
        for name, value in as_object(call["kwargs"], where).items():
            read = [Edge(f"{source}/{at}", index) for source, at, index in tensors_in(value)]
            if name == "mask" and read:
                if not arguments or arguments[0] is None or not self._type(arguments[0]).masked:
                    raise InvalidCase(f"{where}: expected masks to come with their tensor; received a mask of its own")
            elif read:
                extra[name] = [_known(values, edge, where) for edge in read]
            elif value not in (None, False):
                extra[name] = value
        if any(edge is None for edge in arguments):
            raise InvalidCase(f"{where}: expected to read tensors; received a mask")
        return self._layer(layer, [edge for edge in arguments if edge is not None], extra, path)

    def _operation(self, layer: Config, arguments: Sequence[Edge | None], path: Path) -> Sequence[Edge | None]:
        """keras.ops between layers: those that a merging layer computes; others can only serve as masks."""
        edges = [self._unmasked(edge) for edge in arguments if edge is not None]
        if layer.get("class_name") in OPERATIONS and len(edges) == 2:
            return [self._add(path[-1], str(layer["class_name"]), {}, edges)]
        return [None]

    def _layer(self, layer: Config, edges: list[Edge], extra: dict[str, Any], path: Path) -> list[Edge]:
        name, where = path[-1], f"layer {path[-1]!r}"
        self._called += 1
        if self._called > MAX_NODES:  # a model in a model in a model, each called often, would never end
            raise InvalidCase(f"{where}: expected at most {MAX_NODES} layer calls in all; received more")
        if layer.get("class_name") in MODELS and str(layer.get("module")).split(".")[0] == "keras":
            return self.model(layer, edges, path)
        config = field(layer, "config", dict, where)
        composed = COMPOSED.get(f"{layer.get('module')}.{layer.get('class_name')}")
        if composed is not None:
            return composed(self, name, config, edges)
        kind = layer_name(where, layer)
        params, dtype = params_of(where, kind, config), dtype_of(where, config)
        edges = [*edges, *_further_tensors(where, kind, params, extra)]
        for argument, value in extra.items():
            if argument not in CATALOGUE[kind].call_params or not isinstance(value, bool):
                raise InvalidCase(f"{where}: expected a plain call; received the argument {argument}={value!r:.80}")
            params[argument] = value
        if "dtype" in CATALOGUE[kind].params:
            params["dtype"] = dtype
        else:
            edges = [self._cast(edge, dtype) for edge in edges]
        if "int32" in CATALOGUE[kind].dtypes and "float32" not in CATALOGUE[kind].dtypes:
            edges = [self._as_tokens(edge, params) for edge in edges]
        made = self._add(name, kind, params, edges)
        self.layers[made.node] = path
        return [Edge(made.node, index) for index in range(len(self.nodes[made.node].outputs))]

    def _input(self, name: str, config: Config, where: str) -> Edge:
        shape = config.get("batch_shape")
        if not isinstance(shape, list) or not shape or config.get("sparse") or config.get("ragged"):
            raise InvalidCase(f"{where}: expected a dense input; received batch_shape={shape!r:.80}")
        sizes = [1 if shape[0] is None else shape[0], *(self.open_size if size is None else size for size in shape[1:])]
        if None in sizes:
            raise InvalidCase(f"{where}: expected known sizes, or --open-size; received batch_shape={shape!r:.80}")
        dtype = str(config.get("dtype"))
        dtype = "int32" if dtype in ("int64", "uint8", "int16", "int8", "uint16", "uint32") else dtype
        high = self.tokens if dtype == "int32" else None
        return self._add(name, INPUT, {"shape": tuple(sizes), "dtype": dtype, "high": high}, [])

    def _cast(self, edge: Edge, dtype: str) -> Edge:
        """What Keras does by itself: floats go to the dtype of the layer; never in two roundings at once."""
        seen = self._type(edge).dtype
        if seen == dtype or seen not in FLOATS or dtype not in FLOATS:
            return edge
        if "float32" not in (seen, dtype) and not (seen in ("float16", "bfloat16") and dtype == "float64"):
            edge = self._add(f"{edge.node}_float32", "cast", {"dtype": "float32"}, [edge])
        return self._add(f"{edge.node}_{dtype}", "cast", {"dtype": dtype}, [edge])

    def _unmasked(self, edge: Edge) -> Edge:
        """An operation drops the masks that a layer would pass on; so does a cast, whatever the dtype."""
        kind = self._type(edge)
        return self._add(f"{edge.node}_unmasked", "cast", {"dtype": kind.dtype}, [edge]) if kind.masked else edge

    def _as_tokens(self, edge: Edge, params: Config) -> Edge:
        """Tokens below the vocabulary, as our graphs promise them; Keras takes floats for tokens too."""
        seen, size = self._type(edge), params.get("input_dim", params.get("num_tokens"))
        if type(size) is not int or (seen.dtype == "int32" and seen.high is not None and seen.high <= size):
            return edge
        return self._add(f"{edge.node}_tokens", "cast", {"dtype": "int32", "high": size}, [edge])

    def _type(self, edge: Edge) -> Any:
        return self.nodes[edge.node].outputs[edge.output]

    def _add(self, name: str, layer: str, params: Config, edges: Sequence[Edge]) -> Edge:
        violations: list[Violation] = []
        node = type_draft(Draft(self._fresh(name), layer, params, tuple(edges)), self.nodes, violations)
        if node is None:
            broken = "; ".join(f"{violation.rule}: {violation.detail}" for violation in violations)
            raise InvalidCase(f"layer {name!r}: {broken}")
        if len(self.nodes) >= MAX_NODES or any(output.elements > MAX_ELEMENTS for output in node.outputs):
            raise InvalidCase(
                f"layer {name!r}: expected at most {MAX_NODES} nodes and tensors of at most {MAX_ELEMENTS} elements; "
                f"received {', '.join(map(str, node.outputs))}"
            )
        self.nodes[node.id] = node
        return Edge(node.id)

    def _fresh(self, name: str) -> str:
        """The name as an id that no other node has."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:56]
        plain = plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"
        found = plain
        while found in self.nodes:
            self._names[plain] += 1
            found = f"{plain}_{self._names[plain] + 1}"
        return found


def _scaled_sum(translation: _Translation, name: str, config: Config, edges: list[Edge]) -> list[Edge]:
    """InceptionResNetV2's own layer, first + second * scale, as the two layers of the catalogue that compute it."""
    if len(edges) != 2:
        raise InvalidCase(f"layer {name!r}: expected two inputs; received {len(edges)}")
    scaled = translation._add(f"{name}_scaled", "Rescaling", {"scale": config.get("scale"), "offset": 0.0}, [edges[1]])
    return [translation._add(name, "Add", {}, [edges[0], scaled])]


MODELS = ("Functional", "Sequential")
Composition = Callable[[_Translation, str, Config, list[Edge]], list[Edge]]
COMPOSED: Mapping[str, Composition] = {"keras.src.applications.inception_resnet_v2.CustomScaleLayer": _scaled_sum}
"""Layers of keras.applications that are not public, and what they consist of."""
OPERATIONS = ("Add", "Subtract", "Multiply", "Maximum", "Minimum")
"""keras.ops between two tensors that a merging layer of the same name computes too."""


def _further_tensors(where: str, kind: str, params: dict[str, Any], extra: dict[str, Any]) -> list[Edge]:
    """Tensors that a call names: query, value, key in this order, and an attention mask, which the graph reads last."""
    edges: list[Edge] = []
    for argument in ("query", "value", "key", "attention_mask"):
        if isinstance(extra.get(argument), list):
            edges += extra.pop(argument)
            if argument == "attention_mask":
                params[argument] = True
    return edges


def _shown(path: Path) -> str:
    return repr("/".join(path)) if path else "the model"


def _known(values: Mapping[Edge, Edge | None], edge: Edge, where: str, mask: bool = False) -> Any:
    found = values.get(edge)
    if found is None and not (mask and edge in values):
        raise InvalidCase(f"{where}: expected to read a layer of the catalogue; received {edge.node!r:.80}")
    return found
