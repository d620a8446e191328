"""Where Keras puts the weights of a model, so that arrays can be read without any object of Keras.

A .keras file has a group for each object that has variables, named by class and attribute. An .h5 file has a group for
each layer of the outermost model, with its weights in a row: those that are trained first, in a nested model over all
of its layers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cometfuzz.catalogue.data import weight_shapes
from cometfuzz.catalogue.wrapping import backward_of
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Node, Params
from cometfuzz.seeds.keras_config import MODELS, Path, Translated
from cometfuzz.seeds.keras_reading import Config, name_of
from cometfuzz.seeds.saved import Saved

Place = Mapping[str, Any]
"""What the child is asked for: {"path": [...]}, or {"layer": name, "index": n, "count": n, "name": of the weight}."""

_LOOPS = ("LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
_HEADS = ("MultiHeadAttention", "GroupQueryAttention")
_UNTRAINED = ("moving_mean", "moving_variance", "vector_u")


def places_in_archive(saved: Saved, translated: Translated, nodes: Iterable[Node]) -> dict[str, Place]:
    """The place of each weight, by "node/name"."""
    groups = dict(_groups(saved.model, (), ()))
    if saved.generation == 2:
        _expect_no_shared(groups)
    found: dict[str, Place] = {}
    for node in nodes:
        names = list(weight_shapes(translated.graph, node))
        group = groups[translated.layers[node.id]]
        for name, place in zip(names, _below(node.layer, node.params, names), strict=True):
            found[f"{node.id}/{name}"] = {"path": [*group, *place.split("/")]}
    return found


def places_in_hdf5(saved: Saved, translated: Translated, nodes: Iterable[Node]) -> dict[str, Place]:
    """The place of each weight, by "node/name"; a layer that is called often has several nodes."""
    names = {translated.layers[node.id]: list(weight_shapes(translated.graph, node)) for node in nodes}
    rows: dict[str, tuple[list[tuple[Path, str]], list[tuple[Path, str]]]] = {}
    for path, entry in _leaves(saved.model, ()):
        first, then = rows.setdefault(path[0], ([], []))
        for name in names.get(path, []):
            (first if _is_trained(entry) and not name.endswith(_UNTRAINED) else then).append((path, name))
    found: dict[tuple[Path, str], Place] = {}
    for layer, (first, then) in rows.items():
        row = [*first, *then]
        for index, key in enumerate(row):
            found[key] = {"layer": layer, "index": index, "count": len(row), "name": key[1]}
    return {
        f"{node.id}/{name}": found[translated.layers[node.id], name]
        for node in nodes
        for name in names[translated.layers[node.id]]
    }


def _leaves(model: Config, path: Path) -> Iterator[tuple[Path, Config]]:
    for layer in model["config"]["layers"]:
        way = (*path, name_of(layer))
        if layer.get("class_name") in MODELS:
            yield from _leaves(layer, way)
        else:
            yield way, layer


def _is_trained(entry: Config) -> bool:
    """Whether neither a layer nor one inside it is frozen."""
    config = entry.get("config")
    if not isinstance(config, dict):
        return True
    inside = (config[name] for name in ("layer", "cell") if isinstance(config.get(name), dict))
    return config.get("trainable") is not False and all(map(_is_trained, inside))


def _groups(model: Config, path: Path, group: Path) -> Iterator[tuple[Path, Path]]:
    """The way to each layer by names, and by groups."""
    seen: Counter[str] = Counter()
    for layer in model["config"]["layers"]:
        if str(layer.get("module")).startswith("keras.src.ops"):
            continue  # an operation is no layer
        way, here = (*path, name_of(layer)), (*group, "layers", _unique(str(layer.get("class_name")), seen))
        yield way, here
        if layer.get("class_name") in MODELS:
            yield from _groups(layer, way, here)


def _unique(kind: str, seen: Counter[str]) -> str:
    """The name of the next object of a class among its neighbours."""
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}_{seen[name] - 1}"


def _expect_no_shared(groups: Iterable[Path]) -> None:
    """Keras 2 does not count a layer that it has already met in another model, so that others would be mistaken."""
    often = [name for name, count in Counter(path[-1] for path in groups).items() if count > 1]
    if often:
        raise InvalidCase(f"layer {often[0]!r}: expected each layer in one model, or an .h5 file; received it twice")


def _below(layer: str, params: Params, names: Sequence[str]) -> list[str]:
    """The places of weights, in the catalogue's order, below the group of their layer."""
    if layer in _LOOPS:
        return [f"cell/vars/{index}" for index in range(len(names))]
    if layer == "RNN":
        return [f"cell/{place}" for place in _below(params.cell.layer, params.cell.params, names)]
    if layer == "TimeDistributed":
        return [f"layer/{place}" for place in _below(params.layer.layer, params.layer.params, names)]
    if layer == "Bidirectional":
        return [
            f"{side}_layer/{place}"
            for side, inner in (("forward", params.layer), ("backward", backward_of(params)))
            for place in _below(inner.layer, inner.params, [name for name in names if name.startswith(side)])
        ]
    if layer == "StackedRNNCells":
        seen: Counter[str] = Counter()
        return [
            f"cells/{group}/vars/{index}"
            for place, cell in enumerate(params.cells)
            for group in [_unique(cell.layer, seen)]
            for index in range(sum(name.startswith(f"cell{place}_") for name in names))
        ]
    if layer == "SpectralNormalization":  # the kernel belongs to both
        return ["vars/0", "vars/1", *(f"layer/vars/{index}" for index in range(1, len(names) - 1))]
    if layer in _HEADS:
        parts = [name.split("_", 1) for name in names]
        return [f"{part}_dense/vars/{('kernel', 'bias').index(kind)}" for kind, part in parts]
    return [f"vars/{index}" for index in range(len(names))]
