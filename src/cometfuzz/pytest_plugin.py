"""The pytest plugin: a campaign as a test, and models that factories return held to all routes.

`pytest --cometfuzz-minutes 5` adds a test that runs a campaign of five minutes as cometfuzz.toml says, and fails over
new bugs. A function marked `@pytest.mark.cometfuzz` returns a model, on which `cometfuzz check` is run.

All of it runs in processes of its own: the process of the tests has libraries loaded, threads running and signals of
its own, and a campaign wants none of them. Only a model is saved here, since only the library that made it can do that.
pytest imports this module whether or not anybody uses it, so it needs nothing but pytest and the standard library.
"""

import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

MARKER = "cometfuzz"
DECLARED = (
    f"{MARKER}(routes=..., seed=..., open_size=..., known=...): the function returns a Keras model, (a torch module, "
    "example inputs), an ONNX model or the path of a model; `cometfuzz check` must find that all routes agree on it."
)
OPTIONS = ("routes", "seed", "open_size", "known")
"""What the marker hands on to `cometfuzz check`."""

TEXT = {"COLUMNS": "100", "TERM": "dumb"}
"""What is printed stands in the text of a failure."""


class CampaignFailure(Exception):
    """A campaign that has found something, or that could not run; the message says all that there is to say."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a campaign; what else there is to say of it stands in cometfuzz.toml."""
    group = parser.getgroup("cometfuzz", "cometfuzz, which tests deep-learning libraries")
    group.addoption("--cometfuzz-minutes", type=float, metavar="N", help="add a test: a campaign of so many minutes")
    group.addoption(
        "--cometfuzz-cases", type=int, metavar="N", help="the same for so many cases; the same ones in every run"
    )
    group.addoption("--cometfuzz-out", metavar="DIR", help="the campaign's folder; by default campaigns/TIME")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, for --strict-markers."""
    config.addinivalue_line("markers", DECLARED)


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> pytest.Item | None:
    """A factory is collected whatever its name is."""
    if not inspect.isfunction(obj) or collector.funcnamefilter(name):
        return None
    marks = getattr(obj, "pytestmark", ())
    if any(getattr(mark, "name", "") == MARKER for mark in marks):
        factory: pytest.Item = pytest.Function.from_parent(collector, name=name)
        return factory
    return None


@pytest.hookimpl(tryfirst=True)  # before -k and -m look at what there is
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each factory a folder for its model, and add the campaign."""
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and item.get_closest_marker(MARKER)
            and "tmp_path" not in item.fixturenames
        ):
            item.fixturenames.append("tmp_path")
    if config.getoption("--cometfuzz-minutes") is not None or config.getoption("--cometfuzz-cases") is not None:
        items.append(CampaignItem.from_parent(session, name="campaign", nodeid="cometfuzz::campaign"))


class CampaignItem(pytest.Item):
    """A campaign as a test."""

    def runtest(self) -> None:
        """Run it, and fail over new bugs as `--fail-on new` does."""
        root, out = self.config.rootpath, self.config.getoption("--cometfuzz-out")
        folder = Path(out or Path("campaigns") / time.strftime("%Y%m%d-%H%M%S"))
        arguments = ["run", "--out", str(folder), "--fail-on", "new"]
        for name in ("minutes", "cases"):
            if (value := self.config.getoption(f"--cometfuzz-{name}")) is not None:
                arguments += [f"--{name}", str(value)]
        if self.config.getoption("--cometfuzz-cases") is not None:
            arguments.append("--no-branches")  # with them the cases depend on which of them is done first
        if self.config.getoption("capture") == "no":
            ended = _end(arguments, root, captured=False)
        else:
            ended = _end([*arguments, "--quiet"], root)
            sys.stdout.write(ended.stdout)
            sys.stderr.write(ended.stderr)
        if ended.returncode == 1:
            raise CampaignFailure(_told(folder, root))
        if ended.returncode:
            said = (ended.stderr or "").strip() or f"`cometfuzz run` ended with exit code {ended.returncode}"
            raise CampaignFailure(said)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Bugs and no traceback: what failed is a library, not a line of a test."""
        if isinstance(excinfo.value, CampaignFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """What pytest calls it."""
        return self.config.rootpath, None, "cometfuzz campaign"


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a factory instead of a test, and check the model that it returns."""
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is None:
        return None
    arguments = _arguments(marker.args, marker.kwargs)
    given: dict[str, Any] = pyfuncitem.funcargs
    wanted = inspect.signature(pyfuncitem.obj).parameters
    made = pyfuncitem.obj(**{name: value for name, value in given.items() if name in wanted})
    file = save(made, given["tmp_path"])
    ended = _end(["check", str(file), *arguments], pyfuncitem.config.rootpath)
    if ended.returncode:
        again = " ".join(["cometfuzz check", str(file), *arguments])
        pytest.fail(f"{ended.stdout}{ended.stderr}\nOnce more: {again}", pytrace=False)
    return True


