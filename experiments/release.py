"""Build a wheel and an sdist into dist/, check them, install them where nothing else is, and use what was installed.

    .venv/bin/python experiments/release.py [--build-only]

The wheel is installed under every Python from 3.11 to 3.13 that is here, with the newest dependencies; the sdist under
the oldest of them with the lowest that pyproject.toml allows. Each is then used as a stranger would, in another folder
and with an empty cache of environments. Packages come from pip's index, so all but --build-only needs one.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from cometfuzz.errors import EnvironmentFailure
from cometfuzz.execution import environments
from cometfuzz.execution.interpreters import find_interpreter
from cometfuzz.execution.setup_progress import Progress

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13")
MISSING = "run `cometfuzz env create main`"
"""What must be said to somebody who has no libraries yet."""
ORDER = "from cometfuzz.plugins import found; print(*(point.name for point in found('cometfuzz.routes')))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-only", action="store_true", help="build and check, but install nowhere")
    arguments = parser.parse_args()
    wheel, sdist = build()
    if arguments.build_only:
        return
    pythons = dict(interpreters())
    for place, python in enumerate(pythons.values()):
        use(python, wheel)
        if place == 0:
            use(python, sdist, lowest_bounds())


def build() -> tuple[Path, Path]:
    """Both packages, checked as strictly as an index would."""
    python = environments.create("docs", report=Progress()).python
    shutil.rmtree(DIST, ignore_errors=True)
    run([python, "-m", "build", "--outdir", DIST, ROOT])
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run([python, "-m", "twine", "check", "--strict", wheel, sdist])
    return wheel, sdist


def interpreters() -> Iterator[tuple[str, Path]]:
    """The Pythons that are here, and a line for each that is not."""
    for version in PYTHONS:
        try:
            yield version, find_interpreter(version)
        except EnvironmentFailure as error:
            print(f"not tried: {error}")


def lowest_bounds() -> list[str]:
    """The lowest version of each dependency, as pins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [bound.replace(">=", "==") for bound in project["dependencies"]]


def use(python: Path, package: Path, pins: Sequence[str] = ()) -> None:
    """Install a package into a bare venv and use it, in a folder of its own."""
    began = time.monotonic()
    with TemporaryDirectory() as name:
        folder = Path(name)
        own = folder / "venv" / "bin" / "python"
        run([python, "-m", "venv", folder / "venv"])
        run([own, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", package, *pins])
        environ = {key: value for key, value in os.environ.items() if not key.startswith(("COMETFUZZ", "PYTHON"))}
        environ["COMETFUZZ_CACHE"] = str(folder / "cache")
        smoke(folder, environ)
    kind = "lowest" if pins else "newest"
    print(f"{package.name} on {python}, {kind} dependencies: works ({time.monotonic() - began:.0f} s)", flush=True)


def smoke(folder: Path, environ: Mapping[str, str]) -> None:
    """What must work without any library, and what is said where one is needed."""

    def ask(*arguments: str, code: int = 0, program: str = "cometfuzz") -> str:
        command: list[str | Path] = [folder / "venv" / "bin" / program, *arguments]
        ran = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        if ran.returncode != code:
            sys.exit(f"expected exit code {code} of {arguments}; received {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return " ".join((ran.stdout + ran.stderr).split())

    def expect(what: str, said: str) -> None:
        if what not in said:
            sys.exit(f"expected {what!r}; received {said!r:.2000}")

    expect("usage", ask("--help").lower())
    layers = json.loads(ask("layers", "--json"))
    expect("Conv2D", " ".join(layer["name"] for layer in layers["layers"]))
    expect("5 cases", ask("generate", "--cases", "5"))
    expect("5 cases", ask("generate", "--cases", "5", "--out", "models"))
    expect(" main ", ask("env", "list"))
    expect("keras-tf-add-value", ask("ledger", "--json"))
    expect(declared_routes(), ask("-c", ORDER, program="python"))
    expect("Actual:", ask("draft", "keras-tf-add-value"))
    expect("not available", ask("doctor", "--routes", "keras-tf", code=1))
    expect('"available": true', ask("doctor", "--routes", "reference", "--json"))
    expect(MISSING, ask("run", "--cases", "1", "--out", "campaign", code=3))
    ask("init", "--for", "ci")
    ask("new", "route", "mine")
    expect("cometfuzz.routes", (folder / "cometfuzz-mine" / "pyproject.toml").read_text(encoding="utf-8"))
    case = next((folder / "models").glob("*.json"))
    expect("completed", ask("exec", str(case), "--routes", "reference"))


def declared_routes() -> str:
    """The routes as pyproject.toml has them, which is the order that everything goes by."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return " ".join(project["entry-points"]["cometfuzz.routes"])


def run(command: Sequence[str | Path]) -> None:
    """Run a command; end with what it said if it fails."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nexit code {ran.returncode}\n{ran.stdout}")


if __name__ == "__main__":
    main()
