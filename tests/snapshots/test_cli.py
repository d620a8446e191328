"""What the commands print, as a stranger sees it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from cometfuzz.catalogue import LAYERS
from cometfuzz.cli import app, main
from cometfuzz.cli.conformance import print_report
from cometfuzz.execution.conformance import Report, Tally

SNAPSHOTS = Path(__file__).parent
COMMANDS = {
    "help": ["--help"],
    "layers-relu": ["layers", "ReLU"],
    "layers-bidirectional": ["layers", "Bidirectional"],
    "space": ["space"],
    "conformance-help": ["conformance", "--help"],
    "evaluate-rq1-help": ["evaluate", "rq1", "--help"],
    "evaluate-rq3-help": ["evaluate", "rq3", "--help"],
    "import-help": ["import", "--help"],
    "collect-help": ["collect", "--help"],
    "report-help": ["report", "--help"],
    "triage-help": ["triage", "--help"],
    "verify-help": ["verify", "--help"],
    "reduce-help": ["reduce", "--help"],
    "seeds": ["seeds"],
    "synthesise-help": ["synthesise", "--help"],
    "export-help": ["export", "--help"],
}


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100", "TERM": "dumb"}, prog_name="cometfuzz")
    assert result.exit_code == 0, result.output
    return "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", result.output).splitlines()) + "\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_output(name: str) -> None:
    path = SNAPSHOTS / f"{name}.txt"
    seen = printed(*COMMANDS[name])
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(seen)
    assert seen == path.read_text()


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command, by the words that call it; groups too."""
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


def test_every_help_fits_a_small_terminal_whole_and_has_an_example() -> None:
    """In 80 columns; only long words of an example may be broken, and nothing is left out of a cell."""
    for path in commands(get_command(app)):
        result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80", "TERM": "dumb"})
        assert all(len(line) <= 80 for line in result.output.splitlines()), path
        assert "…" not in result.output, path
        assert "Example: cometfuzz" in result.output, path


def test_layers_json_lists_every_layer_and_no_utility() -> None:
    layers = json.loads(printed("layers", "--json"))["layers"]
    assert {layer["name"] for layer in layers} == set(LAYERS)
    assert not [layer for layer in layers if layer["name"].islower()]


def test_space_json_has_the_promised_form() -> None:
    spaces = json.loads(printed("space", "--json"))
    assert spaces["paper"]["inputs"]["total"] == 766
    assert spaces["paper"]["sequences"]["reachable"] == 2170
    assert all(entry["reason"] for entry in spaces["paper"]["parameters"]["unreachable"])
    assert set(spaces["full"]) >= {"inputs", "parameters", "sequences"}
    assert spaces["pairs"]["total"] == sum(spaces["pairs"]["layers"].values())
    assert spaces["triples"]["layers"]["Conv2D"] > spaces["triples"]["layers"]["ReLU"]
    assert all(entry["reason"] for entry in spaces["sequences of three"]["unreachable"])


def test_the_conformance_table_fits_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    report = Report({"keras-torch": {"ReLU": Tally(4650, 162, 250, 4238, 4238, 4063, 175, 0)}})
    print_report(report)
    line = next(line for line in capsys.readouterr().out.splitlines() if "keras-torch" in line)
    assert line.split() == ["keras-torch", "4650", "3.5%", "250", "100.0%", "4238", "4063", "175", "0"]


def test_a_worker_that_cannot_start_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = SimpleNamespace(ready=True, python=Path("nowhere/python"), own=None)
    monkeypatch.setattr("cometfuzz.execution.environments.find", lambda name: nowhere)
    monkeypatch.setattr("sys.argv", ["cometfuzz", "conformance", "--layers", "ReLU"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 3
    error = capsys.readouterr().err
    assert "cannot start nowhere/python" in error
    assert "Traceback" not in error


def test_the_ledger_as_json_names_the_evidence() -> None:
    defects = json.loads(printed("ledger", "--route", "keras-torch", "--kind", "bug", "--json"))["defects"]
    assert defects
    assert all(defect["kind"] == "bug" and defect["seen"] for defect in defects)
    assert "of them bugs" in printed("ledger", "--layer", "LSTM")


def test_bench_json_has_the_promised_form() -> None:
    measured = json.loads(printed("bench", "graph", "--seconds", "0.1", "--graphs", "2", "--json"))
    assert measured["graphs_per_cpu_s"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["layers", "Conv9D"], "received layer='Conv9D'"),
        (["conformance", "--layers", "Nope"], "received layer='Nope'"),
        (["conformance", "--routes", "nope"], "received route='nope'"),
        (["ledger", "--kind", "nope"], "received kind='nope'"),
        (["run", "--routes", "reference"], "expected a route among them that takes every case: keras-tf, keras-torch"),
        (["export", "nowhere"], "nowhere: expected the folder of a campaign"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["cometfuzz", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nobody_who_reads_is_no_error(unbuffered: str) -> None:
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "cometfuzz", "layers", "ReLU", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_synthesise_json_has_the_promised_form() -> None:
    result = json.loads(printed("synthesise", "LeNet", "LSTM (StockPrice)", "--runs", "2", "--json"))
    assert list(result["models"]) == ["LeNet", "LSTM (StockPrice)"]
    assert result["total"]["kept"] == {"inputs": 1.0, "parameters": 1.0, "sequences": 1.0}
    assert result["total"]["layers"] == 12
    assert result["total"]["weights"] < 10_000
    assert result["total"]["cpu_s_max"] > 0


def test_synthesise_reads_case_files_and_writes_them(tmp_path: Path) -> None:
    printed("synthesise", "LeNet", "--runs", "1", "--out", str(tmp_path))
    printed("synthesise", str(tmp_path / "LeNet.json"), "--runs", "1", "--out", str(tmp_path / "again"))
    assert (tmp_path / "again" / "LeNet.json").exists()
