"""`cometfuzz gaps`: what we know that the libraries refuse or do wrong."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cometfuzz.cli.output import print_json
from cometfuzz.errors import UnknownName
from cometfuzz.routes.gaps import Gap, all_gaps
from cometfuzz.routes.registry import ROUTES


def gaps(
    route: Annotated[str, typer.Option(help=f"Only those of one route: {', '.join(ROUTES)}.")] = "",
    layer: Annotated[str, typer.Option(help="Only those of one layer.")] = "",
    kind: Annotated[str, typer.Option(help="`limit` (a library's own limit) or `bug`.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the declared gaps: limits and bugs of the libraries, with the evidence.

    Each one is held against the library by `make test`: one that no longer shows fails there.

    Example: cometfuzz gaps --route keras-torch --kind bug
    """
    if route and route not in ROUTES:
        raise UnknownName(f"expected a route out of {', '.join(ROUTES)}; received route={route!r}")
    if kind not in ("", "limit", "bug"):
        raise UnknownName(f"expected limit or bug; received kind={kind!r}")
    found = [
        gap
        for gap in all_gaps()
        if (not route or route in gap.routes)
        and (not layer or not gap.layers or layer in gap.layers)
        and (not kind or kind == gap.kind)
    ]
    if as_json:
        print_json({"gaps": [_describe(gap) for gap in found]})
        return
    table = Table("routes", "layers", "kind", "shows as", "evidence", show_lines=True)
    for gap in found:
        layers = ", ".join(gap.layers) or "any"
        table.add_row("\n".join(gap.routes), layers, gap.kind, gap.raises or gap.symptom, gap.evidence)
    console = Console()
    console.print(table)
    console.print(f"{len(found)} gaps, {sum(gap.kind == 'bug' for gap in found)} of them bugs.")


def _describe(gap: Gap) -> dict[str, Any]:
    return {
        "routes": list(gap.routes),
        "layers": list(gap.layers),
        "kind": gap.kind,
        "symptom": gap.symptom,
        "raises": gap.raises or None,
        "always": gap.always,
        "evidence": gap.evidence,
    }
