"""The collection of this repository: what is committed is what the command would write, and people have judged it."""

from pathlib import Path

import pytest

from cometfuzz.execution.environments import known_names
from cometfuzz.reports.collection import DOCUMENT, INDEX, filled, index_text
from cometfuzz.triage.collection import Collection

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def collection() -> Collection:
    return Collection.read(ROOT / "bugs")


def test_the_index_is_current(collection: Collection) -> None:
    assert (collection.folder / INDEX).read_text() == index_text(collection), "run `cometfuzz collect`"


def test_the_tables_are_current(collection: Collection) -> None:
    text = (ROOT / DOCUMENT).read_text()
    assert text == filled(text, collection, DOCUMENT), "run `cometfuzz collect`"


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
