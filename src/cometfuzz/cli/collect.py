"""`cometfuzz collect`: from the bugs of a campaign to the collection of a repository."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.cli.listing import Listed, bugs_of, named
from cometfuzz.cli.output import folding, print_json
from cometfuzz.reports.collection import write_tables
from cometfuzz.reports.text import clean, plural
from cometfuzz.triage.collection import DEFAULT, Collection, twin
from cometfuzz.triage.draft import write_drafts


def collect(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A triaged campaign; without one only tables are written.")
    ] = None,
    bugs: Annotated[
        list[str] | None, typer.Argument(metavar="BUG", help="Ids, or their beginnings; by default all reported.")
    ] = None,
    into: Annotated[Path, typer.Option(help="The collection, which is made if need be.")] = DEFAULT,
    renew: Annotated[
        bool, typer.Option("--renew", help="Take what the collection has already anew; names and entries stay.")
    ] = False,
    covered: Annotated[
        bool,
        typer.Option("--covered", help="Also take what the condition of a collected bug covers, if it is another one."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Put the bugs of a campaign whose script shows them into a collection, each into a folder of its own.

    What the collection has already is skipped. What people think of a bug stands in its defect.toml: say there
    why it is one. Issue drafts and the index, README.md, are written anew from the entries, and so are the tables of
    docs/bugs.md and docs/support-matrix.md beside the collection, if they are there. Later campaigns
    recognise what is collected.

    Example: cometfuzz collect campaigns/monday 3f2a ba47
    """
    collection = Collection.read(into)
    rows: list[dict[str, str]] = []
    for listed in _chosen(folder, bugs or []):
        collection, row = _take(collection, listed, renew=renew, covered=covered)
        rows.append({"id": listed.bug.id, **row, "title": listed.bug.title})
    write_drafts(collection)
    written = write_tables(collection)
    if as_json:
        print_json({"bugs": rows, "written": [str(path) for path in written]})
        return
    _print(rows, collection)


def _chosen(folder: Path | None, names: list[str]) -> list[Listed]:
    if folder is None:
        return []
    found = bugs_of(folder)
    return [named(found, name) for name in names] if names else found


def _take(collection: Collection, listed: Listed, *, renew: bool, covered: bool) -> tuple[Collection, dict[str, str]]:
    """Put a bug in, or say why not."""
    bug = listed.bug
    if not bug.reported:
        return collection, {"what": "skipped", "place": "", "why": "no script shows it"}
    same = twin(collection.entries, bug)
    entry = same or (None if covered else collection.has(bug))
    if entry is None:
        collection, entry = collection.add(bug)
        return collection, {"what": "added", "place": entry.place, "why": ""}
    if renew and entry.bug.id == bug.id:
        return collection.renew(entry, bug), {"what": "renewed", "place": entry.place, "why": ""}
    return collection, {"what": "skipped", "place": entry.place, "why": "collected already" if same else "covered"}


def _print(rows: list[dict[str, str]], collection: Collection) -> None:
    console = Console()
    if rows:
        table = Table("bug", "", folding("where"), folding("what"), box=box.SIMPLE_HEAD, pad_edge=False)
        for row in rows:
            place = " ".join(part for part in (row["why"], row["place"]) if part)
            table.add_row(row["id"], row["what"], place, Text(clean(row["title"])))
        console.print(table)
    added = sum(row["what"] == "added" for row in rows)
    counted = [entry for entry in collection.entries if entry.defect.counted]
    waiting = sum(not entry.defect.why for entry in counted)
    text = f"{added} added; {collection.folder} has {plural(len(collection.entries), 'bug')}, {len(counted)} counted"
    console.print(f"{text}, of which {waiting} wait for somebody to say why.", highlight=False)
