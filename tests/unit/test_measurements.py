"""The numbers of the docs: README.md quotes records as they are, and docs/measurements.md is made from them."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from cometfuzz.places import Place
from cometfuzz.triage.example import read_example

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def measurements() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measurements", ROOT / "experiments" / "measurements.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_readme_quotes_is_what_was_measured(measurements: ModuleType) -> None:
    assert measurements.wrong_quotes(README, measurements.read()) == []
    assert len(list(measurements.quotes(README))) > 10


def test_every_number_of_readme_names_its_record(measurements: ModuleType) -> None:
    assert measurements.unquoted(README) == []


def test_the_page_is_current_and_says_where_each_number_is_from(measurements: ModuleType) -> None:
    records = measurements.read()
    assert (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8") == measurements.page(records)
    for name, record in records.items():
        assert record.date, name
        assert record.taken_over or name in measurements.MEASUREMENTS, name
        assert record.taken_over or (record.command and record.machine and record.versions), name


def test_a_wrong_or_bare_number_is_seen(measurements: ModuleType) -> None:
    records = measurements.read()
    bugs = records["bugs"].numbers["counted"]
    assert measurements.wrong_quotes(f"{bugs}<!-- bugs.counted -->", records) == []
    assert measurements.wrong_quotes(f"{bugs + 1}<!-- bugs.counted -->", records) == [
        f"expected {bugs} of bugs.counted; received {bugs + 1}"
    ]
    assert measurements.requoted(f"all {bugs + 1}<!-- bugs.counted -->", records) == f"all {bugs}<!-- bugs.counted -->"
    assert measurements.wrong_quotes("1<!-- nobody.counted -->", records) == [
        "expected None of nobody.counted; received 1"
    ]
    assert measurements.unquoted("Keras 3 has 17 bugs, 12.5% of `99`; 3<!-- bugs.counted --> more") == ["17", "12.5%"]


def test_what_the_repository_itself_counts_is_counted_anew(measurements: ModuleType) -> None:
    records = measurements.read()
    assert records["routes"].numbers == measurements.routes(), "run `make measurements names=routes`"
    told = "{counted} bugs in {libraries} libraries, and {not_counted} that are not counted".format(
        **records["bugs"].numbers
    )
    assert told in (ROOT / "bugs" / "README.md").read_text(encoding="utf-8"), "run `make measurements names=bugs`"


def test_the_bug_of_readme_is_one_of_the_collection_as_it_was_run() -> None:
    example = read_example(Place(ROOT / "bugs" / "keras-tf-add-value"))
    assert example is not None
    code, printed = re.findall(r"```(?:python|text)\n(.*?)```", README, re.DOTALL)
    assert code.split() == example.text.split()
    assert f"Actual:   {example.actual}\nExpected: {example.expected}\n" == printed
