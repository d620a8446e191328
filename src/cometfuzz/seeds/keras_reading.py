"""Reading a Keras config that nobody trusts: what is not of the expected form is one InvalidCase."""

from collections.abc import Iterator, Mapping
from typing import Any

from cometfuzz.errors import InvalidCase

Config = Mapping[str, Any]


def tensors_in(value: Any) -> Iterator[tuple[str, int, int]]:
    """The tensors in the arguments of a call, in order."""
    if isinstance(value, dict):
        if value.get("class_name") == "__keras_tensor__":
            yield from histories_in(as_object(value.get("config"), "a tensor").get("keras_history"))
        else:
            for item in value.values():
                yield from tensors_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from tensors_in(item)


def histories_in(value: Any) -> Iterator[tuple[str, int, int]]:
    """(layer, call, output), alone or in lists and objects."""
    if isinstance(value, list) and [type(part) for part in value] == [str, int, int]:
        yield value[0], value[1], value[2]
    elif isinstance(value, list | dict) and value:
        for item in value.values() if isinstance(value, dict) else value:
            yield from histories_in(item)
    else:
        raise InvalidCase(f"expected [layer, call, output]; received {value!r:.80}")


def values_of(value: Any, key: str) -> Iterator[Any]:
    if isinstance(value, dict):
        if key in value:
            yield value[key]
        for item in value.values():
            yield from values_of(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from values_of(item, key)


def name_of(layer: Config) -> str:
    name = layer.get("name") or as_object(layer.get("config"), "a layer").get("name")
    if not isinstance(name, str) or not name:
        raise InvalidCase(f"expected a layer with a name; received {layer.get('class_name')!r:.80}")
    return name


def as_object(value: Any, where: str) -> Config:
    if not isinstance(value, dict):
        raise InvalidCase(f"{where}: expected an object; received {value!r:.80}")
    return value


def field(value: Any, key: str, kind: type, where: str) -> Any:
    found = as_object(value, where).get(key)
    if not isinstance(found, kind):
        raise InvalidCase(f"{where}: expected {key} to be a {kind.__name__}; received {found!r:.80}")
    return found
