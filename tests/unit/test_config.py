"""The configuration file, and the routes that it adds."""

import os
from pathlib import Path

import pytest

from cometfuzz.config import Config, load, usual_jobs
from cometfuzz.errors import InvalidConfig, UnknownName
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.routes.registry import ROUTES, choose


def written(folder: Path, text: str) -> Path:
    path = folder / "cometfuzz.toml"
    path.write_text(text)
    return path


def test_without_a_file_there_are_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(None) == Config()
    assert WorkerLimits.of(Config().limits) == WorkerLimits()


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
        ("jobs = 'two'", "expected int; received jobs='two'"),
        ("known = 'bugs'", "expected array | null; received known='bugs'"),
        ("known = ['a', 1]", "expected str; received known[1]=1"),
        ("[limits]\nnope = 1", "expected no unknown field; received limits.nope"),
        ("nope = 1", "expected no unknown field; received nope"),
        ("[routes.a]\nbase = 'keras-tf'", "expected environment in routes[...]; received none"),
        ("jobs =", "expected TOML; received "),
        ("jobs = 1\njobs = 2", "expected TOML; received "),
        ("jobs = 0", "expected int >= 1; received jobs=0"),
        ("jobs = -5", "expected int >= 1; received jobs=-5"),
        ("jobs = 1000", "expected int <= 256; received jobs=1000"),
        ("jobs = 100000000000000000000000000", "expected int <= 256; received jobs=1000000"),
        ("[limits]\nstage_s = nan", "expected float > 0.0; received limits.stage_s=nan"),
        ("[limits]\nstage_s = 0", "expected float > 0.0; received limits.stage_s=0"),
        ("[limits]\ncase_s = inf", "expected float <= 86400.0; received limits.case_s=inf"),
        ("[limits]\nstart_s = -1.5", "expected float > 0.0; received limits.start_s=-1.5"),
        ("[limits]\nmemory_bytes = 0", "expected int >= 67108864; received limits.memory_bytes=0"),
        ("[limits]\noutput_bytes = -1", "expected int >= 65536; received limits.output_bytes=-1"),
        ("[limits]\nrecycle_after = 0", "expected int >= 1; received limits.recycle_after=0"),
        ("[policy]\ndear = 1.5", "expected float <= 1.0; received policy.dear=1.5"),
        ("[policy]\nswitched_one_in = -3", "expected int >= 1; received policy.switched_one_in=-3"),
        ("[policy.shares]\nopenvino = -0.1", "expected float >= 0.0; received policy.shares[...]="),
        ("[policy]\nlargest_cut = 10000000", "expected int <= 1000000; received policy.largest_cut=10000000"),
        (
            "[policy]\nbase = ['keras-tf', 'keras-tf']",
            "policy: expected each name once; received base='keras-tf'",
        ),
        ("[graphs]\nnodes = -1", "expected int >= 5; received graphs.nodes=-1"),
        ("[graphs]\nelements = 0", "expected int >= 16; received graphs.elements=0"),
        ("[graphs]\nflops = 1e9", "expected int; received graphs.flops=1000000000.0"),
        ("[graphs]\nbytes = 1", "expected int >= 4096; received graphs.bytes=1"),
        ("[routes.a]\nbase = 'keras-tf'\nenvironment = 'main'\nspeaks = 'keras9'", "another value than 'keras9'"),
        ("[routes.a]\nbase = 'keras-tf'\nenvironment = 'main'\nsteps = ['a', 'a']", "received steps='a' again"),
    ],
)
def test_a_bad_file_is_one_error(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidConfig) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_every_default_is_within_its_range(tmp_path: Path) -> None:
    usual, lines = Config(), []
    for part in ("limits", "policy", "graphs"):
        lines.append(f"[{part}]")
        values = {name: getattr(getattr(usual, part), name) for name in getattr(usual, part).__struct_fields__}
        lines += [f"{name} = {list(value) if isinstance(value, tuple) else value}" for name, value in values.items()]
    assert load(written(tmp_path, "\n".join(lines))) == usual
    assert list(configured(usual)) == list(ROUTES)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"jobs = 2 # \xff", "expected TOML in UTF-8; received byte=0xff"),
        (b"known = " + b"[" * 100_000, "nested too deeply"),
        (b"#" * 2**21, "expected a file of at most 1048576 bytes"),
        (b"jobs = \x00", "expected TOML; received "),
    ],
)
def test_bytes_that_are_no_toml_are_one_error(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidConfig, match=message):
        load(path)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "cometfuzz.toml")
    monkeypatch.chdir(tmp_path)
    for path in (None, tmp_path / "cometfuzz.toml", Path("/dev/zero"), tmp_path):
        with pytest.raises(InvalidConfig, match="expected a regular file"):
            load(path)


def test_there_are_as_many_jobs_as_cores_if_the_memory_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)))
    memory = {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": 64 * 2**30}
    monkeypatch.setattr(os, "sysconf", memory.get)
    assert Config().jobs == usual_jobs() == 6
    memory["SC_PHYS_PAGES"] = 15 * 2**30
    assert usual_jobs() == 3
    memory["SC_PHYS_PAGES"] = 2**30
    assert usual_jobs() == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[routes.a]\nbase = "nope"\nenvironment = "main"', "base='nope'"),
        ('[routes.keras-tf]\nbase = "keras-tf"\nenvironment = "main"', "route='keras-tf'"),
        ('[routes.a]\nbase = "keras-tf"\nenvironment = "main"\nsteps = ["nope"]', "step='nope'"),
        ('[routes.a]\nbase = "keras-tf"\nenvironment = "nope"', r"\[routes.a\]: .*; received environment='nope'"),
        ('[policy]\nbase = ["keras-tf", "nope"]', r"\[policy\]: .*; received base='nope'"),
        ('[policy]\nclear = ["nope"]', "received clear='nope'"),
        ('[policy]\nonly = [""]', "received only=''"),
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
    assert choose("all", ROUTES) == list(ROUTES.values())
