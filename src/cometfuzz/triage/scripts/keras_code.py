"""A graph as lines that build a functional Keras model, with its weights and its inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cometfuzz.catalogue.data import Array, Data, weight_dtype
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.errors import NoScript
from cometfuzz.ir.case import PLAIN, Manner
from cometfuzz.ir.graph import INPUT, OPERATOR, Edge, Graph, Inner, Node, is_operator, is_utility
from cometfuzz.ir.types import POLICY
from cometfuzz.routes.calls import (
    BEGINS,
    CALL_PARAMS,
    FORMS,
    NOTATION,
    SIGNS,
    WITHOUT_DTYPE,
    OperatorForm,
    explicit_arguments,
    lists_of,
    policy,
)
from cometfuzz.routes.handing import output_name, parts
from cometfuzz.routes.keras2 import ABSENT
from cometfuzz.triage.scripts.dialects import REQUIRED, REQUIRED_IN, Dialect, utility
from cometfuzz.triage.scripts.text import array, assign, wrap

_UNIFORM = ("kernel_size", "strides", "dilation_rate", "pool_size", "size", "output_size")
"""Parameters for which one number stands for the same number along every axis."""


@dataclass(frozen=True)
class ModelCode:
    """Lines that make the symbolic outputs, those that make `model` of them and set its weights, and their names."""

    layers: tuple[str, ...]
    model: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Writer:
    """Writes models of one dialect. `full`: name every parameter as the route does, not only what is no default.

    any_batch: the model takes a batch of any size. manner: in which it is written.
    """

    dialect: Dialect
    graph: Graph
    data: Data
    full: bool = False
    any_batch: bool = False
    manner: Manner = PLAIN

    def model(self) -> ModelCode:
        """The whole model."""
        names = self._tensor_names()
        layers = self._layer_names()
        outputs = tuple(names[edge] for edge in self.graph.outputs)
        if self.manner.sequential:
            lines, model = self._sequential(layers, outputs), []
        else:
            before, inside, after = parts(self.graph, self.manner.inside)
            lines = self._lines(before, names, layers)
            if inside:
                lines += [*self._nested(inside, names, layers), *self._lines(after, names, layers)]
            inputs = [names[Edge(node.id)] for node in self.graph.inputs]
            taken, given = self.arranged(inputs), self.arranged_outputs(outputs)
            model = assign("model", f"{self.dialect.model}({taken}, {given})")
        for name, tensors in self.data.weights.items():
            if self.manner.first_of.get(name, name) == name:
                model += _set_weights(layers[name], weight_dtype(self.graph.by_id[name]), tensors)
        return ModelCode(tuple(lines), tuple(model), outputs)

    def arranged(self, names: Sequence[str]) -> str:
        """Inputs as one argument: as the model takes them."""
        if not self.manner.named:
            return one_or_list(names)
        pairs = zip([node.id for node in self.graph.inputs], names, strict=True)
        return "{" + ", ".join(f'"{key}": {name}' for key, name in pairs) + "}"

    def arranged_outputs(self, names: Sequence[str]) -> str:
        """The same for symbolic outputs."""
        if not self.manner.named:
            return one_or_list(names)
        return "{" + ", ".join(f'"{output_name(index)}": {name}' for index, name in enumerate(names)) + "}"

    def results_of(self, call: str) -> str:
        """The outputs of a call of the model: one, or several in their order."""
        if not self.manner.named:
            return call
        return f'{call}["{output_name(0)}"]' if len(self.graph.outputs) == 1 else f"list({call}.values())"

    def _nested(self, nodes: Sequence[Node], names: Mapping[Edge, str], layers: Mapping[str, str]) -> list[str]:
        """Lines that make a model of some nodes, and call it in their place."""
        own = {node.id for node in nodes}
        read = list(dict.fromkeys(edge for node in nodes for edge in node.inputs if edge.node not in own))
        others = [edge for node in self.graph.nodes if node.id not in own for edge in node.inputs]
        given = list(dict.fromkeys(edge for edge in (*others, *self.graph.outputs) if edge.node in own))
        within = {**names, **{edge: f"i{index}" for index, edge in enumerate(read)}}
        lines: list[str] = []
        for edge in read:
            name = names[edge]
            lines += assign(within[edge], f"{self.dialect.input}(batch_shape={name}.shape, dtype={name}.dtype)")
        lines += self._lines(nodes, within, layers)
        results = [names[edge] for edge in given]
        inner = f"{self.dialect.model}({one_or_list([within[edge] for edge in read])}, {one_or_list(results)})"
        lines += assign("inner", inner, "a model inside the model")
        return lines + assign(", ".join(results), f"inner({one_or_list([names[edge] for edge in read])})")

    def _sequential(self, layers: Mapping[str, str], outputs: Sequence[str]) -> list[str]:
        """Lines that make a Sequential; its outputs are those of its layers."""
        first, *rest = self.graph.nodes
        lines: list[str] = []
        listed = [self._input(first)]
        for node in rest:
            layer = self.layer(node.layer, node.params, policy(self.graph, node))
            if node.id in layers:
                lines += assign(layers[node.id], layer)
            listed.append(layers.get(node.id, layer))
        lines += ["model = keras.Sequential([", *(line for each in listed for line in wrap(f"    {each},")), "])"]
        places = [rest.index(self.graph.by_id[edge.node]) for edge in self.graph.outputs]
        if places != [len(rest) - 1]:
            raise NoScript("expected a Sequential with its last output alone; received other outputs")
        return [*lines, f"{outputs[0]} = model.outputs[0]"]

    def _lines(self, nodes: Sequence[Node], names: Mapping[Edge, str], layers: Mapping[str, str]) -> list[str]:
        """Lines that call nodes on tensors that have names."""
        lines: list[str] = []
        for node in nodes:
            given = [names[edge] for edge in node.inputs]
            results = [names[Edge(node.id, index)] for index in range(len(node.outputs))]
            if node.layer == INPUT:
                lines += assign(results[0], self._input(node))
            elif is_operator(node.layer):
                lines += assign(", ".join(results), operation(node, given))
            elif is_utility(node.layer):
                dtype = self.graph.type_of(node.inputs[0]).dtype
                cropped = node.layer == "crop" and self.manner.opened
                text = _inner_part(node, given[0]) if cropped else utility(self.dialect, node, given[0], dtype)
                lines += assign(results[0], text)
            else:
                lines += self._call(node, given, results, layers.get(node.id, ""))
        return lines

    def inputs(self) -> list[str]:
        """Lines that make the input arrays, named as `data_names` says."""
        lines: list[str] = []
        for node, name in zip(self.graph.inputs, self.data_names, strict=True):
            dtype = node.outputs[0].dtype
            named = "float32" if dtype == "bfloat16" else dtype
            note = "the model casts it to bfloat16" if dtype == "bfloat16" else ""
            lines += assign(name, array(self.data.inputs[node.id], dtype, named=named), note)
        return lines

    @property
    def data_names(self) -> list[str]:
        count = len(self.graph.inputs)
        return ["data"] if count == 1 else [f"data{index}" for index in range(count)]

    def _tensor_names(self) -> dict[Edge, str]:
        """x for inputs, y for the model's outputs, h for what is between."""
        inputs = [Edge(node.id) for node in self.graph.inputs]
        outputs = [edge for edge in dict.fromkeys(self.graph.outputs) if edge not in inputs]
        names = {edge: "x" if len(inputs) == 1 else f"x{index}" for index, edge in enumerate(inputs)}
        names |= {edge: "y" if len(outputs) == 1 else f"y{index}" for index, edge in enumerate(outputs)}
        hidden = 0
        for node in self.graph.nodes:
            for index in range(len(node.outputs)):
                if Edge(node.id, index) not in names:
                    hidden += 1
                    names[Edge(node.id, index)] = f"h{hidden}"
        return names

    def _layer_names(self) -> dict[str, str]:
        """Names for the layers that are needed again, to set their weights."""
        first_of = self.manner.first_of
        nodes = list(dict.fromkeys(first_of.get(name, name) for name in (*self.data.weights, *first_of)))
        names = {name: "layer" if len(nodes) == 1 else f"layer{index}" for index, name in enumerate(nodes)}
        return {**names, **{name: names[first] for name, first in first_of.items()}}

    def _input(self, node: Node) -> str:
        kind = node.outputs[0]
        dtype = f', dtype="{kind.dtype}"' if kind.dtype != "float32" else ""
        shape = self.manner.shape(node.id, kind.shape)
        shape = (None, *shape[1:]) if self.any_batch else shape
        return f"{self.dialect.input}(batch_shape={shape}{dtype})"

    def _call(self, node: Node, given: Sequence[str], results: Sequence[str], name: str) -> list[str]:
        layer = self.layer(node.layer, node.params, policy(self.graph, node))
        lines = []
        if name:
            lines += assign(name, layer) if self.manner.first_of.get(node.id, node.id) == node.id else []
            layer = name
        call = f"{layer}({', '.join([self._arguments(node, given), *self._flags(node)])})"
        if node.layer == "IntegerLookup" and node.params.output_mode == "int":
            call = f'keras.ops.cast({call}, "int32")'
        if len(results) > 1:
            flatten = "tf.nest.flatten" if self.dialect.operations == "tf" else "keras.tree.flatten"
            call = f"{flatten}({call})" if _nests_states(node) else call
        return lines + assign(", ".join(results), call)

    def _arguments(self, node: Node, given: Sequence[str]) -> str:
        if node.layer in ("MultiHeadAttention", "GroupQueryAttention"):
            *inputs, mask = given if node.params.attention_mask else (*given, "")
            return ", ".join([*inputs, *([f"attention_mask={mask}"] if mask else [])])
        if node.layer in BEGINS and len(given) > 1:
            return f"{given[0]}, initial_state=[{', '.join(given[1:])}]"
        return one_or_list(given)

    def _flags(self, node: Node) -> list[str]:
        names = [name for name in CALL_PARAMS.get(node.layer, ()) if name != "attention_mask"]
        said = [f"{name}={node.params[name]!r}" for name in names if node.params[name]]
        if self.manner.explicit:
            for name, (dtype, *shapes) in explicit_arguments(self.graph, node).items():
                make = "ones" if name == "mask" else "zeros"
                values = ", ".join(f'keras.ops.{make}({shape}, "{dtype}")' for shape in shapes)
                said.append(f"{name}={values}" if name == "mask" else f"{name}=[{values}]")
        return said

    def layer(self, name: str, params: Mapping[str, Any], dtype: str) -> str:
        """The expression that makes a layer; those inside it get the same dtype."""
        if CATALOGUE[name].builder:
            raise NoScript(f"expected layers of Keras alone; received layer={name!r}, which another package adds")
        arguments = []
        for parameter, value in params.items():
            if parameter in CALL_PARAMS.get(name, ()) or parameter in ("dtype", POLICY):
                continue
            if self._says(name, parameter, value, dtype):
                known = self.dialect.renamed.get((name, parameter), parameter)
                arguments.append(f"{known}={self._value(parameter, value, dtype)}")
        if self.dialect.layer_dtypes and name not in WITHOUT_DTYPE and (dtype != "float32" or self.full):
            arguments.append(f'dtype="{dtype}"')
        return f"keras.layers.{name}({', '.join(arguments)})"

    def _says(self, layer: str, parameter: str, value: Any, dtype: str) -> bool:
        """Whether a parameter has to be named."""
        if parameter in REQUIRED or (layer, parameter) in REQUIRED_IN:
            return True
        simplest = CATALOGUE[layer].params[parameter].simplest if parameter in CATALOGUE[layer].params else ...
        if self.full and self.dialect.operations == "keras.ops":
            return True
        if (layer, parameter) in ABSENT and value == ABSENT[layer, parameter]:
            return False
        default = self.dialect.defaults.get((layer, parameter), simplest)
        if parameter == "recurrent_initializer" and value == default:
            return dtype in ("float16", "bfloat16") or self.full  # Keras' own default needs a factorisation
        if self.full and parameter.endswith("_initializer"):
            return True
        return not _same(value, default)

    def _value(self, parameter: str, value: Any, dtype: str) -> str:
        if isinstance(value, Inner):
            return self.layer(value.layer, value.params, dtype)
        if isinstance(value, tuple) and value and isinstance(value[0], Inner):
            return f"[{', '.join(self.layer(inner.layer, inner.params, dtype) for inner in value)}]"
        if value == "Constant":
            return "keras.initializers.Constant(0.5)"
        if parameter in _UNIFORM and isinstance(value, tuple) and value and len(set(value)) == 1:
            return repr(value[0])
        return quoted(value)


