"""Issue drafts follow the tracker's form, and no text of a library gets out of its fence."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from bugs import bug, finding, pooling
from typer.testing import CliRunner

from cometfuzz.cli import app
from cometfuzz.ir.codec import encode
from cometfuzz.oracles.finding import Camp
from cometfuzz.oracles.symptoms import SYMPTOMS
from cometfuzz.routes.libraries import ONNXRUNTIME
from cometfuzz.routes.registry import LIBRARIES, library_named
from cometfuzz.triage.blame import AGAINST
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.collection import Collected, Collection
from cometfuzz.triage.draft import FOUND, draft, draft_of, write_drafts
from cometfuzz.triage.duplicates import queries, told_by
from cometfuzz.triage.example import Example, core_of, essence, printed_by, read_example
from cometfuzz.triage.fuzzer_rules import rules_text
from cometfuzz.triage.running import Ran


def reported(library: str = "torch", **more: object) -> Bug:
    made = bug(pooling(), finding("keras-torch", library=library, **more), role=f"runtime {library}")
    script = Script("import keras\nprint(keras.hello())\n", "main", True, 1, "expected: [2.0]\nseen: [1.75]")
    return replace(made, script=script)


def collected(folder: Path, text: str, bug: Bug | None = None) -> Collected:
    _, entry = Collection.read(folder).add(bug or reported())
    (entry.folder / "defect.toml").write_text(text)
    return Collection.read(folder).entries[0]


ENTRY = """
title = "hello(x) gives 1.75 for 2"
why = "It rounds towards zero; see hello.py, line 3."
library = "onnxruntime"
documentation = "https://example.org/hello"
upstream = [{ link = "https://example.org/issues/7", state = "open" }]
seen = [{ versions = { onnxruntime = "1.31.1" }, cpu = "x86-64-v4" }, { versions = { onnxruntime = "1.32.0.dev1" } }]
fixed = [{ versions = { onnxruntime = "1.30.0" } }]
"""


def test_a_draft_says_what_its_entry_says(tmp_path: Path) -> None:
    text = draft_of(collected(tmp_path, ENTRY))
    title, tracker, heading, why, *_ = text.split("\n\n")
    assert title == "# hello(x) gives 1.75 for 2"
    assert tracker == "<!-- for https://github.com/microsoft/onnxruntime/issues -->"
    assert heading == "### Describe the issue"
    assert why == "It rounds towards zero; see hello.py, line 3."
    for part in (
        "Documentation: https://example.org/hello",
        "Related: https://example.org/issues/7 (open).",
        "- Shows with onnxruntime 1.31.1, ",
        "- Shows with onnxruntime 1.32.0.dev1 (nightly)",
        "- Does not show with onnxruntime 1.30.0",
        "- Linux, CPU (x86-64-v4), Python",
        FOUND,
        "<details><summary>A script",
    ):
        assert part in text


def test_an_example_takes_the_place_of_the_script(tmp_path: Path) -> None:
    entry = collected(tmp_path, ENTRY)
    (entry.folder / "example.py").write_text("import hello\nhello.world(2.0)\n")
    (entry.folder / "example.txt").write_text("Expected: 2.0\nActual:   1.75\nand a warning\n")
    text = draft_of(entry)
    for part in ("```python\nimport hello\nhello.world(2.0)\n```", "```\n1.75\nand a warning\n```", "```\n2.0\n```"):
        assert part in text
    assert "Others that give it" not in text


def test_collecting_writes_drafts_as_their_entries_are(tmp_path: Path) -> None:
    entry = collected(tmp_path, ENTRY)
    write_drafts(Collection(tmp_path, (entry,)))
    assert (entry.folder / "issue.md").read_text() == draft_of(entry)


RAISED = """Traceback (most recent call last):
  File "/usr/lib/site-packages/a.py", line 1, in f
    f()
^^^
package.errors.OddError: Exception encountered when calling F.call().

