"""Overlays and `cometfuzz bisect` with a real pip and an index that is a folder of wheels made by hand: no network."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from reporting import bug

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution import environments
from cometfuzz.execution.environments import Environment
from cometfuzz.execution.installation import Build
from cometfuzz.execution.overlays import Overlays
from cometfuzz.triage.bug import Script
from cometfuzz.triage.collection import Collection

RELEASES = ["0.9", "1.0", "1.1", "1.2", "1.10", "2.0"]
SCRIPT = """import sys

try:
    import tinylib
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tinylib", tinylib.__version__)
print("seen:", tinylib.answer())
sys.exit(0 if tinylib.answer() == 4 else 1)
"""


def body(release: str) -> str:
    """Wrong from 1.2 on, mended in 2.0; 1.1 cannot be imported."""
    if release == "1.1":
        return "raise ImportError('it needs another numpy')\n"
    wrong = release in ("1.2", "1.10")
    return f"__version__ = {release!r}\n\ndef answer():\n    return {5 if wrong else 4}\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, which is all that pip may look at."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for release in [*RELEASES, "3.0.dev1"]:
        metadata = f"Metadata-Version: 2.1\nName: tinylib\nVersion: {release}\nRequires-Dist: nowhere-to-be-found\n"
        files = {
            "tinylib/__init__.py": body(release),
            f"tinylib-{release}.dist-info/METADATA": metadata,
            f"tinylib-{release}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        with zipfile.ZipFile(folder / f"tinylib-{release}-py3-none-any.whl", "w") as wheel:
            for name, text in files.items():
                wheel.writestr(name, text)
            wheel.writestr(f"tinylib-{release}.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """An environment with a pip, and with tinylib 1.10 by its file."""
    monkeypatch.setenv("COMETFUZZ_ENVIRONMENTS", str(tmp_path / "files"))
    monkeypatch.setenv("COMETFUZZ_CACHE", str(tmp_path / "cache"))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "tiny.txt").write_text("tinylib==1.10\n")

    def install(build: Build) -> Mapping[str, str]:
        (build.path / "bin").mkdir(parents=True)
        python = build.path / "bin" / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        return {"tinylib": "1.10"}

    return environments.create("tiny", install=install)  # type: ignore[arg-type]


def test_releases_are_those_of_the_index_in_order(index: Path, environment: Environment) -> None:
    overlays = Overlays(environment, "tinylib")
    assert overlays.releases() == RELEASES
    assert overlays.releases(prereleases=True) == [*RELEASES, "3.0.dev1"]


def test_a_release_is_installed_once_without_what_it_depends_on(index: Path, environment: Environment) -> None:
    overlays = Overlays(environment, "tinylib")
    folder = overlays.folder("1.2")
    assert (folder / "tinylib" / "__init__.py").read_text() == body("1.2")
    for wheel in index.iterdir():
        wheel.unlink()
    assert overlays.folder("1.2") == folder
    assert [path.name for path in overlays.root.iterdir()] == ["tinylib-1.2"]


@pytest.mark.parametrize("name", ["nothing-like-it", "--index-url=x", ""])
def test_what_the_index_does_not_have_is_said(index: Path, environment: Environment, name: str) -> None:
    with pytest.raises(EnvironmentFailure, match="expected"):
        Overlays(environment, name).releases()


def test_a_release_that_cannot_be_installed_leaves_nothing(index: Path, environment: Environment) -> None:
    overlays = Overlays(environment, "tinylib")
    with pytest.raises(EnvironmentFailure, match=r"tinylib 7\.7: pip install failed"):
        overlays.folder("7.7")
    assert list(overlays.root.iterdir()) == []


def bisect(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "cometfuzz", "bisect", *arguments, "--collection", "mine"],
        cwd=tmp_path,
        env={**os.environ, "COMETFUZZ_LEDGER": str(tmp_path / "ledger.json")},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout if ran.returncode == 0 else ran.stderr


@pytest.fixture
def collected(tmp_path: Path, index: Path, environment: Environment) -> str:
    """A collection with a bug whose script is about tinylib; its name."""
    script = Script(SCRIPT, "tiny", True, 1, "seen: 5")
    found = bug("tinylib", "value", ("ReLU",), script=script)
    camps = (replace(found.finding.camps[0], routes=("keras-tf",)),)
    found = replace(found, finding=replace(found.finding, camps=camps))
    return Collection(tmp_path / "mine").add(found)[1].slug


def test_bisect_finds_both_changes_and_tries_nothing_twice(tmp_path: Path, index: Path, collected: str) -> None:
    code, said = bisect(tmp_path, collected, "tinylib", "--json")
    assert code == 0, said
    found = json.loads(said)
    assert found["changes"] == [
        {"what": "appeared", "last_before": "1.0", "first_after": "1.2", "between": ["1.1"]},
        {"what": "went away", "last_before": "1.10", "first_after": "2.0", "between": []},
    ]
    results = {each["release"]: each["result"] for each in found["tries"]}
    assert results["1.1"] == "cannot tell"
    assert {each["release"]: each["reason"] for each in found["tries"]}["1.1"] == "missing: it needs another numpy"
    assert Path(found["kept_in"]).is_file()
    kept = Path(found["kept_in"]).read_bytes()
    code, said = bisect(tmp_path, collected, "tinylib", "--json", "--most", "1")
    assert json.loads(said) == found
    assert Path(found["kept_in"]).read_bytes() == kept
    code, said = bisect(tmp_path, collected, "tinylib", "--low", "1.2", "--high", "1.10")
    assert code == 0
    assert "It shows from tinylib 1.2 to 1.10" in said


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["BUG", "no-such-package"], 3, "no-such-package: expected releases"),
        (["BUG", "tinylib", "--low", "5"], 2, "received low='5'"),
    ],
)
def test_bisect_says_what_is_wrong(tmp_path: Path, collected: str, arguments: list[str], code: int, words: str) -> None:
    arguments = [collected if each == "BUG" else each for each in arguments]
    ended, said = bisect(tmp_path, *arguments)
    assert (ended, words in said) == (code, True), said