def operation(node: Node, given: Sequence[str]) -> str:
    """The expression that calls an operator, every parameter named: operators have few, and their defaults differ."""
    form = FORMS.get(node.layer, OperatorForm())
    if node.params.get(NOTATION, "function") != "function":
        sign = SIGNS[node.layer]
        if sign == "abs":
            return f"abs({given[0]})"
        if sign == "[]":
            return f"{given[0]}[{', '.join(map(_sliced, node.params[form.slices]))}]"
        return f"{sign}{given[0]}" if len(given) == 1 else f"{given[0]} {sign} {given[1]}"
    given = [f"keras.ops.sort({name})" if place == form.ordered else name for place, name in enumerate(given)]
    leading = [quoted(node.params[name]) for name in form.leading]
    plain = max(1, len(given) - len(form.names))
    tensors = [
        each if isinstance(each, str) else f"[{', '.join(each)}]" for each in lists_of(given[:plain], form.listed)
    ]
    named = [f"{name}={tensor}" for name, tensor in zip(form.names, given[plain:], strict=False)]
    for name, value in node.params.items():
        if name in (NOTATION, *form.leading):
            continue
        if name == form.spread:
            named += [f"{keyword}={quoted(each)}" for keyword, each in value]
            continue
        text = _slices(value) if name == form.slices else quoted(value)
        named.append(f'{name}=np.array({text}, dtype="float32")' if name in form.arrays else f"{name}={text}")
    return f"keras.ops.{node.layer.removeprefix(OPERATOR)}({', '.join([*leading, *tensors, *named])})"


