"""Import against real Keras, 3 and 2: the same outputs from the reference, hostile files refused, seeds as shipped."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data, to_tensor
from cometfuzz.errors import InvalidCase
from cometfuzz.execution import environments
from cometfuzz.ir.case import Case
from cometfuzz.ir.plain import graph_to_plain
from cometfuzz.reference.run import run
from cometfuzz.seeds.importing import import_model
from cometfuzz.seeds.keras_child import application
from cometfuzz.seeds.keras_config import translate
from cometfuzz.seeds.published import original

pytestmark = pytest.mark.library
MAKE = Path(__file__).with_name("keras_models.py")
MODELS = ("mixed", "images", "tokens", "dropped", "attention", "deep")


@pytest.fixture(scope="module")
def folder(main_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models as saved by Keras 3 in `keras`, by Keras 2 in `tf_keras`, and hostile HDF5 files."""
    path = tmp_path_factory.mktemp("saved")
    make_models(main_python, path, "keras")
    make_models(main_python, path, "tf_keras", TF_USE_LEGACY_KERAS="1")
    subprocess.run([main_python, "-c", HOSTILE, str(path)], check=True, env=environ(path), capture_output=True)
    return path


def environ(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "KERAS_HOME": str(home), **more}


def make_models(python: Path, path: Path, package: str, names: Sequence[str] = (), **more: str) -> Path:
    (path / package).mkdir()
    arguments = [python, MAKE, path / package, package, *names]
    subprocess.run(arguments, check=True, env=environ(path, **more), capture_output=True)
    return path / package


def expect_same(path: Path) -> None:
    """The reference computes of an imported model what Keras computed before it saved it."""
    case = import_model(path, weights=True)
    seen = json.loads(path.with_suffix(".json").read_text())
    (node,) = case.graph.inputs
    dtype = np.int32 if node.outputs[0].dtype == "int32" else np.float32
    given = {**case.data, node.id: to_tensor(np.asarray(seen["x"], dtype=dtype))}
    values = run(case.graph, draw_data(Case(case.graph, 0, given))).values
    np.testing.assert_allclose(values[case.graph.outputs[0]], seen["y"], rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize("suffix", ["keras", "h5"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_an_imported_model_computes_what_keras_computes(folder: Path, package: str, name: str, suffix: str) -> None:
    """All of them were compiled with a loss of their own, which nobody looks at."""
    expect_same(folder / package / f"{name}.{suffix}")


def test_models_of_keras_2_15(tmp_path: Path) -> None:
    environment = environments.find("tf215")
    if not environment.ready:
        pytest.skip("`cometfuzz env create tf215` builds it")
    for path in make_models(environment.python, tmp_path, "keras", MODELS).glob("*.*"):
        if path.suffix != ".json":
            expect_same(path)


def test_a_model_of_keras_2_2(tmp_path: Path) -> None:
    moved = "vars(collections).update({name: getattr(collections.abc, name) for name in collections.abc.__all__})"
    (tmp_path / "sitecustomize.py").write_text(f"import collections.abc\n{moved}")  # this Keras looks for them there
    python = environments.find("mxnet").python
    more = {"KERAS_BACKEND": "mxnet", "PYTHONPATH": str(tmp_path)}
    expect_same(make_models(python, tmp_path, "keras", ["simple"], **more) / "simple.h5")


HOSTILE = """
import io, shutil, sys, zipfile
import h5py, numpy as np

folder = sys.argv[1]
with h5py.File(folder + "/data.h5", "w") as file:
    file["x"] = np.zeros((4, 4), "float32")
with zipfile.ZipFile(folder + "/keras/deep.keras") as archive:
    config, stored = archive.read("config.json"), archive.read("model.weights.h5")


def external_data(file, group):
    del group["0"]
    group.create_dataset("0", (4, 4), "f4", external=[("/etc/hostname", 0, 64)])


def external_link(file, group):
    del group["0"]
    group["0"] = h5py.ExternalLink(folder + "/data.h5", "/x")


def soft_link(file, group):
    file["evil"] = h5py.SoftLink(group.name)


def virtual(file, group):
    layout = h5py.VirtualLayout((4, 4), "f4")
    layout[:] = h5py.VirtualSource(folder + "/data.h5", "x", (4, 4))
    file.create_virtual_dataset("virtual", layout)


def huge(file, group):
    file.create_dataset("huge", (50_000, 50_000), "f4", chunks=(1000, 1000))


def loop(file, group):
    group["again"] = file["/"]


def text(file, group):
    for name in list(group):
        del group[name]
        group[name] = "no floats"


def whole_numbers(file, group):
    for name in list(group):
        values = group[name][()].astype("int32")
        del group[name]
        group[name] = values


def absent(file, group):
    for name in list(group):
        del group[name]


def nothing(file, group):
    pass


def last(file):
    "The group with the weights of the last layer."
    found = []
    file.get("model_weights/last", file.get("layers/dense")).visititems(lambda _, item: found.append(item))
    return next(item for item in found if isinstance(item, h5py.Dataset)).parent


for change in (external_data, external_link, soft_link, virtual, huge, loop, text, whole_numbers, absent, nothing):
    path = f"{folder}/{change.__name__}.h5"
    shutil.copy(folder + "/keras/deep.h5", path)
    with h5py.File(path, "r+") as file:
        group = last(file)
        group["0"] = np.zeros((4, 4), "float32")  # a name that both kinds of files have
        change(file, group)
    changed = io.BytesIO(stored)
    with h5py.File(changed, "r+") as file:
        change(file, last(file))
    with zipfile.ZipFile(f"{folder}/{change.__name__}.keras", "w") as archive:
        archive.writestr("config.json", config)
        archive.writestr("model.weights.h5", changed.getvalue())
"""
KINDS = (
    *("external_data", "external_link", "soft_link", "virtual", "huge"),
    *("loop", "text", "whole_numbers", "absent"),
)


@pytest.mark.parametrize("suffix", ["keras", "h5"])
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_files_are_refused(folder: Path, kind: str, suffix: str) -> None:
    with pytest.raises(InvalidCase, match=rf"{kind}\.{suffix}: .*h5py can read"):
        import_model(folder / f"{kind}.{suffix}", weights=True)


def test_what_is_copied_without_a_change_is_taken(folder: Path) -> None:
    assert all(import_model(folder / f"nothing.{suffix}", weights=True) for suffix in ("keras", "h5"))


def test_broken_files_are_refused(folder: Path) -> None:
    whole = (folder / "nothing.h5").read_bytes()
    for size in (100, 1000, 5000, len(whole) // 2):
        (folder / "cut.h5").write_bytes(whole[:size])
        with pytest.raises(InvalidCase, match=r"cut\.h5: "):
            import_model(folder / "cut.h5", weights=True)


@pytest.mark.parametrize("name", ["MobileNetV2", "InceptionResNetV2"])
def test_shipped_originals_are_what_keras_makes(main_python: Path, name: str) -> None:
    made = translate(application(name)).graph
    assert graph_to_plain(made) == graph_to_plain(original(name))
