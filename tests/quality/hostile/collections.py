"""Collections of bugs of somebody else, and the places beside them that are written."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cometfuzz.reports.collection import TABLES
from cometfuzz.triage.collection import slug_of
from hostile.rows import CONFIG, ESCAPE, Make, Place, Row, found_bug

BUGS = ("bugs", "theirs")
SHOW = ("show", "theirs", "entry")
VERIFY = ("verify", "theirs")
STAMP = ("verify", "theirs", "--stamp")
COLLECT = ("collect", "--into", "theirs")
KNOWN = ("triage", "campaign", "--minutes", "0", "--known", "theirs", "--config", "fine.toml")
RENEW = ("collect", "campaign", "--into", "theirs", "--renew")

HEAD_WHY = 'title = "t"\nlibrary = "keras"\n'
HEAD = f'{HEAD_WHY}why = ""\n'
"""The beginning of an entry that has all it must have, or all but the reason."""

FILES = ("script.py", "bug.json", "case.json", "issue.md", "defect.toml")
Damage = Callable[[Path, Place], object]


def collection(*damages: Damage, campaign: bool = False) -> Make:
    """The collection, then what is done to it; and perhaps a campaign of one's own."""

    def make(place: Place) -> None:
        folder = place.collection()
        for damage in damages:
            damage(folder, place)
        if campaign:
            place.campaign()

    return make


def moved(name: str) -> Damage:
    """A file, or the whole entry, lies outside, and a symlink leads to it."""

    def damage(folder: Path, place: Place) -> None:
        shutil.move(folder / name, place.outside / "moved")
        (folder / name).symlink_to(place.outside / "moved")

    return damage


def linked(name: str, target: str) -> Damage:
    """A symlink out of the collection where there is nothing."""

    def damage(folder: Path, place: Place) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(place.outside / target)

    return damage


def written(name: str, content: str | bytes) -> Damage:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return lambda folder, place: (folder / "entry" / name).write_bytes(data)


def fifo(name: str) -> Damage:
    def damage(folder: Path, place: Place) -> None:
        (folder / "entry" / name).unlink()
        os.mkfifo(folder / "entry" / name)

    return damage


def swollen(name: str) -> Damage:
    def damage(folder: Path, place: Place) -> None:
        with open(folder / "entry" / name, "ab") as file:
            file.truncate(2**40)

    return damage


def record(change: Callable[[dict[str, Any]], object]) -> Damage:
    """bug.json, changed."""

    def damage(folder: Path, place: Place) -> None:
        path = folder / "entry" / "bug.json"
        plain = json.loads(path.read_text())
        change(plain)
        path.write_text(json.dumps(plain))

    return damage


def document(folder: Path, place: Place) -> None:
    """docs/bugs.md beside the collection, a symlink to a document outside that has the places for our tables."""
    marks = [f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in TABLES]
    (place.outside / "document.md").write_text("".join(marks))
    (folder.parent / "docs").mkdir()
    (folder.parent / "docs" / "bugs.md").symlink_to(place.outside / "document.md")


def renamed(name: str) -> Damage:
    return lambda folder, place: (folder / "entry").rename(folder / name)


SLUG = slug_of(found_bug())
TOML_ESCAPE = json.dumps(ESCAPE)
TITLED = f'title = {TOML_ESCAPE}\nlibrary = "keras"\nwhy = ""\n'

