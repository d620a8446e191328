"""The files that `cometfuzz init` writes: every setting in them is one, and they change nothing as they are."""

import re
import sys
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from cometfuzz.cli import app
from cometfuzz.cli.init import TEMPLATES, Purpose, written_for
from cometfuzz.config import ClusterConfig, Config, EnvironmentConfig, GraphConfig, LimitConfig, decode
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution.configuring import configured


def settings(text: str) -> str:
    """The text with every setting made."""
    return re.sub(r"^#(?=[^ \n])", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("purpose", Purpose)
def test_every_setting_in_it_is_one(purpose: Purpose) -> None:
    text = written_for(purpose)
    assert decode(text.encode(), "as it is", Config) == Config()
    made = decode(settings(text).encode(), "with all settings", Config)
    assert made.known
    assert made.environments
    assert (made.limits, made.graphs, made.cluster) == (
        LimitConfig(),
        GraphConfig(),
        ClusterConfig(),
    )  # what it shows as usual is usual
    own = {name: EnvironmentConfig(sys.executable) for name in made.environments}
    assert set(made.routes) < set(configured(msgspec.structs.replace(made, environments=own)))
    configured(Config())  # what was declared is not for other tests
    assert not [line for line in settings(text).splitlines() if re.match(r"#\S", line)]


def test_together_they_name_all_that_may_be_set() -> None:
    told = {name: msgspec.toml.decode(settings(written_for(name))) for name in Purpose}
    assert {key for each in told.values() for key in each} == set(Config.__struct_fields__)
    for name, kind in (("limits", LimitConfig), ("graphs", GraphConfig), ("cluster", ClusterConfig)):
        assert all(set(each[name]) == set(kind.__struct_fields__) for each in told.values())
    assert {path.stem for path in TEMPLATES.iterdir()} == {*Purpose, "rest"}


def test_it_writes_over_nothing_unless_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(app, ["init", "--for", "model"])
    assert told.exit_code == 0
    assert "Next: cometfuzz check MODEL" in told.output
    assert (tmp_path / "cometfuzz.toml").read_text() == written_for(Purpose.model)
    again = CliRunner().invoke(app, ["init"])
    assert isinstance(again.exception, CometfuzzError)
    assert "--force" in str(again.exception)
    assert (tmp_path / "cometfuzz.toml").read_text() == written_for(Purpose.model)
    assert CliRunner().invoke(app, ["init", "--force"]).exit_code == 0
    assert (tmp_path / "cometfuzz.toml").read_text() == written_for(Purpose.library)
