"""`cometfuzz ledger`: what is known to be wrong or limited in the libraries, with versions and evidence."""

from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from cometfuzz.cli.output import folding, print_json
from cometfuzz.errors import UnknownName
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.matching import rules
from cometfuzz.ledger.predicates import predicates
from cometfuzz.ledger.reading import defects, shipped
from cometfuzz.routes.registry import ROUTES

KINDS = ("bug", "limit", "choice")


def ledger(
    route: Annotated[str, typer.Option(help=f"Only what stands against one route: {', '.join(ROUTES)}.")] = "",
    layer: Annotated[str, typer.Option(help="Only what a call of one layer can meet.")] = "",
    library: Annotated[str, typer.Option(help="Only defects of one library, such as keras or tf2onnx.")] = "",
    kind: Annotated[str, typer.Option(help="`bug`, `limit` (it does not promise this) or `choice`.")] = "",
    list_predicates: Annotated[
        bool, typer.Option("--predicates", help="List the conditions that entries may name instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the ledger: bugs and limits of the libraries, with the versions they were seen in and the evidence.

    Mutation keeps models clear of what it has, oracles excuse it, triage recognises it. Evidence is a script, a minimal
    case, or drawn calls that must fail as the entry says: `make test` and `make bugs` hold it against the libraries.

    Example: cometfuzz ledger --route keras-torch --kind bug
    """
    if list_predicates:
        _print_predicates(as_json)
        return
    if route and route not in ROUTES:
        raise UnknownName(f"expected a route out of {', '.join(ROUTES)}; received route={route!r}")
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
        seen = "\n".join(", ".join(f"{name} {each}" for name, each in one.versions.items()) for one in defect.seen)
        table.add_row(defect.id, defect.library, defect.kind, defect.title, seen, ", ".join(evidence(defect)))
    console = Console()
    console.print(table)
    console.print(f"{len(found)} defects, {sum(defect.kind == 'bug' for defect in found)} of them bugs.")


def evidence(defect: Defect) -> list[str]:
    """What shows a defect again: its script, its minimal case, or calls that are drawn under its rules."""
    folder = shipped() / defect.id
    files = {"script": folder / "script.py", "case": folder / "case.json"}
    found = [name for name, path in files.items() if path.is_file()]
    certain = any(not applies.by_chance for applies in defect.applies)
    return found + (["draws"] if certain else [])


def _ids(route: str, layer: str) -> set[str]:
    names = {route, *(step.name for step in ROUTES[route].steps[1:])} if route else set()
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