ROWS = (
    Row("collection-fine", BUGS, collection(), codes=(0,)),
    Row("collection-fine-known", KNOWN, collection(campaign=True), codes=(0,)),
    Row("collection-fine-verify", VERIFY, collection(), codes=(0,)),
    Row("collection-missing", VERIFY, words=("theirs",)),
    *[Row(f"collection-link-{name}-bugs", BUGS, collection(moved(f"entry/{name}")), words=(name,)) for name in FILES],
    *[Row(f"collection-link-{name}-known", KNOWN, collection(moved(f"entry/{name}"), campaign=True)) for name in FILES],
    Row("collection-link-script-verify", VERIFY, collection(moved("entry/script.py")), words=("script.py",)),
    Row("collection-link-defect-stamp", STAMP, collection(moved("entry/defect.toml"))),
    Row("collection-link-entry-bugs", BUGS, collection(moved("entry"))),
    Row("collection-link-entry-stamp", STAMP, collection(moved("entry"))),
    Row("collection-link-entry-renew", RENEW, collection(moved("entry"), campaign=True)),
    Row("collection-link-script-renew", RENEW, collection(moved("entry/script.py"), campaign=True)),
    Row("collection-link-index", COLLECT, collection(linked("README.md", "precious.txt"))),
    Row("collection-link-index-to-nothing", COLLECT, collection(linked("README.md", "owned"))),
    Row("collection-link-index-stamp", STAMP, collection(linked("README.md", "precious.txt")), codes=(0, 2)),
    Row("collection-link-document", COLLECT, collection(document), codes=(0, 2)),
    Row(
        "collection-link-draft",
        ("collect", "campaign", "--into", "mine"),
        lambda place: (place.campaign(), linked(f".{SLUG}.draft", "precious")(place.work / "mine", place)),
    ),
    *[Row(f"collection-fifo-{name}", BUGS, collection(fifo(name)), words=(name,)) for name in FILES],
    Row("collection-fifo-entry-known", KNOWN, collection(fifo("defect.toml"), campaign=True)),
    Row("collection-fifo-script-verify", VERIFY, collection(fifo("script.py"))),
    *[Row(f"collection-terabyte-{name}", BUGS, collection(swollen(name)), words=(name,)) for name in FILES],
    *[Row(f"collection-binary-{name}", BUGS, collection(written(name, b"\xff\xfe\x9b" * 9))) for name in FILES],
    Row("collection-empty-record", VERIFY, collection(written("bug.json", "")), words=("bug.json",)),
    Row("collection-broken-record", COLLECT, collection(written("bug.json", '{"version": 1')), words=("bug.json",)),
    Row("collection-deep-record", BUGS, collection(written("bug.json", "[" * 100_000)), words=("bug.json",)),
    Row("collection-deep-evidence", BUGS, collection(written("bug.json", '{"id": ' + '{"a": ' * 100_000))),
    Row("collection-other-version", BUGS, collection(record(lambda bug: bug.update(version=99))), words=("version",)),
    Row("collection-wrong-id", VERIFY, collection(record(lambda bug: bug.update(id="../../x"))), words=("bug.json",)),
    Row("collection-wrong-types", COLLECT, collection(record(lambda bug: bug.update(runs="x")))),
    Row("collection-unknown-key", BUGS, collection(record(lambda bug: bug.update({ESCAPE: 1})))),
    Row("collection-no-camps", BUGS, collection(record(lambda bug: bug["finding"].update(camps=[])))),
    Row("collection-wrong-case", BUGS, collection(written("case.json", "{}"))),
    Row("collection-surrogate", BUGS, collection(record(lambda bug: bug["blame"].update(role="\ud800"))), codes=(0, 2)),
    Row("collection-escape-in-title", BUGS, collection(written("defect.toml", TITLED)), codes=(0,)),
    Row("collection-escape-in-title-show", SHOW, collection(written("defect.toml", TITLED)), codes=(0,)),
    Row("collection-escape-in-script", SHOW, collection(written("script.py", f"# {ESCAPE}\n")), codes=(0,)),
    Row(
        "collection-escape-in-environment",
        VERIFY,
        collection(record(lambda bug: bug["script"].update(environment=f"../{ESCAPE}"))),
        codes=(1, 2, 3),
    ),
    Row(
        "collection-environment-elsewhere",
        VERIFY,
        collection(record(lambda bug: bug["script"].update(environment="../../../outside"))),
        codes=(1, 2, 3),
    ),
    Row(
        "collection-broken-entry", BUGS, collection(written("defect.toml", HEAD_WHY + "why = ")), words=("defect.toml",)
    ),
    Row("collection-deep-entry", BUGS, collection(written("defect.toml", HEAD_WHY + f"why = {'[' * 100_000}"))),
    Row("collection-unknown-standing", BUGS, collection(written("defect.toml", HEAD + f"standing = {TOML_ESCAPE}"))),
    Row("collection-escape-in-entry-key", VERIFY, collection(written("defect.toml", HEAD + f"{TOML_ESCAPE} = 1"))),
    Row(
        "collection-escape-in-why",
        SHOW,
        collection(written("defect.toml", HEAD_WHY + f"why = {TOML_ESCAPE}")),
        codes=(0,),
    ),
    Row("collection-verified-no-date", COLLECT, collection(written("defect.toml", HEAD + "verified = 5"))),
    Row("collection-same-fix-itself", COLLECT, collection(written("defect.toml", HEAD + 'same_fix = "entry"'))),
    Row(
        "collection-same-fix-elsewhere",
        COLLECT,
        collection(written("defect.toml", HEAD + 'same_fix = "../../outside"')),
    ),
    Row("collection-same-fix-escape", COLLECT, collection(written("defect.toml", HEAD + f"same_fix = {TOML_ESCAPE}"))),
    Row("collection-name-with-escape", BUGS, collection(renamed(f"e{ESCAPE}"))),
    Row("collection-name-with-line-break", BUGS, collection(renamed("e\ncometfuzz: fine"))),
    Row("collection-name-not-utf8", BUGS, collection(renamed("e\udcff"))),
    Row("collection-no-such-bug", ("verify", "theirs", f"../../{ESCAPE}"), collection()),
    Row("collection-traversal-show", ("show", "theirs", "../../outside/precious"), collection()),
    Row("collection-report", ("report", "theirs"), collection()),
    Row("collection-a-file", COLLECT, lambda place: (place.work / "theirs").write_text(CONFIG)),
)
