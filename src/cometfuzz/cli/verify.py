"""`cometfuzz replay` and `cometfuzz verify`: what was found, once more."""

import datetime
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cometfuzz.campaign.records import Records
from cometfuzz.cli.completing import complete_routes
from cometfuzz.cli.listing import Listed, bugs_of, named
from cometfuzz.cli.numbers import MOST_JOBS, at_most
from cometfuzz.cli.output import folding, print_json, print_named
from cometfuzz.cli.progress import progress, working
from cometfuzz.cli.report import AsJson, CampaignOrCollection, Folder
from cometfuzz.cli.routes import print_trial
from cometfuzz.config import load as load_config
from cometfuzz.errors import CometfuzzError, EnvironmentFailure, UnknownName
from cometfuzz.execution.comparing import compare
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.environments import default_names, find, known_names
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.judging import examine
from cometfuzz.reports.collection import write_tables
from cometfuzz.reports.text import clean, plural
from cometfuzz.routes.registry import choose
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.collection import Collection
from cometfuzz.triage.reproducer import shows
from cometfuzz.triage.running import run_script

Configured = Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml.")]

STILL = "still there"
ELSEWHERE = "not on this CPU"
"""It did not show, and was seen on other kinds of CPU only, by which libraries choose kernels: this says nothing."""

MAIN = "main"
"""The environment with the modern libraries."""


