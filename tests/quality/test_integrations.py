"""What the GitHub Action and the GitLab job run, as they run it: the script, with the reports that it leaves."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree
from test_exit_codes import project

__all__ = ["project"]
CHECKOUT = Path(__file__).parents[2]
SCRIPT = CHECKOUT / "integrations" / "guard.sh"
REPORTS = ["campaign", "cometfuzz.sarif", "junit.xml", "pages", "summary.md"]


def guard(project: Path, *arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """The script as CI runs it, where `cometfuzz` is installed."""
    binaries = project / "bin"
    binaries.mkdir(exist_ok=True)
    (binaries / "cometfuzz").write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m cometfuzz "$@"\n')
    (binaries / "cometfuzz").chmod(0o755)
    paths = os.pathsep.join((str(project / "site"), str(Path(__file__).parent)))
    usual = {"PYTHONPATH": paths, "COMETFUZZ_PLUGINS": "", "TERM": "dumb"}
    usual["PATH"] = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", str(SCRIPT), *arguments],
        cwd=project,
        env={**os.environ, **usual, **environ},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(("routes", "code"), [("clean-a,clean-b,faulty", 1), ("clean-a,clean-b", 0)])
def test_it_fails_over_new_bugs_and_leaves_its_reports(project: Path, routes: str, code: int) -> None:
    summary = project / "step-summary.md"
    summary.write_text("# another step\n")
    ended = guard(project, "found", "--cases", "6", "--routes", routes, GITHUB_STEP_SUMMARY=str(summary))
    assert ended.returncode == code, ended
    assert sorted(path.name for path in (project / "found").iterdir()) == REPORTS
    failed = etree.parse(str(project / "found" / "junit.xml")).getroot().get("failures")
    results = json.loads((project / "found" / "cometfuzz.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["nonfinite"] * code
    assert failed == str(code)
    assert (project / "found" / "pages" / "index.html").is_file()
    assert summary.read_text() == "# another step\n" + (project / "found" / "summary.md").read_text()


def test_errors_are_those_of_the_command(project: Path) -> None:
    ended = guard(project)
    assert (ended.returncode, ended.stderr[:18]) == (2, "expected a folder,")
    ended = guard(project, "found", "--routes", "no-such-route")
    assert ended.returncode == 2
    assert "received route='no-such-route'" in ended.stderr
    assert list((project / "found").iterdir()) == []
    ended = guard(project, "found", "--cases", "2", ENVIRONMENTS="no-such-environment")
    assert ended.returncode == 3
    assert "no-such-environment" in ended.stderr


def test_action_and_job_call_the_script_with_what_it_reads() -> None:
    action, job = (CHECKOUT / "action.yml").read_text(), (CHECKOUT / "integrations" / "gitlab.yml").read_text()
    script = SCRIPT.read_text()
    for text in (action, job):
        assert "integrations/guard.sh" in text
        for name in ("COMETFUZZ_CACHE", "COMETFUZZ_LEDGER", "ENVIRONMENTS"):
            assert re.search(rf"^\s+{name}: ", text, re.MULTILINE), name
    assert "${ENVIRONMENTS:-}" in script
    declared = re.findall(r"^  ([a-z-]+):\n    description:", action, re.MULTILINE)
    assert sorted(declared) == sorted(set(re.findall(r"inputs\.([a-z-]+)", action)))
    for report in ("cometfuzz.sarif", "junit.xml"):
        assert f'"$folder/{report}"' in script
        assert report in action + job
