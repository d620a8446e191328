"""The catalogue has every parameter of the live Keras signatures, or says why not."""

import json
import subprocess
from pathlib import Path

import pytest

from cometfuzz.catalogue import CATALOGUE, LAYERS
from cometfuzz.catalogue.spec import KERAS2, KERAS3
from cometfuzz.routes.calls import CALL_PARAMS
from cometfuzz.routes.keras2 import ABSENT, RENAMED
from cometfuzz.routes.registry import ROUTES

pytestmark = pytest.mark.library

PROGRAM = """
import inspect, json, sys
if sys.argv[1] == "keras2": import tf_keras as keras
else: import keras
found = {}
for name in sys.argv[2:]:
    kind = getattr(keras.layers, name)
    kinds = kind.__mro__ if sys.argv[1] == "keras2" else [kind]  # Keras 2 hands arguments up as **kwargs
    parameters = [p for k in kinds if k is not object for p in inspect.signature(k.__init__).parameters.values()]
    found[name] = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    found[name + ".call"] = list(inspect.signature(kind.call).parameters)
print(json.dumps(found))
"""
BASE = {"self", "name", "dtype", "trainable"}
"""Parameters that every layer has."""


def signatures(python: Path, route: str, speaks: str, names: list[str]) -> dict[str, list[str]]:
    command = [str(python), "-c", PROGRAM, speaks, *names]
    environ = {"PATH": "", "HOME": "/nonexistent", **ROUTES[route].steps[0].group.environ}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_keras3_signatures_are_complete(main_python: Path) -> None:
    specs = {
        name: spec for name, spec in CATALOGUE.items() if KERAS3 in spec.libraries and spec.kind in ("layer", "cell")
    }
    live = signatures(main_python, "keras-torch", KERAS3, list(specs))
    for name, spec in specs.items():
        ours = set(spec.params) - set(spec.call_params)
        assert set(live[name]) - BASE == (ours | set(spec.excluded)) - {
            "dtype",
            "trainable",
            "activity_regularizer",
        } | ({"activity_regularizer"} & set(live[name])), name
        assert set(spec.call_params) <= set(live[f"{name}.call"]), name


def test_keras2_signatures_fit(main_python: Path) -> None:
    names = [name for name, spec in LAYERS.items() if KERAS2 in spec.libraries]
    live = signatures(main_python, "keras2-tf", KERAS2, names)
    for name in names:
        ours = {RENAMED.get((name, parameter), parameter) for parameter in LAYERS[name].params}
        ours -= {parameter for layer, parameter in ABSENT if layer == name}
        assert ours - BASE - {"activity_regularizer"} <= set(live[name]), name


def test_call_parameters_are_the_same_in_the_builder() -> None:
    declared = {name: set(spec.call_params) for name, spec in LAYERS.items() if spec.call_params}
    assert declared == {name: set(names) for name, names in CALL_PARAMS.items()}
