"""A campaign folder to be spoilt, and the commands that read it, in this process and without libraries."""

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import reporting
import typer
from stand_in import WINDOW, campaign

from cometfuzz.campaign.session import Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import Settled
from cometfuzz.cli import app, main
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.seeds.small import SMALL

BUG = reporting.bug("onnxruntime", "value", ("Conv2D", "ReLU"))
CASES = 4


class Ended(NamedTuple):
    """How a command ended."""

    code: Any
    out: str
    err: str


def write_campaign(folder: Path) -> Path:
    """A campaign that can be resumed, all findings of which are triaged: no command has anything to run."""
    seeds = seed_texts([make() for make in SMALL.values()])
    routes = ("keras-tf", "keras-torch")
    settings = Settings("comet", 7, routes, seeds, window=WINDOW, branches=True, cases=CASES, out=str(folder))
    with Store.create(folder, vars(settings)) as store:
        store.keep(BUG)
        for event in islice(campaign(settings.strategy_made(usual_dialects())), CASES):
            store.handle(event)
            store.settle(Settled((event.index, 0, 0), BUG.id, not event.index, "", 1.0))
    return folder


COMMANDS: dict[str, Sequence[str]] = {
    "run": ("run", "--out", "DIR", "--cases", "1", "--routes", "keras-tf,keras-torch"),
    "resume": ("resume", "DIR", "--quiet"),
    "triage": ("triage", "DIR", "--known", "known.toml"),
    "replay": ("replay", "DIR", "nobody"),
    "verify": ("verify", "DIR"),
    "report": ("report", "DIR"),
    "junit": ("report", "DIR", "--format", "junit"),
    "sarif": ("report", "DIR", "--format", "sarif"),
    "json": ("report", "DIR", "--format", "json"),
    "markdown": ("report", "DIR", "--format", "markdown"),
    "bugs": ("bugs", "DIR"),
    "bugs --json": ("bugs", "DIR", "--json"),
    "show": ("show", "DIR", BUG.id),
    "export": ("export", "DIR"),
    "export --json": ("export", "DIR", "--json"),
    "export --findings": ("export", "DIR", "--findings"),
    "collect": ("collect", "DIR", "--into", "INTO"),
}


@cache
def built() -> Any:
    """The command line, which typer would build anew for each call."""
    return typer.main.get_command(app)


class Commands:
    """Runs commands as a shell would, but here; what would start a process is left out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys
        monkeypatch.chdir(folder)
        monkeypatch.setenv("TERM", "dumb")
        running, verifying = (import_module(f"cometfuzz.cli.{name}") for name in ("run", "verify"))
        monkeypatch.setattr(running, "expect_environments", lambda routes: None)
        monkeypatch.setattr(verifying, "_run_all", lambda found, jobs, environment, quiet: ["still there"] * len(found))
        monkeypatch.setattr(import_module("cometfuzz.cli"), "app", built())
        (folder / "known.toml").write_text("")

    def __call__(self, name: str, folder: Path, into: Path) -> Ended:
        words = [{"DIR": str(folder), "INTO": str(into)}.get(word, word) for word in COMMANDS[name]]
        return self.run(*words)

    def run(self, *words: str) -> Ended:
        self.monkeypatch.setattr(sys, "argv", ["cometfuzz", *words])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self.capsys.readouterr()
        return Ended(ended.value.code, out, err)


def contents(folder: Path) -> dict[str, bytes | str]:
    """All that is in a folder, links as links."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        else:
            found[name] = path.read_bytes() if path.is_file() else "no file"
    return found


def expect_refusal(ended: Ended) -> None:
    """One line that says what is wrong."""
    line = ended.err.strip("\n")  # a progress bar that nobody sees leaves an empty one
    assert (ended.code, line.count("\n"), line[:11]) == (2, 0, "cometfuzz: "), ended
