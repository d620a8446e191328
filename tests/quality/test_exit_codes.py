"""The exit codes of a campaign, by the real command line in a process of its own, on routes that need no DL library."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from cometfuzz.campaign.records import Records
from cometfuzz.config import usual_jobs

ROUTES = {
    "clean-a": "exit_routes:CLEAN_A",
    "clean-b": "exit_routes:CLEAN_B",
    "faulty": "exit_routes:FAULTY",
    "softer": "exit_routes:SOFTER",
    "nowhere": "exit_routes:NOWHERE",
    "broken": "exit_routes:BROKEN",
    "hanging": "exit_routes:HANGING",
}
POLICY = """
[policy]
base = ["clean-a", "clean-b", "faulty", "broken", "hanging"]
clear = []
only = []
converters = []
sampled = []
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A working folder with a configuration, and a package from outside that declares the routes."""
    (tmp_path / "cometfuzz.toml").write_text(POLICY)
    declared = tmp_path / "site" / "exit_routes-1.dist-info"
    declared.mkdir(parents=True)
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: exit-routes\nVersion: 1\n")
    lines = [f"{name} = {place}" for name, place in ROUTES.items()]
    (declared / "entry_points.txt").write_text("\n".join(["[cometfuzz.routes]", *lines, ""]))
    return tmp_path


def begin(project: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
    return command(project, "run", "--out", "campaign", "--quiet", *arguments, environ=environ)


def command(
    project: Path,
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> "subprocess.Popen[str]":
    paths = os.pathsep.join((str(project / "site"), str(Path(__file__).parent)))
    usual = {"PYTHONPATH": paths, "COMETFUZZ_PLUGINS": "", "COLUMNS": "100", "TERM": "dumb"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "cometfuzz", *arguments],
        cwd=project,
        env={**os.environ, **usual, **(environ or {})},
        stdout=stdout,
        stderr=stderr,
        text=True,
        start_new_session=True,
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    printed, errors = process.communicate(timeout=300)
    return process.returncode, printed + errors


def test_0_if_there_is_nothing_new(project: Path) -> None:
    code, said = ended(begin(project, "--routes", "clean-a,clean-b", "--cases", "5", "--fail-on", "new"))
    assert code == 0, said


def test_1_if_there_is_a_new_bug(project: Path) -> None:
    arguments = ("--routes", "clean-a,clean-b,faulty", "--cases", "6")
    code, said = ended(begin(project, *arguments, "--fail-on", "new"))
    assert code == 1, said
    with Records(project / "campaign") as records:
        assert {bug.signature.library for bug in records.bugs()} == {"faulty"}
        settled, counting = list(records.settled()), sum(found.finding.counts for found in records.findings())
        assert (len(settled), records.waiting()) == (counting, [])
        assert records.sightings() == Counter(each.bug_id for each in settled)
        assert {each.reason for each in settled if each.first} == {"no script can be written"}
    code, said = ended(command(project, "triage", "campaign", "--json"))
    again = json.loads(said)
    assert (code, again["new"], again["waiting"]) == (0, [], 0)
    assert again["findings"] == json.loads(json.dumps([asdict(each) for each in settled]))  # nothing was done twice
    code, said = ended(begin(project, *arguments, "--out", "another"))
    assert code == 0, said  # without --fail-on, what is found is no failure


def test_triage_of_several_findings_at_once_comes_to_the_same_bugs(project: Path) -> None:
    (project / "cometfuzz.toml").write_text(POLICY.replace("base = [", 'base = ["softer", '))
    arguments = ("--routes", "clean-a,clean-b,faulty,softer", "--cases", "12")
    assert ended(begin(project, *arguments))[0] == 0
    shutil.copytree(project / "campaign", project / "again")
    for folder, jobs in (("campaign", "1"), ("again", "3")):
        code, said = ended(command(project, "triage", folder, "--jobs", jobs, "--json"))
        assert code == 0, said
    with Records(project / "campaign") as one, Records(project / "again") as several:
        found = [replace(bug, triage_s=0.0) for bug in one.bugs()]
        assert {bug.signature.library for bug in found} == {"faulty", "softer"}
        assert [replace(bug, triage_s=0.0) for bug in several.bugs()] == found
        assert [replace(each, seconds=0.0) for each in several.settled()] == [
            replace(each, seconds=0.0) for each in one.settled()
        ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--routes", "no-such-route"], "received route='no-such-route'"),
        (["--fail-on", "old"], "Invalid value for '--fail-on'"),
        (["--strategy", "none"], "received strategy='none'"),
        (["--config", "missing.toml"], "missing.toml: No such file or directory"),
        (["--config", "/dev/zero"], "/dev/zero: expected a regular file"),
        (["--known", "missing.toml", "--fail-on", "new"], "missing.toml: No such file or directory"),
        (["--known", "missing.toml"], "missing.toml: No such file or directory"),
        (["--known", "wrong.toml", "--fail-on", "new"], "wrong.toml: issue[0]: expected a link or a note"),
        (["--known", "pipe", "--fail-on", "new"], "pipe: expected a regular file"),
        (["--config", "known.toml"], "missing.toml: No such file or directory"),
        (["--config", "names.toml"], "[policy]: expected one of"),
        (["--seeds", "missing.json"], "missing.json: No such file or directory"),
        (["--out", "/proc/campaign"], "/proc/campaign: "),
        (["--minutes", "nan"], "Invalid value for '--minutes'"),
        (["--minutes", "inf"], "Invalid value for '--minutes'"),
        (["--minutes", "-1"], "Invalid value for '--minutes'"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (["--jobs", "0"], "Invalid value for '--jobs'"),
        (["--jobs", "1000000"], "Invalid value for '--jobs'"),
        (["--sigma", "1000000"], "Invalid value for '--sigma'"),
    ],
)
def test_2_for_wrong_usage(project: Path, arguments: list[str], words: str) -> None:
    """Said before anything is begun: no folder is left."""
    (project / "wrong.toml").write_text("[[issue]]\nlibrary = 'x'\n")
    (project / "known.toml").write_text("known = ['missing.toml']\n" + POLICY)
    (project / "names.toml").write_text(POLICY.replace("clean-a", "clean-\\u001b[31mz\\n"))
    os.mkfifo(project / "pipe")
    code, said = ended(begin(project, "--routes", "clean-a,clean-b", "--cases", "1", *arguments))
    assert code == 2, said
    assert words in said
    assert "\x1b" not in said
    assert "Traceback" not in said
    assert "cometfuzz:" not in said or len(said.splitlines()) == 1
    assert not (project / "campaign").exists()


def test_the_cases_are_the_same_whatever_the_number_of_jobs(project: Path) -> None:
    """And there are as many jobs as cores, if nobody says otherwise."""
    found = {}
    for jobs in ([], ["--jobs", "1"], ["--jobs", "2"]):
        folder = "-".join(["campaign", *jobs])
        code, said = ended(begin(project, "--routes", "clean-a,clean-b", "--cases", "12", *jobs, "--out", folder))
        assert code == 0, said
        with Records(project / folder) as records:
            found[records.settings["jobs"], folder] = [logged.case_id for logged in records.feedbacks()]
    assert (usual_jobs(), "campaign") in found
    first, *others = found.values()
    assert len(first) == 12
    assert others == [first, first]


def test_3_if_nobody_knows_the_environment(project: Path) -> None:
    code, said = ended(begin(project, "--routes", "clean-a,nowhere", "--cases", "1"))
    assert code == 3, said
    assert "received name='nowhere'" in said
    assert not (project / "campaign").exists()  # so that the same command works once it is mended


def test_3_if_the_environment_is_not_built(project: Path) -> None:
    elsewhere = {"COMETFUZZ_CACHE": str(project / "cache")}
    code, said = ended(begin(project, "--routes", "clean-a", "--cases", "1", environ=elsewhere))
    assert code == 3, said
    assert "environment tool is missing; run `cometfuzz env create tool`" in said


def test_3_if_a_route_never_started(project: Path) -> None:
    """Of it nobody can say that there is nothing new."""
    code, said = ended(begin(project, "--routes", "clean-a,broken", "--cases", "3", "--fail-on", "new"))
    assert code == 3, said
    assert "received routes=broken, which never did" in said


def test_130_after_ctrl_c_and_nothing_is_lost(project: Path) -> None:
    process = begin(project, "--routes", "clean-a,clean-b", "--fail-on", "new")
    deadline = time.monotonic() + 120
    while not (project / "campaign" / "campaign.sqlite").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    with Records(project / "campaign") as records:
        while records.done < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        code, said = ended(process)
        assert code == 130, said
        assert [session.reason for session in records.sessions()] == ["interrupted"]
        assert records.check() == []
