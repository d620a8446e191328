"""The examples of drafts print what the drafts say under Actual; `make bugs` runs the scripts of all."""

from pathlib import Path

import pytest

from cometfuzz.execution.environments import find
from cometfuzz.places import Place
from cometfuzz.triage.collection import Collected
from cometfuzz.triage.example import EXAMPLE, PRINTED, printed_by
from cometfuzz.triage.running import run_script

pytestmark = pytest.mark.library

BUGS = Path(__file__).parents[2] / "bugs"
SAMPLE = (
    "jax-rmsnormalization-axis-rank4-crash",
    "keras-jax-multiheadattention-value-dim-crash",
    "keras-tf-add-value",
    "keras-torch-averagepooling-same-channels-first-value",
    "onnxruntime-zeropadding-averagepooling-channels-first-p-crash",
    "torch-lstm-use-bias-false-float16-death",
)
"""One of each kind of end, in libraries that start quickly."""


@pytest.mark.parametrize("name", SAMPLE)
def test_an_example_prints_what_its_draft_says(name: str) -> None:
    script = Collected.read(Place(BUGS) / name).bug.script
    assert script is not None
    ran = run_script((BUGS / name / EXAMPLE).read_text(), find(script.environment).python)
    assert printed_by(ran) == (BUGS / name / PRINTED).read_text()
