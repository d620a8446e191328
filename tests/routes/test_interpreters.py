"""Interpreters that are not ours: a real worker serves under each Python from 3.9 to 3.13 that is on this machine.

Each gets a small environment with numpy, built once by the rules of any other (`# python: 3.9`) and cached beside them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cometfuzz.catalogue.validate import assemble
from cometfuzz.config import Config, EnvironmentConfig
from cometfuzz.errors import EnvironmentFailure, WorkerFailure
from cometfuzz.execution import environments
from cometfuzz.execution.configuring import declare
from cometfuzz.execution.doctor import examine
from cometfuzz.execution.executor import Executor, python_of
from cometfuzz.execution.interpreters import OLDEST_NUMPY, find_interpreter
from cometfuzz.ir.case import Case, Manner
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes import Group, Library, Route, Stage, Step

PINS = {
    "3.9": "numpy==1.20.3",
    "3.10": "numpy==1.26.4\nml_dtypes==0.5.0",
    "3.11": "numpy==2.2.6\nml_dtypes==0.5.0",
    "3.12": "numpy==2.2.6\nml_dtypes==0.5.0",
    "3.13": "numpy==2.2.6\nml_dtypes==0.5.0",
}
"""The oldest numpy that child code is said to run on, and newer ones."""

CHILD = """
import importlib, pkgutil
import cometfuzz.execution.worker, cometfuzz.triage.fork_server_child, cometfuzz.routes
for module in pkgutil.iter_modules(cometfuzz.routes.__path__):
    if module.name != "registry":  # it loads the routes of all packages, for the parent
        importlib.import_module("cometfuzz.routes." + module.name)
"""
SOURCE = Path(environments.__file__).parents[2]


@pytest.fixture(params=PINS)
def interpreter(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    version = str(request.param)
    try:
        find_interpreter(version)
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    name = f"child{version.replace('.', '')}"
    monkeypatch.setenv("COMETFUZZ_ENVIRONMENTS", str(tmp_path))
    (tmp_path / f"{name}.txt").write_text(f"# python: {version}\n# imports: numpy\n{PINS[version]}\n")
    try:
        built = environments.create(name)
    except EnvironmentFailure as error:
        if "pip install failed" not in str(error):
            raise
        pytest.skip(f"expected numpy for Python {version} from the package index; received {error}")
    asked = subprocess.run([built.python, "--version"], capture_output=True, text=True, check=True)
    assert asked.stdout.startswith(f"Python {version}.")
    return built.python


def route(environment: str = "mine", drill: str = "", library: str = "drill") -> Route:
    step = Step("run", Group("mine", environment), "drills", "run", (Stage("run", Library(library)),), {"drill": drill})
    return Route("mine", "tests", "keras3", (step,))


def case(dtype: str = "float32") -> Case:
    drafts = [Draft("x", "input", {"dtype": dtype, "shape": (2, 3)}, ()), Draft("r", "ReLU", {}, (Edge("x"),))]
    return Case(assemble(drafts, [Edge("r")]), 1, manner=Manner(opened={"x": (0,)}, before=({"x": (4,)},)))


@pytest.fixture(autouse=True)
def _drills_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def test_child_code_is_imported_and_serves(interpreter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([interpreter, "-c", CHILD], env={**os.environ, "PYTHONPATH": str(SOURCE)}, check=True)
    # What lies in the folder that we are started in is not imported.
    (tmp_path / "drills.py").write_text("raise SystemExit(7)")
    (tmp_path / "json.py").write_text("raise SystemExit(8)")
    monkeypatch.chdir(tmp_path)
    declare(Config(environments={"mine": EnvironmentConfig(str(interpreter), {"DRILLING": "seen"})}))
    try:
        with Executor([route()]) as executor:
            outcome = executor.run(case()).outcomes["mine"]
            assert outcome.status == "completed", outcome
            assert (outcome.outputs[0].dtype, outcome.outputs[0].shape) == ("float32", (2, 3))
        [health] = examine([route()])
        assert health.available
        assert any("ml_dtypes" in lack for lack in health.lacks) is (
            "ml_dtypes" not in PINS[interpreter_version(interpreter)]
        )
    finally:
        declare(Config())


def interpreter_version(python: Path) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_variables_of_an_environment_reach_its_child_and_do_not_move_its_home(tmp_path: Path) -> None:
    seen = tmp_path / "drilling"
    environ = {"DRILLING": str(seen), "HOME": "/somewhere", "CUDA_VISIBLE_DEVICES": "0"}
    declare(Config(environments={"mine": EnvironmentConfig(sys.executable, environ)}))
    drafts = [Draft("x", "input", {"shape": (1, 3)}, ()), Draft("r", "ReLU", {}, (Edge("x"),))]
    try:
        with Executor([route(drill="show environ")]) as executor:
            outcome = executor.run(Case(assemble(drafts, [Edge("r")]), 1)).outcomes["mine"]
    finally:
        declare(Config())
    assert seen.exists()
    assert outcome.failure is not None
    shown = json.loads(outcome.failure.message)
    assert shown["CUDA_VISIBLE_DEVICES"] == "0"
    assert shown["HOME"] != "/somewhere"


def fake(folder: Path, version: str, numpy: str, error: str = "") -> Path:
    """Something that answers as an interpreter does."""
    found = {"version": [int(part) for part in version.split(".")], "packages": {}, "numpy": numpy, "error": error}
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho '{json.dumps(found)}'\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("version", "numpy", "error", "reason", "fix"),
    [
        ("3.8.18", "1.24.4", "", "expected Python 3.9 or newer; received Python 3.8.18", None),
        (
            "3.9.1",
            "",
            "ModuleNotFoundError: numpy",
            "expected numpy; received ModuleNotFoundError",
            "pip install numpy",
        ),
        ("3.9.1", "1.19.5", "", f"expected numpy {OLDEST_NUMPY[0]}.{OLDEST_NUMPY[1]} or newer", "pip install numpy"),
    ],
)
def test_doctor_says_what_an_interpreter_lacks(
    tmp_path: Path, version: str, numpy: str, error: str, reason: str, fix: str | None
) -> None:
    declare(Config(environments={"mine": EnvironmentConfig(str(fake(tmp_path, version, numpy, error)))}))
    try:
        with pytest.raises(WorkerFailure, match="environment mine"):
            python_of(route().steps[0].group)
        [health] = examine([route()])
    finally:
        declare(Config())
    assert not health.available
    assert reason in (health.reason or "")
    assert any(reason in lack for lack in health.lacks)
    assert (health.fix is None) if fix is None else (health.fix or "").endswith(fix)


def test_doctor_names_the_package_that_a_library_is_in() -> None:
    declare(Config(environments={"mine": EnvironmentConfig(sys.executable)}))
    try:
        [health] = examine([route(drill="never starts", library="not-installed")])
    finally:
        declare(Config())
    assert not health.available
    assert health.fix == f"{sys.executable} -m pip install not-installed"
