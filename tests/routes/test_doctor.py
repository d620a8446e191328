"""Routes are tried for real: available, or why not."""

import sys
from pathlib import Path

import pytest

from cometfuzz.errors import WorkerFailure
from cometfuzz.execution.doctor import examine
from cometfuzz.execution.executor import python_of
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.routes import Group, Library, Route, Stage, Step


def drill(name: str, environment: str = "none", drill: str = "") -> Route:
    group = Group(f"group of {name}", environment)
    step = Step(name, group, "drills", "run", (Stage("run", Library("drill")),), {"drill": drill})
    return Route(name, "tests", "keras3", (step,))


def test_routes_that_work_and_routes_that_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

    def find_python(group: Group) -> Path:
        if group.environment == "missing":
            raise WorkerFailure("environment missing is missing; run `cometfuzz env create missing`")
        return Path(sys.executable)

    routes = [drill("good"), drill("bad", drill="never starts"), drill("gone", "missing"), REFERENCE]
    good, bad, gone, reference = examine(routes, find_python=find_python)
    assert (good.available, good.reason, good.fix, good.versions) == (True, None, None, {"drill": "1"})
    assert good.memory_mb > 0
    assert not bad.available
    assert "code 3" in (bad.reason or "")
    assert not gone.available
    assert gone.fix == "cometfuzz env create missing"
    assert reference.available
    assert "numpy" in reference.versions


def test_an_environment_that_nobody_knows_is_one_clear_error() -> None:
    with pytest.raises(WorkerFailure, match="expected an environment"):
        python_of(Group("nowhere", "nowhere"))
