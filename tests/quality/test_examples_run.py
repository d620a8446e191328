"""The examples, by the commands that their READMEs name, and with the ends that they promise."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_new import install

from cometfuzz.execution.environments import find

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples, with their packages installed."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "found*"))
    (folder / "site").mkdir()
    for name in ("toy-library", "compare"):
        install(folder / name)
        for found in (folder / name / "src").iterdir():
            found.rename(folder / "site" / found.name)
    return folder


def commands(example: Path) -> list[list[str]]:
    """What its README says to type, but for what is installed already."""
    lines = [line.strip() for line in (example / "README.md").read_text().splitlines() if line.startswith("    ")]
    return [shlex.split(line) for line in lines if not line.startswith("pip install")]


def run(example: Path, command: list[str], *path: Path, **environ: str) -> "subprocess.CompletedProcess[str]":
    programs = {
        "cometfuzz": [sys.executable, "-P", "-m", "cometfuzz"],
        "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={example}"],
        "python": [str(find("main").python)],
    }
    paths = os.pathsep.join(map(str, (example.parent / "site", *path)))
    usual = {"PYTHONPATH": paths, "COMETFUZZ_PLUGINS": "", "COLUMNS": "100", "TERM": "dumb", **environ}
    return subprocess.run(
        [*programs[command[0]], *command[1:]],
        cwd=example,
        env={**os.environ, **usual},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_library_with_three_bugs(examples: Path) -> None:
    campaign, listed, shown = (run(examples / "toy-library", each) for each in commands(examples / "toy-library"))
    assert campaign.returncode == 1, campaign
    text = " ".join(listed.stdout.split())
    assert "3 bugs;" in text
    for bug in ("AveragePooling1D gives wrong values", "Softmax gives wrong values", "Dense raises an exception"):
        assert bug in text
    assert shown.returncode == 0, shown
    assert "einstein sum" in shown.stdout


def test_one_version_against_the_next(examples: Path) -> None:
    (compare,) = commands(examples / "compare")
    ended = run(examples / "compare", compare)
    assert ended.returncode == 1, ended
    text = " ".join(ended.stdout.split())
    assert "1 regression, 1 repair, 0 changes between toylib and toylib-next" in text
    assert "toylib 0.1.0 -> 0.2.0" in text
    assert (examples / "compare" / "compared" / "report" / "compare.html").is_file()


@pytest.mark.library
def test_a_model_that_survives(examples: Path) -> None:
    make, check, test = commands(examples / "my-model")
    made = run(examples / "my-model", make, KERAS_BACKEND="numpy")
    assert made.returncode == 0, made
    checked = run(examples / "my-model", check)
    assert (checked.returncode, "All routes agree." in checked.stdout) == (0, True), checked
    (site,) = find("main").path.glob("lib/python*/site-packages")
    tested = run(examples / "my-model", test, site, KERAS_BACKEND="numpy")
    assert (tested.returncode, "1 passed" in tested.stdout) == (0, True), tested
