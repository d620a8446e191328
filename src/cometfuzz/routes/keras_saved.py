"""The Keras model through a file: .keras, or HDF5, which older releases write."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Route, Stage, Step, Turn, Work
from cometfuzz.routes.keras import BUILD_TF, TF, Built, KerasAdapter
from cometfuzz.routes.keras import start as start_keras
from cometfuzz.routes.libraries import KERAS, TENSORFLOW

_ENGINES = "cometfuzz.triage.scripts.engines"


def _through(suffix: str, engine: str, turn: Turn) -> Route:
    options, name, engine = {"suffix": suffix}, suffix.removeprefix("."), f"{_ENGINES}:{engine}"
    save = Step(f"{name}-file", TF, __name__, "save", (Stage("save", KERAS),), options, engine=engine, cpu_s=0.05)
    loaded = "keras-saved" if suffix == ".keras" else f"keras-{name}"
    load = Step(loaded, TF, __name__, "load", (Stage("load", KERAS), Stage("run", TENSORFLOW)), options)
    path = f"keras-tf > {suffix} file > keras-tf"
    return Route(loaded, path, "keras3", (BUILD_TF, save, load), turn=turn, fuses=False)


KERAS_SAVED = _through(".keras", "keras_file", "converters")
KERAS_H5 = _through(".h5", "hdf5_file", "")


def start(options: Mapping[str, str]) -> SavingAdapter:
    """Import Keras."""
    return SavingAdapter(start_keras({"backend": "tensorflow"}), options["suffix"])


class SavingAdapter:
    """Writes a model that keras-tf built to a file, and reads it."""

    def __init__(self, adapter: KerasAdapter, suffix: str) -> None:
        self.adapter, self.keras, self.suffix = adapter, adapter.keras, suffix

    def versions(self) -> dict[str, str]:
        return self.adapter.versions()

    def save(self, work: Work, built: Built) -> bytes:
        work.enter("save")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"model{self.suffix}")
            with work.library():
                built.model.save(os.fspath(path))
            return path.read_bytes()

    def load(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"model{self.suffix}")
            path.write_bytes(artefact)
            with work.library():
                model = self._load(os.fspath(path), compile=False)
        return self.adapter.run(work, Built({}, model))

    @property
    def _load(self) -> Any:
        """What reads a file; older releases of Keras 2 have it in another place."""
        return getattr(self.keras.saving, "load_model", None) or self.keras.models.load_model
