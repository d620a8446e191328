"""A user's own model: a .keras or .h5 file, or a case file -> a Case.

No class of a model file is looked up, no code of it runs, and no Keras ever sees it: the parent translates the config.
HDF5 needs a library, so a child process reads what is asked of such a file: texts, and arrays by their place.
"""

import math
import stat
from pathlib import Path

from cometfuzz.catalogue.data import expected_tensors, weight_shapes
from cometfuzz.catalogue.files import load
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.codec import MAX_BYTES
from cometfuzz.ir.types import BYTES_OF
from cometfuzz.seeds.keras_child import stored_tensors
from cometfuzz.seeds.keras_config import Translated, translate
from cometfuzz.seeds.keras_differences import check_meaning
from cometfuzz.seeds.keras_places import Place, places_in_archive, places_in_hdf5
from cometfuzz.seeds.saved import SUFFIXES, Saved, open_saved

_INSTEAD = "save the model with `model.save('NAME.keras')` or `model.save('NAME.h5')`"
_FOREIGN = {
    ".onnx": "an ONNX file, which only `cometfuzz check` takes",
    ".pb": "a TensorFlow graph",
    ".pt": "a PyTorch file",
    ".pth": "a PyTorch file",
}
_FOREIGN |= {".tflite": "a LiteRT file", ".json": "a case file, which is imported already"}


def import_model(path: Path, weights: bool = False, open_size: int | None = None, rng_seed: int = 0) -> Case:
    """The model in a file; with `weights`, the tensors of the case are the stored ones instead of drawn ones."""
    _expect_model(path)
    saved = open_saved(path)
    try:
        translated = translate(saved.model, open_size)
        if saved.generation == 2:
            check_meaning(translated.graph)
        data = _data(translated, saved) if weights else {}
    except InvalidCase as error:
        raise InvalidCase(f"{path}: {error}") from None
    return Case(translated.graph, rng_seed, data)


def read_model(path: Path, weights: bool = False, open_size: int | None = None, rng_seed: int = 0) -> Case:
    """The case in a case file, or the model in a file of Keras; anything else is refused in one line."""
    return load(path) if path.suffix.lower() == ".json" else import_model(path, weights, open_size, rng_seed)


def _expect_model(path: Path) -> None:
    """Refuse what is no file of Keras by its kind and name, and say what to save instead."""
    try:
        folder = stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError) as error:
        raise InvalidCase(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    suffix = path.suffix.lower()
    if folder:
        kind = "a SavedModel" if (path / "saved_model.pb").exists() else "a folder"
    elif suffix in SUFFIXES:
        return
    else:
        kind = _FOREIGN.get(suffix, f"suffix={path.suffix!r:.20}")
    raise InvalidCase(f"{path}: expected a file that ends in {', '.join(SUFFIXES)}; received {kind}; {_INSTEAD}")


def _data(translated: Translated, saved: Saved) -> dict[str, Tensor]:
    graph = translated.graph
    expected = expected_tensors(graph)
    nodes = [node for node in graph.nodes if weight_shapes(graph, node)]
    keys = [f"{node.id}/{name}" for node in nodes for name in weight_shapes(graph, node)]
    size = sum(math.prod(expected[key][1]) * BYTES_OF[expected[key][0]] for key in keys)
    if size * 4 // 3 > MAX_BYTES - 2**20:
        raise InvalidCase(f"expected weights that fit into a case file of {MAX_BYTES} bytes; received bytes={size}")
    places: dict[str, Place] = (places_in_hdf5 if saved.is_hdf5 else places_in_archive)(saved, translated, nodes)
    data: dict[str, Tensor] = {}
    for key, tensor in zip(keys, stored_tensors(saved.weights(), [places[key] for key in keys]), strict=True):
        if tensor[:2] != expected[key]:
            raise InvalidCase(f"weight {key!r}: expected {expected[key]}; received {tensor[:2]}")
        data[key] = Tensor(*tensor)
    return data
