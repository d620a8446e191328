"""Model files of other kinds: `.h5`, which may be a Keras model, and what is refused with what to save instead."""

import json
import zipfile
from collections.abc import Sequence
from typing import Any

from hostile.hdf5 import BARE, ELSEWHERE, HUGE, LINKED, PLAIN, unpacked
from hostile.keras_files import FOREIGN, archive
from hostile.rows import Make, Place, Row, fifo, file, folder, link, run_to

H5 = ("import", "model.h5", "-o", "case.json")
CHECK_H5 = ("check", "model.h5", "--routes", "reference")


def old(*layers: Any, shape: Sequence[Any] = (None, 4)) -> str:
    """A Sequential as Keras 2 writes it."""
    first = {"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": shape, "dtype": "float32"}}
    return json.dumps({"class_name": "Sequential", "config": {"name": "model", "layers": [first, *layers]}})


DENSE = {"class_name": "Dense", "config": {"name": "dense", "units": 2, "activation": "linear", "use_bias": True}}
OLD_LAMBDA = {"class_name": "Lambda", "config": {"name": "evil", "function": ["4wEAAAA=", None, None]}}


def saved_model(place: Place) -> None:
    folder("model", "saved_model.pb", "keras_metadata.pb", "variables/variables.index")(place)


def torch_file(place: Place) -> None:
    """What torch.save writes: an archive with a pickle in it."""
    with zipfile.ZipFile(place.work / "model.pt", "w") as made:
        made.writestr("model/data.pkl", b"\x80\x02cposix\nsystem\nX\x0b\0\0\0touch owned\x85R.")


def renamed(name: str) -> Make:
    """A fine .keras file under another name."""

    def make(place: Place) -> None:
        archive()(place)
        (place.work / "model.keras").rename(place.work / name)

    return make


def h5(text: str, config: str = "", size: int | None = None) -> Make:
    return file("model.h5", unpacked(text, config)[:size])


def refused(name: str, path: str, make: Make, *arguments: str) -> list[Row]:
    """Both commands that take a model refuse it with its path and what to save instead."""
    words = (path, ".keras")
    importing = Row(f"other-{name}-import", ("import", path, "-o", "case.json"), make, words=words, absent=("owned",))
    return [Row(f"other-{name}-check", ("check", path, *arguments), make, words=words), importing]


ONNX = b"\x08\x07\x12\x07pytorch:\x0b\x0a\x09\x0a\x01x\x12\x01y\x22\x04Relu"

ROWS = (
    refused("onnx", "model.onnx", file("model.onnx", ONNX))[-1],
    Row(
        "other-onnx-check",
        ("check", "model.onnx"),
        file("model.onnx", ONNX),
        words=("model.onnx", "expected an ONNX file"),
        library=True,
    ),
    *refused("saved-model", "model", saved_model),
    *refused("torch", "model.pt", torch_file),
    *refused("protocol-buffer", "model.pb", file("model.pb", ONNX)),
    *refused("tflite", "model.tflite", file("model.tflite", b"\x1c\0\0\0TFL3")),
    *refused("folder", "model.keras", folder("model.keras", "config.json")),
    *refused("no-suffix", "model", file("model", b"\x89HDF\r\n\x1a\n")),
    *refused("zip", "model.zip", renamed("model.zip")),
    Row("other-weights-only", ("check", "model.weights.h5"), file("model.weights.h5", unpacked(BARE)), library=True),
    Row("other-onnx-seed", run_to("campaign", "--seeds", "m.onnx"), file("m.onnx", ONNX), absent=("campaign",)),
    Row("other-upper-case", ("import", "model.KERAS", "-o", "case.json"), renamed("model.KERAS"), codes=(0, 2)),
    Row("h5-missing", CHECK_H5, words=("model.h5",)),
    Row("h5-folder", H5, folder("model.h5"), words=("model.h5",)),
    Row("h5-fifo", H5, fifo("model.h5"), words=("model.h5",)),
    Row("h5-dev-zero", CHECK_H5, link("model.h5", "/dev/zero"), words=("model.h5",)),
    Row("h5-text", H5, file("model.h5", "no HDF5"), library=True, words=("model.h5",)),
    Row("h5-keras-file", H5, renamed("model.h5"), library=True, words=("model.h5",)),
    Row("h5-truncated", H5, h5(PLAIN, old(DENSE), 3000), library=True, words=("model.h5",)),
    Row("h5-no-model", CHECK_H5, h5(BARE), library=True, words=("model.h5",)),
    Row("h5-fine", H5, h5(PLAIN, old(DENSE)), library=True, codes=(0,)),
    Row("h5-lambda", H5, h5(PLAIN, old(OLD_LAMBDA)), library=True, words=("Lambda",)),
    Row("h5-class-of-os", H5, h5(PLAIN, old(FOREIGN)), library=True, absent=("owned",)),
    Row("h5-deep-nesting", H5, h5(PLAIN, "[" * 1500), library=True, words=("model.h5",)),
    Row("h5-huge-batch-shape", H5, h5(PLAIN, old(DENSE, shape=(None, 10**18))), library=True, words=("model.h5",)),
    Row("h5-external-link", (*H5, "--weights"), h5(LINKED, old(DENSE)), library=True, words=("model.h5",)),
    Row("h5-external-storage", CHECK_H5, h5(ELSEWHERE, old(DENSE)), library=True, words=("model.h5",)),
    Row("h5-claims-a-terabyte", (*H5, "--weights"), h5(HUGE, old(DENSE)), library=True, words=("model.h5",)),
)
