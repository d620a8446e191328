"""The Keras model through a .keras file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Route, Stage, Step, Work
from cometfuzz.routes.keras import BUILD_TF, TF, Built, KerasAdapter
from cometfuzz.routes.libraries import KERAS, TENSORFLOW

_ENGINE = "cometfuzz.triage.scripts.engines:keras_file"
_SAVE = Step("keras-file", TF, __name__, "save", (Stage("save", KERAS),), engine=_ENGINE, cpu_s=0.05)
_LOAD = Step("keras-saved", TF, __name__, "load", (Stage("load", KERAS), Stage("run", TENSORFLOW)))
KERAS_SAVED = Route("keras-saved", "keras-tf > .keras file > keras-tf", "keras3", (BUILD_TF, _SAVE, _LOAD), fuses=False)


def start(options: Mapping[str, str]) -> SavingAdapter:
    """Import Keras."""
    import keras

    return SavingAdapter(keras, "tensorflow")


class SavingAdapter(KerasAdapter):
    """Writes a model that keras-tf built to a file, and reads it."""

    def save(self, work: Work, built: Built) -> bytes:
        work.enter("save")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.keras")
            with work.library():
                built.model.save(path)
            return path.read_bytes()

    def load(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.keras")
            path.write_bytes(artefact)
            with work.library():
                model = self.keras.saving.load_model(os.fspath(path), compile=False)
        return self.run(work, Built({}, model))
