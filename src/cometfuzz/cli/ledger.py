"""`cometfuzz ledger`: what is known to be wrong or limited in the libraries, with versions and evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from cometfuzz.campaign.triaging import STAGE_S
from cometfuzz.cli.completing import complete_route, complete_routes
from cometfuzz.cli.output import folding, print_json, print_named
from cometfuzz.cli.progress import progress
from cometfuzz.config import load as load_config
from cometfuzz.errors import UnknownName, near
from cometfuzz.execution.configuring import configured, usable
from cometfuzz.execution.executor import Executor, expect_environments
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ledger.changes import Change, mended, versions_met
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.defect import Defect, Seen
from cometfuzz.ledger.matching import forget, rules
from cometfuzz.ledger.overlay import Found, Learned, Overlay, overlay_path, write_overlay
from cometfuzz.ledger.predicates import predicates
from cometfuzz.ledger.reading import CASE, SCRIPT, defects, overlay, shipped
from cometfuzz.reports.text import plural
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.collection import Collection
from cometfuzz.triage.refreshing import Measured, Result, measure, questions

KINDS = ("bug", "limit", "choice")
HEADINGS: dict[Result, str] = {
    "does not show": "Does not show with these versions",
    "does not show on this CPU": "Does not show on this CPU ({cpu}), which says nothing of the versions",
    "not measured": "Could not be measured",
}
"""What a refresh lists; what is still there is only counted."""

app = typer.Typer(invoke_without_command=True)


@app.callback()
def ledger(
    context: typer.Context,
    route: Annotated[
        str,
        typer.Option(autocompletion=complete_route, help=f"Only what stands against one route: {', '.join(ROUTES)}."),
    ] = "",
    layer: Annotated[str, typer.Option(help="Only what a call of one layer can meet.")] = "",
    library: Annotated[str, typer.Option(help="Only defects of one library, such as keras or tf2onnx.")] = "",
    kind: Annotated[str, typer.Option(help="`bug`, `limit` (it does not promise this) or `choice`.")] = "",
    list_predicates: Annotated[
        bool, typer.Option("--predicates", help="List the conditions that entries may name instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List what is known: bugs and limits of the libraries, with the versions they were seen in and the evidence.

    Mutation keeps models clear of what it has, oracles excuse it, triage recognises it. Evidence is a script, a minimal
    case, or drawn calls that must fail as the entry says: `make conformance` and `make bugs` hold all of it against the
    libraries, `make test` a sample. An entry says something only of versions that it was seen with; `cometfuzz ledger
    refresh` looks for it with others.

    Example: cometfuzz ledger --route keras-torch --kind bug
    """
    if context.invoked_subcommand is not None:
        return
    if list_predicates:
        _print_predicates(as_json)
        return
    if route and route not in ROUTES:
        raise UnknownName(f"expected a route out of {', '.join(ROUTES)}; received route={route!r}{near(route, ROUTES)}")
    if kind not in ("", *KINDS):
        raise UnknownName(f"expected {', '.join(KINDS)}; received kind={kind!r}")
    meets = _ids(route, layer)
    found = [
        defect
        for defect in defects().values()
        if (not (route or layer) or defect.id in meets)
        and (not kind or kind == defect.kind)
        and (not library or library == defect.library)
    ]
    if as_json:
        print_json({"defects": [_plain(defect) for defect in found]})
        return
    table = Table(folding("id"), "library", "kind", folding("what"), folding("seen in"), "evidence", show_lines=True)
    for defect in found:
        seen = "\n".join(_versions(each.versions) for each in defect.seen)
        table.add_row(defect.id, defect.library, defect.kind, defect.title, seen, ", ".join(evidence(defect)))
    console = Console(highlight=False)
    print_named(console, table)
    console.print(f"{len(found)} defects, {sum(defect.kind == 'bug' for defect in found)} of them bugs.")