def save(made: Any, folder: Path) -> Path:
    """The file of a model that a factory has returned: written by its own library, or named by it."""
    if isinstance(made, str | os.PathLike):
        return Path(made).resolve()
    if _is(made, "Model", "keras", "tf_keras"):
        made.save(str(folder / "model.keras"))
        return folder / "model.keras"
    file = folder / "model.onnx"
    if _is(made, "ModelProto", "onnx"):
        file.write_bytes(made.SerializeToString())
        return file
    if isinstance(made, tuple) and len(made) == 2 and _is(made[0], "Module", "torch"):
        _export(made[0], made[1], file)
        return file
    wanted = "a Keras model, (a torch module, example inputs), an ONNX model, or the path of a model"
    missing = "; a torch module does not say what it takes" if _is(made, "Module", "torch") else ""
    raise TypeError(f"expected that the factory returns {wanted}; received {type(made).__name__}{missing}")


def _is(made: object, name: str, *packages: str) -> bool:
    """Whether it is of a class of a library, which this module does not import to know."""
    kinds = type(made).__mro__
    return any(kind.__name__ == name and kind.__module__.partition(".")[0] in packages for kind in kinds)


def _export(module: Any, inputs: Any, file: Path) -> None:
    """torch's newer exporter; it keeps all weights in the one file, where it may."""
    import torch

    given = inputs if isinstance(inputs, tuple) else (inputs,)
    torch.onnx.export(module.eval(), given, dynamo=True, verbose=False).save(str(file))


def _arguments(given: Sequence[Any], options: Mapping[str, Any]) -> list[str]:
    if given or not set(options) <= set(OPTIONS):
        received = [repr(value) for value in given] + [name for name in options if name not in OPTIONS]
        wanted = ", ".join(f"{name}=..." for name in OPTIONS)
        raise TypeError(f"expected @pytest.mark.{MARKER}({wanted}); received {', '.join(received)}")
    arguments: list[str] = []
    for name, value in options.items():
        text = ",".join(value) if isinstance(value, list | tuple) else str(value)
        arguments += ["--" + name.replace("_", "-"), text]
    return arguments


def _end(arguments: Sequence[str], root: Path, *, captured: bool = True) -> "subprocess.CompletedProcess[str]":
    """Run a command of cometfuzz to its end. Whoever interrupts us ends it too: it saves what it has, within ten
    seconds."""
    command = [sys.executable, "-P", "-m", "cometfuzz", *arguments]
    stream = subprocess.PIPE if captured else None
    environ = {**os.environ, **TEXT} if captured else None
    with subprocess.Popen(
        command, cwd=root, env=environ, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, text=True
    ) as process:
        try:
            printed, errors = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    return subprocess.CompletedProcess(command, process.returncode, printed, errors)


def _told(folder: Path, root: Path) -> str:
    """The new bugs of a campaign with their scripts."""
    told = json.loads(_end(["report", str(folder), "--format", "json"], root).stdout)
    new = [bug for bug in told["bugs"] if bug["new"]]
    blocks = [f"{len(new)} new {'bug' if len(new) == 1 else 'bugs'} in {told['campaign']['cases']} cases."]
    for bug in new:
        block = f"{bug['title']} [{bug['id']}, severity {bug['severity']}]\n{bug['blame']['reasoning']}"
        if script := bug["script"]:
            block += f"\n\n{script['text'].rstrip()}\n\nIt prints:\n{script['output'].rstrip()}"
        blocks.append(block)
    blocks.append(
        f"`cometfuzz report {folder}` writes pages of all this. `cometfuzz collect {folder} BUG` keeps a bug in bugs/: "
        "it is known then, and fails nothing any more."
    )
    return "\n\n".join(blocks)
