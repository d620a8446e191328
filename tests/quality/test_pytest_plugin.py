"""The pytest plugin as a project uses it: in a pytest of its own, on routes that need no DL library."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from test_exit_codes import project

from cometfuzz.catalogue.files import save
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.environments import cache_folder, find
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge

__all__ = ["project"]
pytest_plugins = ["pytester"]

CACHE, MAIN = str(cache_folder().parent), find("main").path
"""pytester has a home of its own, where nothing has been built."""

Run = Callable[..., pytest.RunResult]
FACTORIES = """
import pathlib
import pytest

@pytest.fixture
def place():
    return pathlib.Path("case.json")

@pytest.mark.cometfuzz(routes="clean-a,clean-b")
def small_model(place):
    return place

@pytest.mark.cometfuzz(routes=["clean-a", "faulty"])
@pytest.mark.parametrize("name", ["case.json"])
def test_model(name):
    return name

@pytest.mark.cometfuzz
def test_no_model():
    return 42

@pytest.mark.cometfuzz(route="clean-a")
def test_wrong_option():
    return "case.json"

def test_without_it():
    pass

def helper():
    raise AssertionError("nobody asked for this")
"""
MADE = """
import pytest

@pytest.mark.cometfuzz(routes="keras-jax")
def keras_model():
    import keras
    return keras.Sequential([keras.Input((4, 4, 3)), keras.layers.Conv2D(2, 3), keras.layers.ReLU()])

@pytest.mark.cometfuzz(routes="onnxruntime,onnx-reference")
def torch_model():
    import torch
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Dropout(0.5)), torch.zeros(1, 3)

@pytest.mark.cometfuzz
def torch_model_without_inputs():
    import torch
    return torch.nn.Linear(3, 2)
"""


@pytest.fixture
def run(project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """pytest in a process of its own in the project, whatever else is installed here."""

    def begin(*arguments: str, path: tuple[str, ...] = ()) -> pytest.RunResult:
        paths = (str(project / "site"), str(Path(__file__).parent), *path)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
        monkeypatch.setenv("COMETFUZZ_PLUGINS", "")
        monkeypatch.setenv("COMETFUZZ_CACHE", CACHE)
        monkeypatch.chdir(project)
        return pytester.runpytest_subprocess("--strict-markers", "-p", "no:xdist", "--rootdir=.", *arguments)

    return begin


def test_a_campaign_as_a_test(run: Run, project: Path) -> None:
    (project / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
    policy = (project / "cometfuzz.toml").read_text()
    (project / "cometfuzz.toml").write_text(policy.replace(', "broken", "hanging"', ""))
    ended = run("--cometfuzz-cases", "6", "--cometfuzz-out", "found", "-v")
    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines(
        ["cometfuzz::campaign FAILED*", "*1 new bug in 6 cases.", "*, severity high?", "*`cometfuzz report found`*"]
    )
    assert "Traceback" not in ended.stdout.str()
    ended = run("--cometfuzz-cases", "2", "--cometfuzz-out", "found", "-k", "campaign")
    ended.stdout.fnmatch_lines(["*found: expected a * folder*"])
    ended.assert_outcomes(failed=1, deselected=1)


def test_a_script_is_in_the_text_of_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import reporting

    from cometfuzz.pytest_plugin import _told

    monkeypatch.chdir(tmp_path)
    reporting.write_campaign(tmp_path / "campaign", 4)
    told = _told(Path("campaign"), tmp_path)
    assert told.startswith("6 new bugs in 4 cases.")
    assert "openvino: death in MaxPooling3D [" in told
    assert "import openvino\n" in told
    assert "It prints:\nexpected: [0.25, 0.5, 1.0]" in told
    assert "LSTM" not in told  # it is known


def test_models_of_factories(run: Run, project: Path) -> None:
    pooling = {"pool_size": (3, 3), "strides": (1, 1), "padding": "same"}
    drafts = [
        Draft("x", "input", {"shape": (1, 8, 8, 2), "dtype": "float32"}, ()),
        Draft("a", "AveragePooling2D", pooling, (Edge("x"),)),
    ]
    save(Case(assemble(drafts, [Edge("a")]), 1), project / "case.json")
    (project / "test_models.py").write_text(FACTORIES)
    ended = run("-v")
    ended.assert_outcomes(passed=2, failed=3)
    ended.stdout.fnmatch_lines(
        [
            "test_models.py::small_model PASSED*",
            "test_models.py::test_model?case.json? FAILED*",
            "test_models.py::test_without_it PASSED*",
            "faulty: disagrees. nonfinite: AveragePooling2D*",
            "Once more: cometfuzz check *case.json --routes clean-a,faulty",
            "*expected that the factory returns a Keras model, *; received int*",
            "*expected @pytest.mark.cometfuzz(routes=..., *; received route*",
        ]
    )
    assert "[case.json]" in ended.stdout.str()


@pytest.mark.library
def test_models_of_libraries(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries of the environment `main`, in the process of the tests as a user has them."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    (project / "test_models.py").write_text(MADE)
    (site,) = MAIN.glob("lib/python*/site-packages")
    ended = run("-v", path=(str(site),))
    ended.assert_outcomes(passed=2, failed=1)
    ended.stdout.fnmatch_lines(["*received Linear; a torch module does not say what it takes*"])


def test_it_costs_nothing_where_nobody_uses_it(run: Run, project: Path) -> None:
    (project / "test_nothing.py").write_text(
        "import sys\n\ndef test_nothing():\n"
        "    assert 'cometfuzz.pytest_plugin' in sys.modules\n"
        "    assert [name for name in sys.modules if name.startswith('cometfuzz.')] == ['cometfuzz.pytest_plugin']\n"
        "    assert 'numpy' not in sys.modules\n"
    )
    run().assert_outcomes(passed=1)
