"""Issue drafts follow the tracker's form, and no text of a library gets out of its fence."""

from dataclasses import replace

import pytest
from bugs import bug, finding, pooling

from cometfuzz.oracles.finding import Camp
from cometfuzz.oracles.symptoms import SYMPTOMS
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.blame import AGAINST
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.draft import draft
from cometfuzz.triage.trackers import TRACKERS


def reported(library: str = "torch", **more: object) -> Bug:
    made = bug(pooling(), finding("keras-torch", library=library, **more))
    script = Script("print('hello')\n", "main", True, 1, "expected: 2\nseen: 1.75")
    return replace(made, script=script)


def headings(text: str) -> list[str]:
    return [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]


def test_every_library_that_a_stage_is_blamed_on_has_a_tracker() -> None:
    libraries = {stage.library for route in ROUTES.values() for stage in route.stages} - {"reference"}
    assert libraries <= {*TRACKERS}


@pytest.mark.parametrize("library", [*TRACKERS, "somebody else's"])
def test_a_draft_has_the_form_of_its_tracker_and_all_that_it_needs(library: str) -> None:
    made = reported(library)
    made = replace(made, versions={**made.versions, library: "9.9"})
    text = draft(made)
    wanted = [heading for heading, _ in TRACKERS[library].sections] if library in TRACKERS else None
    assert wanted is None or headings(text) == wanted
    for part in ("a title", "print('hello')", "seen: 1.75", "9.9", "Keras 3 on JAX", "float64"):
        assert part in text


def test_versions_are_those_of_what_takes_part() -> None:
    made = reported()
    text = draft(replace(made, versions={"keras": "3.15.1", "torch": "2.13.0", "mxnet": "1.9.1"}))
    assert "torch 2.13.0" in text
    assert "mxnet" not in text


def test_what_all_libraries_do_is_said_as_that() -> None:
    made = reported()
    text = draft(replace(made, blame=replace(made.blame, role=AGAINST)))
    assert "all libraries do otherwise than the documentation says." in text


def test_places_of_mlir_are_left_out_of_what_is_seen() -> None:
    made = reported(symptom="crash")
    printed = "seen: ConverterError: <unknown>:0: error: loc(fused[\"A\"]): 'tfl.prelu' op failed"
    text = draft(replace(made, script=Script("", "main", True, 1, printed)))
    assert "\nConverterError: error: 'tfl.prelu' op failed\n" in text


def test_titles_begin_as_the_tracker_wants() -> None:
    assert draft(reported("jax")).startswith("# BUG: a title")
    assert draft(reported("openvino")).startswith("# [Bug]: a title")


def test_other_ways_are_told_in_words_that_are_not_ours() -> None:
    made = reported("tf2onnx")
    camps = (Camp(("onnxruntime", "openvino"), "wrong"), Camp(("keras-tf",), "completed"))
    text = draft(replace(made, finding=replace(made.finding, camps=camps)))
    assert "As expected: Keras 3 on TensorFlow." in text
    assert "Fails in the same way: Keras on TensorFlow > tf2onnx > ONNX Runtime; " in text


def test_every_symptom_has_its_words() -> None:
    assert all(record.name == name for name, record in SYMPTOMS.items())
    for symptom in (*SYMPTOMS, "undeclared"):
        assert draft(reported(symptom=symptom)).count("### ") == 2


def test_hostile_text_stays_text() -> None:
    made = reported(detail="```\n# heading\n<script>alert(1)</script>")
    assert made.script is not None
    made = replace(
        made,
        title="evil\n# second heading <img src=x>",
        script=replace(made.script, output="````\n### not a heading\n\x1b[1mbold\x1b[0m"),
    )
    text = draft(made)
    outside, fence = [], ""
    for line in text.splitlines():
        mark = line[: len(line) - len(line.lstrip("`"))]
        if len(mark) >= 3 and not fence:
            fence = mark
        elif fence and line == fence:
            fence = ""
        elif not fence:
            outside.append(line)
    assert not fence
    assert not any("<script>" in line or "<img" in line.replace("\\<", "") for line in outside)
    assert sum(line.startswith("# ") for line in outside) == 1
    assert "\x1b" not in text


def test_what_flakes_or_is_known_is_said() -> None:
    text = draft(replace(reported(), shown=2, known="keras#1"))
    assert "It shows in 2 of 3 runs." in text
    assert "keras\\#1" in text


def test_a_long_output_is_shortened() -> None:
    made = reported()
    assert made.script is not None
    assert len(draft(replace(made, script=replace(made.script, output="x" * 10**6)))) < 20_000


def test_a_draft_says_where_the_values_of_a_part_come_from() -> None:
    made = reported("onnxruntime")
    assert "another runtime" not in draft(made)
    part = Script("# Cut down to what matters of the 5 operators", "main", True, 1, "")
    assert "comes from another runtime" in draft(replace(made, script=part))
