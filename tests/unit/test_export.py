"""Export: the rows of a campaign, streamed, and safe to open in a spreadsheet."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from stand_in import FINDING, SETTINGS, campaign, fresh, result
from typer.testing import CliRunner

from cometfuzz.campaign.events import Executed
from cometfuzz.campaign.export import FINDINGS, OUTCOMES, write_csv
from cometfuzz.campaign.store import Store
from cometfuzz.cli import app
from cometfuzz.execution.policy import cut
from cometfuzz.ir.codec import case_id

LIBRARY_TEXT = "=HYPERLINK(1)\n\0\ud800"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cases: the first with a part of itself as well, on other routes."""
    folder = tmp_path_factory.mktemp("export") / "a campaign"
    first, second = islice(campaign(fresh()), 2)
    part = cut(first.case, [first.case.graph.nodes[-1].id], 3)
    assert part is not None
    failing = replace(result("openvino", "exception", "+1"), failure={"type": "RuntimeError", "message": LIBRARY_TEXT})
    declared = replace(FINDING, defect="known", detail=LIBRARY_TEXT)
    parts = (*first.parts, Executed(1, part, case_id(part), [failing], math.nan, [declared]))
    with Store.create(folder, SETTINGS) as store:
        store.handle(replace(first, parts=parts))
        store.handle(second)
    return folder


def exported(folder: Path, *arguments: str) -> str:
    ended = CliRunner().invoke(app, ["export", str(folder), *arguments])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_one_row_per_case_and_route(folder: Path) -> None:
    text = exported(folder, "--csv")
    rows = rows_of(text)
    assert tuple(rows[0]) == OUTCOMES
    assert [(row["index"], row["part"], row["route"]) for row in rows] == [
        ("0", "0", "keras-tf"),
        ("0", "0", "keras-torch"),
        ("0", "1", "openvino"),
        ("1", "0", "keras-tf"),
        ("1", "0", "keras-torch"),
    ]
    assert rows[2]["case_id"] != rows[1]["case_id"] == rows[0]["case_id"]
    assert [row["findings"] for row in rows] == ["1", "1", "0", "1", "1"]
    assert (rows[0]["d_mad"], rows[2]["d_mad"]) == ("0.25", "nan")
    assert (rows[0]["failure"], rows[2]["failure"], rows[2]["mean_magnitude"]) == ("", "RuntimeError", "")
    assert (rows[0]["versions"], rows[0]["gained_full"], rows[0]["executed"]) == ("keras=3.12", "2", "true")
    assert int(rows[3]["paper_inputs"]) >= int(rows[0]["paper_inputs"]) > 0


def test_no_cell_is_a_formula(folder: Path) -> None:
    for arguments in (["--csv"], ["--findings"]):
        cells = [cell for row in rows_of(exported(folder, *arguments)) for cell in row.values()]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    row = rows_of(exported(folder))[2]
    assert (row["message"], row["detail"]) == ("'=HYPERLINK(1)\n\\0\\ud800", "'+1")
    assert json.loads(exported(folder, "--json").splitlines()[2])["message"] == LIBRARY_TEXT


def test_numbers_are_not_taken_for_formulas() -> None:
    file = io.StringIO()
    write_csv([{"a": -1.5, "b": None, "c": -math.inf, "d": False}], ("a", "b", "c", "d"), file)
    assert file.getvalue() == "a,b,c,d\n-1.5,,-inf,false\n"


def test_one_row_per_finding(folder: Path) -> None:
    rows = rows_of(exported(folder, "--findings"))
    assert tuple(rows[0]) == FINDINGS
    assert [(row["index"], row["part"], row["counts"], row["defect"]) for row in rows] == [
        ("0", "0", "true", ""),
        ("0", "1", "false", "known"),
        ("1", "0", "true", ""),
    ]
    assert (rows[0]["routes"], rows[0]["others"]) == ("keras-tf", "keras-torch reference")
    assert rows[0]["key"] == FINDING.key


def test_a_file_has_what_standard_output_has(folder: Path, tmp_path: Path) -> None:
    for arguments in (["--csv"], ["--json"], ["--findings", "--json"]):
        file = tmp_path / "rows"
        assert exported(folder, *arguments, "-o", str(file)) == ""
        assert file.read_bytes().decode() == exported(folder, *arguments)


def strict(constant: str) -> None:
    raise ValueError(constant)


def test_json_is_json(folder: Path) -> None:
    rows: Sequence[dict[str, object]] = [
        json.loads(line, parse_constant=strict) for line in exported(folder, "--json").splitlines()
    ]
    assert tuple(rows[0]) == OUTCOMES
    assert rows[2]["d_mad"] == "nan"


def test_every_column_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "store.md").read_text()
    assert not [name for name in (*OUTCOMES, *FINDINGS) if f"`{name}`" not in page]