\x1b[1mcannot do it\x1b[0m

Arguments received by F.call():
  x=1
"""


@pytest.mark.parametrize(
    ("ran", "shown"),
    [
        (Ran(0, "Actual:   1\nExpected: 2\n", "noise"), "Actual:   1\nExpected: 2\n"),
        (Ran(1, "Expected: 2\n", RAISED), "Expected: 2\nActual:   OddError: cannot do it\n"),
        (Ran(-11, "", ""), "Actual:   the process dies with SIGSEGV\n"),
        (Ran(None, "", "", "killed after 9 s"), "Actual:   killed after 9 s\n"),
    ],
)
def test_what_is_kept_of_an_example_is_what_a_person_sees(ran: Ran, shown: str) -> None:
    assert printed_by(ran) == shown


def test_the_core_of_a_script_is_what_does_not_guard_it() -> None:
    text = """import sys
try:
    import keras
except ImportError as error:
    sys.exit(2)

print("versions:", keras.__version__)
x = keras.ops.ones(3)
print("expected: no exception")
try:
    y = keras.f(
        x
    )
except Exception as error:
    print(f"seen: {error}")
    sys.exit(1)
print("seen: no exception")
"""
    output = "versions: 1\nexpected: no exception\nseen: ValueError: no"
    core = core_of(replace(reported(), script=Script(text, "main", True, 1, output)))
    assert core is not None
    assert core.text == "import keras\nx = keras.ops.ones(3)\ny = keras.f(\n    x\n)"
    assert (core.actual, core.expected) == ("ValueError: no", "")
    broken = core_of(replace(reported(), script=Script("def (", "main", True, 1, output)))
    assert broken is not None
    assert broken.text == ""


def test_no_example_is_none(tmp_path: Path) -> None:
    assert read_example(collected(tmp_path, ENTRY).files) is None


def test_a_long_message_is_shortened() -> None:
    assert len(essence("x" * 10**6)) < 1000
    assert essence("E: y\n" * 100).count("\n") < 10


def test_words_to_look_for_are_those_of_the_example() -> None:
    text = (
        "import keras\nx = keras.ops.ones(3)\nkeras.layers.PReLU(shared_axes=[-1])(x)\nkeras.layers.Activation('glu')"
    )
    assert told_by(text) == (["PReLU", "Activation"], ["shared_axes", "glu"])
    assert told_by('m = parse("""h = Pad(x, p)\ny = AveragePool <kernel_shape=[2]> (h)""")')[0] == [
        "Pad",
        "AveragePool",
    ]
    assert told_by("def (") == ([], [])


def test_duplicates_are_looked_for_in_the_tracker(tmp_path: Path) -> None:
    entry = collected(tmp_path, ENTRY, reported(symptom="crash"))
    example = Example("torch.f(2)", "E\nValueError: [X] cannot do it (3)", "", True)
    found = queries(entry.defect, entry.bug, example, ONNXRUNTIME.tracker)
    assert [query.words for query in found] == ["f", "ValueError cannot do it", "f error"]
    assert found[1].address.endswith("/onnxruntime/issues?q=is%3Aissue+ValueError+cannot+do+it")
    without = queries(entry.defect, entry.bug, None, ONNXRUNTIME.tracker)
    assert without[0].words == "AveragePooling1D"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("expected: [2.0]\nseen: [1.75]", "The difference is beyond PyTorch's default tolerances for float32"),
        ("expected: [2.0]\nseen: [2.000001]", "The difference is within PyTorch's default tolerances"),
        ("expected: [2.0]\nseen: [[2.0, 1.0]]", "The difference is beyond"),
        ("expected: [2.0]\nseen: [nan]", "Compare with PyTorch's default tolerances"),
        ("seen: 3", "Compare with"),
    ],
)
def test_pytorch_s_rules_are_held_against_what_was_printed(output: str, said: str) -> None:
    assert rules_text(replace(reported(), script=Script("", "main", True, 1, output)), None).startswith(said)


def test_pytorch_s_rules_are_met_by_an_example_that_compares() -> None:
    example = Example("torch.testing.assert_close(y, baseline)", "", "", True)
    assert "float64 baseline" in rules_text(reported(), example)
    assert rules_text(reported(symptom="crash"), example) == ""
    assert "labels: topic: fuzzer" in draft(reported())


def headings(text: str) -> list[str]:
    return [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]


def test_every_library_that_a_stage_is_blamed_on_has_a_tracker_but_ourselves() -> None:
    assert {name for name, library in LIBRARIES.items() if not library.tracker.address} == {"reference", "cometfuzz"}


@pytest.mark.parametrize("library", [*LIBRARIES, "somebody else's"])
def test_a_draft_has_the_form_of_its_tracker_and_all_that_it_needs(library: str) -> None:
    made = reported(library)
    made = replace(made, versions={**made.versions, library: "9.9"})
    text = draft(made)
    assert headings(text) == [heading for heading, _ in library_named(library).tracker.sections]
    for part in ("a title", "print(keras.hello())", "[1.75]", "9.9", "Keras 3 on JAX", "float64"):
        assert part in text


def test_versions_are_those_of_what_takes_part() -> None:
    made = reported()
    text = draft(replace(made, versions={"keras": "3.15.1", "torch": "2.13.0", "mxnet": "1.9.1"}))
    assert "torch 2.13.0" in text
    assert "mxnet" not in text


def test_who_is_blamed_is_said_unless_it_is_everybody() -> None:
    made = reported()
    assert "(runtime torch)" in draft(made)
    assert AGAINST not in draft(replace(made, blame=replace(made.blame, role=AGAINST)))


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
    assert "Others that give it: Keras 3 on TensorFlow." in text


def test_every_symptom_has_its_words() -> None:
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
    assert not any("<script>" in line or "<img" in line for line in outside)
    assert sum(line.startswith("# ") for line in outside) == 1
    assert "\x1b" not in text


def test_what_flakes_or_is_known_is_said() -> None:
    text = draft(replace(reported(), shown=2, known="keras#1"))
    assert "It shows in 2 of 3 runs." in text
    assert "Known: keras#1" in text


def test_a_long_output_is_shortened() -> None:
    made = reported()
    assert made.script is not None
    assert len(draft(replace(made, script=replace(made.script, output="x" * 10**6)))) < 20_000


def test_a_draft_says_where_the_values_of_a_part_come_from() -> None:
    made = reported("onnxruntime")
    assert "another runtime" not in draft(made)
    part = Script("# Cut down to what matters of the 5 operators", "main", True, 1, "")
    assert "comes from another runtime" in draft(replace(made, script=part))


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["draft", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_prints_a_draft_and_what_to_look_for(tmp_path: Path) -> None:
    entry = collected(tmp_path / "bugs", ENTRY)
    place = str(tmp_path / "bugs")
    assert printed(place, entry.slug) == draft_of(entry)
    told = json.loads(printed(place, entry.slug, "--json"))
    assert told["text"] == draft_of(entry)
    assert told["upstream"] == ["https://example.org/issues/7"]
    assert told["search"][0]["address"].startswith("https://github.com/microsoft/onnxruntime/issues?q=")
    printed(place, entry.slug, "--out", str(tmp_path / "draft.md"))
    assert (tmp_path / "draft.md").read_text() == draft_of(entry)


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["draft", *arguments])
    assert result.exit_code != 0
    return str(result.exception or "") + result.output


def test_an_entry_without_a_record_has_a_draft_if_it_has_something_to_show(tmp_path: Path) -> None:
    collected(tmp_path / "bugs", ENTRY)
    place, alone = str(tmp_path / "bugs"), tmp_path / "bugs" / "written-by-hand"
    alone.mkdir()
    rule = '[[applies]]\nroutes = ["onnxruntime"]\nsymptom = "value"\nnote = "hello(2) is 1.75"\n'
    (alone / "defect.toml").write_text(ENTRY + rule)
    assert "written-by-hand: expected case.json" in refused(place, alone.name)
    (alone / "case.json").write_bytes(encode(pooling()))
    assert "expected script.py or example.py" in refused(place, alone.name)
    (alone / "script.py").write_text("import hello\nprint(hello.hello(2))\n")
    text = printed(place, alone.name)
    assert text.startswith("# hello(x) gives 1.75 for 2\n")
    assert "It rounds towards zero; see hello.py, line 3." in text
    assert "print(hello.hello(2))" in text
    assert "hello(2) is 1.75" in text
    (alone / "script.py").unlink()
    (alone / "example.py").write_text("print('Actual:', 1.75)\nprint('Expected:', 2)\n")
    (alone / "example.txt").write_text("Actual: 1.75\nExpected: 2\n")
    assert "<details>" not in printed(place, alone.name)
    assert "Actual:\n\n```\n1.75\n```" in printed(place, alone.name)


def test_there_is_no_draft_without_why(tmp_path: Path) -> None:
    entry = collected(tmp_path / "bugs", 'title = "t"\nwhy = " "\nlibrary = "keras"\n')
    assert "defect.toml: expected why it is a bug" in refused(str(tmp_path / "bugs"), entry.slug)
