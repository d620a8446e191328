"""`cometfuzz merge`: several campaigns as one."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cometfuzz.campaign.merging import Part, merge
from cometfuzz.campaign.records import Records
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.reports.text import plural, visible


def merge_(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="The folders of campaigns; they may run.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="A new folder for all of them together.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Make one campaign of several: those of many machines, or of several heads of a cluster.

    Coverage is counted anew over all cases, findings and bugs of one kind are one, with the script that shows it. A
    case that two campaigns ran is counted once. `report`, `bugs`, `show`, `triage` and `export` work on the new folder;
    nobody can go on with it: resume one of the campaigns, and merge again. The campaigns themselves are not changed.

    Example: cometfuzz merge campaigns/node-1 campaigns/node-2 --out campaigns/both
    """
    with progress("merging cases", quiet=as_json) as shown:
        parts = merge(folders, out, shown.update)
    with Records(out) as records:
        ((findings,),) = records.select("SELECT count(*) FROM findings")
        counts = {
            "cases": records.done,
            "findings": findings,
            "kinds": len(records.kinds()),
            "bugs": len(list(records.bugs())),
        }
    if as_json:
        print_json({"folder": str(out), **counts, "campaigns": [asdict(part) for part in parts]})
        return
    console = Console(highlight=False, markup=False)
    for part in parts:
        console.print(_line(part), soft_wrap=True)
    names = plural(counts["cases"], "case"), plural(counts["findings"], "finding"), plural(counts["bugs"], "bug")
    console.print(
        f"{visible(str(out))}: {names[0]}, {names[1]} of {plural(counts['kinds'], 'kind')}, {names[2]}", soft_wrap=True
    )


def _line(part: Part) -> str:
    notes = [f"{part.new} new"]
    notes += [f"{part.again} that an earlier campaign has"] if part.again else []
    notes += [f"{part.left_out} left out, since their files cannot be read"] if part.left_out else []
    return f"{visible(part.folder)}: {plural(part.cases, 'case')}, {', '.join(notes)}"
