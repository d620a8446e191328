"""An environment that is built for real: a venv with pip, checked. No network is used."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution import environments
from cometfuzz.execution.versions import installed


def test_all_failures_are_told_and_the_rest_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMETFUZZ_ENVIRONMENTS", str(tmp_path))
    monkeypatch.setenv("COMETFUZZ_CACHE", str(tmp_path / "cache"))
    for name, text in (("bad", "unpinned\n"), ("tiny", "# imports: json\n"), ("worse", "unpinned\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    with pytest.raises(EnvironmentFailure, match=r"(?s)(bad|worse)\.txt.*(bad|worse)\.txt"):
        environments.create_all(["bad", "tiny", "worse"])
    tiny = environments.find("tiny")
    assert tiny.ready
    assert "pip" in tiny.marker["packages"]
    subprocess.run([tiny.python, "-c", "import pip"], check=True)


def test_addresses_and_folders_of_wheels_are_installed_without_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMETFUZZ_ENVIRONMENTS", str(tmp_path))
    monkeypatch.setenv("COMETFUZZ_CACHE", str(tmp_path / "cache"))
    by_address, by_name = wheel(tmp_path / "here", "by_address"), wheel(tmp_path / "wheels", "by_name")
    (tmp_path / "tiny.txt").write_text(
        f"# imports: by_address by_name\n--no-index\n--find-links {by_name.parent.name}\n"
        f"by_address @ here/{by_address.name}\nby_name==1.5\n"
    )
    tiny = environments.create("tiny")
    assert tiny.packages["by_address"] == "1.5"
    assert installed("tiny") == {"by-address": "1.5", "by-name": "1.5"}


def wheel(folder: Path, name: str) -> Path:
    """A wheel with one empty module."""
    path, info = folder / f"{name}-1.5-py3-none-any.whl", f"{name}-1.5.dist-info"
    folder.mkdir()
    kind = "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        archive.writestr(f"{info}/WHEEL", kind)
        archive.writestr(f"{info}/RECORD", "")
    return path
