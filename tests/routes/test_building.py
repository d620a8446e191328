"""An environment that is built for real: a venv with pip, checked. No network is used."""

import subprocess
from pathlib import Path

import pytest

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution import environments


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
