"""The child side of import: makes a model of keras.applications, or reads the weights of a saved model.

It is no route: nothing is tested here. A request is a JSON text among the tensors, so is the first tensor of an answer.
The config of a saved model comes from a parent that has understood every layer of it.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cometfuzz.execution.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Stage, Step, Work

GROUP = Group("import", "main", {**QUIET, "KERAS_BACKEND": "tensorflow"})
IMPORT = Step("import", GROUP, __name__, "answer", (Stage("make", "keras"), Stage("read", "keras")))


def start(options: Mapping[str, str]) -> "ImportSession":
    """Import Keras."""
    import keras

    return ImportSession(keras)


class ImportSession:
    """Answers requests: {"application": NAME}, or {"layers": [[NAME, ...], ...]} with a config and an HDF5 file."""

    def __init__(self, keras: Any) -> None:
        self.keras = keras

    def versions(self) -> dict[str, str]:
        return {"keras": self.keras.__version__}

    def answer(self, work: Work, value: None) -> list[WireTensor]:
        request, *blobs = (tensor.data for tensor in work.inputs)
        asked = json.loads(request)
        if "application" in asked:
            work.enter("make")
            with work.library():
                return [self._application(asked["application"])]
        work.enter("read")
        with work.library():
            return self._weights(asked["layers"], *blobs)

    def _application(self, name: str) -> WireTensor:
        self.keras.backend.clear_session()  # layers are numbered anew, so that names do not depend on what came before
        model = getattr(self.keras.applications, name)(weights=None)
        return _text(self.keras.saving.serialize_keras_object(model))

    def _weights(self, layers: Sequence[Sequence[str]], config: bytes, stored: bytes) -> list[WireTensor]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.weights.h5")
            path.write_bytes(stored)
            check_stored(path, request_bytes=len(stored))
            model = self.keras.saving.deserialize_keras_object(json.loads(config), safe_mode=True)
            model.load_weights(path)
        arrays = [_find(model, names).get_weights() for names in layers]
        counts = _text([len(found) for found in arrays])
        return [counts, *(_wire(array) for found in arrays for array in found)]


def check_stored(path: Path, request_bytes: int) -> None:
    """Refuse what claims more than it holds, or reads from elsewhere by a link, or as external or virtual data."""
    import h5py

    with h5py.File(path, "r") as file:
        claimed = 0
        for name, link in _links(file):
            if not isinstance(link, h5py.HardLink):
                raise ValueError(f"expected weights inside the file; received a link at {name!r:.80}")
            item = file[name]
            if isinstance(item, h5py.Dataset):
                if item.external or item.is_virtual:
                    raise ValueError(f"expected weights inside the file; received data from elsewhere at {name!r:.80}")
                claimed += int(np.prod(item.shape, dtype=np.float64)) * item.dtype.itemsize
        if claimed > request_bytes:
            raise ValueError(
                f"expected at most as much data as the file has bytes ({request_bytes}); received {claimed}"
            )


def _links(file: Any) -> Iterator[tuple[str, Any]]:
    """Every link, and those below it unless it leads away."""
    waiting, seen = [file], 0
    while waiting:
        group = waiting.pop()
        for name in group:
            seen += 1
            if seen > 100_000:
                raise ValueError("expected at most 100000 entries; received more")
            link = group.get(name, getlink=True)
            place = f"{group.name.rstrip('/')}/{name}"
            yield place, link
            if group.get(name, getclass=True).__name__ == "Group":
                waiting.append(group[name])


def _find(model: Any, names: Sequence[str]) -> Any:
    for name in names:
        model = model.get_layer(name)
    return model


def _text(value: Any) -> WireTensor:
    data = json.dumps(value).encode()
    return WireTensor("uint8", (len(data),), data)


def _wire(array: Any) -> WireTensor:
    return WireTensor(array.dtype.name, tuple(array.shape), np.ascontiguousarray(array).tobytes())
