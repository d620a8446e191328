"""The child side of import: makes a model of keras.applications. It is no route: nothing is tested here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Stage, Step, Work
from cometfuzz.routes.libraries import KERAS

GROUP = Group("import", "main", {**QUIET, "KERAS_BACKEND": "tensorflow"})
IMPORT = Step("import", GROUP, __name__, "answer", (Stage("make", KERAS),))


def start(options: Mapping[str, str]) -> ImportAdapter:
    """Import Keras."""
    import keras

    return ImportAdapter(keras)


class ImportAdapter:
    """Answers the request {"application": NAME} with the config of a model, as a JSON text."""

    def __init__(self, keras: Any) -> None:
        self.keras = keras

    def versions(self) -> dict[str, str]:
        return {"keras": self.keras.__version__}

    def answer(self, work: Work, value: None) -> list[WireTensor]:
        (request,) = (tensor.data for tensor in work.inputs)
        work.enter("make")
        with work.library():
            self.keras.backend.clear_session()  # layers are numbered anew: names do not depend on what came before
            model = getattr(self.keras.applications, json.loads(request)["application"])(weights=None)
            data = json.dumps(self.keras.saving.serialize_keras_object(model)).encode()
        return [WireTensor("uint8", (len(data),), data)]
