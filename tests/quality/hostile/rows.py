"""What a row of the table is, and the folders that its input is made in."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import campaigning
import reporting

from cometfuzz.campaign.store import Store, _finding
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.collection import Collection

ESCAPE = "\x1b]0;owned\x07\x1b[31m\x9b2J"
"""Sets the title of a terminal, turns it red and clears it."""

CONFIG = "[policy]\nbase = ['reference']\nonly = []\nconverters = []\nsampled = []\nclear = []\n"
"""A campaign on the one route that needs no DL library."""

TINY = json.dumps(
    {
        "version": 1,
        "rng_seed": 1,
        "graph": {
            "nodes": [
                {"id": "x", "layer": "input", "params": {"shape": [1, 4], "dtype": "float32"}, "inputs": []},
                {"id": "n", "layer": "Dense", "params": {"units": 2}, "inputs": [["x", 0]]},
            ],
            "outputs": [["n", 0]],
        },
        "data": {},
    }
)
"""A case that is fine, and quick."""

RUN = ("run", "--routes", "reference", "--config", "fine.toml", "--seeds", "tiny.json", "--no-branches", "--quiet")


def run_to(folder: str, *more: str, config: str = "fine.toml") -> tuple[str, ...]:
    """A campaign of one case."""
    words = [config if word == "fine.toml" else word for word in RUN]
    return (*words, "--cases", "1", "--out", folder, *more)


def prepare_work(work: Path) -> None:
    """The files of one's own that a command may need."""
    (work / "fine.toml").write_text(CONFIG)
    (work / "tiny.json").write_text(TINY)


def found_bug() -> Bug:
    """A bug whose script runs where no DL library is."""
    return reporting.bug("openvino", "value", script=_script("print('seen: 1')\nraise SystemExit(1)\n"))


def _script(text: str) -> Script:
    return Script(text, "tool", True, 1, "seen: 1\n")


@dataclass(frozen=True)
class Place:
    """Where a row plays: the command runs in `work`; nothing in `outside` may change; `templates` are made once."""

    work: Path
    outside: Path
    templates: Path

    def campaign(self) -> Path:
        """A campaign of somebody else, of two cases, with a finding and a bug; it could be gone on with."""
        return Path(shutil.copytree(self._template("campaign", _make_campaign), self.work / "campaign"))

    def talkative(self) -> Path:
        """A campaign in which every text of a library tries to steer the terminal."""
        make = lambda folder: reporting.write_campaign(folder, cases=2)  # noqa: E731
        return Path(shutil.copytree(self._template("talkative", make), self.work / "campaign"))

    def collection(self) -> Path:
        """A collection of somebody else with one bug, in the folder `theirs/entry`."""
        return Path(shutil.copytree(self._template("collection", _make_collection), self.work / "theirs"))

    def case_id(self) -> str:
        with sqlite3.connect(self._template("campaign", _make_campaign) / "campaign.sqlite") as connection:
            return str(connection.execute("SELECT case_id FROM cases").fetchone()[0])

    def _template(self, name: str, make: Callable[[Path], object]) -> Path:
        folder = self.templates / name
        if not folder.exists():
            make(folder)
        return folder


def _make_campaign(folder: Path) -> None:
    beside = folder.parent
    prepare_work(beside)
    command = [sys.executable, "-P", "-m", "cometfuzz", *RUN, "--cases", "2", "--out", folder.name]
    subprocess.run(command, cwd=beside, check=True, capture_output=True)
    with Store.open(folder) as store, store.connection:
        store.keep(found_bug())
        store._insert("findings", 0, 0, 0, *_finding(campaigning.finding()))


def _make_collection(folder: Path) -> None:
    _, entry = Collection(folder).add(found_bug())
    entry.folder.rename(folder / "entry")


Make = Callable[[Place], object]


@dataclass(frozen=True)
class Row:
    """A hostile input, the command line that it is given to, and how that may end.

    In the command, {outside} is the folder outside, {case} the id of a case of the campaign, {bug} that of its bug.
    words: what the output has to say. absent: what must not be there afterwards. stdout: a device, "terminal", or
    "nobody" for a pipe that nobody reads.
    """

    name: str
    command: tuple[str, ...]
    make: Make = lambda place: None
    codes: tuple[int, ...] = (2,)
    words: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    stdout: str = ""
    library: bool = False


def file(name: str, content: str | bytes) -> Make:
    """A file in the working folder."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return lambda place: (place.work / name).write_bytes(data)


def folder(name: str, *files: str) -> Make:
    """A folder with files in it."""

    def make(place: Place) -> None:
        for each in (f"{name}/", *(f"{name}/{file}" for file in files)):
            path = place.work / each
            (path if each.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
            if not each.endswith("/"):
                path.write_bytes(b"\x08\x01")

    return make


def fifo(name: str) -> Make:
    """A pipe that nobody writes to: reading it waits for ever."""
    return lambda place: os.mkfifo(place.work / name)


def link(name: str, target: str) -> Make:
    """A symlink; {outside} in the target is the folder outside."""
    return lambda place: (place.work / name).symlink_to(target.format(outside=place.outside))


def sparse(name: str, size: int) -> Make:
    """A file that claims a size and takes no room."""

    def make(place: Place) -> None:
        with open(place.work / name, "wb") as made:
            made.truncate(size)

    return make


def both(*makers: Make) -> Make:
    """One after the other."""
    return lambda place: [make(place) for make in makers]
