"""Which files are taken for a model, what is asked of them, and what is refused at once."""

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keras_files import entry, functional, layer, old_entry, old_functional, old_layer, save, sequential, tensor

from cometfuzz.catalogue.files import save as save_case
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import MAX_BYTES
from cometfuzz.protocol import WireTensor
from cometfuzz.reading import read_regular
from cometfuzz.seeds import importing, lenet, saved
from cometfuzz.seeds.importing import import_model, read_model

HDF5 = b"\x89HDF\r\n\x1a\n"
SMALL = functional(entry([None, 4]), layer("Dense", "dense", tensor("x"), units=3))


def test_a_model_and_a_case_are_read_by_their_suffix(tmp_path: Path) -> None:
    save_case(Case(lenet(), 3, {}), tmp_path / "case.json")
    assert read_model(tmp_path / "case.json").rng_seed == 3
    assert read_model(save(tmp_path / "model.keras", SMALL), rng_seed=4).rng_seed == 4


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("m.onnx", "ONNX"),
        ("m.pb", "TensorFlow"),
        ("m.pt", "PyTorch"),
        ("m.tflite", "LiteRT"),
        ("m.txt", "'.txt'"),
        ("m", "''"),
    ],
)
def test_another_suffix_is_refused_with_what_to_save_instead(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InvalidCase) as caught:
        read_model(tmp_path / name)
    line = str(caught.value)
    assert str(tmp_path / name) in line
    assert kind in line
    assert "model.save('NAME.keras')" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("name", "inside", "kind"), [("saved", "saved_model.pb", "a SavedModel"), ("m.keras", "x", "a folder")]
)
def test_a_folder_is_refused_with_what_to_save_instead(tmp_path: Path, name: str, inside: str, kind: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / inside).write_bytes(b"")
    with pytest.raises(InvalidCase, match=f"{name}: .*received {kind}; save the model with"):
        read_model(tmp_path / name)


def test_a_case_file_is_no_model_to_import(tmp_path: Path) -> None:
    save_case(Case(lenet(), 0, {}), tmp_path / "case.json")
    with pytest.raises(InvalidCase, match="a case file"):
        import_model(tmp_path / "case.json")


def test_an_h5_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "m.h5").write_bytes(b"PK nothing")
    with pytest.raises(InvalidCase, match=r"m\.h5: expected an HDF5 file"):
        import_model(tmp_path / "m.h5")


OLD = old_functional(
    old_entry([None, 4]),
    old_functional(
        old_entry([None, 4], name="y"),
        old_layer("BatchNormalization", "norm", ["y", 0, 0, {}], axis=[1]),
        old_layer("Dense", "inside", ["norm", 0, 0, {}], units=4),
        old_layer("Dense", "frozen", ["inside", 0, 0, {}], units=4, trainable=False),
    )
    | {"name": "block", "inbound_nodes": [[["x", 0, 0, {}]]]},
    old_layer("Dense", "dense", ["block", 1, 0, {}], units=3),
)


class Child:
    """Stands for the child process: remembers what it is asked, and answers with tensors of the right shape."""

    def __init__(self, shapes: Sequence[tuple[int, ...]] = (), **texts: str | None) -> None:
        self.shapes, self.given = shapes, {"keras_version": "2.15.0", "backend": "tensorflow", **texts}
        self.places: Sequence[Any] = ()
        self.data = b""

    def texts(self, data: bytes, names: Sequence[str]) -> dict[str, str | None]:
        return {name: self.given.get(name) for name in names}

    def tensors(self, data: bytes, places: Sequence[Any]) -> list[WireTensor]:
        self.data, self.places = data, places
        return [WireTensor("float32", shape, np.ones(shape, np.float32).tobytes()) for shape in self.shapes]

    def stand_in(self, monkeypatch: pytest.MonkeyPatch) -> "Child":
        monkeypatch.setattr(saved, "stored_texts", self.texts)
        monkeypatch.setattr(importing, "stored_tensors", self.tensors)
        return self


def hdf5(tmp_path: Path) -> Path:
    (tmp_path / "m.h5").write_bytes(HDF5)
    return tmp_path / "m.h5"


