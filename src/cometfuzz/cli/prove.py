"""`cometfuzz prove`: from declared bugs to collected ones."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from cometfuzz.campaign.triaging import STAGE_S
from cometfuzz.cli.completing import complete_routes
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.execution.configuring import usable
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ledger.matching import Rule
from cometfuzz.reports.collection import write_tables
from cometfuzz.reports.text import clean, plural
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.collection import DEFAULT, Collection
from cometfuzz.triage.declared import Proven, declared_bugs, prove
from cometfuzz.triage.draft import draft, write_drafts
from cometfuzz.triage.reproducer import reproduce
from cometfuzz.triage.triage import Triage
from cometfuzz.triage.unrecorded import is_unrecorded


def prove_(
    routes: Annotated[
        str, typer.Option(autocompletion=complete_routes, help="Routes to run on, by name, or `all`.")
    ] = "all",
    matching: Annotated[str, typer.Option(help="Only defects whose id or text has this in it.")] = "",
    into: Annotated[Path, typer.Option(help="The collection, which is made if need be.")] = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Make every declared bug show in a model of one layer, reduce it, and collect it with a script.

    A campaign passes over what the ledger has; this is where it gets its script, in the folder of its entry if the
    collection has one. What has a script already is passed over, and each bug is kept as soon as it is there, so that
    Ctrl-C loses nothing.

    Example: cometfuzz prove --matching AveragePooling
    """
    chosen = [route for route in usable(routes, ROUTES) if route.name != REFERENCE.name]
    names = [route.name for route in chosen]
    collection = Collection.read(into)
    waiting = [
        rule
        for rule in declared_bugs(names)
        if not _collected(collection, rule) and matching in f"{rule.id} {rule.text}"
    ]
    rows: list[dict[str, Any]] = []
    limits = WorkerLimits(stage_s=STAGE_S)
    with (
        Executor(chosen, limits=limits, pause_after=0) as executor,
        progress("prove", len(waiting), quiet=as_json) as shown,
    ):
        triage = Triage(
            executor,
            reproduce=lambda bug: reproduce(bug, ROUTES, executor),
            bugs={entry.bug.id: entry.bug for entry in collection.entries},
            report=lambda step: shown.update(at=step),
            declared=True,
        )
        for rule in waiting:
            if _collected(collection, rule):  # by another rule of its entry, a moment ago
                shown.advance()
                continue
            proven = prove(rule, triage, names, lambda layer: shown.update(at=layer))
            collection, row = _take(collection, proven)
            rows.append({"defect": rule.id, "route": proven.route, **row})
            if not as_json:
                shown.say(f"{row['what']}: {clean(_line(rule, row))}")
            shown.advance()
    write_drafts(collection)
    write_tables(collection)
    if as_json:
        print_json({"declared": rows})
        return
    added = sum(row["what"] == "added" for row in rows)
    Console(stderr=True).print(
        f"{plural(len(rows), 'declared bug')} looked into, {added} added to {into}.", highlight=False
    )


def _collected(collection: Collection, rule: Rule) -> bool:
    """Whether the defect of a rule has a script there, under its own name or as what a triage made of it."""
    return any(rule.id in (entry.slug, entry.bug.finding.defect) for entry in collection.entries)


def _take(collection: Collection, proven: Proven) -> tuple[Collection, dict[str, Any]]:
    """Collect what a declared bug turned out to be, or say why not."""
    bug = proven.bug
    if bug is None or not bug.reported:
        return collection, {"what": "not shown", "place": "", "why": proven.reason or "no script shows it"}
    entry = collection.has(bug)
    if entry is not None:
        return collection, {"what": "one of those", "place": entry.place, "why": ""}
    drafted = replace(bug, draft=draft(bug, ROUTES))
    name = proven.rule.id
    declared = is_unrecorded(collection.folder, name)
    collection, entry = collection.record(name, drafted) if declared else collection.add(drafted)
    return collection, {"what": "added", "place": entry.place, "why": ""}


def _line(rule: Rule, row: dict[str, Any]) -> str:
    return f"{row['place'] or row['why']} ({rule.text})"
