"""Every public class of keras.layers is in the catalogue, or in the table of what is left out; and nothing else is."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from cometfuzz.catalogue import CATALOGUE
from cometfuzz.catalogue.left_out import LEFT_OUT
from cometfuzz.catalogue.spec import KERAS3

pytestmark = pytest.mark.library

PROGRAM = """
import inspect, json
import keras
names = {}
for name, value in vars(keras.layers).items():
    if inspect.isclass(value):
        names.setdefault(value, []).append(name)
print(json.dumps(list(names.values())))
"""


@pytest.fixture(scope="module")
def classes(main_python: Path) -> list[set[str]]:
    """The classes of keras.layers, each with all its names."""
    environ = {**os.environ, "KERAS_BACKEND": "torch"}
    done = subprocess.run([main_python, "-c", PROGRAM], env=environ, capture_output=True, text=True, check=True)
    return [set(names) for names in json.loads(done.stdout.splitlines()[-1])]


def test_every_class_has_a_block_or_a_reason(classes: list[set[str]]) -> None:
    missing = [sorted(names) for names in classes if not names & {*CATALOGUE, *LEFT_OUT}]
    assert not missing, "each needs a block in the catalogue, or a reason in catalogue/left_out.py"


def test_no_class_has_both(classes: list[set[str]]) -> None:
    assert not [sorted(names) for names in classes if len(names & {*CATALOGUE, *LEFT_OUT}) > 1]


def test_every_block_and_every_reason_is_of_a_class(classes: list[set[str]]) -> None:
    known = set[str]().union(*classes)
    ours = {name for name, spec in CATALOGUE.items() if spec.kind in ("layer", "cell") and KERAS3 in spec.libraries}
    assert not {*ours, *LEFT_OUT} - known
