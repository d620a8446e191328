"""What a shell completes: by Typer's own scripts, and quickly, since somebody waits for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFIGURATION = '[routes.keras-tf-nightly]\nbase = "keras-tf"\nenvironment = "nightly"\n'
HEAVY = ("scipy", "matplotlib", "PIL", "tensorflow", "torch", "jax", "keras", "onnx")
IMPORTED = """
import sys
from cometfuzz.cli import app
try:
    app(prog_name="cometfuzz")
finally:
    print(sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def run(folder: Path, *command: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    given = {**os.environ, "HOME": str(folder), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", **environ}
    return subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, timeout=300, check=False)


def completed(folder: Path, *words: str) -> list[str]:
    environ = {"_COMETFUZZ_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    ended = run(folder, sys.executable, "-P", "-c", IMPORTED, **environ)
    assert not [name for name in HEAVY if repr(name) in ended.stderr], ended.stderr
    assert "'cometfuzz'" in ended.stderr  # it was told what was imported
    return ended.stdout.split()


def test_names_of_routes_and_strategies(tmp_path: Path) -> None:
    (tmp_path / "cometfuzz.toml").write_text(CONFIGURATION)
    assert completed(tmp_path, "cometfuzz", "run", "--strategy", "comet-r") == ["comet-r", "comet-r-published"]
    assert completed(tmp_path, "cometfuzz", "check", "mine.keras", "--routes", "litert,keras-t") == [
        "litert,keras-tf",
        "litert,keras-torch",
        "litert,keras-tf-nightly",
    ]
    (tmp_path / "cometfuzz.toml").write_text("not TOML")  # a command will say so
    assert completed(tmp_path, "cometfuzz", "reduce", "case.json", "--route", "lit") == ["litert"]


@pytest.mark.parametrize(("shell", "file"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish")])
def test_scripts_of_shells(tmp_path: Path, shell: str, file: str) -> None:
    command = (sys.executable, "-P", "-m", "cometfuzz")
    shown = run(tmp_path, *command, "--show-completion", shell)
    assert "_COMETFUZZ_COMPLETE=complete_" + shell in shown.stdout
    installed = run(tmp_path, *command, "--install-completion", shell)
    assert installed.returncode == 0, installed
    assert f"{shell} completion installed" in installed.stdout
    assert (tmp_path / file).exists()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_in_bash(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cometfuzz").write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m cometfuzz "$@"\n')
    (tmp_path / "bin" / "cometfuzz").chmod(0o755)
    script = (
        'eval "$(cometfuzz --show-completion bash)"; COMP_WORDS=(cometfuzz env create mxn) COMP_CWORD=3; '
        '_cometfuzz_completion cometfuzz; echo "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert run(tmp_path, "bash", "--norc", "-c", script, PATH=path).stdout == "mxnet\n"
