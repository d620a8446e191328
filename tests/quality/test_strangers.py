"""Folders of strangers on every command that reads them: one line or the right answer, and nothing outside changes."""

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import strangers
from strangers import BUG, COMMANDS, Commands, contents, expect_refusal

from cometfuzz.campaign.records import Records
from cometfuzz.cli.listing import bugs_of
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCampaign
from cometfuzz.reports.facts import gather
from cometfuzz.triage.collection import Collection

DATABASE = "campaign.sqlite"
Spoil = Callable[[Path], None]
HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\x7f\u202eabc\x85"
STEERING = ("\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\x85", "\x00", "\x9d")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return strangers.write_campaign(tmp_path_factory.mktemp("sound") / "campaign")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "campaign"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Commands:
    (tmp_path / "work").mkdir()
    return Commands(monkeypatch, capsys, tmp_path / "work")


def test_a_sound_folder_is_taken_by_every_command(run: Commands, folder: Path, tmp_path: Path) -> None:
    for name in COMMANDS:
        ended = run(name, folder, tmp_path / "bugs")
        assert ended.code == (2 if name in ("run", "replay") else 0), (name, ended)
    assert BUG.id in run("bugs", folder, tmp_path / "bugs").out


def sql(*statements: str) -> Spoil:
    def spoil(folder: Path) -> None:
        connection = sqlite3.connect(folder / DATABASE)
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement, {"text": HOSTILE})
        connection.commit()
        connection.close()

    return spoil


def told(table: str, column: str, change: Callable[[Any], Any], where: str = "1") -> Spoil:
    """JSON in a column, changed."""

    def spoil(folder: Path) -> None:
        connection = sqlite3.connect(folder / DATABASE)
        (text,) = connection.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchone()
        changed = json.dumps(change(json.loads(text)))
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (changed,))
        connection.commit()
        connection.close()

    return spoil


def value(name: str, new: object) -> Spoil:
    return told("campaign", "value", lambda old: new, f"name = '{name}'")


def setting(name: str, new: object) -> Spoil:
    return told("campaign", "value", lambda old: {**old, name: new}, "name = 'settings'")


def bug(name: str, new: object) -> Spoil:
    return told("bugs", "bug", lambda old: {**old, name: new})


def bug_part(part: str, name: str, new: object) -> Spoil:
    return told("bugs", "bug", lambda old: {**old, part: {**old[part], name: new}})


def finding(name: str, new: object) -> Spoil:
    return told("findings", "finding", lambda old: {**old, name: new})


def emptied(folder: Path) -> None:
    """The page of the bugs says that it has none: SQLite reads on without a word."""
    connection = sqlite3.connect(folder / DATABASE)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'bugs'").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = bytearray((folder / DATABASE).read_bytes())
    content[(page - 1) * size + 3 : (page - 1) * size + 5] = b"\0\0"
    (folder / DATABASE).write_bytes(content)


def cut(share: float) -> Spoil:
    return lambda folder: os.truncate(folder / DATABASE, int(share * (folder / DATABASE).stat().st_size))


READS_BUGS = (
    "triage",
    "replay",
    "verify",
    "report",
    "junit",
    "sarif",
    "json",
    "markdown",
    "bugs",
    "bugs --json",
    "show",
    "collect",
)
REPORTS = ("report", "junit", "sarif", "json", "markdown")
READS_CASES = ("resume", "replay", *REPORTS)
READS_FINDINGS = ("resume", "replay", *REPORTS, "export --findings")
EXPORTS = ("export", "export --json")
DEEP = "[" * 500 + "]" * 500

