"""`cometfuzz compare` on routes of a package from outside: two toy libraries, one with a planted fault."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_exit_codes import command, ended
from test_exit_codes import project as project

from cometfuzz.campaign.records import Records

CASES = ("--cases", "6", "--jobs", "1")


def compare(project: Path, old: str, new: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    process = command(project, "compare", old, new, "--json", *arguments, stderr=subprocess.DEVNULL)
    printed, _ = process.communicate(timeout=300)
    return process.returncode, json.loads(printed) if printed else {}


def test_a_planted_fault_on_the_new_side_is_a_regression_and_fails_the_build(project: Path) -> None:
    code, found = compare(project, "clean-a", "faulty", *CASES, "--out", "c", "--fail-on", "regression")
    assert code == 1
    assert found["counts"]["regression"] >= 1
    assert found["counts"]["repair"] == found["counts"]["not offered"] == 0
    first = found["differences"][0]
    assert (first["kind"], first["proved"], first["library"]) == ("regression", True, "faulty")
    assert first["routes"] == {"old": "clean-a", "new": "faulty"}
    assert (project / "c" / "report" / "compare.html").is_file()
    with Records(project / "c") as records:  # a campaign's folder like any other
        assert records.done == 6
        assert {bug.id for bug in records.bugs()} >= {each["id"] for each in found["differences"]}
    again, same = compare(project, "clean-a", "faulty", *CASES, "--out", "c")
    assert again == 0  # without --fail-on a regression is no failure
    assert same["differences"] == found["differences"]


def test_the_other_way_round_it_is_a_repair(project: Path) -> None:
    code, found = compare(project, "faulty", "clean-a", *CASES, "--fail-on", "regression")
    assert code == 0
    assert found["counts"]["repair"] >= 1
    assert found["counts"]["regression"] == 0


def test_clean_libraries_do_not_differ(project: Path) -> None:
    code, found = compare(project, "clean-a", "clean-b", "--cases", "3", "--jobs", "1", "--fail-on", "regression")
    assert (code, found["differences"], found["waiting"]) == (0, [], 0)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["clean-a", "nowhere"], 3, "nowhere"),
        (["clean-a", "clean-b", "--out", "campaign"], 2, "expected a comparison of"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(project: Path, arguments: list[str], code: int, words: str) -> None:
    if "campaign" in arguments:
        routes = ("--routes", "clean-a,clean-b")
        ended(command(project, "run", *routes, "--cases", "1", "--out", "campaign", "--quiet"))
    got, said = ended(command(project, "compare", *arguments, "--cases", "1"))
    assert (got, words in " ".join(said.split())) == (code, True), said
