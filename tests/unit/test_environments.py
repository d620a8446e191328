"""Environments: their keys, their files, and that only a complete build is trusted. No network is used."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cometfuzz.cli import main
from cometfuzz.config import Config, EnvironmentConfig, load
from cometfuzz.errors import EnvironmentFailure, UnknownName
from cometfuzz.execution import environments, executor, installation, interpreters, observation, versions
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.installation import Build
from cometfuzz.execution.setup_progress import Progress, seconds_left

BUILDER_TO_KILL = """
import sys
from cometfuzz.execution import environments

def install(build):
    (build.path / "bin").mkdir(parents=True)
    (build.path / "bin" / "python").symlink_to(sys.executable)
    child = f"import time; print('started'); time.sleep({sys.argv[1]})"
    build.run(sys.executable, "-u", "-c", child, watch=lambda line: print(line, end="", flush=True))

environments.create("tiny", install=install)
"""


@pytest.fixture(autouse=True)
def requirement_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of an environment `tiny`, which has no requirements; the cache is empty."""
    monkeypatch.setenv("COMETFUZZ_ENVIRONMENTS", str(tmp_path / "files"))
    monkeypatch.setenv("COMETFUZZ_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "files" / "tiny.txt"
    file.parent.mkdir()
    file.write_text("# nothing\n")
    return file


def fake_install(build: Build) -> dict[str, str]:
    (build.path / "bin").mkdir(parents=True)
    (build.path / "bin" / "python").symlink_to(sys.executable)
    return {"pip": "1"}


def refuse_install(build: Build) -> dict[str, str]:
    pytest.fail("expected no build")


def test_file_has_sections_imports_and_tolerated_complaints():
    requirements = installation.parse(
        "# imports: a b.c\n# imports: d\n# tolerate: x requires y\n\na==1.0  # why\n# other\n"
        "# without dependencies\nb_c==2.0+cpu\n"
    )
    assert requirements.pins == ("a==1.0",)
    assert requirements.pins_without_dependencies == ("b_c==2.0+cpu",)
    assert requirements.imports == (("a", "b.c"), ("d",))
    assert requirements.tolerated == ("x requires y",)


@pytest.mark.parametrize("line", ["numpy", "numpy>=2", "-r other.txt", "numpy==2,<3"])
def test_requirement_that_is_not_pinned_is_refused(requirement_file: Path, line: str):
    requirement_file.write_text(f"a==1\n{line}\n")
    with pytest.raises(EnvironmentFailure, match=r"tiny\.txt: line 2: expected name==version; received '"):
        environments.create("tiny", install=refuse_install)


def test_real_files_parse(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COMETFUZZ_ENVIRONMENTS")
    assert {"main", "mxnet", "tool"} <= set(environments.known_names())
    for environment in environments.known():
        requirements = installation.parse(environment.requirement_file.read_text())
        assert requirements.pins
        assert requirements.imports


def test_key_depends_on_content_python_and_format(requirement_file: Path, monkeypatch: pytest.MonkeyPatch):
    first = environments.find("tiny")
    assert first == environments.find("tiny")
    assert first.path.name == f"tiny-{first.digest}"
    digests = {first.digest}
    requirement_file.write_text("# something else\n")
    digests.add(environments.find("tiny").digest)
    monkeypatch.setattr(environments, "FORMAT", environments.FORMAT + 1)
    digests.add(environments.find("tiny").digest)
    monkeypatch.setattr(environments.sysconfig, "get_python_version", lambda: "9.9")
    digests.add(environments.find("tiny").digest)
    assert len(digests) == 4


def test_cache_folder_follows_the_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert environments.cache_folder() == tmp_path / "cache" / "environments"
    monkeypatch.delenv("COMETFUZZ_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert environments.cache_folder() == tmp_path / "xdg" / "cometfuzz" / "environments"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert environments.cache_folder() == tmp_path / "home" / ".cache" / "cometfuzz" / "environments"


@pytest.mark.parametrize("name", ["nothing", "../files/tiny"])
def test_unknown_name_is_refused(name: str):
    with pytest.raises(UnknownName, match="expected an environment: tiny; received name="):
        environments.find(name)


def test_build_is_recorded_and_used_again():
    assert environments.find("tiny").state == "missing"
    built = environments.create("tiny", install=fake_install)
    assert built.ready
    assert built.state == "ready"
    assert built.marker["packages"] == {"pip": "1"}
    assert environments.create("tiny", install=refuse_install) == built


def test_half_built_environment_is_not_trusted():
    environment = environments.find("tiny")
    (environment.path / "bin").mkdir(parents=True)
    (environment.path / "bin" / "python").symlink_to(sys.executable)
    (environment.path / "leftover").touch()
    assert environments.find("tiny").state == "broken"
    assert environments.create("tiny", install=fake_install).ready
    assert not (environment.path / "leftover").exists()


@pytest.mark.parametrize("damage", ["no python", "empty marker", "no JSON", "no object", "binary", "other digest"])
def test_damaged_environment_is_built_again(damage: str):
    path = environments.create("tiny", install=fake_install).path
    marker = path / environments.MARKER
    if damage == "no python":
        (path / "bin" / "python").unlink()
        (path / "bin" / "python").symlink_to(path / "removed")
    else:
        other = json.dumps({**json.loads(marker.read_text()), "digest": "0"}).encode()
        content = {
            "empty marker": b"",
            "no JSON": b"{",
            "no object": b"[]",
            "binary": b"\xff",
            "other digest": other,
        }
        marker.write_bytes(content[damage])
    assert environments.find("tiny").state == "broken"
    assert environments.create("tiny", install=fake_install).ready


def test_failed_build_leaves_nothing_but_its_log():
    def install(build: Build) -> dict[str, str]:
        fake_install(build)
        _, lines = build.run(sys.executable, "-c", "print('first\\n' * 9 + 'last: No space left on device')")
        raise build.failure("pip install failed", lines)

    with pytest.raises(EnvironmentFailure, match=r"tiny: pip install failed: the disk is full \(\d+ MiB") as raised:
        environments.create("tiny", install=install)
    *_, last, log = str(raised.value).splitlines()
    assert last.strip() == "last: No space left on device"
    assert "last: No space" in Path(log.removeprefix("    full log: ")).read_text()
    assert environments.find("tiny").state == "missing"


def test_python_without_ensurepip_is_explained(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EnvironmentFailure, match="apt-get install python3-venv"):
        environments.create("tiny")


def test_simultaneous_builds_happen_once():
    builds: list[Path] = []
    said: list[str] = []

    def slow_install(build: Build) -> dict[str, str]:
        builds.append(build.path)
        assert environments.find("tiny").state == "missing"
        packages = fake_install(build)
        assert environments.find("tiny").state == "building"
        time.sleep(0.2)
        return packages

    def work() -> None:
        environments.create("tiny", install=slow_install, report=lambda name, text: said.append(text))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1
    assert said.count("waiting for another process that builds it") == 3
    assert environments.find("tiny").ready


def test_build_of_a_killed_process_is_not_trusted_and_its_orphans_are_waited_for():
    orphan_lives_s = 1.0
    with subprocess.Popen(
        [sys.executable, "-c", BUILDER_TO_KILL, str(orphan_lives_s)], stdout=subprocess.PIPE, text=True
    ) as builder:
        assert builder.stdout is not None
        assert builder.stdout.readline() == "started\n"
        started_s = time.monotonic()
        os.kill(builder.pid, signal.SIGKILL)
    assert environments.find("tiny").state == "building"
    said: list[str] = []
    environments.create("tiny", install=fake_install, report=lambda name, text: said.append(text))
    assert time.monotonic() - started_s > orphan_lives_s / 2
    assert said[:2] == ["waiting for another process that builds it", "removing an incomplete build"]
    assert environments.find("tiny").ready


@pytest.mark.parametrize(
    ("pin", "is_met"),
    [
        ("torch==2.13.0", True),
        ("torch==2.13.0+cpu", True),
        ("torch==2.13.1", False),
        ("a_b.C==1", True),
        ("x==1", False),
    ],
)
def test_installed_versions_must_be_the_pinned_ones(pin: str, is_met: bool):
    assert (installation.broken_pins([pin], {"torch": "2.13.0+cpu", "A-b-c": "1"}) == []) is is_met


def test_only_declared_complaints_are_tolerated():
    tolerated = ["tf-keras requires tensorflow"]
    for package, is_fine in [("tensorflow", True), ("tensorflow-text", False), ("numpy", False)]:
        complaint = f"tf-keras 2.21.0 requires {package}, which is not installed."
        assert installation.is_tolerated(complaint, tolerated) is is_fine


def run_cli(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["cometfuzz", *arguments])
    with pytest.raises(SystemExit) as exited:
        main()
    return exited.value.code


def test_cli_lists_environments_as_plain_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    environments.create("tiny", install=fake_install)
    assert run_cli(monkeypatch, "env", "list", "--json") == 0
    [listed] = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["state"], listed["packages"]) == ("tiny", "ready", {"pip": "1"})
    assert run_cli(monkeypatch, "env", "list") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["tiny", "ready"]


def test_cli_tells_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert run_cli(monkeypatch, "env", "create", "nothing") == 2
    expected = "cometfuzz: expected an environment: tiny; received name='nothing'\n"
    assert capsys.readouterr() == ("", expected)


def test_file_may_have_addresses_indexes_and_a_python(tmp_path: Path):
    requirements = installation.parse(
        "# python: 3.9\n--extra-index-url https://example.org/simple\n--find-links=wheels\n--no-index\n"
        "a @ https://example.org/a-1.whl#sha256=12  # why\nb @ ../b.whl\nc==1\n",
        tmp_path,
    )
    assert requirements.python == "3.9"
    assert requirements.options == (
        *("--extra-index-url", "https://example.org/simple", "--find-links", (tmp_path / "wheels").as_uri()),
        "--no-index",
    )
    assert requirements.pins == (
        "a @ https://example.org/a-1.whl#sha256=12",
        f"b @ {(tmp_path / '..' / 'b.whl').as_uri()}",
        "c==1",
    )
    assert installation.broken_pins(requirements.pins, {"A": "7", "c": "1"}) == [
        f"expected {requirements.pins[1]}; received nothing"
    ]


def test_python_of_a_file_is_part_of_its_key_and_must_be_there(
    requirement_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = environments.find("tiny").digest
    requirement_file.write_text("# python: 3.99\n")
    assert environments.find("tiny").digest != before
    assert environments.find("tiny").python_version == (3, 99)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(EnvironmentFailure, match=r"tiny: expected python3\.99 on the PATH.*COMETFUZZ_PYTHONS"):
        environments.create("tiny")
    requirement_file.write_text("# python: three\n")
    with pytest.raises(EnvironmentFailure, match=r"expected a version as in `# python: 3\.9`; received python='three'"):
        environments.create("tiny", install=refuse_install)


@pytest.mark.parametrize("place", ["variable, a file", "variable, a folder", "pyenv"])
def test_interpreters_are_looked_for_in_all_places(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / ("pyenv/versions/3.98.1/bin" if place == "pyenv" else "bin")
    python = own_python(folder, "python3.98", [3, 98, 1], "2.0")
    broken = own_python(tmp_path / "shims", "python3.98", [3, 11, 1], "2.0")  # a shim that leads elsewhere
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    if place != "pyenv":
        monkeypatch.setenv(interpreters.PLACES, str(python if place.endswith("file") else folder))
    assert interpreters.find_interpreter("3.98") == python


def test_changed_file_behind_an_address_makes_another_environment(requirement_file: Path, tmp_path: Path):
    path = tmp_path / "files" / "thing-1-py3-none-any.whl"
    path.touch()
    requirement_file.write_text(f"thing @ {path.name}\n")
    before = environments.find("tiny").digest
    assert environments.find("tiny").digest == before
    os.utime(path, ns=(1, 1))
    assert environments.find("tiny").digest != before


def own_python(folder: Path, name: str, version: list[int], numpy: str) -> Path:
    """Something that answers as an interpreter does, and can do nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {"version": version, "packages": {"numpy": numpy, "keras": "9.9+local"}, "numpy": numpy, "error": ""}
    (folder / name).write_text(f"#!/bin/sh\necho '{json.dumps(found)}'\n")
    (folder / name).chmod(0o755)
    return folder / name


def test_own_interpreter_is_recorded_used_and_forgotten_but_never_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    python = own_python(tmp_path / "mine" / "bin", "python", [3, 12, 1], "2.0")
    before = python.stat().st_mtime_ns, python.parent.stat().st_mtime_ns, os.listdir(python.parent)
    assert run_cli(monkeypatch, "env", "add", "mine", "mine/bin/python", "--set", "A=b=c") == 0
    found = environments.find("mine")
    assert (found.state, found.python, found.python_version, found.environ) == (
        "ready",
        python,
        (3, 12, 1),
        {"A": "b=c"},
    )
    assert environments.known_names() == ["tiny", "mine"]
    assert environments.environ_of("mine") == {"A": "b=c"}
    assert versions.installed("mine") == {"numpy": "2.0", "keras": "9.9"}
    capsys.readouterr()
    assert run_cli(monkeypatch, "env", "list", "--json") == 0
    _, listed = json.loads(capsys.readouterr().out)
    assert (listed["own"], listed["interpreter"], listed["python"]) == (True, str(python), "3.12.1")
    assert run_cli(monkeypatch, "env", "create", "mine") == 3
    assert "expected an environment that we build" in capsys.readouterr().err
    assert run_cli(monkeypatch, "env", "add", "mine", str(python)) == 2
    assert run_cli(monkeypatch, "env", "add", "tiny", str(python)) == 2
    assert run_cli(monkeypatch, "env", "add", "../x", str(python)) == 2
    assert run_cli(monkeypatch, "env", "remove", "mine") == 0
    assert environments.known_names() == ["tiny"]
    assert run_cli(monkeypatch, "env", "remove", "mine") == 2
    assert (python.stat().st_mtime_ns, python.parent.stat().st_mtime_ns, os.listdir(python.parent)) == before


@pytest.mark.parametrize(
    ("version", "numpy", "words"),
    [
        ([3, 8, 1], "1.24", "expected Python 3.9 or newer; received Python 3.8.1"),
        ([3, 9, 1], "", "expected numpy; received "),
        ([3, 9, 1], "1.19.5", "expected numpy 1.20 or newer; received numpy 1.19.5"),
    ],
)
def test_interpreter_that_cannot_serve_is_not_added(tmp_path: Path, version: list[int], numpy: str, words: str):
    python = own_python(tmp_path, "python", version, numpy)
    with pytest.raises(EnvironmentFailure) as caught:
        environments.add("mine", str(python), {})
    assert words in str(caught.value)
    assert (f"run `{python} -m pip install numpy`" in str(caught.value)) is (version >= [3, 9])
    assert environments.known_names() == ["tiny"]


@pytest.mark.parametrize("content", [None, "", "#!/bin/sh\nexit 3\n", "#!/bin/sh\necho no\n"])
def test_what_is_no_interpreter_is_one_clear_error(tmp_path: Path, content: str | None):
    python = tmp_path / "python"
    if content is not None:
        python.write_text(content)
        python.chmod(0o755)
    with pytest.raises(EnvironmentFailure, match="expected an interpreter of Python"):
        environments.add("mine", str(python), {})


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"mine": 1}', '{"mine": {"python": "x"}}', '{"mine": {"python": 1, "environ": []}}']
)
def test_damaged_record_of_interpreters_is_one_clear_error(tmp_path: Path, content: str):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / environments.OWN).write_text(content)
    with pytest.raises(EnvironmentFailure, match=r"interpreters\.json: expected interpreters as `cometfuzz env add`"):
        environments.known_names()


def test_configuration_names_interpreters_that_routes_move_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    python = own_python(tmp_path / "bin", "python", [3, 12, 1], "2.0")
    (tmp_path / "cometfuzz.toml").write_text(
        f'[environments.mine]\npython = "{python}"\nenviron = {{ CUDA_VISIBLE_DEVICES = "0" }}\n'
        '[routes.mine-tf]\nbase = "keras-tf"\nenvironment = "mine"\n'
    )
    try:
        route = configured(load(tmp_path / "cometfuzz.toml"))["mine-tf"]
        assert executor.python_of(route.steps[0].group) == python
        assert environments.environ_of("mine") == {"CUDA_VISIBLE_DEVICES": "0"}
        assert versions.versions_of(route)["keras"] == "9.9"
        assert "only on 3.11" in observation.obstacle(route.steps[0].group)
        configured(Config())  # another configuration does not have it
        assert environments.known_names() == ["tiny"]
        with pytest.raises(UnknownName, match="expected a new name"):
            configured(Config(environments={"tiny": EnvironmentConfig(str(python))}))
        with pytest.raises(EnvironmentFailure, match="expected variables as NAME=VALUE; received A B="):
            configured(Config(environments={"mine": EnvironmentConfig(str(python), {"A B": "1"})}))
    finally:
        configured(Config())


def test_an_installed_package_is_its_own_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "environments").mkdir()
    for name in ("main", "tool", "docs"):
        (tmp_path / "environments" / f"{name}.txt").write_text("numpy==2.0.0\n")
    monkeypatch.setenv("COMETFUZZ_ENVIRONMENTS", str(tmp_path / "environments"))
    assert environments.built_names() == ["docs", "main", "tool"]
    assert "tool" not in environments.own()
    monkeypatch.setattr("cometfuzz.__file__", str(tmp_path / "__init__.py"))
    assert environments.built_names() == ["main"]
    assert environments.find("tool").python == Path(sys.executable)
    assert environments.find("tool").ready
    with pytest.raises(UnknownName, match="expected a new name"):
        environments.add("tool", sys.executable, {})


def test_a_log_says_again_what_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Progress(every_s=0.01)
    shown("main", "collecting torch (3 of 61)")
    shown("main", "collecting numpy (4 of 61)")
    told, until = "", time.monotonic() + 60
    while "numpy (4 of 61), 0:0" not in told and time.monotonic() < until:
        time.sleep(0.01)
        told += capsys.readouterr().err
    assert told.startswith("main: collecting torch (3 of 61)\n")
    assert "main: collecting numpy (4 of 61), 0:0" in told
    shown("main", "ready at there")
    told = capsys.readouterr().err
    assert told.endswith("main: ready at there\n")


def test_how_long_set_up_will_take_goes_by_its_pace() -> None:
    assert seconds_left("creating the venv", 5.0) == 0.0
    assert seconds_left("collecting torch (1 of 61)", 5.0) == 0.0
    early, late = seconds_left("collecting torch (10 of 60)", 10.0), seconds_left("collecting torch (50 of 60)", 50.0)
    assert early - late == pytest.approx(40.0)  # a second for each package
    assert seconds_left("collecting torch (60 of 60)", 60.0) == seconds_left("installing 60 packages", 0.0) > 0.0
    assert seconds_left("installing 60 packages", 600.0) == 0.0
