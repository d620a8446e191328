"""Campaign folders of somebody else: symlinks in them, and databases that are damaged or made to harm."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from cometfuzz.reports.html import GENERATOR
from hostile.rows import ESCAPE, Make, Place, Row, run_to

COMMANDS = {
    "bugs": ("bugs", "campaign"),
    "show": ("show", "campaign", "{bug}"),
    "report": ("report", "campaign"),
    "json": ("report", "campaign", "--format", "json", "-o", "report.json"),
    "export": ("export", "campaign", "-o", "rows.csv"),
    "findings": ("export", "campaign", "--findings", "-o", "rows.csv"),
    "triage": ("triage", "campaign", "--minutes", "0", "--config", "fine.toml"),
    "resume": ("resume", "campaign", "--cases", "3", "--config", "fine.toml", "--quiet"),
    "replay": ("replay", "campaign", "{case}", "--config", "fine.toml"),
    "verify": ("verify", "campaign"),
    "collect": ("collect", "campaign", "--into", "mine"),
    "merge": ("merge", "campaign", "sound", "--out", "both"),
    "serve": ("serve", "campaign"),
}

Damage = Callable[[Path, Place], object]


def campaign(*damages: Damage) -> Make:
    """The campaign, then what is done to it."""

    def make(place: Place) -> None:
        folder = place.campaign()
        shutil.copytree(folder, place.work / "sound")
        for damage in damages:
            damage(folder, place)

    return make


def rows(name: str, damage: Damage, commands: str, **more: Any) -> list[Row]:
    """One row for each of these commands."""
    return [Row(f"campaign-{name}-{each}", COMMANDS[each], campaign(damage), **more) for each in commands.split()]


def linked(name: str, target: str = "precious.txt") -> Damage:
    """What is there leads outside."""

    def damage(folder: Path, place: Place) -> None:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(place.outside / target)

    return damage


def moved(name: str) -> Damage:
    """What is there lies outside, whole, and a symlink leads to it; * stands for the first of its folder."""

    def damage(folder: Path, place: Place) -> None:
        path = sorted(folder.glob(name))[0]
        target = place.outside / path.name
        shutil.move(path, target)
        path.symlink_to(target)

    return damage


def written(name: str, content: bytes) -> Damage:
    """A file is overwritten."""
    return lambda folder, place: sorted(folder.glob(name))[0].write_bytes(content)


def sql(*statements: str) -> Damage:
    """Statements that somebody has run on the database."""

    def damage(folder: Path, place: Place) -> None:
        with closing(sqlite3.connect(folder / "campaign.sqlite", isolation_level=None)) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("PRAGMA legacy_alter_table = ON")
            for statement in statements:
                connection.execute(statement)

    return damage


def bug(change: Callable[[dict[str, Any]], object]) -> Damage:
    """The record of the bug, changed."""

    def damage(folder: Path, place: Place) -> None:
        with closing(sqlite3.connect(folder / "campaign.sqlite", isolation_level=None)) as connection:
            plain = json.loads(connection.execute("SELECT bug FROM bugs").fetchone()[0])
            change(plain)
            connection.execute("UPDATE bugs SET bug = ?", (json.dumps(plain),))

    return damage


def settings(**values: Any) -> Damage:
    """The settings of the campaign, changed."""

    def damage(folder: Path, place: Place) -> None:
        with closing(sqlite3.connect(folder / "campaign.sqlite", isolation_level=None)) as connection:
            (text,) = connection.execute("SELECT value FROM campaign WHERE name = 'settings'").fetchone()
            changed = json.dumps({**json.loads(text), **values})
            connection.execute("UPDATE campaign SET value = ? WHERE name = 'settings'", (changed,))

    return damage


def without_rows(table: str) -> Damage:
    """The page of a table says that it has no rows."""

    def damage(folder: Path, place: Place) -> None:
        path = folder / "campaign.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        data = bytearray(path.read_bytes())
        at = (page - 1) * size
        data[at + 3 : at + 5] = bytes(2)
        path.write_bytes(data)

    return damage


def flipped(begin: int, step: int) -> Damage:
    """Every so many bytes of the database are wrong; its header is not."""

    def damage(folder: Path, place: Place) -> None:
        path = folder / "campaign.sqlite"
        data = bytearray(path.read_bytes())
        for at in range(begin, len(data), step):
            data[at] ^= 0xFF
        path.write_bytes(data)

    return damage


def fifo_database(folder: Path, place: Place) -> None:
    (folder / "campaign.sqlite").unlink()
    os.mkfifo(folder / "campaign.sqlite")


def folder_database(folder: Path, place: Place) -> None:
    (folder / "campaign.sqlite").unlink()
    (folder / "campaign.sqlite").mkdir()


def other_database(folder: Path, place: Place) -> None:
    (folder / "campaign.sqlite").unlink()
    sql("CREATE TABLE bugs (bug)")(folder, place)


def old_report(folder: Path, place: Place) -> None:
    """A report whose folder of bugs leads to one outside, in which there are pages."""
    report = folder / "report"
    report.mkdir()
    (report / "index.html").write_bytes(GENERATOR)
    (report / "bugs").symlink_to(place.outside / "precious")


def report_page(folder: Path, place: Place) -> None:
    """A report whose first page is one outside."""
    (folder / "report").mkdir()
    (folder / "report" / "index.html").symlink_to(place.outside / "precious" / "index.html")


def begun(name: str) -> Make:
    """A folder for a new campaign, with a symlink in it."""

    def make(place: Place) -> None:
        (place.work / "campaign").mkdir()
        linked(name, "owned")(place.work / "campaign", place)

    return make


def cut(folder: Path, place: Place) -> None:
    path = folder / "campaign.sqlite"
    path.write_bytes(path.read_bytes()[:20_000])


def missing(table: str) -> Damage:
    return sql(f"DROP TABLE {table}")


def endless(table: str, columns: str) -> Damage:
    """A view in place of a table, that never ends."""
    values = ", ".join(f"x AS {column}" for column in columns.split())
    counting = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
    return sql(
        f"ALTER TABLE {table} RENAME TO old_{table}", f"CREATE VIEW {table} AS {counting} SELECT {values} FROM c"
    )


READING = "bugs show report json export findings replay verify collect"
WRITING = "triage resume"
TRAVERSAL = "../../../outside/precious/keep"
HALT = "BEGIN SELECT RAISE(ABORT, 'owned'); END"

SYMLINKS = (
    *rows("link-lock", linked("lock"), WRITING),
    *rows("link-lock-to-nothing", linked("lock", "owned"), WRITING),
    *rows("link-cases", moved("cases"), "resume replay"),
    *rows("link-cases-subfolder", moved("cases/??"), "resume replay", codes=(0, 2)),
    *rows("link-case", moved("cases/??/*.json"), "resume replay", codes=(0, 2)),
    *rows("link-draft", linked("cases/draft"), "resume", codes=(0, 2)),
    *rows("link-draft-to-nothing", linked("cases/draft", "owned"), "resume", codes=(0, 2)),
    *rows("link-branches", linked("branches.json"), "resume", codes=(0, 2)),
    *rows("link-database", moved("campaign.sqlite"), "bugs report export replay triage resume merge serve"),
    *rows("link-wal", linked("campaign.sqlite-wal"), "bugs resume triage", codes=(0, 2)),
    *rows("link-shm", linked("campaign.sqlite-shm"), "bugs resume triage", codes=(0, 2)),
    *rows("link-journal", linked("campaign.sqlite-journal"), "bugs resume", codes=(0, 2)),
    *rows("link-wal-to-nothing", linked("campaign.sqlite-wal", "owned"), "bugs resume", codes=(0, 2)),
    *rows("link-report", linked("report", "precious"), "report"),
    *rows("link-report-to-nothing", linked("report", "owned"), "report"),
    *rows("link-report-bugs", old_report, "report"),
    *rows("link-report-page", report_page, "report"),
    Row("campaign-link-lock-run", run_to("campaign"), begun("lock")),
    Row("campaign-link-cases-run", run_to("campaign"), begun("cases"), codes=(0, 2)),
    Row("campaign-link-database-run", run_to("campaign"), begun("campaign.sqlite"), codes=(0, 2)),
    Row("campaign-link-draft-run", run_to("campaign"), begun("campaign.sqlite.draft"), codes=(0, 2)),
    Row(
        "campaign-link-set-aside-resume",
        COMMANDS["resume"],
        campaign(linked("set-aside", "precious"), written("cases/??/*.json", b"{}")),
        (0, 2),
    ),
    Row(
        "campaign-named-by-a-link",
        ("bugs", "latest"),
        lambda place: (place.work / "latest").symlink_to(place.campaign()),
        codes=(0,),
    ),
)

DATABASES = (
    *rows("fine", lambda folder, place: None, "bugs show report export collect merge", codes=(0,)),
    *rows("no-rows", without_rows("bugs"), "bugs show report verify collect triage"),
    *rows("flipped", flipped(4096, 97), f"{READING} {WRITING}"),
    *rows("flipped-late", flipped(9000, 4096), "bugs report export resume", codes=(0, 2)),
    *rows("cut", cut, "bugs report export resume merge serve"),
    *rows("empty-database", written("campaign.sqlite", b""), "bugs report resume"),
    *rows("text-database", written("campaign.sqlite", b"no database\n" * 900), "bugs resume"),
    *rows("other-database", other_database, "bugs resume serve"),
    *rows("folder-database", folder_database, "bugs resume"),
    *rows("fifo-database", fifo_database, "bugs resume merge serve"),
    *rows("older-version", sql("PRAGMA user_version = 1"), "bugs export resume merge serve", words=("version",)),
    *rows("newer-version", sql("PRAGMA user_version = 2147483647"), "bugs triage merge", words=("version",)),
    *rows("no-table-bugs", missing("bugs"), "bugs show report replay verify collect triage"),
    *rows("no-table-triaged", missing("triaged"), "bugs report triage"),
    *rows("no-table-outcomes", missing("outcomes"), "export report resume"),
    *rows("no-table-findings", missing("findings"), "findings report triage resume"),
    *rows("no-table-cases", missing("cases"), "replay report resume"),
    *rows("no-table-campaign", missing("campaign"), "report resume replay"),
    *rows("no-table-sessions", missing("sessions"), "report resume merge"),
    *rows("no-column", sql("ALTER TABLE outcomes DROP COLUMN detail"), "export report resume"),
    *rows("endless-view", endless("bugs", "bug_id bug"), "bugs show triage"),
    *rows(
        "endless-view-of-cases", endless("cases", "case_index case_id feedback elapsed_s"), "replay resume merge serve"
    ),
    *rows("trigger", sql(f"CREATE TRIGGER t BEFORE INSERT ON sessions {HALT}"), "resume"),
    *rows("trigger-on-bugs", sql(f"CREATE TRIGGER t BEFORE DELETE ON bugs {HALT}"), "triage", codes=(0, 2)),
    *rows("broken-bug", sql("UPDATE bugs SET bug = '{'"), "bugs show report verify collect triage merge"),
    *rows("bug-a-number", sql("UPDATE bugs SET bug = '5'"), "bugs report"),
    *rows("bug-a-blob", sql("UPDATE bugs SET bug = x'ff00fe'"), "bugs triage"),
    *rows("bug-nested-deeply", sql(f"UPDATE bugs SET bug = '{'[' * 100_000}'"), "bugs show"),
    *rows("bug-huge-integer", sql(f"UPDATE bugs SET bug = '{'9' * 10_000}'"), "bugs report"),
    *rows("bug-without-a-field", bug(lambda plain: plain.pop("signature")), "bugs show report"),
    *rows("bug-of-wrong-types", bug(lambda plain: plain.update(finding=[], blame="me", runs="x")), "bugs show triage"),
    *rows("bug-with-nan", bug(lambda plain: plain.update(triage_s=float("nan"))), "bugs show json", codes=(0, 2)),
    *rows(
        "bug-with-escapes",
        bug(lambda plain: plain.update(title=ESCAPE, draft=ESCAPE)),
        "bugs show verify",
        codes=(0, 1, 2),
    ),
    *rows("broken-finding", sql("UPDATE findings SET finding = 'no JSON'"), "findings report triage resume merge"),
    *rows("finding-of-wrong-types", sql("UPDATE findings SET finding = '{\"oracle\": 5}'"), "findings report triage"),
    *rows("broken-feedback", sql("UPDATE cases SET feedback = '['"), "replay resume merge"),
    *rows("feedback-a-number", sql("UPDATE cases SET feedback = '7'"), "resume"),
    *rows("broken-versions", sql("UPDATE versions SET versions = 'x'"), "export report"),
    *rows("numbers-are-texts", sql("UPDATE outcomes SET wall_s = 'abc', cpu_s = x'00'"), "export report", codes=(0, 2)),
    *rows("magnitude-a-text", sql("UPDATE outcomes SET mean_magnitude = 'abc'"), "export report"),
    *rows(
        "case-index-huge",
        sql("UPDATE cases SET case_index = 9223372036854775807 WHERE case_index = 1"),
        "resume",
    ),
    *rows(
        "case-index-negative",
        sql("UPDATE cases SET case_index = -5 WHERE case_index = 1"),
        "resume report",
        codes=(0, 2),
    ),
    *rows(
        "broken-settings", sql("UPDATE campaign SET value = '{' WHERE name = 'settings'"), "report resume replay triage"
    ),
    *rows("link-out", lambda folder, place: linked("both", "precious")(place.work, place), "merge"),
    *rows("link-out-to-nothing", lambda folder, place: linked("both", "owned")(place.work, place), "merge"),
    *rows("settings-a-list", sql("UPDATE campaign SET value = '[1]' WHERE name = 'settings'"), "resume replay"),
    *rows("settings-no-seeds", settings(seeds=5), "resume"),
    *rows("settings-seeds-of-numbers", settings(seeds=[1, 2]), "resume"),
    *rows("settings-broken-seed", settings(seeds=["{"]), "resume"),
    *rows("settings-unknown-strategy", settings(strategy=ESCAPE), "resume"),
    *rows("settings-unknown-key", settings(hook="rm"), "resume"),
    *rows("settings-jobs-0", settings(jobs=0), "resume"),
    *rows("settings-jobs-a-text", settings(jobs="x"), "resume"),
    *rows("settings-jobs-huge", settings(jobs=10**12), "resume"),
    *rows("settings-window-0", settings(window=0), "resume"),
    *rows("settings-minutes-nan", settings(minutes=float("nan")), "resume", codes=(0, 2)),
    *rows("settings-cases-a-text", settings(cases="many"), "report resume", codes=(0, 2)),
    *rows("settings-sigma-0", settings(sigma=0), "resume", codes=(0, 2)),
    *rows("settings-seed-a-list", settings(seed=[]), "resume"),
    *rows("settings-graphs-wrong", settings(graphs={"nodes": -1, "owned": 1}), "resume"),
    *rows("settings-unknown-routes", settings(routes=["ghost"]), "resume replay"),
    *rows("settings-routes-a-text", settings(routes="abc"), "resume replay"),
    *rows("settings-routes-of-numbers", settings(routes=[1]), "resume replay"),
    *rows("traversal-in-case-id", sql(f"UPDATE cases SET case_id = '{TRAVERSAL}'"), "resume merge"),
    *rows("traversal-in-trial", sql(f"UPDATE trials SET case_id = '{TRAVERSAL}'"), "resume triage", codes=(0, 2)),
    *rows("broken-case", written("cases/??/*.json", b"{}"), "resume merge", codes=(0, 2)),
    Row(
        "campaign-traversal-replay",
        ("replay", "campaign", "../"),
        campaign(sql(f"UPDATE cases SET case_id = '{TRAVERSAL}'")),
    ),
    Row("campaign-missing", ("bugs", "nowhere"), words=("nowhere",)),
    Row("campaign-empty-folder", ("resume", "campaign"), lambda place: (place.work / "campaign").mkdir()),
    Row("campaign-a-file", ("report", "campaign"), lambda place: (place.work / "campaign").write_text("x")),
    Row("campaign-dev-null", ("bugs", "/dev/null")),
    Row("campaign-no-such-bug", ("show", "campaign", f"../{ESCAPE}"), campaign()),
    Row("campaign-no-such-case", ("replay", "campaign", ESCAPE), campaign()),
)


def talkative(name: str, *command: str, stdout: str = "") -> Row:
    return Row(f"texts-{name}", command, lambda place: place.talkative(), codes=(0,), stdout=stdout)


TEXTS = (
    talkative("bugs", "bugs", "campaign"),
    talkative("bugs-json", "bugs", "campaign", "--json", stdout="terminal"),
    talkative("show", "show", "campaign", "4"),
    talkative("report", "report", "campaign"),
    talkative("json", "report", "campaign", "--format", "json", stdout="terminal"),
    talkative("junit", "report", "campaign", "--format", "junit", stdout="terminal"),
    talkative("markdown", "report", "campaign", "--format", "markdown", stdout="terminal"),
    talkative("export", "export", "campaign", stdout="terminal"),
    talkative("export-json", "export", "campaign", "--json", stdout="terminal"),
    talkative("findings", "export", "campaign", "--findings", stdout="terminal"),
    talkative("findings-json", "export", "campaign", "--findings", "--json", stdout="terminal"),
)

ROWS = (*SYMLINKS, *DATABASES, *TEXTS)
