"""What Keras saves a model as: a ZIP archive (.keras), or an HDF5 file (.h5); which Keras wrote it; its config."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cometfuzz.errors import InvalidCase
from cometfuzz.reading import read_regular
from cometfuzz.seeds.archive import CONFIG, LIMITS, METADATA, WEIGHTS, open_archive
from cometfuzz.seeds.keras2_config import modernised, with_modules
from cometfuzz.seeds.keras_child import stored_texts
from cometfuzz.seeds.keras_config import MODELS
from cometfuzz.seeds.keras_reading import Config

SUFFIXES = (".keras", ".h5", ".hdf5")
MAX_FILE = 256 * 2**20
_HDF5 = b"\x89HDF\r\n\x1a\n"


@dataclass(frozen=True)
class Saved:
    """A saved model: its config as Keras 3 would write it, the generation of Keras that wrote it, and its HDF5 part."""

    model: Config
    generation: int
    is_hdf5: bool
    weights: Callable[[], bytes]


def open_saved(path: Path) -> Saved:
    """What a file holds. The content decides which kind it is: Keras 2 wrote HDF5 under any name."""
    data = read_regular(path, MAX_FILE, InvalidCase)
    if data.startswith(_HDF5):
        return _from_hdf5(path, data)
    if path.suffix.lower() != ".keras":
        raise InvalidCase(f"{path}: expected an HDF5 file; received something else")
    return _from_archive(path, data)


def _from_archive(path: Path, data: bytes) -> Saved:
    archive = open_archive(path, data)
    said = _json(path, METADATA, archive.read(METADATA)) if METADATA in archive.members else {}
    version = said.get("keras_version", "3") if isinstance(said, dict) else said
    generation, model = _generation(path, version), _model(path, CONFIG, archive.read(CONFIG))
    return Saved(_upgraded(path, model, generation, False), generation, False, lambda: archive.read(WEIGHTS))


def _from_hdf5(path: Path, data: bytes) -> Saved:
    try:
        texts = stored_texts(data, ("keras_version", "backend", "model_config"))
    except InvalidCase as error:
        raise InvalidCase(f"{path}: {error}") from None
    if texts["model_config"] is None:
        raise InvalidCase(
            f"{path}: expected a whole model; received no model_config, as in a file of weights alone: "
            "save it with `model.save`, not with `model.save_weights`"
        )
    if texts["backend"] == "theano":
        raise InvalidCase(f"{path}: expected a model whose kernels are not flipped; received backend='theano'")
    generation = _generation(path, texts["keras_version"])
    text = texts["model_config"].encode()
    if len(text) > LIMITS[CONFIG]:
        raise InvalidCase(f"{path}: expected at most {LIMITS[CONFIG]} bytes of config; received bytes={len(text)}")
    model = _model(path, "model_config", text)
    return Saved(_upgraded(path, model, generation, True), generation, True, lambda: data)


def _generation(path: Path, version: Any) -> int:
    first = str(version).split(".")[0]
    if first not in ("2", "3"):
        raise InvalidCase(f"{path}: expected a model of Keras 2 or 3; received keras_version={version!r:.40}")
    return int(first)


def _json(path: Path, name: str, text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidCase(f"{path}: expected {name} to be JSON; received {error!r:.120}") from None


def _model(path: Path, name: str, text: bytes) -> Config:
    model = _json(path, name, text)
    if not isinstance(model, dict) or model.get("class_name") not in (*MODELS, "Model"):
        kind = model.get("class_name") if isinstance(model, dict) else model
        raise InvalidCase(
            f"{path}: expected a {' or '.join(MODELS)} model, which says how it is built; received {kind!r:.80}"
        )
    return model


def _upgraded(path: Path, model: Config, generation: int, is_hdf5: bool) -> Config:
    try:
        if generation == 2:
            return modernised(model)
        return with_modules(model) if is_hdf5 else model
    except InvalidCase as error:
        raise InvalidCase(f"{path}: {error}") from None
    except RecursionError:
        raise InvalidCase(f"{path}: expected a model config; received values that are nested too deeply") from None
