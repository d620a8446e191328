"""`cometfuzz reduce`: the smallest case that still shows what a case shows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from cometfuzz.campaign.triaging import named_by
from cometfuzz.catalogue.files import load, save
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.cli.cluster import ClusterOption, InsecureOption, named, on_cluster, say
from cometfuzz.cli.completing import complete_route
from cometfuzz.cli.numbers import MOST_SECONDS, at_most
from cometfuzz.cli.output import expect_place, print_json, writing
from cometfuzz.cli.progress import working
from cometfuzz.cli.routes import Configured
from cometfuzz.config import load as load_config
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import view_of
from cometfuzz.reports.text import visible
from cometfuzz.routes.registry import base_of, choose
from cometfuzz.routes.switches import with_switches
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.known import Known, load_known
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.sought import Asked, reduced


def reduce(
    case: Annotated[Path, typer.Argument(metavar="CASE.json", help="A case file.")],
    route: Annotated[str, typer.Option(autocompletion=complete_route, help="The route that fails.")],
    beside: Annotated[
        str, typer.Option(help="Routes to compare with, with commas between them; they decide who is blamed.")
    ] = "",
    symptom: Annotated[str, typer.Option(help="Which symptom, if it shows several: crash, value, shape...")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the reduced case to this file.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="How many runs it may take at most.")] = 250,
    seconds: Annotated[
        float, typer.Option(min=1, callback=at_most(MOST_SECONDS), help="How long it may take at most.")
    ] = 300,
    known: Annotated[list[Path] | None, typer.Option(help="Known issues of your own, a TOML file.")] = None,
    cluster: ClusterOption = "",
    insecure: InsecureOption = False,
    config: Configured = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a case as small as it gets while one route still fails in the same way, and say who is to blame.

    By default the route is compared with keras-tf and keras-torch, and with the route whose model it converts. What a
    known defect explains, or the library says not to support, is left alone. The exit code is 1 if nothing shows.

    With --cluster a node does it, with the environments that are there.

    Example: cometfuzz reduce findings/0123.json --route onnxruntime -o minimal.json
    """
    wanted, settings = load(case), load_config(config)
    expect_place(out)
    routes = configured(settings)
    others = beside.split(",") if beside else [name for name in (*settings.policy.base, base_of(route)) if name]
    chosen = choose(",".join(dict.fromkeys([route, *others])), routes)
    issues, effort = Known(load_known(*(known or ()))), Effort(steps, seconds)
    asked = Asked(wanted, tuple(each.name for each in chosen), route, symptom, effort)
    with working("reducing", quiet=as_json) as tell:
        if name := named(cluster, settings):
            with on_cluster(name, insecure, settings, asked.routes, say(quiet=True)) as dispatch:
                from cometfuzz.cluster.executor import reduce_there

                bug, shown = reduce_there(dispatch, asked)
            bug = None if bug is None else named_by(bug, issues.on(view_of(routes), bug.finding.camps[0].routes))
        else:
            limits = WorkerLimits.of(settings.limits)
            with Executor(with_switches(chosen), limits=limits, pause_after=0) as executor:
                bug, shown = reduced(executor, asked, issues, tell)
    if bug is None:
        for each in shown:
            typer.echo(visible(each), err=True)
        typer.echo(f"nothing to reduce: {route} shows {'only this' if shown else 'nothing'} on this case", err=True)
        raise typer.Exit(1)
    if out is not None:
        with writing(out):
            save(bug.minimal, out)
    if as_json:
        print_json(_plain(bug, out))
    else:
        _print(bug, out)


def _plain(bug: Bug, out: Path | None) -> Mapping[str, Any]:
    return {
        "bug": bug.id,
        "title": bug.title,
        "signature": bug.signature.key,
        "case": bug.original_id,
        "minimal": bug.minimal_id,
        "out": str(out) if out is not None else None,
        "layers": list(bug.signature.layers),
        "utility": bug.utility,
        "blame": {
            "library": bug.blame.library,
            "stage": bug.blame.stage,
            "role": bug.blame.role,
            "reasoning": bug.blame.reasoning,
            "confidence": bug.blame.confidence,
        },
        "runs": bug.runs,
        "shown": bug.shown,
        "severity": bug.severity,
        "data_kind": bug.data_kind,
        "known": bug.known,
        "finding": bug.finding.as_plain(),
        "triage_s": round(bug.triage_s, 2),
    }


def _print(bug: Bug, out: Path | None) -> None:
    console = Console(highlight=False)
    evidence = bug.finding.evidence

    def line(text: str) -> None:
        console.print(visible(text), markup=False)

    line(bug.title)
    line(f"  {bug.finding.detail}")
    line(f"  to blame: {bug.blame.role} ({bug.blame.confidence:.0%}): {bug.blame.reasoning}")
    flaky = " (flaky)" if bug.flaky else ""
    line(f"  shown in {bug.shown} of {bug.runs} runs{flaky}; severity {bug.severity}, {bug.data_kind} data")
    if bug.known:
        line(f"  known: {bug.known}")
    if "to_nodes" in evidence:
        counts = f"{evidence['from_nodes']} layers to {evidence['to_nodes']}"
        line(f"  reduced from {counts} in {evidence['steps']} runs, {bug.triage_s:.1f} s; {evidence['reduction']}")
    for node in bug.minimal.graph.nodes:
        plain = CATALOGUE[node.layer].complete({})
        odd = [f"{name}={value!r}" for name, value in node.params.items() if repr(value) != repr(plain.get(name))]
        reads = ", ".join(edge.node for edge in node.inputs)
        line(f"    {node.id} = {node.layer}({', '.join(odd)})" + (f" of {reads}" if reads else ""))
    if out is not None:
        line(f"  written to {out}")
