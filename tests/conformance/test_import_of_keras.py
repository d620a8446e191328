"""Import against a real Keras: the same outputs from the reference, hostile weights refused, seeds as shipped."""

import json
import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data, to_tensor
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.plain import graph_to_plain
from cometfuzz.reference.run import run
from cometfuzz.seeds.importing import import_model
from cometfuzz.seeds.keras_child import application
from cometfuzz.seeds.keras_config import translate
from cometfuzz.seeds.published import original

pytestmark = pytest.mark.library

SAVE = """
import json, sys
import h5py, keras, numpy as np
from keras import layers as L

folder = sys.argv[1]
x = keras.Input((6, 8))
attended = L.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
y = L.LayerNormalization(epsilon=1e-6)(L.Add()([x, attended]))
y = keras.Sequential([L.Dense(8, "relu"), L.BatchNormalization(), L.Dropout(0.5)])(y) + x
y = L.Bidirectional(L.GRU(3, return_sequences=True))(y)
y = L.TimeDistributed(L.Dense(3, activation=keras.activations.gelu))(y)
model = keras.Model(x, y)
model.set_weights([np.random.default_rng(i).uniform(0.1, 1, w.shape) for i, w in enumerate(model.get_weights())])
values = np.random.default_rng(99).uniform(-1, 1, (1, 6, 8)).astype("float32")
model.save(folder + "/mixed.keras")
json.dump({"x": values.tolist(), "y": np.asarray(model(values)).tolist()}, open(folder + "/mixed.json", "w"))

model = keras.Sequential([keras.Input((4,)), L.Dense(3)])
model.save(folder + "/plain.keras")
with h5py.File(folder + "/elsewhere.h5", "w") as file:
    group = file.create_group("layers/dense/vars")
    group.create_dataset("0", (4, 3), "f4", external=[("/etc/hostname", 0, 48)])
    group["1"] = h5py.ExternalLink("/etc/hostname", "/x")
with h5py.File(folder + "/huge.h5", "w") as file:
    file.create_dataset("layers/dense/vars/0", (50_000, 50_000), "f4", chunks=(1000, 1000))
with h5py.File(folder + "/other.h5", "w") as file:
    file["layers/dense/vars/0"] = np.zeros((7, 7), "float32")
"""


@pytest.fixture(scope="module")
def folder(main_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved")
    environ = {**os.environ, "KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "KERAS_HOME": str(path)}
    subprocess.run([main_python, "-c", SAVE, str(path)], check=True, env=environ, capture_output=True)
    return path


def with_weights(folder: Path, stored: bytes, name: str) -> Path:
    with zipfile.ZipFile(folder / "plain.keras") as archive:
        config = archive.read("config.json")
    with zipfile.ZipFile(folder / f"{name}.keras", "w") as archive:
        archive.writestr("config.json", config)
        archive.writestr("model.weights.h5", stored)
    return folder / f"{name}.keras"


def test_an_imported_model_computes_what_keras_computes(folder: Path) -> None:
    case = import_model(folder / "mixed.keras", weights=True)
    seen = json.loads((folder / "mixed.json").read_text())
    (name,) = (node.id for node in case.graph.inputs)
    given = {**case.data, name: to_tensor(np.asarray(seen["x"], dtype=np.float32))}
    values = run(case.graph, draw_data(Case(case.graph, 0, given))).values
    np.testing.assert_allclose(values[case.graph.outputs[0]], seen["y"], rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("kind", ["elsewhere", "huge", "other", "cut", "text"])
def test_hostile_weights_are_refused(folder: Path, kind: str) -> None:
    stored = {"cut": lambda: (folder / "other.h5").read_bytes()[:1500], "text": lambda: b"no hdf5"}
    data = stored.get(kind, lambda: (folder / f"{kind}.h5").read_bytes())()
    with pytest.raises(InvalidCase, match="Keras can read"):
        import_model(with_weights(folder, data, kind), weights=True)


@pytest.mark.parametrize("name", ["MobileNetV2", "InceptionResNetV2"])
def test_shipped_originals_are_what_keras_makes(main_python: Path, name: str) -> None:
    made = translate(application(name)).graph
    assert graph_to_plain(made) == graph_to_plain(original(name))