def _slices(value: Any) -> str:
    """A key as an argument."""
    parts = [f"slice{part}" if isinstance(part, tuple) else str(part) for part in value]
    return f"({', '.join(parts)},)"


def _sliced(part: Any) -> str:
    """A part of a key as it stands in brackets."""
    if not isinstance(part, tuple):
        return str(part)
    start, stop, step = ("" if each is None else str(each) for each in part)
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _inner_part(node: Node, x: str) -> str:
    """A crop of a tensor whose sizes are open."""
    slices = [f"{before or ''}:{-after if after else ''}" for before, after in node.params.crops]
    return f"{x}[{', '.join(slices)}]"


def quoted(value: Any) -> str:
    """The literal of a plain value, with strings in double quotes."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "(" + ", ".join(map(quoted, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def one_or_list(names: Sequence[str]) -> str:
    """One name as it is, several as a list."""
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _nests_states(node: Node) -> bool:
    """Whether a layer returns the states of several cells as lists in a list."""
    cell = node.params.get("cell")
    return isinstance(cell, tuple) or (isinstance(cell, Inner) and cell.layer == "StackedRNNCells")


def _set_weights(layer: str, dtype: str, tensors: Mapping[str, Array]) -> list[str]:
    """Lines that set weights, each with its name in a comment where there are several; one line if all are zeros."""
    texts = [array(values, dtype) for values in tensors.values()]
    if len(texts) > 1 and all(text.startswith("np.zeros(") for text in texts):
        return wrap(f"{layer}.set_weights([np.zeros_like(weight) for weight in {layer}.get_weights()])")
    if len(tensors) == 1:
        (values,) = tensors.values()
        return wrap(f"{layer}.set_weights([{array(values, dtype)}])")
    lines = [f"{layer}.set_weights(["]
    for name, values in tensors.items():
        lines += wrap(f"    {array(values, dtype)},  # {name}")
    return [*lines, "])"]
