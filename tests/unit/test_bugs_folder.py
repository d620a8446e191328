"""The collection of this repository: what is committed is what the command would write, and people have judged it."""

import re
from pathlib import Path

import msgspec
import pytest

from cometfuzz.execution.environments import known_names
from cometfuzz.ledger.defect import Applies, Seen
from cometfuzz.ledger.reading import read
from cometfuzz.reports.collection import DOCUMENT, INDEX, filled, index_text
from cometfuzz.reports.support_matrix import DOCUMENT as MATRIX
from cometfuzz.reports.support_matrix import support_matrix
from cometfuzz.routes.registry import LIBRARIES, ROUTES
from cometfuzz.triage.collection import Collection
from cometfuzz.triage.draft import DOCUMENT as DRAFTS
from cometfuzz.triage.draft import draft_of, prose, with_drafts
from cometfuzz.triage.example import EXAMPLE, MAX_LINES, PRINTED, read_example

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def collection() -> Collection:
    return Collection.read(ROOT / "bugs")


def test_the_index_is_current(collection: Collection) -> None:
    assert (collection.folder / INDEX).read_text() == index_text(collection), "run `cometfuzz collect`"


def test_the_tables_are_current(collection: Collection) -> None:
    text = (ROOT / DOCUMENT).read_text()
    assert text == filled(text, collection, DOCUMENT), "run `cometfuzz collect`"


def test_the_support_matrix_is_current() -> None:
    assert (ROOT / MATRIX).read_text() == support_matrix(read(ROOT / "bugs"), "bugs"), "run `cometfuzz collect`"


def test_the_support_matrix_names_what_stands_against_every_call_and_leaves_out_what_the_pins_have_mended() -> None:
    entries = read(ROOT / "bugs")
    limit = entries["keras-mxnet-groups"]
    every = msgspec.structs.replace(limit, applies=(Applies(("keras-mxnet",), ("ReLU",)),))
    page = support_matrix({limit.id: every}, "bugs")
    assert f"- keras-mxnet, ReLU: [{limit.id}](../bugs/{limit.id}/)" in page
    assert "| ReLU | all |" in page
    elsewhere = msgspec.structs.replace(every, seen=(Seen({"keras-mxnet": "0.1"}),))
    assert limit.id not in support_matrix({limit.id: elsewhere}, "bugs")


def test_the_drafts_are_current(collection: Collection) -> None:
    old = [entry.slug for entry in collection.entries if entry.bug.draft != draft_of(entry)]
    assert not old, "run `cometfuzz collect`"
    text = (ROOT / DRAFTS).read_text()
    assert text == with_drafts(text, collection), "run `cometfuzz collect`"


def test_a_draft_begins_with_its_entry(collection: Collection) -> None:
    for entry in collection.entries:
        if entry.defect.counted:
            title, tracker, _, first, *_ = entry.bug.draft.split("\n\n")
            assert title.endswith(prose(entry.defect.title))
            assert tracker.startswith(f"<!-- for {LIBRARIES[entry.defect.library].tracker.address}")
            assert first == prose(entry.defect.why)


def test_a_draft_needs_no_name_of_our_routes(collection: Collection) -> None:
    """Except in what people wrote, and in the attached script, which is as it was verified."""
    ours = "|".join(re.escape(name) for name in sorted({*ROUTES} - {*LIBRARIES}, key=len, reverse=True))
    for entry in collection.entries:
        text = entry.bug.draft.partition("<details>")[0]
        text = text.replace(prose(entry.defect.why), "").replace(prose(entry.defect.title), "")
        assert not re.findall(rf"(?<![\w/-])(?:{ours})(?![\w-])", text), entry.slug


def test_each_example_is_short_and_was_run(collection: Collection) -> None:
    found = [entry for entry in collection.entries if entry.files.kind(EXAMPLE)]
    assert len(found) >= 12
    for entry in found:
        assert len((entry.folder / EXAMPLE).read_text().splitlines()) <= MAX_LINES, entry.slug
        printed = (entry.folder / PRINTED).read_text()
        assert re.search("^Actual:", printed, re.MULTILINE), entry.slug
        assert re.search("^Expected:", printed, re.MULTILINE), entry.slug
        example = read_example(entry.files)
        assert example is not None
        assert example.actual != example.expected, f"{entry.slug}: it shows nothing"


def test_each_counted_bug_says_why_it_is_one(collection: Collection) -> None:
    assert not [each.slug for each in collection.entries if each.defect.counted and not each.defect.why.strip()]


def test_each_script_has_its_environment_and_its_date(collection: Collection) -> None:
    for entry in collection.entries:
        assert entry.bug.script is not None
        assert entry.bug.script.environment in known_names(), entry.slug
        assert entry.defect.verified is not None, f"{entry.slug}: run `cometfuzz verify bugs --stamp`"


def test_no_file_tells_of_the_machine_that_found_it(collection: Collection) -> None:
    for path in sorted(collection.folder.rglob("*")):
        if path.is_file():
            assert not [place for place in ("/root/", "/home/", "/work/") if place in path.read_text()], path
