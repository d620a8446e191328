"""The configuration file, and the routes that it adds."""

from pathlib import Path

import pytest

from cometfuzz.config import Config, load
from cometfuzz.errors import InvalidConfig, UnknownName
from cometfuzz.execution.supervisor import Limits
from cometfuzz.routes.registry import ROUTES, choose, configured


def written(folder: Path, text: str) -> Path:
    path = folder / "cometfuzz.toml"
    path.write_text(text)
    return path


def test_without_a_file_there_are_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(None) == Config()
    assert Limits.of(Config().limits) == Limits()


def test_a_file_in_the_working_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "[limits]\nstage_s = 5\n")
    monkeypatch.chdir(tmp_path)
    assert load(None).limits.stage_s == 5


def test_a_route_moves_to_another_environment(tmp_path: Path) -> None:
    text = """
        [routes.onnxruntime-old]
        base = "onnxruntime"
        environment = "tf215"
        steps = ["onnxruntime"]

        [routes.keras-tf-old]
        base = "keras-tf"
        environment = "tf215"
        speaks = "keras2"
    """
    routes = configured(load(written(tmp_path, text)))
    moved, old = routes["onnxruntime-old"], routes["keras-tf-old"]
    assert [step.group.environment for step in moved.steps] == ["main", "main", "tf215"]
    assert moved.keys[:2] == ROUTES["onnxruntime"].keys[:2]
    assert moved.keys[2] != ROUTES["onnxruntime"].keys[2]
    assert {step.group.environment for step in old.steps} == {"tf215"}
    assert old.speaks == "keras2"
    assert set(routes) == {*ROUTES, "onnxruntime-old", "keras-tf-old"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs = 'two'", "Expected `int`, got `str`"),
        ("known = 'bugs'", "Expected `array | null`, got `str`"),
        ("[limits]\nnope = 1", "nope"),
        ("jobs =", "cometfuzz.toml"),
    ],
)
def test_a_bad_file_is_one_error(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match=message):
        load(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[routes.a]\nbase = "nope"\nenvironment = "main"', "base='nope'"),
        ('[routes.keras-tf]\nbase = "keras-tf"\nenvironment = "main"', "route='keras-tf'"),
        ('[routes.a]\nbase = "keras-tf"\nenvironment = "main"\nsteps = ["nope"]', "step='nope'"),
    ],
)
def test_a_route_that_cannot_be_is_one_error(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=message):
        configured(load(written(tmp_path, text)))


def test_a_file_that_is_not_there_is_one_error() -> None:
    with pytest.raises(InvalidConfig, match="No such file"):
        load(Path("nowhere.toml"))


def test_routes_are_chosen_by_name() -> None:
    assert [route.name for route in choose("keras-tf,reference", ROUTES)] == ["keras-tf", "reference"]
    assert len(choose("all", ROUTES)) == 18
