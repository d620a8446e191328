"""The page of all experiments: every section in the order of the questions, and nothing that a stranger wrote."""

from pathlib import Path

import pytest

from cometfuzz.errors import InvalidCampaign
from cometfuzz.evaluation.page import page, section, sections

TABLE = {"after 3 cases": (["arm", "inputs"], [["directed|x", "9.0 (69.7)"]])}


def test_sections_stand_in_the_order_of_the_questions_each_with_its_command(tmp_path: Path) -> None:
    for name, folder in (("sigma", "sigma"), ("rq2", "rq1"), ("rq1", "rq1"), ("of somebody", "x")):
        section(name, f"cometfuzz evaluate {name}", "2 cores", TABLE, ["How."], ["Theirs."]).save(tmp_path / folder)
    found = sections(tmp_path)
    assert [each.name for each in found] == ["rq1", "rq2", "sigma", "of somebody"]
    text = page(found, "cometfuzz evaluate page x")
    parts = text.split("\n## ")
    assert [part.splitlines()[0] for part in parts[1:3]] == [
        "RQ1: how much do models cover?",
        "RQ2: which bugs are found?",
    ]
    for part, each in zip(parts[1:], found, strict=True):
        assert f"    {each.command}\n" in part
        assert "| directed\\|x | 9.0 (69.7) |" in part
        assert "- Theirs." in part
    assert "    cometfuzz evaluate page x" in parts[0]


def test_what_is_no_section_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidCampaign, match="received none with a section"):
        sections(tmp_path)
    section("rq1", "c", "m", TABLE).save(tmp_path / "a")
    section("rq1", "c", "m", TABLE).save(tmp_path / "b")
    with pytest.raises(InvalidCampaign, match="expected one rq1; received another one"):
        sections(tmp_path)
    section("rq1", "c", "m", {"t": (["a", "b"], [["1"]])}).save(tmp_path / "b")
    with pytest.raises(InvalidCampaign, match="rows are not of one length"):
        sections(tmp_path / "b")
    (tmp_path / "b" / "section-rq1.json").write_text("[" * 9)
    with pytest.raises(InvalidCampaign, match="expected a section"):
        sections(tmp_path / "b")