def test_weights_of_an_h5_file_stand_in_a_row_trained_ones_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = [(4,)] * 4 + [(4, 4), (4,)] * 2 + [(4, 3), (3,)]
    child = Child(shapes, model_config=json.dumps(OLD)).stand_in(monkeypatch)
    case = import_model(hdf5(tmp_path), weights=True)
    assert len(case.data) == 10
    asked = [(place["layer"], place["index"], place["count"], place["name"]) for place in child.places]
    block = ["gamma", "beta", "moving_mean", "moving_variance", "kernel", "bias", "kernel", "bias"]
    order = [0, 1, 4, 5, 2, 3, 6, 7]
    assert asked == [
        *(("block", index, 8, name) for index, name in zip(order, block, strict=True)),
        ("dense", 0, 2, "kernel"),
        ("dense", 1, 2, "bias"),
    ]


def test_nothing_but_places_is_asked_of_the_weights_however_a_model_was_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = sequential(layer("Dense", "a", units=3), layer("Dense", "b", units=3), build_input_shape=[None, 4])
    inner |= {"name": "block", "inbound_nodes": [{"args": [tensor("x")], "kwargs": {}}]}
    inner["build_config"] = {"input_shape": "os.system('x')"}
    model = functional(entry([None, 4]), inner, layer("Bidirectional", "both", tensor("wide"), layer=LSTM), WIDE)
    model |= {"compile_config": {"loss": {"module": "mine", "class_name": "MyLoss", "config": {}}}}
    model["config"]["output_layers"] = ["both", 0, 0]
    shapes = [(4, 3), (3,), (3, 3), (3,), *[(1, 8), (2, 8), (8,)] * 2]
    child = Child(shapes).stand_in(monkeypatch)
    import_model(save(tmp_path / "m.keras", model, b"weights"), weights=True)
    assert child.data == b"weights"
    block, both = "layers/sequential/layers", "layers/bidirectional"
    assert ["/".join(place["path"]) for place in child.places] == [
        *(f"{block}/{name}/vars/{index}" for name in ("dense", "dense_1") for index in (0, 1)),
        *(f"{both}/{side}_layer/cell/vars/{index}" for side in ("forward", "backward") for index in (0, 1, 2)),
    ]


LSTM = {"module": "keras.layers", "class_name": "LSTM", "config": {"units": 2, "name": "l"}}
WIDE = layer("Reshape", "wide", tensor("block"), target_shape=[3, 1])


def test_a_tensor_of_another_shape_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Child([(4, 3), (4,)]).stand_in(monkeypatch)
    with pytest.raises(InvalidCase, match=r"dense/bias.*\(3,\).*\(4,\)"):
        import_model(save(tmp_path / "m.keras", SMALL), weights=True)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"model_config": None}, "save_weights"),
        ({"model_config": "{"}, "JSON"),
        ({"model_config": "[]"}, "Functional"),
        ({"model_config": "{}", "keras_version": None}, "keras_version=None"),
        ({"model_config": "{}", "keras_version": "1.2.2"}, "keras_version='1.2.2'"),
        ({"model_config": "{}", "backend": "theano"}, "theano"),
        ({"model_config": " " * (8 * 2**20 + 1)}, "at most"),
    ],
)
def test_an_h5_file_that_holds_no_model_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: Any, message: str
) -> None:
    Child(**texts).stand_in(monkeypatch)
    with pytest.raises(InvalidCase, match=rf"m\.h5: .*{message}"):
        import_model(hdf5(tmp_path))


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


LOAD = """
import sys
from pathlib import Path
from cometfuzz.errors import InvalidCase
from cometfuzz.catalogue.files import load
from cometfuzz.seeds.importing import import_model
for name in sys.argv[1:]:
    try:
        (load if name.endswith(".json") else import_model)(Path(name))
    except InvalidCase as error:
        print(error)
"""


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    paths = []
    for make in (pipe, folder, device, unix_socket):
        for suffix in ("json", "keras", "h5"):
            paths.append(tmp_path / f"{make.__name__}.{suffix}")
            make(paths[-1])
    run = subprocess.run(
        [sys.executable, "-c", LOAD, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=30,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)),
    )
    assert run.stderr == ""
    assert [line.split(":")[0] for line in run.stdout.splitlines()] == [str(path) for path in paths]


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(InvalidCase, match="at most 4 bytes"):
        read_regular(path, 4, InvalidCase)
    with pytest.raises(InvalidCase, match="null byte"):
        read_regular(Path("a\0b"), 4, InvalidCase)


def test_a_file_that_claims_no_size_is_bounded_too() -> None:
    with pytest.raises(InvalidCase, match="at most 10 bytes"):
        read_regular(Path("/proc/self/status"), 10, InvalidCase)


def test_a_case_file_is_bounded(tmp_path: Path) -> None:
    with (tmp_path / "case.json").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InvalidCase, match="at most"):
        read_model(tmp_path / "case.json")