@app.command()
def refresh(
    routes: Annotated[
        str,
        typer.Option(
            autocompletion=complete_routes,
            help="Routes, with commas between them; by default all whose versions are new.",
        ),
    ] = "",
    anew: Annotated[
        bool, typer.Option("--anew", help="Look again also for what is known with these versions.")
    ] = False,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Look for every entry with the versions that routes have, and keep what shows: fixed since, or still there.

    What is learned goes into a file of yours ($COMETFUZZ_LEDGER, else cometfuzz/ledger.json among your user data), also
    after Ctrl-C. It is among the settings of a campaign: with another one, the same seed makes other cases.

    Example: cometfuzz ledger refresh --routes keras-tf-old
    """
    everything = configured(load_config(config))
    chosen = [route for route in usable(routes or "all", everything) if route.name != REFERENCE.name]
    measured = look(chosen, anew, quiet=as_json)
    if as_json:
        print_json({"file": str(overlay_path()), "measured": [_told(each) for each in measured]})
    else:
        _print_measured(measured)


@app.command()
def changes(
    library: Annotated[str, typer.Argument(help="A library, such as keras.")],
    old: Annotated[str, typer.Argument(help="One version of it.")],
    new: Annotated[str, typer.Argument(help="Another one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """List what shows with one version of a library and not with another, in both directions, as runs have told.

    What was never looked for with one of them is not listed: `cometfuzz ledger refresh` looks.

    Example: cometfuzz ledger changes keras 3.13.2 3.15.1
    """
    known = defects().values()
    met = versions_met(known, library)
    for version in (old, new):
        if version not in met:
            expected = ", ".join(met) or "a library of the ledger"
            raise UnknownName(f"expected versions that the ledger has met: {expected}; received {library} {version}")
    ways = {(old, new): list(mended(known, library, old, new)), (new, old): list(mended(known, library, new, old))}
    if as_json:
        print_json({"changes": [_changed(*way, each) for way, found in ways.items() for each in found]})
        return
    console = Console(highlight=False)
    for (having, lacking), found in ways.items():
        ids = {each.defect.id for each in found}
        title = f"Shows with {library} {having}, not with {lacking}: {len(ids) or 'nothing'}"
        if not found:
            console.print(title)
            continue
        table = Table(folding("id"), "kind", folding("what"), folding("does not show with"), title=title)
        for defect in {each.defect.id: each.defect for each in found}.values():
            gone = dict.fromkeys(_versions(each.gone.versions) for each in found if each.defect.id == defect.id)
            table.add_row(defect.id, defect.kind, defect.title, "\n".join(gone))
        print_named(console, table)


def _changed(having: str, lacking: str, each: Change) -> dict[str, Any]:
    measured = {"shows_with": each.shows.versions, "not_with": each.gone.versions}
    return {"id": each.defect.id, "shows": having, "gone": lacking, **measured}


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def look(routes: Sequence[Route], anew: bool = False, quiet: bool = False) -> list[Measured]:
    """Look for entries that have not met the versions of some routes, and keep what is learned, also after Ctrl-C."""
    waiting = list(questions(defects(), shipped(), routes, anew))
    if not waiting:
        return []
    asked = {name for question in waiting for name in question.routes}
    used = [route for route in routes if route.name in asked]
    expect_environments(used)
    bugs = {entry.slug: entry.bug for entry in Collection.read(shipped()).entries}
    measured: list[Measured] = []
    try:
        with (
            Executor(used, limits=WorkerLimits(stage_s=STAGE_S), pause_after=0) as executor,
            progress("known defects", len(waiting), quiet=quiet) as shown,
        ):
            for question in waiting:
                shown.update(at=question.defect.id)
                measured.append(measure(question, executor, bugs.get(question.defect.id)))
                shown.advance()
    finally:
        _keep(measured)
    return measured


def _keep(measured: Sequence[Measured]) -> None:
    """Write what was learned, in one go."""
    learn([(each.question.defect.id, each.seen, each.found) for each in measured if each.found is not None])


def learn(results: Sequence[tuple[str, Seen, Found]]) -> None:
    """Write measurements of entries into the user's own file, all of them in one go."""
    known = dict(overlay().entries)
    for name, seen, found in results:
        known[name] = known.get(name, Learned()).add(seen, found)
    if results:
        write_overlay(overlay_path(), Overlay(entries=known))
        forget()


def _told(each: Measured) -> dict[str, Any]:
    question = each.question
    plain = {"id": question.defect.id, "versions": dict(question.versions), "routes": list(question.routes)}
    return {**plain, "result": each.result, "route": each.route, "reason": each.reason}


def _print_measured(measured: Sequence[Measured]) -> None:
    console = Console(highlight=False)
    if not measured:
        console.print("Nothing to look for: the ledger knows these versions.")
        return
    for result, heading in HEADINGS.items():
        found = [each for each in measured if each.result == result]
        if found:
            title = f"{heading.format(cpu=cpu_level())}: {len(found)}"
            table = Table(folding("id"), "kind", folding("what"), folding("versions"), title=title)
            for each in found:
                defect, versions = each.question.defect, _versions(each.question.versions)
                said = each.reason if each.result == "not measured" else defect.title
                table.add_row(defect.id, defect.kind, said, versions)
            print_named(console, table)
    counts = Counter(each.result for each in measured)
    told = ", ".join(f"{counts[result]} {result}" for result in get_args(Result) if counts[result])
    console.print(f"{plural(len(measured), 'question')}: {told}; kept in {overlay_path()}", soft_wrap=True)


def evidence(defect: Defect) -> list[str]:
    """What shows a defect again: its script, its minimal case, or calls that are drawn under its rules."""
    folder = shipped() / defect.id
    files = {"script": folder / SCRIPT, "case": folder / CASE}
    found = [name for name, path in files.items() if path.is_file()]
    certain = any(not applies.by_chance for applies in defect.applies)
    return found + (["draws"] if certain else [])


def _ids(route: str, layer: str) -> set[str]:
    names = ROUTES[route].names if route else frozenset[str]()
    return {
        rule.id
        for rule in rules()
        if (not route or names & {*rule.routes}) and (not layer or not rule.layers or layer in rule.layers)
    }


def _plain(defect: Defect) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": defect.id, **msgspec.to_builtins(defect), "evidence": evidence(defect)}
    return plain


def _print_predicates(as_json: bool) -> None:
    texts = {name: (function.__doc__ or "").strip() for name, function in predicates().items()}
    if as_json:
        print_json({"predicates": texts})
        return
    table = Table("predicate", folding("holds if"))
    for name, text in texts.items():
        table.add_row(name, text)
    Console().print(table)
