"""Models under a mixed precision policy: their scripts run by themselves, and show a fault where there is one."""

from pathlib import Path

import pytest
from known_bugs import bug_of

from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution import environments
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.triage.reproducer import make_script, shows
from cometfuzz.triage.running import run_script

pytestmark = pytest.mark.library

BUGS = Path(__file__).parents[2] / "bugs"

PLANTED = """
_right = keras.layers.Dense.call


def _wrong(self, inputs, training=None):
    outputs = _right(self, inputs)
    return outputs + 1 if self.dtype_policy.name == "mixed_float16" else outputs


keras.layers.Dense.call = _wrong
"""
"""A fault of a library that only mixed precision shows, as lines for the script that is to find it."""


def dense(policy: str | None) -> Case:
    drafts = [
        Draft("x", INPUT, {"dtype": "float32", "shape": (2, 3)}, ()),
        Draft("n0", "Dense", {"units": 2, "policy": policy}, (Edge("x"),)),
    ]
    return Case(assemble(drafts, [Edge("n0")]), 5)


def claimed(route: str, symptom: str, library: str) -> Finding:
    return Finding("none", symptom, "ordinary", (Camp((route,), "claimed"),), "run", library, "claimed")  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["mixed_float16", None])
def test_a_script_shows_a_planted_fault_of_mixed_precision_and_no_other(policy: str | None) -> None:
    bug = bug_of(dense(policy), claimed("keras-torch", "value", "torch"))
    text, python = make_script(bug), environments.find("main").python
    assert ('dtype="mixed_float16"' in text) is (policy is not None)
    assert run_script(text, python).exit_code == 0
    head, imported, tail = text.partition('print("versions:"')
    ran = run_script(head + PLANTED + imported + tail, python)
    assert shows(bug, ran) is (policy is not None), ran.output


def test_what_a_layer_returns_under_a_policy_shows_by_itself() -> None:
    case = decode((BUGS / "keras-categoryencoding-mixed-dtype" / "case.json").read_bytes())
    bug = bug_of(case, claimed("keras-tf", "dtype", "keras"))
    ran = run_script(make_script(bug), environments.find("main").python)
    assert shows(bug, ran), ran.output