def replay(
    folder: Folder,
    name: Annotated[
        str, typer.Argument(metavar="BUG|CASE", help="The id of a bug or of a case; its beginning will do.")
    ],
    routes: Annotated[
        str,
        typer.Option(
            autocompletion=complete_routes, help="Routes, with commas between them; by default the campaign's."
        ),
    ] = "",
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
        names = routes or ",".join(route for route in records.routes if route in known)
    chosen = choose(names, known)
    with (
        working("running", quiet=as_json) as tell,
        Executor(chosen, limits=WorkerLimits.of(settings.limits), pause_after=0, watch=tell) as executor,
    ):
        trial = executor.run(case)
        findings = list(examine(Bench(trial, executor.run, view=executor.view)))
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
    raise UnknownName(
        f"expected the id of a bug or a case of {records.folder}; received {name!r}: "
        "`cometfuzz bugs DIR` lists the bugs"
    )


def verify(
    folder: CampaignOrCollection,
    bugs: Annotated[list[str] | None, typer.Argument(metavar="BUG", help="Only these, by id or name.")] = None,
    jobs: Annotated[int, typer.Option(min=1, callback=at_most(MOST_JOBS), help="Scripts at a time.")] = 2,
    environment: Annotated[
        str, typer.Option(help="Run them in this environment instead of their own, such as nightly.")
    ] = "",
    stamp: Annotated[bool, typer.Option("--stamp", help="Write today's date into the entries of those shown.")] = False,
    date: Annotated[
        datetime.datetime | None,
        typer.Option(help="The same with another date.", formats=["%Y-%m-%d"], metavar="YYYY-MM-DD"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the scripts of all bugs of a campaign or a collection again, each by itself, on what is installed now.

    A bug is still there, gone, or unclear if its script could not tell; what does not show and was only ever seen on
    other kinds of CPU is "not on this CPU". The exit code is 1 if any is gone or unclear.

    What only another release shows, and whose environment is built on demand and is not there, is left out.

    With --environment, those whose libraries are in another environment than `main` are left out: the scripts of main
    are what another release of its libraries can run.

    Example: cometfuzz verify bugs --stamp
    """
    found = [listed for listed in bugs_of(folder) if listed.bug.reported]
    if bugs:
        found = [named(found, name) for name in bugs]
    if environment:
        expect_environment(environment)
        found = [listed for listed in found if listed.bug.script and listed.bug.script.environment == MAIN]
    elif not bugs:
        found = _runnable(found)
    day = date.date() if date is not None else datetime.date.today() if stamp else None
    if day is not None and (environment or any(listed.entry is None for listed in found)):
        received = f"environment={environment}" if environment else str(folder)
        raise CometfuzzError(f"expected a collection in its own environments to stamp; received {received}")
    ran = _run_all([listed.bug for listed in found], jobs, environment, as_json)
    answers = [now if now == STILL or _met(listed) else ELSEWHERE for listed, now in zip(found, ran, strict=True)]
    results = [
        {"id": listed.bug.id, "name": listed.name, "title": listed.bug.title, "now": now}
        for listed, now in zip(found, answers, strict=True)
    ]
    if day is not None:
        shown = [listed.entry for listed, now in zip(found, answers, strict=True) if now == STILL and listed.entry]
        write_tables(Collection.read(folder).stamped(shown, day))
    if as_json:
        print_json({"bugs": results})
    else:
        _print(results)
    if any(now not in (STILL, ELSEWHERE) for now in answers):
        raise typer.Exit(1)


def _met(listed: Listed) -> bool:
    """Whether a bug was seen on this kind of CPU: else, that it does not show here says nothing."""
    seen = listed.entry.defect.seen if listed.entry is not None else ()
    return not seen or any(each.speaks_of(cpu_level()) for each in seen)


def _runnable(found: list[Listed]) -> list[Listed]:
    """Without those that only another release shows whose environment nobody has built: it is built on demand."""
    lacking = {name for name in known_names() if name not in default_names() and not find(name).ready}
    left_out = [each for each in found if each.bug.script and each.bug.script.environment in lacking]
    for name in sorted({each.bug.script.environment for each in left_out if each.bug.script}):
        count = sum(each.bug.script is not None and each.bug.script.environment == name for each in left_out)
        typer.echo(f"{plural(count, 'bug')} left out: run `cometfuzz env create {name}` first", err=True)
    return [each for each in found if each not in left_out]


def expect_environment(name: str) -> None:
    """Refuse an environment that nobody knows, or that is not built."""
    if not find(name).ready:
        raise EnvironmentFailure(f"environment {name} is missing; run `cometfuzz env create {name}`")


def _run_all(found: list[Bug], jobs: int, environment: str, quiet: bool) -> list[str]:
    """What became of each bug, with a progress bar; an interruption ends what runs and starts nothing more."""
    stop = threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(_now, bug, environment, stop) for bug in found]
        try:
            done = as_completed(waiting)
            with progress("running scripts", len(waiting), quiet=quiet) as shown:
                for _ in done:
                    shown.advance()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return [future.result() for future in waiting]


def _now(bug: Bug, environment: str, stop: threading.Event) -> str:
    assert bug.script is not None
    ran = run_script(bug.script.text, find(environment or bug.script.environment).python, stopped=stop.is_set)
    if shows(bug, ran):
        return STILL
    if ran.exit_code == 0:
        return "gone"
    return f"unclear: {ran.note or f'exit code {ran.exit_code}'}"


def _print(results: list[dict[str, Any]]) -> None:
    table = Table(folding("bug"), "now", folding("what"), box=box.SIMPLE_HEAD, pad_edge=False)
    for result in sorted(results, key=lambda result: result["now"] != STILL):  # what needs a look comes last
        table.add_row(result["name"], Text(clean(result["now"])), Text(clean(result["title"])))
    console = Console()
    print_named(console, table)
    still = sum(result["now"] == STILL for result in results)
    gone = sum(result["now"] == "gone" for result in results)
    elsewhere = sum(result["now"] == ELSEWHERE for result in results)
    unclear = len(results) - still - gone - elsewhere
    text = f"{still} still there, {gone} gone, {unclear} unclear"
    text += f", {elsewhere} {ELSEWHERE} ({cpu_level()})" if elsewhere else ""
    console.print(f"{text}: {still} of {len(results)} scripts show their bug.", highlight=False)
