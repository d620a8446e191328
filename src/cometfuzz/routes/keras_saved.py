"""The Keras model through a .keras file."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cometfuzz.execution.protocol import WireTensor
from cometfuzz.routes import Route, Stage, Step, Work
from cometfuzz.routes.keras import BUILD_TF, TF, Built, KerasSession

_SAVE = Step("keras-file", TF, __name__, "save", (Stage("save", "keras"),))
_LOAD = Step("keras-saved", TF, __name__, "load", (Stage("load", "keras"), Stage("run", "tensorflow")))
KERAS_SAVED = Route("keras-saved", "keras-tf > .keras file > keras-tf", "keras3", (BUILD_TF, _SAVE, _LOAD))


def start(options: Mapping[str, str]) -> "SavingSession":
    """Import Keras."""
    import keras

    return SavingSession(keras, "tensorflow")


class SavingSession(KerasSession):
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
