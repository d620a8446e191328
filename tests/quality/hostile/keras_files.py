"""`.keras` files, which are ZIP archives."""

import json
import stat
import struct
import zipfile
from typing import Any

from hostile.rows import ESCAPE, Make, Place, Row, fifo, file, folder, link, run_to, sparse

IMPORT = ("import", "model.keras", "-o", "case.json")
WEIGHTS = (*IMPORT, "--weights")
CHECK = ("check", "model.keras", "--routes", "reference")
SEED = run_to("campaign", "--seeds", "model.keras")
SYNTHESISE = ("synthesise", "model.keras", "--runs", "1")


def layer(kind: str, name: str, module: str = "keras.layers", **config: Any) -> dict[str, Any]:
    return {"module": module, "class_name": kind, "config": {"name": name, **config}, "registered_name": None}


def model(*layers: dict[str, Any], shape: Any = (None, 4), **more: Any) -> dict[str, Any]:
    """A Sequential as Keras 3 writes it."""
    first = layer("InputLayer", "x", batch_shape=list(shape) if isinstance(shape, tuple) else shape, dtype="float32")
    config = {"name": "model", "layers": [first, *layers]}
    return {"module": "keras", "class_name": "Sequential", "config": config, **more}


DENSE = layer("Dense", "dense", units=2)
FINE = json.dumps(model(DENSE))
LAMBDA = layer(
    "Lambda", "evil", function={"class_name": "__lambda__", "config": {"code": "4wEAAAA=", "defaults": None}}
)
MARSHALLED = {"class_name": "__lambda__", "config": {"code": "4wEAAAA=", "defaults": None, "closure": None}}
FOREIGN = {"module": "os", "class_name": "system", "config": {"command": "touch owned"}, "registered_name": "system"}
LOSS = {"module": "mine", "class_name": "function", "config": "my_loss", "registered_name": "my_loss"}


def within(depth: int) -> dict[str, Any]:
    """Models within models."""
    made = model(DENSE)
    for at in range(depth):
        made["config"]["name"] = f"m{at}"
        made = model(made)
    return made


def archive(config: Any = FINE, compression: int = zipfile.ZIP_STORED, **members: bytes) -> Make:
    """An archive with a config, and more members."""

    def make(place: Place) -> None:
        with zipfile.ZipFile(place.work / "model.keras", "w", compression) as made:
            text = config if isinstance(config, str | bytes) else json.dumps(config)
            for name, data in {"metadata.json": b"{}", "config.json": text, "model.weights.h5": b"", **members}.items():
                made.writestr(name, data)

    return make


def changed(old: bytes, new: bytes, count: int = -1) -> Make:
    """A fine archive with bytes swapped."""

    def make(place: Place) -> None:
        archive()(place)
        path = place.work / "model.keras"
        data = path.read_bytes()
        assert old in data
        path.write_bytes(data.replace(old, new, count))

    return make


def without_config(place: Place) -> None:
    with zipfile.ZipFile(place.work / "model.keras", "w") as made:
        made.writestr("metadata.json", b"{}")


def twice(place: Place) -> None:
    changed(b"metadata.json", b"./config.json")(place)
    data = (place.work / "model.keras").read_bytes().replace(b"./config.json", b"config.json\0\0")
    (place.work / "model.keras").write_bytes(data)


