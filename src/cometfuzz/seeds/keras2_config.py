"""Older configs -> the config that Keras 3 would write of the same model into a .keras file, for the one translator.

Keras 2 writes calls as lists, input shapes under another name, and parameters that Keras 3 has dropped or renamed. What
it means differently is refused by `keras_differences.py`. What is not understood stays as it is, for the translator to
refuse with the name of its layer.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from cometfuzz.errors import InvalidCase
from cometfuzz.routes.keras2 import RENAMED
from cometfuzz.seeds.keras_reading import Config, as_object, field, name_of

_MODELS = {"Model": "Functional", "Functional": "Functional", "Sequential": "Sequential"}
_MODULES = (None, "keras.layers", "tf_keras.layers")
_ROOTS = ("keras", "tf_keras")
_OPERATIONS = "keras.src.ops.numpy"
_INNER = ("layer", "backward_layer", "cell")
_OLD_NAMES = {(layer, old): new for (layer, new), old in RENAMED.items()}
_IDLE = ("implementation", "input_length", "query_shape", "key_shape", "value_shape")
"""How to compute it, or what the graph says too."""
_UNUSED = ("groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
_DEPTHWISE = ("SeparableConv1D", "SeparableConv2D", "DepthwiseConv1D", "DepthwiseConv2D")
"""They carry what all convolutions of Keras 2 have, and never use it."""
_OPERATORS = {
    "__operators__.add": "Add",
    "math.add": "Add",
    "math.subtract": "Subtract",
    "math.multiply": "Multiply",
    "math.maximum": "Maximum",
    "math.minimum": "Minimum",
}
"""What `x + y` and the like are between layers of Keras 2."""
FirstCalls = Mapping[str, int]


def with_modules(entry: Config) -> Config:
    """The config of a Keras 3 model in an .h5 file, where layers come without their module, and operations too."""
    config = entry.get("config")
    if _is_model(entry) and isinstance(config, dict) and isinstance(config.get("layers"), list):
        layers = [with_modules(as_object(layer, "a layer")) for layer in config["layers"]]
        return {**entry, "module": "keras", "config": {**config, "layers": layers}}
    is_layer = isinstance(config, dict) and ("trainable" in config or entry.get("class_name") == "InputLayer")
    return {**entry, "module": entry.get("module") or ("keras.layers" if is_layer else _OPERATIONS)}


def modernised(entry: Config) -> Config:
    """A model of Keras 2, itself or inside another."""
    config = entry.get("config")
    if isinstance(config, list):  # a Sequential of Keras before 2.2.3 is its layers
        config = {"name": entry.get("name", "sequential"), "layers": config}
    config = as_object(config, "the model")
    layers = [as_object(layer, "the model") for layer in field(config, "layers", list, "the model")]
    if entry["class_name"] == "Sequential" and layers:
        layers = [*_input_before(layers[0]), *layers]
    ends = {key: config[key] for key in ("input_layers", "output_layers") if key in config}
    first = _first_calls(layers, ends)
    changed = {"layers": [_entry(layer, first) for layer in layers]}
    changed |= {key: _histories(value, first) for key, value in ends.items()}
    return {**entry, "module": "keras", "class_name": _MODELS[entry["class_name"]], "config": {**config, **changed}}


def _entry(layer: Config, first: FirstCalls) -> Config:
    made = modernised(layer) if _is_model(layer) else _layer(layer)
    if not isinstance(layer.get("inbound_nodes"), list):
        return made
    name = name_of(layer)
    calls = [_call(name, call, first) for call in layer["inbound_nodes"]]
    if made.get("module") == _OPERATIONS:  # all its tensors are operands, wherever they stand
        calls = [{"args": [*call["args"], *call["kwargs"].values()], "kwargs": {}} for call in calls]
    return {**made, "inbound_nodes": calls}


def _is_model(entry: Config) -> bool:
    return str(entry.get("class_name")) in _MODELS and str(entry.get("module") or "keras").split(".")[0] in _ROOTS


def _layer(entry: Config) -> Config:
    kind, config, module = entry.get("class_name"), entry.get("config"), entry.get("module")
    if not isinstance(config, dict):
        return entry
    if kind == "TFOpLambda" and str(config.get("function")) in _OPERATORS:
        return {**entry, "module": _OPERATIONS, "class_name": _OPERATORS[str(config["function"])]}
    module = "keras.layers" if module in _MODULES else module
    return {**entry, "module": module, "config": _config(str(kind), config)}


def _config(kind: str, config: Config) -> Config:
    """The parameters of a layer, as Keras 3 names them."""
    if kind == "InputLayer":
        return {**config, "batch_shape": config.get("batch_input_shape", config.get("batch_shape"))}
    gone = (*_IDLE, *_UNUSED) if kind in _DEPTHWISE else _IDLE
    made = {_OLD_NAMES.get((kind, name), name): value for name, value in config.items() if name not in gone}
    if kind in ("LocallyConnected1D", "LocallyConnected2D") and "implementation" in config:
        made["implementation"] = config["implementation"]  # here it changes the form of the weights
    if made.get("groups") == 1:
        del made["groups"]  # written for transposes too, which have none
    if isinstance(made.get("axis"), list) and len(made["axis"]) == 1:
        made["axis"] = made["axis"][0]
    if kind in ("GRU", "GRUCell"):
        made.setdefault("reset_after", False)  # Keras before 2.2 does not know it
    for name in _INNER:
        if isinstance(made.get(name), dict):
            made[name] = _layer(made[name])
    if isinstance(made.get("cells"), list):
        made["cells"] = [_layer(cell) if isinstance(cell, dict) else cell for cell in made["cells"]]
    return made


def _input_before(layer: Config) -> list[Config]:
    """The input that the first layer of a Sequential may carry in itself."""
    config = as_object(layer.get("config"), "the model")
    shape = config.get("batch_input_shape")
    if layer.get("class_name") == "InputLayer" or not isinstance(shape, list):
        return []
    dtype = "int32" if layer.get("class_name") == "Embedding" else config.get("dtype", "float32")
    return [{"class_name": "InputLayer", "config": {"name": "input", "batch_input_shape": shape, "dtype": dtype}}]


def _first_calls(layers: list[Config], ends: Any) -> FirstCalls:
    """The number of the first call of each nested model: a model with inputs of its own counts these as call 0.

    A call that is stored is read by somebody, so the least number that is read is that of the first.
    """
    models = {name_of(layer) for layer in layers if _is_model(layer)}
    read = [(name, call) for name, call, *_ in _tensors([layer.get("inbound_nodes") for layer in layers])]
    read += [(name, call) for name, call, *_ in _tensors(list(ends.values()))]
    return {name: min((call for reads, call in read if reads == name), default=0) for name in models}


def _is_tensor(value: Any) -> bool:
    return isinstance(value, list) and len(value) in (3, 4) and [type(part) for part in value[:3]] == [str, int, int]


def _tensors(value: Any) -> Iterator[list[Any]]:
    """Everything that reads a tensor: [layer, call, output], maybe with further arguments that read some."""
    if _is_tensor(value):
        yield value
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)


def _histories(value: Any, first: FirstCalls) -> Any:
    if _is_tensor(value):
        return [value[0], value[1] - first.get(value[0], 0), value[2]]
    return [_histories(item, first) for item in value] if isinstance(value, list) else value


def _argument(value: Any, first: FirstCalls) -> Any:
    if _is_tensor(value):
        return {"class_name": "__keras_tensor__", "config": {"keras_history": _histories(value, first)}}
    return [_argument(item, first) for item in value] if isinstance(value, list) else value


def _call(name: str, call: Any, first: FirstCalls) -> dict[str, Any]:
    """[[layer, call, output, arguments], ...], or one of these alone."""
    tensors = [call] if _is_tensor(call) else call
    if not isinstance(tensors, list) or not all(map(_is_tensor, tensors)):
        raise InvalidCase(f"layer {name!r}: expected calls as Keras 2 writes them; received {call!r:.80}")
    arguments: dict[str, Any] = {}
    for tensor in tensors:
        if len(tensor) == 4:
            arguments |= as_object(tensor[3], f"layer {name!r}")
    return {
        "args": [[_argument(tensor, first) for tensor in tensors]],
        "kwargs": {key: _argument(value, first) for key, value in arguments.items()},
    }
