"""Parameter values as Keras writes them into a config -> values of the catalogue's spaces.

Initialisers, regularisers and constraints come without their arguments: they act while a layer is built or trained,
never in a forward pass, and the catalogue knows them by name only.
"""

from collections.abc import Mapping
from typing import Any

from cometfuzz.catalogue.spaces import INITIALISER_NAMES
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import DTYPES
from cometfuzz.seeds.keras_reading import values_of

STRUCTURAL = ("name", "trainable", "dtype", "batch_input_shape", "autocast")
"""What every Keras layer has and what says nothing of its meaning; the dtype is read apart."""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


_INITIALISERS = {
    **{_plain(name): name for name in INITIALISER_NAMES},
    "orthogonalinitializer": "Orthogonal",
    "identityinitializer": "Identity",
}
_REGULARISERS = {"l1": "l1", "l2": "l2", "l1l2": "L1L2"}
_CONSTRAINTS = {_plain(name): name for name in ("Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm")}
_NAMED = {"_initializer": _INITIALISERS, "_regularizer": _REGULARISERS, "_constraint": _CONSTRAINTS}
_SCALINGS = {
    (1.0, "fan_avg", "uniform"): "glorot_uniform",
    (1.0, "fan_avg", "truncated_normal"): "glorot_normal",
    (2.0, "fan_in", "uniform"): "he_uniform",
    (2.0, "fan_in", "truncated_normal"): "he_normal",
    (1.0, "fan_in", "uniform"): "lecun_uniform",
    (1.0, "fan_in", "truncated_normal"): "lecun_normal",
}
"""VarianceScaling with these arguments has a name of its own, which older files do not use."""
_ACTIVATIONS = {"swish": "silu", "hard_swish": "hard_silu"}
_IDLE = (None, False, "auto")
"""Values of a parameter beyond the catalogue that ask for nothing."""


def params_of(where: str, layer: str, config: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """The parameters of a layer out of its config; InvalidCase that names the layer if one cannot be expressed."""
    spec = CATALOGUE[layer]
    params = {}
    for name, value in config.items():
        if name in spec.params and name != "dtype":
            params[name] = _value(where, name, value, layer)
        elif name == "zero_output_for_mask" and within == "Bidirectional":
            continue  # set by the wrapper itself, and part of its meaning
        elif name not in STRUCTURAL and not _is_idle(value, spec.excluded.get(name, "")):
            raise InvalidCase(f"{where}: expected parameters of the catalogue's {layer}; received {name}={value!r:.80}")
    return params


def _is_idle(value: Any, why_excluded: str) -> bool:
    return "training" in why_excluded or any(value is idle or value == idle for idle in _IDLE)


def dtype_of(where: str, config: Mapping[str, Any]) -> str:
    """The dtype a layer computes in; a policy that mixes or quantises is refused."""
    given = config.get("dtype") or "float32"
    policy = next(values_of(given, "name"), None) if isinstance(given, dict) else given
    if policy not in DTYPES:
        raise InvalidCase(f"{where}: expected a dtype of {', '.join(DTYPES)}; received dtype={policy!r:.80}")
    return str(policy)


def _value(where: str, name: str, value: Any, owner: str) -> Any:
    for suffix, names in _NAMED.items():
        if name.endswith(suffix):
            return _by_name(where, name, value, names)
    if name.endswith("activation") or name == "activation":
        found = _function_name(value)
        return _ACTIVATIONS.get(found, found) if isinstance(found, str) else found
    if isinstance(value, dict):
        return _inner(where, name, value, owner)
    if name in ("cell", "cells") and isinstance(value, list):
        return tuple(_inner(where, name, item, owner) for item in value)
    return _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _function_name(value: Any) -> Any:
    """The name of a function: written as such, or as an object of Keras' own modules. A layer is no function."""
    module = str(value.get("module", "")) if isinstance(value, dict) else ""
    if module.split(".")[0] in ("keras", "builtins") and "layers" not in module.split("."):
        return value.get("config") if value.get("class_name") == "function" else _snake(str(value.get("class_name")))
    return value


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def _by_name(where: str, name: str, value: Any, names: Mapping[str, str]) -> str | None:
    if value is None:
        return None
    arguments = value.get("config") if isinstance(value, dict) else None
    given = value.get("class_name") if isinstance(value, dict) else value
    if given == "VarianceScaling" and isinstance(arguments, dict):
        given_as = tuple(arguments.get(part) for part in ("scale", "mode", "distribution"))
        return next((known for scaling, known in _SCALINGS.items() if scaling == given_as), "VarianceScaling")
    found = names.get(_plain(str(given)))
    if found is None:
        raise InvalidCase(f"{where}: expected {name} to be one of {', '.join(names.values())}; received {given!r:.80}")
    return found


def _inner(where: str, name: str, value: Any, owner: str) -> Inner:
    """The layer inside a wrapper."""
    layer = layer_name(f"{where}, {name}", value)
    config = value.get("config")
    if not isinstance(config, dict):
        raise InvalidCase(f"{where}: expected a config of {name}; received {config!r:.80}")
    return Inner(layer, Params(params_of(f"{where}, {name}", layer, config, owner)))


def layer_name(where: str, entry: Any) -> str:
    """The catalogue's name for a layer entry, or a refusal: nothing of a file is ever executed or imported."""
    name, module = (entry.get("class_name"), entry.get("module")) if isinstance(entry, dict) else (None, None)
    if name == "Lambda":
        raise InvalidCase(f"{where}: expected layers without code; received a Lambda, which would have to be executed")
    known = isinstance(name, str) and name in CATALOGUE and name[0].isupper()
    if not known or module not in ("keras.layers", "keras.src.layers"):
        raise InvalidCase(
            f"{where}: expected a layer of the catalogue (see `cometfuzz layers`); "
            f"received class={name!r:.80} of module={module!r:.80}"
        )
    return str(name)