DAMAGES: dict[str, tuple[Spoil, Iterable[str]]] = {
    "no byte": (cut(0), COMMANDS),
    "half of it": (cut(0.5), COMMANDS),
    "flipped bytes": (emptied, COMMANDS),
    "a journal to play back": (lambda folder: (folder / f"{DATABASE}-journal").touch(), COMMANDS),
    "no table": (sql("DROP TABLE bugs"), COMMANDS),
    "no column": (sql("ALTER TABLE notices DROP COLUMN text"), COMMANDS),
    "one more column": (sql("ALTER TABLE notices ADD COLUMN more"), COMMANDS),
    "a view for a table": (sql("ALTER TABLE bugs RENAME TO b", "CREATE VIEW bugs AS SELECT * FROM b"), COMMANDS),
    "a trigger": (sql("CREATE TRIGGER t AFTER INSERT ON cases BEGIN DELETE FROM bugs; END"), COMMANDS),
    "settings that are no JSON": (sql("UPDATE campaign SET value = '{\"routes' WHERE name = 'settings'"), COMMANDS),
    "no settings": (sql("DELETE FROM campaign WHERE name = 'settings'"), COMMANDS),
    "settings of another type": (value("settings", [1]), COMMANDS),
    "routes that are a number": (setting("routes", 7), COMMANDS),
    "a nameless route": (setting("routes", [None]), COMMANDS),
    "unknown routes": (setting("routes", ["keras-tf", "\x1b[31mred"]), ("resume",)),
    "seeds that are no graphs": (setting("seeds", ["{}"]), ("resume",)),
    "no seeds": (setting("seeds", []), ("resume",)),
    "a window of none": (setting("window", 0), ("resume",)),
    "minutes that are a word": (setting("minutes", "many"), ("resume",)),
    "graphs of another size": (setting("graphs", {"moons": 1}), ("resume",)),
    "an unknown strategy": (setting("strategy", "luck"), ("resume",)),
    "coverage out of nothing": (
        value("coverage", {"paper": {"inputs": {"covered": 1, "total": 0, "reachable": 1}}}),
        COMMANDS,
    ),
    "coverage by another criterion": (
        value("coverage", {"paper": {"moons": {"covered": 1, "total": 1, "reachable": 1}}}),
        COMMANDS,
    ),
    "coverage without numbers": (value("coverage", {"paper": {"inputs": {}}}), COMMANDS),
    "a bug that is no JSON": (sql("UPDATE bugs SET bug = substr(bug, 1, 99)"), READS_BUGS),
    "a bug that is bytes": (sql("UPDATE bugs SET bug = x'ff00'"), READS_BUGS),
    "a bug that is no UTF-8": (sql("UPDATE bugs SET bug = CAST(x'ff' AS TEXT)"), READS_BUGS),
    "a bug without blame": (sql("UPDATE bugs SET bug = json_remove(bug, '$.blame')"), READS_BUGS),
    "a bug of unknown data_kind": (bug("data_kind", "dreadful"), READS_BUGS),
    "a bug that ran a word": (bug("runs", "often"), READS_BUGS),
    "a bug without a model": (bug("minimal", {"version": 1}), READS_BUGS),
    "a bug of no route": (bug_part("finding", "camps", []), READS_BUGS),
    "a bug of another name": (bug_part("signature", "library", "x"), READS_BUGS),
    "a bug whose name is no UTF-8": (bug_part("signature", "library", "\ud800"), READS_BUGS),
    "a bug that is nested deeply": (bug_part("finding", "evidence", {"x": json.loads(DEEP)}), READS_BUGS),
    "a bug that is gone": (sql("DELETE FROM bugs"), set(READS_BUGS) - {"triage", "replay"}),
    "a case with a path for a name": (
        sql("UPDATE cases SET case_id = '../../out'", "UPDATE trials SET case_id = '../../out'"),
        ("resume",),
    ),
    "feedback that is no JSON": (sql("UPDATE cases SET feedback = 'yes'"), (*READS_CASES, *EXPORTS)),
    "feedback without an answer": (sql("UPDATE cases SET feedback = '{}'"), (*READS_CASES, *EXPORTS)),
    "a time that is a word": (sql("UPDATE cases SET elapsed_s = 'long'"), ("resume", *REPORTS)),
    "a time without end": (sql("UPDATE cases SET elapsed_s = 9e999"), ("resume", *REPORTS)),
    "a count that is a word": (sql("UPDATE cases SET full_inputs = 'many'"), REPORTS),
    "an operator that is bytes": (sql("UPDATE cases SET operator = x'1b'"), EXPORTS),
    "gains that are a list": (sql("UPDATE cases SET gained = '[]'"), EXPORTS),
    "versions that are a list": (sql("UPDATE versions SET versions = '[]'"), (*REPORTS, *EXPORTS)),
    "a failure that is a number": (sql("UPDATE outcomes SET failure = '1'"), (*REPORTS, *EXPORTS)),
    "a magnitude that is a word": (sql("UPDATE outcomes SET mean_magnitude = 'big'"), REPORTS),
    "a finding that is no JSON": (sql("UPDATE findings SET finding = '{'"), READS_FINDINGS),
    "a finding of no route": (finding("camps", []), READS_FINDINGS),
    "a finding of another kind": (finding("symptom", "joy\x1b[2J"), READS_FINDINGS),
    "seconds that are a word": (sql("UPDATE triaged SET seconds = 'few'"), ("triage", *REPORTS)),
    "a session of other settings": (
        sql("INSERT INTO sessions VALUES (9, '1', '{', 0, 'cases', 1, 1.0, 1.0, 1.0)"),
        REPORTS,
    ),
    "a notice that is bytes": (sql("INSERT INTO notices VALUES (9, 1, x'1b')"), REPORTS),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_one_line(damage: str, run: Commands, folder: Path, tmp_path: Path) -> None:
    spoil, refused = DAMAGES[damage]
    spoil(folder)
    for name in COMMANDS:
        ended = run(name, folder, tmp_path / "bugs")
        if name in refused:
            expect_refusal(ended)
            assert "No bugs" not in ended.out
        else:
            assert ended.code in (0, 1, 2), (name, ended)
    assert not (tmp_path / "bugs").exists() or "collect" not in refused


def test_whatever_bytes_are_flipped_the_bugs_are_there_or_it_is_one_line(folder: Path) -> None:
    content, draw, refused = (folder / DATABASE).read_bytes(), Draw("flips"), []
    for _ in range(60):
        changed = bytearray(content)
        for _ in range(draw.integer(1, 20)):
            changed[draw.integer(0, len(changed) - 1)] = draw.integer(0, 255)
        for ending in ("-wal", "-shm"):
            (folder / f"{DATABASE}{ending}").unlink(missing_ok=True)
        (folder / DATABASE).write_bytes(changed)
        try:
            assert [listed.bug.id for listed in bugs_of(folder)] == [BUG.id]
            with Records(folder) as records:
                gather(records)
        except InvalidCampaign as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all(line.isprintable() for line in refused)


@pytest.mark.parametrize("camps", [[], [{"routes": [], "what": "x"}], [{"routes": ["of yesterday"], "what": "x"}]])
def test_a_finding_of_a_route_that_is_not_here_waits(
    camps: list[object], run: Commands, folder: Path, tmp_path: Path
) -> None:
    finding("camps", camps)(folder)
    sql("DELETE FROM triaged")(folder)
    ended = run("triage", folder, tmp_path / "bugs")
    if camps and "yesterday" in str(camps):
        assert "4 findings wait" in ended.out, ended
    else:
        expect_refusal(ended)


LINKED = {
    DATABASE: COMMANDS,
    f"{DATABASE}-wal": COMMANDS,
    f"{DATABASE}-shm": COMMANDS,
    f"{DATABASE}-journal": COMMANDS,
    "lock": ("run", "resume", "triage"),
    "cases": ("resume", "triage"),
    "cases/SOME": ("resume",),
    "cases/SOME/CASE": ("resume",),
    "set-aside": ("resume", "triage"),
    "branches.json": ("resume",),
    "report": ("report",),
    "report/index.html": ("report",),
    "report/bugs": ("report",),
    "report/bugs/BUG": ("report",),
}
"""What of a campaign is put elsewhere, with a link in its place, and the commands that then refuse."""


def moved_outside(folder: Path, name: str, outside: Path) -> Path:
    """Put a file or folder of a campaign elsewhere; what is not there begins to be, elsewhere."""
    case = sorted((folder / "cases").glob("*/*.json"))[0]
    for word, real in (("SOME", case.parent.name), ("CASE", case.name), ("BUG", BUG.id)):
        name = name.replace(word, real)
    path = folder / name
    outside.mkdir()
    if path.exists():
        shutil.move(path, outside / "target")
    elif path.suffix or "lock" in name or "-" in name.replace("set-aside", ""):
        (outside / "target").write_bytes(b"{}")
    else:
        (outside / "target").mkdir()
    return path


@pytest.mark.parametrize("name", LINKED)
def test_no_link_is_followed(name: str, run: Commands, folder: Path, tmp_path: Path) -> None:
    assert run("report", folder, tmp_path / "bugs").code == 0
    path = moved_outside(folder, name, tmp_path / "outside")
    path.symlink_to(tmp_path / "outside" / "target")
    before = contents(tmp_path / "outside")
    for command in COMMANDS:
        ended = run(command, folder, tmp_path / "bugs")
        if command in LINKED[name]:
            expect_refusal(ended)
        else:
            assert ended.code in (0, 2), (command, ended)
        assert contents(tmp_path / "outside") == before, command
    assert path.is_symlink()


@pytest.mark.parametrize("name", [name for name in LINKED if name not in ("report/bugs/BUG", "cases/SOME")])
def test_nobody_waits_for_a_fifo(name: str, run: Commands, folder: Path, tmp_path: Path) -> None:
    assert run("report", folder, tmp_path / "bugs").code == 0
    path = moved_outside(folder, name, tmp_path / "outside")
    os.mkfifo(path)
    for command in COMMANDS:
        ended = run(command, folder, tmp_path / "bugs")
        if command in LINKED[name]:
            expect_refusal(ended)
        else:
            assert ended.code in (0, 2), (command, ended)


@pytest.mark.parametrize("name", ["lock", DATABASE, f"{DATABASE}-shm"])
def test_nothing_is_written_into_a_file_that_has_another_name(
    name: str, run: Commands, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    if not (folder / name).exists():
        (folder / name).write_bytes(b"\0" * 32768)
    os.link(folder / name, tmp_path / "outside" / "file")
    before = contents(tmp_path / "outside")
    for command in ("resume", "triage"):
        ended = run(command, folder, tmp_path / "bugs")
        expect_refusal(ended)
        assert "a file with 2 names (hard links)" in ended.err
    run("bugs", folder, tmp_path / "bugs")
    assert contents(tmp_path / "outside") == before


def test_what_a_kill_may_have_left_is_no_way_out(run: Commands, folder: Path, tmp_path: Path) -> None:
    """Drafts that are links: the link goes, what it points to stays."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"mine")
    case = sorted((folder / "cases").glob("*/*.json"))[0]
    content = case.read_bytes()
    case.unlink()
    (case.parent / f".{case.name}.draft").symlink_to(tmp_path / "outside" / "file")
    assert run("resume", folder, tmp_path / "bugs").code == 0
    assert case.read_bytes() == content
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    for ending in ("", "-journal", "-wal", "-shm"):
        (fresh / f"{DATABASE}.draft{ending}").symlink_to(tmp_path / "outside" / "file")
    strangers.write_campaign(fresh)
    assert run("bugs", fresh, tmp_path / "bugs").code == 0
    assert contents(tmp_path / "outside") == {"file": b"mine"}


def test_a_new_campaign_does_not_begin_where_links_lead_elsewhere(run: Commands, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    for name in ("cases", "set-aside", "lock", DATABASE):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).symlink_to(tmp_path / "outside" / ("" if name in ("cases", "set-aside") else "new"))
        expect_refusal(run("run", folder, tmp_path / "bugs"))
    assert contents(tmp_path / "outside") == {}


@pytest.fixture
def collection(run: Commands, folder: Path, tmp_path: Path) -> Path:
    assert run("collect", folder, tmp_path / "bugs").code == 0
    return tmp_path / "bugs"


COLLECTION = {
    "bugs": ("bugs", "INTO"),
    "show": ("show", "INTO", BUG.id),
    "verify": ("verify", "INTO", "--stamp"),
    "prove": ("prove", "--into", "INTO", "--matching", "nothing has this in it"),
    "triage": ("triage", "DIR", "--known", "INTO"),
    "collect": ("collect", "DIR", "--into", "INTO", "--renew"),
}
ENTRY_FILES = ("script.py", "issue.md", "case.json", "bug.json", "defect.toml")


@pytest.mark.parametrize("kind", ["link", "fifo"])
@pytest.mark.parametrize("name", ["", *ENTRY_FILES])
def test_a_collection_stays_within_itself(
    name: str, kind: str, run: Commands, folder: Path, collection: Path, tmp_path: Path
) -> None:
    (entry,) = Collection.read(collection).entries
    path = entry.folder / name if name else entry.folder
    (tmp_path / "outside").mkdir()
    shutil.move(path, tmp_path / "outside" / "target")
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "outside" / "target")
    before = contents(tmp_path / "outside")
    for command, words in COLLECTION.items():
        given = [{"DIR": str(folder), "INTO": str(collection)}.get(word, word) for word in words]
        ended = run.run(*given)
        if name or kind == "link" or command in ("bugs", "show", "verify", "triage"):
            expect_refusal(ended)
        assert contents(tmp_path / "outside") == before, command


@pytest.mark.parametrize("name", ["README.md", ".README.md.draft", "../docs/bugs.md", "draft"])
def test_what_is_written_beside_the_bugs_follows_no_link(
    name: str, run: Commands, folder: Path, collection: Path, tmp_path: Path
) -> None:
    (entry,) = Collection.read(collection).entries
    (tmp_path / "docs").mkdir()
    (tmp_path / "outside").mkdir()
    marked = "".join(f"<!-- begin {name} --><!-- end {name} -->" for name in ("by symptom", "by trigger"))
    (tmp_path / "outside" / "file").write_text(marked)
    if name == "draft":
        shutil.rmtree(entry.folder)
        (collection / f".{entry.slug}.draft").symlink_to(tmp_path / "outside")
    else:
        (collection / name).unlink(missing_ok=True)
        (collection / name).symlink_to(tmp_path / "outside" / "file")
    ended = run("collect", folder, collection)
    if name == ".README.md.draft":
        assert ended.code == 0, ended
        assert not (collection / name).is_symlink()
    else:
        expect_refusal(ended)
    assert contents(tmp_path / "outside") == {"file": marked.encode()}


@pytest.mark.parametrize("text", [b"\xff", b"why = " + b"[" * 5000 + b"]" * 5000, b'"\\u001b[31m" = 1', b"why = 1"])
def test_an_entry_that_cannot_be_read_is_one_line(text: bytes, run: Commands, collection: Path) -> None:
    (entry,) = Collection.read(collection).entries
    (entry.folder / "defect.toml").write_bytes(text)
    expect_refusal(run.run("bugs", str(collection)))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("run", "report")])
def test_nothing_steers_the_terminal(
    name: str, run: Commands, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug("title", HOSTILE)(folder)
    bug("known", HOSTILE)(folder)
    told("findings", "finding", lambda old: {**old, "detail": HOSTILE, "library": HOSTILE})(folder)
    sql("UPDATE outcomes SET detail = :text, route = :text", "INSERT INTO notices VALUES (9, 1, :text)")(folder)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    ended = run(name, folder, tmp_path / "bugs")
    assert ended.code in (0, 1, 2), ended
    assert not [sign for sign in STEERING if sign in ended.out + ended.err], ended


def test_a_pipe_gets_every_text_as_it_is(run: Commands, folder: Path, tmp_path: Path) -> None:
    sql("UPDATE outcomes SET detail = :text")(folder)
    assert HOSTILE in run("export", folder, tmp_path / "bugs").out
    row = json.loads(run("export --json", folder, tmp_path / "bugs").out.splitlines()[0])
    assert row["detail"] == HOSTILE


def test_json_for_programs_steers_no_terminal(run: Commands, folder: Path, tmp_path: Path) -> None:
    bug("title", HOSTILE)(folder)
    for words in (("verify", str(folder)), ("collect", str(folder), "--into", str(tmp_path / "bugs"))):
        ended = run.run(*words, "--json")
        assert not [sign for sign in STEERING if sign in ended.out]
        assert json.loads(ended.out)["bugs"][0]["title"] == HOSTILE
