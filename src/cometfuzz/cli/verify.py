"""`cometfuzz replay` and `cometfuzz verify`: what was found, once more."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from cometfuzz.campaign.records import Records
from cometfuzz.cli.output import print_json
from cometfuzz.cli.report import AsJson, Folder
from cometfuzz.cli.routes import print_trial
from cometfuzz.config import load as load_config
from cometfuzz.errors import UnknownName
from cometfuzz.execution.comparing import compare
from cometfuzz.execution.environments import find
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import Limits
from cometfuzz.ir.case import Case
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.judging import examine
from cometfuzz.reports.text import clean
from cometfuzz.routes.registry import choose, configured
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.reproducer import shows
from cometfuzz.triage.running import run_script

Configured = Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml.")]


def replay(
    folder: Folder,
    name: Annotated[
        str, typer.Argument(metavar="BUG|CASE", help="The id of a bug or of a case; its beginning will do.")
    ],
    routes: Annotated[str, typer.Option(help="Routes, with commas between them; by default the campaign's.")] = "",
    config: Configured = None,
    as_json: AsJson = False,
) -> None:
    """Run a case of a campaign, or the minimal case of a bug, once more, and judge it.

    The exit code is 1 if there is a finding that counts.

    Example: cometfuzz replay campaigns/monday ba471d530f
    """
    settings = load_config(config)
    known = configured(settings)
    with Records(folder) as records:
        case = _case(records, name)
        names = routes or ",".join(route for route in records.settings["routes"] if route in known)
    chosen = choose(names, known)
    with (
        Console(stderr=True).status("running"),
        Executor(chosen, limits=Limits.of(settings.limits), pause_after=0) as executor,
    ):
        trial = executor.run(case)
        findings = list(examine(Bench(trial, executor.run)))
    if as_json:
        print_json({"findings": [finding.as_plain() for finding in findings]})
    else:
        print_trial(trial, compare(trial))
        for finding in findings:
            routes_text = ", ".join(finding.camps[0].routes)
            line = f"{finding.symptom} on {routes_text}: {clean(finding.detail)}"
            Console().print(line, markup=False, highlight=False)
    if any(finding.counts for finding in findings):
        raise typer.Exit(1)


def _case(records: Records, name: str) -> Case:
    for bug in records.bugs():
        if bug.id.startswith(name):
            return bug.minimal
    for logged in records.feedbacks():
        if logged.case_id.startswith(name):
            return records.case(logged.case_id)
    for found in records.findings():
        if found.case_id.startswith(name):
            return records.case(found.case_id)
    raise UnknownName(f"expected the id of a bug or a case of {records.folder}; received {name!r}")


def verify(folder: Folder, as_json: AsJson = False) -> None:
    """Run the scripts of all bugs of a campaign again, each by itself, on the versions that are installed now.

    Example: cometfuzz verify campaigns/monday --json
    """
    with Records(folder) as records:
        found = [bug for bug in records.bugs() if bug.reported]
    results = [
        {"id": bug.id, "title": bug.title, "now": _now(bug)}
        for bug in track(found, "running scripts", console=Console(stderr=True), transient=True)
    ]
    if as_json:
        print_json({"bugs": results})
        return
    _print(results)


def _now(bug: Bug) -> str:
    assert bug.script is not None
    ran = run_script(bug.script.text, find(bug.script.environment).python)
    if shows(bug, ran):
        return "still there"
    return "gone" if ran.exit_code == 0 else f"unclear: exit code {ran.exit_code}"


def _print(results: list[dict[str, Any]]) -> None:
    table = Table("bug", "now", "what", box=box.SIMPLE_HEAD, pad_edge=False)
    for result in results:
        table.add_row(result["id"], result["now"], clean(result["title"]))
    console = Console()
    console.print(table)
    still = sum(result["now"] == "still there" for result in results)
    console.print(f"{still} of {len(results)} scripts show their bug.")
