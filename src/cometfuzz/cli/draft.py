"""`cometfuzz draft`: the issue of a bug as its library's tracker wants it, and the words to look for duplicates."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.cli.listing import Listed, bugs_of, named
from cometfuzz.cli.output import expect_place, folding, print_json, print_named, writing
from cometfuzz.errors import InvalidCollection, UnknownName
from cometfuzz.execution.environments import find
from cometfuzz.ledger.reading import ENTRY, shipped
from cometfuzz.places import Place
from cometfuzz.reports.text import clean, visible
from cometfuzz.triage.collection import DEFAULT, Collected, is_collection
from cometfuzz.triage.draft import draft, draft_of, example_of, tracker_of
from cometfuzz.triage.duplicates import Query, queries
from cometfuzz.triage.entries import first_entry
from cometfuzz.triage.example import EXAMPLE, PRINTED, core_of, printed_by
from cometfuzz.triage.recording import read_text
from cometfuzz.triage.running import run_script
from cometfuzz.triage.unrecorded import as_collected, is_unrecorded, unrecorded


def draft_(
    place: Annotated[
        str, typer.Argument(metavar="[ID | DIR BUG]", help="An entry of the ledger, or a folder with bugs.")
    ] = "",
    name: Annotated[str, typer.Argument(metavar="", help="The bug of that folder.", show_default=False)] = "",
    out: Annotated[Path | None, typer.Option(help="Write the draft to a file.")] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Run the entry's example.py first, and keep what it prints.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of Markdown.")] = False,
) -> None:
    """Print the draft of an issue: what is wrong, a few lines that show it, Actual, Expected, versions.

    It goes to the tracker of the library that the ledger's entry names. An entry needs a `why`, a case, and a script or
    an example; else the command says what is missing. On stderr, for you only: what to look for in
    that tracker before you file it. Without arguments: which drafts there are. The few lines are the example.py in the
    entry's folder, which a person has written; without one they are the core of the script.

    Example: cometfuzz draft keras-tf-add-value
    """
    expect_place(out)
    folder = Path(place) if name else _collection()
    if not place:
        _list(_found(folder), as_json)
        return
    chosen = _chosen(folder, name or place)
    if run:
        _run(chosen)
        chosen = _chosen(folder, chosen.name)
    text, looked = _drafted(chosen)
    if out is not None:
        with writing(out):
            out.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"id": chosen.name, **_facts(chosen), "text": text, "search": [asdict(each) for each in looked]})
        return
    if out is None:
        typer.echo(visible(text), nl=False)
    _say(looked, chosen)


def _collection() -> Path:
    return DEFAULT if is_collection(DEFAULT) else shipped()


def _found(folder: Path) -> list[Listed]:
    """All that can have a draft, with or without a record."""
    recorded = bugs_of(folder)
    if not is_collection(folder):
        return recorded
    return sorted([*recorded, *map(_listed, unrecorded(folder))], key=lambda each: each.name)


def _listed(entry: Collected) -> Listed:
    return Listed(entry.slug, entry.status, entry.bug, entry)


def _chosen(folder: Path, name: str) -> Listed:
    """The bug or entry of that name, if it can have a draft."""
    alone = is_collection(folder) and is_unrecorded(folder, name)
    chosen = _listed(as_collected(folder, name)) if alone else named(_found(folder), name)
    if chosen.entry is not None and not chosen.entry.defect.why.strip():
        where = chosen.entry.folder / ENTRY
        raise InvalidCollection(
            f"{where}: expected why it is a bug, with which a draft begins; received why='': say it there, "
            "in one or two sentences"
        )
    return chosen


def _drafted(chosen: Listed) -> tuple[str, tuple[Query, ...]]:
    bug, entry = chosen.bug, chosen.entry
    defect = first_entry(bug) if entry is None else entry.defect
    example = core_of(bug) if entry is None else example_of(entry)
    text = draft(bug) if entry is None else draft_of(entry)
    return text, queries(defect, bug, example, tracker_of(defect))


def _facts(chosen: Listed) -> dict[str, Any]:
    defect = first_entry(chosen.bug) if chosen.entry is None else chosen.entry.defect
    tracker = tracker_of(defect)
    known = [each.link for each in defect.upstream]
    return {"title": defect.title, "tracker": tracker.address, "labels": list(tracker.labels), "upstream": known}


def _say(looked: tuple[Query, ...], chosen: Listed) -> None:
    """What the user should do before the draft is filed; none of it belongs into the issue."""
    facts = _facts(chosen)
    typer.echo("\nBefore you file it, look for duplicates:", err=True)
    for query in looked:
        typer.echo(clean(f"  {query.words}  {query.address}".rstrip()), err=True)
    if facts["upstream"]:
        typer.echo(clean(f"Known upstream, so comment there instead: {', '.join(facts['upstream'])}"), err=True)


def _run(chosen: Listed) -> None:
    """Run an entry's example in its environment, and keep what it prints beside it."""
    entry = _with_example(chosen)
    script = entry.bug.script
    assert script is not None  # what is collected has one
    ran = run_script(read_text(entry.files, EXAMPLE), find(script.environment).python)
    with writing(entry.folder):
        entry.files.write(PRINTED, printed_by(ran).encode("utf-8", "backslashreplace"))


def _with_example(chosen: Listed) -> Collected:
    if chosen.entry is None or not chosen.entry.files.kind(EXAMPLE):
        raise UnknownName(f"expected an entry that has {EXAMPLE}; received bug={chosen.name!r}")
    return chosen.entry


def _list(found: list[Listed], as_json: bool) -> None:
    counted = [each for each in found if each.entry is not None and each.entry.defect.counted]
    if as_json:
        print_json({"drafts": [{"id": each.name, **_facts(each), "example": _by_hand(each)} for each in counted]})
        return
    table = Table(folding("id"), folding("title"), folding("tracker"), "example", box=box.SIMPLE_HEAD, pad_edge=False)
    for each in counted:
        facts = _facts(each)
        table.add_row(each.name, clean(facts["title"]), facts["tracker"], "by hand" if _by_hand(each) else "script")
    print_named(Console(), table)


def _by_hand(each: Listed) -> bool:
    return each.entry is not None and bool((Place(each.entry.folder.parent) / each.entry.slug).kind(EXAMPLE))
