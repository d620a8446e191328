"""`cometfuzz report`, `cometfuzz bugs` and `cometfuzz show`: what a campaign has found."""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.campaign.records import Records
from cometfuzz.cli.listing import Listed, bugs_of, named
from cometfuzz.cli.output import folding, print_named, writing
from cometfuzz.cli.progress import working
from cometfuzz.places import Place
from cometfuzz.reports.facts import Facts, gather
from cometfuzz.reports.graph_drawing import call_text
from cometfuzz.reports.html import write_report
from cometfuzz.reports.json_report import brief, json_report, json_text
from cometfuzz.reports.junit import junit_report
from cometfuzz.reports.markdown import markdown_report
from cometfuzz.reports.sarif import sarif_report
from cometfuzz.reports.text import clean, plural, visible
from cometfuzz.triage.records import bug_as_plain

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign, which may be running.")]
CampaignOrCollection = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of a campaign, which may be running, or a collection.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


class Format(StrEnum):
    """What a report may be."""

    html = "html"
    junit = "junit"
    sarif = "sarif"
    json = "json"
    markdown = "markdown"


TEXTS: dict[Format, Callable[[Facts], str]] = {
    Format.junit: junit_report,
    Format.sarif: sarif_report,
    Format.json: json_report,
    Format.markdown: markdown_report,
}


def report(
    folder: Folder,
    form: Annotated[Format, typer.Option("--format", help="Pages to read, or a text for programs.")] = Format.html,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A folder for html, else a file; by default DIR/report, or standard output."),
    ] = None,
) -> None:
    """Write what a campaign has found: pages that need no network, JUnit XML, SARIF, JSON or Markdown.

    Open the file that it names in a browser. JUnit has a test case for each bug: a new one has failed, a known one is
    skipped. SARIF has a result for each, with the known ones suppressed. docs/reports.md explains the formats.

    Example: cometfuzz report campaigns/monday --format junit -o bugs.xml
    """
    with working("reading the campaign"), Records(folder) as records:
        facts = gather(records)
    if form is Format.html:
        index = write_report(facts, Place(folder) / "report" if out is None else Place(out))
        Console().print(Text(str(index)), soft_wrap=True)
        return
    text = TEXTS[form](facts).encode("utf-8", "backslashreplace")
    if out is None:
        sys.stdout.buffer.write(text.rstrip(b"\n") + b"\n")
        return
    with writing(out):
        out.write_bytes(text)


def bugs(folder: CampaignOrCollection, as_json: AsJson = False) -> None:
    """List the bugs of a campaign: ordinary data first, then overflow, empty and special; what no script shows is last.

    Those of a collection (`cometfuzz collect`) are in the order of their names.

    Example: cometfuzz bugs campaigns/monday --json
    """
    found = bugs_of(folder)
    if as_json:
        print(json_text({"bugs": [_row(listed) for listed in found]}))
        return
    console = Console()
    if not found:
        console.print("No bugs.")
        return
    seen = any(listed.findings for listed in found)
    table = Table(folding("bug"), "status", "severity", "data", folding("what"), box=box.SIMPLE_HEAD, pad_edge=False)
    if seen:
        table.add_column("seen", justify="right")
    for listed in found:
        bug = listed.bug
        what = Text(clean(bug.title))
        if bug.known:
            what.append(f"\nknown as {clean(bug.known)}", style="dim")
        table.add_row(
            listed.name, listed.status, bug.severity, bug.data_kind, what, *([str(listed.findings)] if seen else [])
        )
    print_named(console, table)
    console.print(f"{plural(len(found), 'bug')}; `cometfuzz show DIR BUG` has the script of each.", highlight=False)


def _row(listed: Listed) -> dict[str, Any]:
    """A bug as a row for programs; one of a collection with what people say of it."""
    if listed.entry is None:
        return {**brief(listed.bug), "findings": listed.findings}
    said = msgspec.to_builtins(listed.entry.defect)
    return {**brief(listed.bug), "slug": listed.name, "standing": listed.entry.status, "defect": said}


def show(
    folder: CampaignOrCollection,
    bug: Annotated[str, typer.Argument(metavar="BUG", help="Its id or name, or the beginning of it.")],
    as_json: AsJson = False,
) -> None:
    """Show one bug: who is blamed and why, what was expected and seen, the minimal model, the script.

    Example: cometfuzz show campaigns/monday 3f2a
    """
    found = named(bugs_of(folder), bug)
    if as_json:
        print(json_text(bug_as_plain(found.bug)))
    else:
        _print_bug(found)


def _print_bug(listed: Listed) -> None:
    console, bug = Console(), listed.bug

    def line(text: str, style: str = "") -> None:
        console.print(Text(visible(text).rstrip("\n"), style=style), soft_wrap=True)

    line(clean(bug.title), "bold")
    runs = f"showed in {bug.shown} of {bug.runs} runs"
    line(f"{bug.id}: {listed.status}, severity {bug.severity}, {bug.data_kind} data, {bug.signature.symptom}; {runs}")
    if bug.known:
        line(f"Known: {bug.known}")
    if listed.entry is not None:
        line(f"Why: {listed.entry.defect.why or 'nobody has said it yet'}")
    line(f"Blamed: {bug.blame.role} ({bug.blame.confidence:.0%} sure). {bug.blame.reasoning}")
    for camp in bug.finding.camps:
        line(f"  {', '.join(camp.routes)}: {camp.what}")
    line("\nThe minimal model", "bold")
    for node in bug.minimal.graph.nodes:
        line(f"  {call_text(node)}")
    if bug.script is None:
        why = "It is known: no script was made." if bug.known else "No script shows it by itself: it is not reported."
        line(f"\n{why}")
        return
    shown = "shows it" if bug.script.shown else "does not show it"
    line(f"\nThe script, which {shown} in a clean process of the environment {bug.script.environment}", "bold")
    line(bug.script.text)
    line("What it prints", "bold")
    line(bug.script.output)
