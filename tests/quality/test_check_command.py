"""`cometfuzz check` as a user calls it, on routes that need no DL library: what it says, and its exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_exit_codes import command, ended, project

from cometfuzz.catalogue.files import load, save
from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge

__all__ = ["project"]

SMALL, LARGE = (1, 8, 8, 2), (1, 32, 32, 512)
"""Inputs of a model below the size up to which the reference judges, and of one above it, with a large Dense."""


def write(project: Path, shape: tuple[int, ...], *layers: tuple[str, dict[str, Any]]) -> None:
    pooling = ("AveragePooling2D", {"pool_size": (3, 3), "strides": (1, 1), "padding": "same"})
    layers = (("Dense", {"units": 512}),) if shape == LARGE else layers
    drafts = [Draft("x", "input", {"shape": shape, "dtype": "float32"}, ())]
    for number, (layer, params) in enumerate((*layers, pooling)):
        drafts.append(Draft(f"n{number}", layer, params, (Edge(drafts[-1].id),)))
    save(Case(assemble(drafts, [Edge(drafts[-1].id)]), 1), project / "case.json")


def check(project: Path, routes: str, *arguments: str) -> tuple[int, Any]:
    code, said = ended(command(project, "check", "case.json", "--routes", routes, "--json", *arguments))
    return code, json.loads(said)


@pytest.mark.parametrize(
    ("shape", "routes", "code", "verdicts"),
    [
        (SMALL, "clean-a,clean-b", 0, ["agrees", "agrees"]),
        (SMALL, "clean-a", 0, ["agrees"]),
        (SMALL, "clean-a,faulty", 1, ["agrees", "disagrees"]),
        (SMALL, "clean-a,nowhere", 3, ["agrees", "not judged"]),
        (SMALL, "nowhere", 3, ["not judged"]),
        (LARGE, "clean-a,clean-b", 0, ["agrees", "agrees"]),
        (LARGE, "clean-a,clean-b,faulty", 1, ["agrees", "agrees", "disagrees"]),
        (LARGE, "clean-a", 3, ["not judged"]),
    ],
)
def test_verdicts_and_exit_codes(
    project: Path, shape: tuple[int, ...], routes: str, code: int, verdicts: list[str]
) -> None:
    write(project, shape)
    seen, said = check(project, routes)
    assert (seen, [route["verdict"] for route in said["routes"]]) == (code, verdicts)
    assert said["exit_code"] == code
    assert said["judged_by"] == ("routes" if shape == LARGE else "reference")
    assert said["warnings"] == []
    symptoms = {route["symptom"] for route in said["routes"]} - {None}
    assert symptoms == ({"nonfinite"} if "disagrees" in verdicts else set())


def test_a_warning_where_nothing_is_proved(project: Path) -> None:
    """ReLU that lets nothing through: no input and no kernel makes the output vary."""
    write(project, SMALL, ("ReLU", {"max_value": 0.0}))
    code, said = check(project, "clean-a,clean-b")
    assert (code, said["varies"], said["tries"]) == (0, False, 8)
    assert "does not depend on the input" in said["warnings"][0]
    code, text = ended(command(project, "check", "case.json", "--routes", "clean-a,clean-b"))
    assert "Warning: The output (n1) does not depend on the input" in text
    assert "All routes agree." in text


def test_the_case_can_be_kept(project: Path) -> None:
    write(project, SMALL)
    code, _ = check(project, "clean-a", "--keep", "kept.json")
    assert code == 0
    assert set(load(project / "kept.json").data) == {"x"}


def test_the_text_says_what_is_wrong_and_how_many(project: Path) -> None:
    write(project, SMALL)
    code, text = ended(command(project, "check", "case.json", "--routes", "clean-a,faulty,nowhere"))
    text = " ".join(text.split())
    assert code == 1
    assert "Of 3 routes: 1 agree, 1 disagree, 1 not judged." in text
    assert "faulty: disagrees. nonfinite: AveragePooling2D" in text
    assert "known: no" in text
    assert "cometfuzz reduce case.json --route faulty" in text
    assert "nowhere: not judged. unavailable" in text
    assert "received name='nowhere'" in text
