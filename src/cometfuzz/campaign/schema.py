"""The database of a campaign: its tables, its version, and how it is opened. docs/store.md explains every column."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from cometfuzz.errors import InvalidCampaign
from cometfuzz.places import Place

VERSION = 7
"""Goes up with every change of the tables; a database of another version is refused."""

APPLICATION = 0x636F6D74
"""Marks the file as ours ("comt"), where `file` and SQLite look."""

SYNCHRONOUS = "FULL"
"""A committed case survives a kill under any setting of this; under this one also a power cut."""

BESIDE, JOURNAL = ("-wal", "-shm"), "-journal"
"""How SQLite names the files that it keeps beside a database: those of WAL mode, and that of the other one."""

TABLES = """
CREATE TABLE campaign (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY,
    cometfuzz TEXT NOT NULL,
    settings TEXT NOT NULL,
    first_index INTEGER NOT NULL,
    reason TEXT,
    done INTEGER,
    elapsed_s REAL,
    own_cpu_s REAL,
    library_cpu_s REAL
);
CREATE TABLE cases (
    case_index INTEGER PRIMARY KEY,
    case_id TEXT NOT NULL,
    operator TEXT NOT NULL,
    nodes INTEGER NOT NULL,
    feedback TEXT NOT NULL,
    gained TEXT NOT NULL,
    elapsed_s REAL NOT NULL,
    paper_inputs INTEGER,
    paper_parameters INTEGER,
    paper_sequences INTEGER,
    full_inputs INTEGER,
    full_parameters INTEGER,
    full_sequences INTEGER,
    ops_inputs INTEGER,
    ops_parameters INTEGER,
    ops_sequences INTEGER,
    branches TEXT
);
CREATE TABLE trials (
    case_index INTEGER NOT NULL REFERENCES cases,
    part INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    d_mad REAL,
    PRIMARY KEY (case_index, part)
) WITHOUT ROWID;
CREATE TABLE ran_on (
    case_index INTEGER NOT NULL,
    part INTEGER NOT NULL,
    node TEXT NOT NULL,
    digests TEXT NOT NULL,
    PRIMARY KEY (case_index, part),
    FOREIGN KEY (case_index, part) REFERENCES trials
) WITHOUT ROWID;
CREATE TABLE versions (
    versions_id INTEGER PRIMARY KEY,
    versions TEXT NOT NULL UNIQUE
);
CREATE TABLE outcomes (
    case_index INTEGER NOT NULL,
    part INTEGER NOT NULL,
    place INTEGER NOT NULL,
    route TEXT NOT NULL,
    status TEXT NOT NULL,
    stage TEXT NOT NULL,
    library TEXT NOT NULL,
    wall_s REAL NOT NULL,
    cpu_s REAL NOT NULL,
    detail TEXT NOT NULL,
    failure TEXT,
    versions_id INTEGER NOT NULL REFERENCES versions,
    mean_magnitude REAL,
    times TEXT NOT NULL,
    PRIMARY KEY (case_index, part, place),
    FOREIGN KEY (case_index, part) REFERENCES trials
);
CREATE TABLE findings (
    case_index INTEGER NOT NULL,
    part INTEGER NOT NULL,
    place INTEGER NOT NULL,
    oracle TEXT NOT NULL,
    symptom TEXT NOT NULL,
    data_kind TEXT NOT NULL,
    library TEXT NOT NULL,
    stage TEXT NOT NULL,
    layer TEXT NOT NULL,
    key TEXT NOT NULL,
    counts INTEGER NOT NULL,
    finding TEXT NOT NULL,
    PRIMARY KEY (case_index, part, place),
    FOREIGN KEY (case_index, part) REFERENCES trials
);
CREATE INDEX findings_by_key ON findings (key);
CREATE TABLE triaged (
    case_index INTEGER NOT NULL,
    part INTEGER NOT NULL,
    place INTEGER NOT NULL,
    bug_id TEXT NOT NULL,
    first INTEGER NOT NULL,
    reason TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (case_index, part, place),
    FOREIGN KEY (case_index, part, place) REFERENCES findings
) WITHOUT ROWID;
CREATE TABLE bugs (
    bug_id TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    data_kind TEXT NOT NULL,
    symptom TEXT NOT NULL,
    library TEXT NOT NULL,
    stage TEXT NOT NULL,
    reported INTEGER NOT NULL,
    known TEXT NOT NULL,
    bug TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE notices (
    notice INTEGER PRIMARY KEY,
    done INTEGER NOT NULL,
    text TEXT NOT NULL
);
"""

LONGEST = 256 * 2**20
"""Bytes of one value: a bug with two cases of the largest size fits."""

_OURS = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE)
"""Errors of a statement, since the tables are what they should be."""

_OUTSIDE = (
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL),
)


def create(path: Path, values: Mapping[str, str]) -> None:
    """Make a database with some rows of the table `campaign`: there as a whole or not at all."""
    place, draft = Place(path.parent), f"{path.name}.draft"
    with plain_words(path):
        for ending in ("", *BESIDE, JOURNAL):  # left by a process that was killed here
            place.remove(f"{draft}{ending}")
        with closing(sqlite3.connect(place.path(draft))) as connection, connection:
            connection.executescript(
                "PRAGMA journal_mode = WAL; "  # from the first: a journal beside a campaign is never ours
                f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; BEGIN; {TABLES}"
            )
            connection.executemany("INSERT INTO campaign VALUES (?, ?)", values.items())
        place.move(draft, place, path.name)


def connect(path: Path, writing: bool) -> sqlite3.Connection:
    """Open a database of our version that is sound and has our tables and nothing else, or say in plain words why not.

    It may be a stranger's: nothing in it may run (triggers, views), and no file beside it may lead elsewhere. SQLite
    opens files by itself and by name, so these are looked at before; it does not follow links of its own either.
    """
    with plain_words(path):
        _expect_own_files(path, writing)
        mode = "rw" if writing else "ro"
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level="IMMEDIATE")
        connection.row_factory = sqlite3.Row
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        try:
            for guard in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
                connection.execute(f"PRAGMA {guard}")
            _expect_version(connection, path)
            _expect_tables(connection, path)
            if writing:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
                connection.execute("PRAGMA foreign_keys = ON")
            if problems := integrity(connection, "integrity_check" if writing else "quick_check"):
                raise damaged(path, problems[0])
        except (sqlite3.Error, UnicodeDecodeError, InvalidCampaign):
            connection.close()
            raise
        return connection


def _expect_own_files(path: Path, writing: bool) -> None:
    """A reader writes too, into the files beside the database. A journal would be played back when the file is opened,
    and may name a file anywhere that is then removed; a campaign has none, since it is in WAL mode from the first."""
    place = Place(path.parent)
    place.expect_file(path.name, own=writing)
    for ending in BESIDE:
        place.expect_file(f"{path.name}{ending}", own=True)
    if kind := place.kind(f"{path.name}{JOURNAL}"):
        raise InvalidCampaign(
            f"{path}: expected a database without a journal, as campaigns keep them; received {kind} "
            f"{path.name}{JOURNAL} beside it: remove that"
        )


def _expect_version(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise InvalidCampaign(f"{path}: expected the database of a campaign; received another SQLite database")
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise InvalidCampaign(
            f"{path}: expected schema version {VERSION}; received version={version}, made by {age} cometfuzz: read or "
            "resume it with that one, or start a new campaign in another folder (nothing here was changed)"
        )


def _expect_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Our tables, column by column, and nothing else: a view or a trigger is a program."""
    expected, received = _tables(), _defined(connection)
    for name in sorted(expected.keys() | received.keys()):
        if name not in received:
            raise damaged(path, f"it has no {' '.join(name)}")
        if name not in expected:
            raise damaged(path, f"it has a {' '.join(name)!r:.99} that is not ours")
        if received[name] != expected[name]:
            raise damaged(path, f"the {' '.join(name)} is defined otherwise")


@cache
def _tables() -> Mapping[tuple[str, str], str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        return _defined(connection)


def _defined(connection: sqlite3.Connection) -> Mapping[tuple[str, str], str]:
    """How each table and index is defined; SQLite makes some of its own, without a text."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL OR type != 'index'")
    return {(str(kind), str(name)): str(text) for kind, name, text in rows}


def integrity(connection: sqlite3.Connection, kind: str) -> list[str]:
    """What SQLite finds wrong with its own file: `quick_check`, or the thorough `integrity_check`."""
    found = [text for (text,) in connection.execute(f"PRAGMA {kind}(20)")]
    return [] if found == ["ok"] else found


def damaged(path: Path, what: str) -> InvalidCampaign:
    what = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in " ".join(what.split()))
    return InvalidCampaign(
        f"{path}: expected a sound database; received a damaged one ({what}). The cases in {path.parent / 'cases'} can "
        f"still be used one by one (cometfuzz exec FILE), and `sqlite3 {path} .recover` prints the rows that can be "
        "read. Start a new campaign in another folder"
    )


@contextmanager
def plain_words(path: Path) -> Iterator[None]:
    """Say in plain words what is wrong with the file or the disk; our own mistakes stay as they are."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)  # none: text that is not UTF-8
        if code is not None and code & 0xFF in _OURS:
            raise
        if code is not None and code & 0xFF in _OUTSIDE:
            raise _hindered(path, str(error)) from None
        raise damaged(path, str(error)) from None
    except UnicodeDecodeError as error:  # SQLite quotes names of the file in its own messages
        raise damaged(path, str(error)) from None
    except OSError as error:
        raise _hindered(Path(error.filename or path), error.strerror or str(error)) from None


def _hindered(path: Path, why: str) -> InvalidCampaign:
    return InvalidCampaign(
        f"{path}: expected a file that can be read and written; received: {why}. What the campaign has committed is "
        "safe: mend the cause and go on with `cometfuzz resume DIR`"
    )