def linked_member(place: Place) -> None:
    info = zipfile.ZipInfo("config.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(place.work / "model.keras", "w") as made:
        made.writestr(info, str(place.outside / "precious.txt"))


def encrypted(place: Place) -> None:
    """The flag that says so, in the headers of every member."""
    archive()(place)
    data = bytearray((place.work / "model.keras").read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        found = data.find(mark)
        while found >= 0:
            data[found + at] |= 1
            found = data.find(mark, found + 4)
    (place.work / "model.keras").write_bytes(data)


def many_members(place: Place) -> None:
    with zipfile.ZipFile(place.work / "model.keras", "w") as made:
        for at in range(2_000):
            made.writestr(f"{at}", b"")


def cut(place: Place) -> None:
    archive()(place)
    path = place.work / "model.keras"
    path.write_bytes(path.read_bytes()[:-30])


BOMB = b" " * (40 * 2**20)
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)

ROWS = (
    Row("keras-fine", IMPORT, archive(), codes=(0,)),
    Row("keras-custom-loss", IMPORT, archive(model(DENSE, compile_config={"loss": LOSS, "optimizer": "adam"})), (0,)),
    Row("keras-build-config", IMPORT, archive(model(DENSE, build_config={"input_shape": FOREIGN})), codes=(0,)),
    Row("keras-missing", CHECK, words=("model.keras",)),
    Row("keras-empty", IMPORT, file("model.keras", b""), words=("model.keras",)),
    Row("keras-text", CHECK, file("model.keras", "not a model"), words=("model.keras",)),
    Row("keras-empty-archive", IMPORT, file("model.keras", EMPTY_ZIP), words=("model.keras",)),
    Row("keras-truncated", IMPORT, cut, words=("model.keras",)),
    Row("keras-wrong-checksum", IMPORT, changed(b'"Dense"', b'"Bense"', 1), words=("model.keras",)),
    Row("keras-encrypted", IMPORT, encrypted, words=("model.keras",)),
    Row("keras-lzma", IMPORT, archive(compression=zipfile.ZIP_LZMA), words=("model.keras",)),
    Row("keras-zip-slip", IMPORT, archive(**{"../../outside/owned": b"x"}), words=("model.keras",)),
    Row("keras-absolute-member", IMPORT, archive(**{"/tmp/owned": b"x"}), words=("model.keras",)),
    Row("keras-backslash-member", IMPORT, archive(**{"..\\owned": b"x"}), words=("model.keras",)),
    Row("keras-link-member", IMPORT, linked_member, words=("model.keras",)),
    Row("keras-escape-in-member", IMPORT, archive(**{f"../{ESCAPE}": b"x"}), words=("model.keras",)),
    Row("keras-same-member-twice", IMPORT, twice, words=("model.keras",)),
    Row("keras-many-members", IMPORT, many_members, words=("model.keras",)),
    Row("keras-bomb", IMPORT, archive(BOMB, zipfile.ZIP_DEFLATED), words=("model.keras",)),
    Row("keras-bomb-check", CHECK, archive(compression=zipfile.ZIP_DEFLATED, **{"model.weights.h5": BOMB})),
    Row("keras-claims-four-gigabytes", IMPORT, changed(struct.pack("<L", len(FINE)), b"\xfe\xff\xff\xff")),
    Row("keras-no-config", IMPORT, without_config, words=("config.json",)),
    Row("keras-config-not-json", IMPORT, archive("{"), words=("model.keras",)),
    Row("keras-config-not-utf8", IMPORT, archive(b'{"class_name": "\xff\x9b"}'), words=("model.keras",)),
    Row("keras-config-a-number", IMPORT, archive("5"), words=("model.keras",)),
    Row("keras-config-of-nan", IMPORT, archive(FINE.replace("2", "NaN")), words=("model.keras",)),
    Row("keras-deep-nesting", IMPORT, archive("[" * 10**6), words=("model.keras",)),
    Row("keras-models-in-models", IMPORT, archive(within(200)), words=("model.keras",)),
    Row("keras-subclassed", CHECK, archive({"module": "mine", "class_name": "Mine", "config": {}})),
    Row("keras-lambda", IMPORT, archive(model(LAMBDA)), words=("Lambda", "model.keras")),
    Row("keras-lambda-check", CHECK, archive(model(LAMBDA)), words=("Lambda", "model.keras")),
    Row("keras-lambda-seed", SEED, archive(model(LAMBDA)), words=("Lambda",), absent=("campaign",)),
    Row("keras-lambda-synthesise", SYNTHESISE, archive(model(LAMBDA)), words=("Lambda",)),
    Row("keras-marshalled-activation", CHECK, archive(model(layer("Dense", "dense", units=2, activation=MARSHALLED)))),
    Row("keras-class-of-os", IMPORT, archive(model(FOREIGN)), absent=("owned",)),
    Row("keras-class-of-os-as-value", CHECK, archive(model(layer("Dense", "d", units=2, kernel_initializer=FOREIGN)))),
    Row("keras-module-os", CHECK, archive(model(layer("Dense", "dense", module="os", units=2)))),
    Row("keras-escape-in-name", IMPORT, archive(model(layer("Nothing", ESCAPE)))),
    Row("keras-escape-in-class", CHECK, archive(model(layer(ESCAPE, "dense")))),
    Row("keras-escape-in-key", IMPORT, archive(model(layer("Dense", "dense", units=2, **{ESCAPE: 1}))), codes=(0, 2)),
    Row("keras-surrogate-in-name", IMPORT, archive(model(layer("Nothing", "\ud800")))),
    Row("keras-no-name", IMPORT, archive(model({"class_name": "Dense", "config": {}}))),
    Row("keras-huge-batch-shape", CHECK, archive(model(DENSE, shape=(10**9, 10**9)))),
    Row("keras-negative-batch-shape", IMPORT, archive(model(DENSE, shape=(None, -4)))),
    Row("keras-batch-shape-of-texts", IMPORT, archive(model(DENSE, shape=(None, "4")))),
    Row("keras-batch-shape-an-object", IMPORT, archive(model(DENSE, shape={"a": 1}))),
    Row("keras-huge-rank", IMPORT, archive(model(DENSE, shape=(None, *[1] * 1000))), codes=(0, 2)),
    Row("keras-huge-units", CHECK, archive(model(layer("Dense", "dense", units=10**12)))),
    Row("keras-folder", IMPORT, folder("model.keras", "config.json"), words=("model.keras",)),
    Row("keras-fifo", IMPORT, fifo("model.keras"), words=("model.keras",)),
    Row("keras-fifo-check", CHECK, fifo("model.keras"), words=("model.keras",)),
    Row("keras-dev-zero", CHECK, link("model.keras", "/dev/zero"), words=("model.keras",)),
    Row("keras-terabyte", IMPORT, sparse("model.keras", 2**40), words=("model.keras",)),
    Row("keras-wrong-weights", WEIGHTS, archive(**{"model.weights.h5": b"no HDF5"}), library=True),
)
