"""`cometfuzz report`, `cometfuzz bugs` and `cometfuzz show`: what a campaign has found."""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.campaign.records import Records
from cometfuzz.errors import CometfuzzError, UnknownName
from cometfuzz.reports.facts import Facts, gather, rank, standing
from cometfuzz.reports.graph_drawing import call_text
from cometfuzz.reports.html import write_report
from cometfuzz.reports.json_report import brief, json_report, json_text
from cometfuzz.reports.junit import junit_report
from cometfuzz.reports.markdown import markdown_report
from cometfuzz.reports.text import clean, plural, visible
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.records import bug_as_plain

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign, which may be running.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


class Format(StrEnum):
    """What a report may be."""

    html = "html"
    junit = "junit"
    json = "json"
    markdown = "markdown"


TEXTS: dict[Format, Callable[[Facts], str]] = {
    Format.junit: junit_report,
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
    """Write what a campaign has found: pages that need no network, JUnit XML, JSON or Markdown.

    Open the file that it names in a browser. JUnit has a test case for each bug: a new one has failed, a known one is
    skipped. docs/reports.md explains the formats.

    Example: cometfuzz report campaigns/monday --format junit -o bugs.xml
    """
    with Console(stderr=True).status("reading the campaign"), Records(folder) as records:
        facts = gather(records)
    if form is Format.html:
        index = write_report(facts, out or folder / "report")
        Console().print(Text(str(index)), soft_wrap=True)
        return
    text = TEXTS[form](facts).encode("utf-8", "backslashreplace")
    if out is None:
        sys.stdout.buffer.write(text.rstrip(b"\n") + b"\n")
        return
    try:
        out.write_bytes(text)
    except OSError as error:
        raise CometfuzzError(f"{out}: {error.strerror}") from None


def bugs(folder: Folder, as_json: AsJson = False) -> None:
    """List the bugs of a campaign: ordinary data first, then overflow, empty and special; what no script shows is last.

    Example: cometfuzz bugs campaigns/monday --json
    """
    with Records(folder) as records:
        found = sorted(records.bugs(), key=rank)
    if as_json:
        print(json_text({"bugs": [brief(bug) for bug in found]}))
        return
    console = Console()
    if not found:
        console.print("No bugs.")
        return
    table = Table("bug", "status", "data", "what", box=box.SIMPLE_HEAD, pad_edge=False)
    for bug in found:
        table.add_row(bug.id, standing(bug), bug.severity, Text(clean(bug.title)))
    console.print(table)
    console.print(f"{plural(len(found), 'bug')}; `cometfuzz show DIR BUG` has the script of each.", highlight=False)


def show(
    folder: Folder,
    bug: Annotated[str, typer.Argument(metavar="BUG", help="Its id, or the beginning of it.")],
    as_json: AsJson = False,
) -> None:
    """Show one bug: who is blamed and why, what was expected and seen, the minimal model, the script.

    Example: cometfuzz show campaigns/monday 3f2a
    """
    with Records(folder) as records:
        found = _named(sorted(records.bugs(), key=rank), bug)
    if as_json:
        print(json_text(bug_as_plain(found)))
    else:
        _print_bug(found)


def _named(found: list[Bug], name: str) -> Bug:
    matching = [bug for bug in found if bug.id.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    wanted = f"one of {', '.join(bug.id for bug in matching or found)}" if found else "a campaign with bugs"
    raise UnknownName(f"expected {wanted}; received bug={name!r}")


def _print_bug(bug: Bug) -> None:
    console = Console()

    def line(text: str, style: str = "") -> None:
        console.print(Text(visible(text).rstrip("\n"), style=style), soft_wrap=True)

    line(clean(bug.title), "bold")
    runs = f"showed in {bug.shown} of {bug.runs} runs"
    line(f"{bug.id}: {standing(bug)}, {bug.severity} data, {bug.signature.symptom}; {runs}")
    if bug.known:
        line(f"Known: {bug.known}")
    line(f"Blamed: {bug.blame.role} ({bug.blame.confidence:.0%} sure). {bug.blame.reasoning}")
    for camp in bug.finding.camps:
        line(f"  {', '.join(camp.routes)}: {camp.what}")
    line("\nThe minimal model", "bold")
    for node in bug.minimal.graph.nodes:
        line(f"  {call_text(node)}")
    if bug.script is None:
        line("\nNo script shows it by itself, so that it is not reported.")
        return
    shown = "shows it" if bug.script.shown else "does not show it"
    line(f"\nThe script, which {shown} in a clean process of the environment {bug.script.environment}", "bold")
    line(bug.script.text)
    line("What it prints", "bold")
    line(bug.script.output)
