"""`cometfuzz doctor` and `cometfuzz exec`: what can be used here, and one case on all routes."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.catalogue.files import load
from cometfuzz.cli.cluster import ClusterOption, InsecureOption, doctor_of, named
from cometfuzz.cli.completing import complete_routes
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress, working
from cometfuzz.config import PolicyConfig
from cometfuzz.config import load as load_config
from cometfuzz.coverage.branches import Branches, Share
from cometfuzz.errors import WorkerFailure
from cometfuzz.execution.comparing import Difference, compare
from cometfuzz.execution.configuring import configured, lacking, usable
from cometfuzz.execution.doctor import Health, examine
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.machine import this_machine
from cometfuzz.execution.memory import available
from cometfuzz.execution.observation import Observation, obstacle
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.worker import START
from cometfuzz.ir.codec import case_id
from cometfuzz.routes.keras import TF
from cometfuzz.routes.registry import BROKEN, choose

NOT_POISONED = "memory is not poisoned: that takes glibc; reads of uninitialised memory are not looked for here"

Configured = Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml, if it is here.")]


def doctor(
    routes: Annotated[
        str, typer.Option(autocompletion=complete_routes, help="Routes, with commas between them, or `all`.")
    ] = "all",
    cluster: ClusterOption = "",
    insecure: InsecureOption = False,
    config: Configured = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Try every route on a tiny model: available or why not, versions, start-up time, memory.

    The exit code is 1 if a route is not available, unless it waits for an environment that is built on demand; the
    table says which command would mend it. Routes marked with a star run on every case of a campaign, the others by
    policy (see the README). It also shows the CPU, with the variables that keep libraries from using all of it; what
    interpreters of your own lack; whether branches can be observed (on Python 3.11 only); and if the C library cannot
    fill memory with a byte (only glibc can): then nothing looks for reads of uninitialised memory.

    With --cluster it shows every node of a Dask cluster with its routes, versions and CPU instead.

    Example: cometfuzz doctor --routes keras-tf,onnxruntime --json
    """
    settings = load_config(config)
    chosen = choose(routes, configured(settings))
    if cluster:
        doctor_of(named(cluster, settings), insecure, settings, chosen, as_json)
        return
    unobserved = obstacle(TF)
    with progress("trying routes", len(chosen), quiet=as_json) as shown:
        found = examine(chosen, lambda health: shown.advance())
    if as_json:
        routes_found = [_health(health) for health in found] + [_broken(*entry) for entry in BROKEN.items()]
        plain = {"routes": routes_found, "poisoned_memory": available(), "machine": asdict(this_machine(chosen))}
        print_json({**plain, "branches": not unobserved, "branches_reason": unobserved or None})
    else:
        _print_health(found, settings.policy)
        typer.echo(f"CPU: {this_machine(chosen)}")
        for lack in dict.fromkeys(lack for health in found for lack in health.lacks):
            typer.echo(lack)
        if unobserved:
            typer.echo(f"{unobserved}: campaigns go by layers alone")
        if not available():
            typer.echo(NOT_POISONED)
    if BROKEN or not all(health.available or lacking(health.route) for health in found):
        raise typer.Exit(1)


def _health(health: Health) -> dict[str, Any]:
    return {
        "name": health.route.name,
        "available": health.available,
        "reason": health.reason,
        "fix": health.fix,
        "lacks": list(health.lacks),
        "path": health.route.path,
        "environments": sorted({step.group.environment for step in health.route.steps}),
        "versions": health.versions,
        "startup_s": health.startup_s,
        "memory_mb": health.memory_mb,
    }


def _broken(name: str, reason: str) -> dict[str, Any]:
    return {"name": name, "available": False, "reason": reason, "fix": None, "lacks": [], "versions": {}}


def _print_health(found: list[Health], policy: PolicyConfig) -> None:
    table = Table("route", "", "start", "memory", "versions", box=box.SIMPLE_HEAD, pad_edge=False)
    for health in found:
        star = "*" if health.route.name in policy.base else ""
        versions = ", ".join(f"{name} {version}" for name, version in health.versions.items())
        mend = f"; run `{health.fix}`" if health.fix and health.fix not in (health.reason or "") else ""
        state = "available" if health.available else "not available"
        text = versions if health.available else f"{health.reason}{mend}"
        table.add_row(health.route.name + star, state, f"{health.startup_s:.1f} s", f"{health.memory_mb} MB", text)
    for name, reason in BROKEN.items():
        table.add_row(name, "not available", "", "", reason)
    Console().print(table)


def execute(
    case: Annotated[Path, typer.Argument(metavar="CASE.json", help="A case file, as `generate` writes them.")],
    routes: Annotated[
        str, typer.Option(autocompletion=complete_routes, help="Routes, with commas between them, or `all`.")
    ] = "all",
    config: Configured = None,
    branches: Annotated[bool, typer.Option(help="Also show what is reached of Keras' and TensorFlow's code.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run one case on all routes: outcomes, shapes, time per stage, and the largest difference to the reference.

    Differences are in units of the error bound: up to 1, rounding may have done it. `not reached`: a stage that the
    route shares with one above has failed there.

    Example: cometfuzz exec findings/0123.json --routes keras-tf,onnxruntime
    """
    wanted = load(case)
    settings = load_config(config)
    chosen = usable(routes, configured(settings))
    reached = Branches()
    if branches and (why := obstacle(TF)):
        raise WorkerFailure(why)
    observers = {TF.name: Observation(reached)} if branches else {}
    with (
        working("running", quiet=as_json) as tell,
        Executor(chosen, limits=WorkerLimits.of(settings.limits), observers=observers, watch=tell) as executor,
    ):
        trial = executor.run(wanted)
    differences = compare(trial)
    if as_json:
        plain = [_outcome(outcome, differences.get(name)) for name, outcome in trial.outcomes.items()]
        found = {"branches": _branches(reached)} if branches else {}
        print_json({"case": case_id(wanted), "layers": len(wanted.graph.nodes), "routes": plain, **found})
        return
    print_trial(trial, differences)
    if branches:
        _print_branches(reached)


def _branches(reached: Branches) -> dict[str, Any]:
    """Covered, total and percent of branches and lines: in all, and by module."""
    modules = {
        name: {"branches": _share(module.branch_share), "lines": _share(module.line_share)}
        for name, module in reached.modules.items()
    }
    return {"branches": _share(reached.branch_share), "lines": _share(reached.line_share), "modules": modules}


def _share(share: Share) -> dict[str, float]:
    return {**share._asdict(), "percent": round(share.percent, 2)}


def _print_branches(reached: Branches) -> None:
    table = Table("module", "branches", "", "lines", "", box=box.SIMPLE_HEAD, pad_edge=False)
    rows = {"all": (reached.branch_share, reached.line_share)}
    for name, module in reached.modules.items():
        if module.lines:
            rows[name] = module.branch_share, module.line_share
    for name, shares in rows.items():
        table.add_row(
            name, *(text for share in shares for text in (f"{share.covered}/{share.total}", f"{share.percent:.0f}%"))
        )
    Console().print(table)


def _outcome(outcome: Outcome, difference: Difference | None) -> dict[str, Any]:
    failure = outcome.failure
    return {
        "name": outcome.route,
        "status": outcome.status,
        "stage": outcome.stage,
        "library": outcome.library,
        "cause": outcome.cause,
        "detail": outcome.detail,
        "failure": failure and {"type": failure.type, "message": failure.message, "frames": list(failure.frames)},
        "printed": outcome.printed,
        "outputs": [{"dtype": tensor.dtype, "shape": list(tensor.shape)} for tensor in outcome.outputs],
        "difference": difference and {"bounds": difference.bounds, "detail": difference.detail},
        "stages": [time._asdict() for time in outcome.times],
        "versions": dict(outcome.versions),
    }


def print_trial(trial: Trial, differences: dict[str, Difference]) -> None:
    """One row for each route, then what went wrong."""
    console = Console()
    graph = trial.case.graph
    kinds = [graph.type_of(edge) for edge in graph.outputs]
    console.print(f"{len(graph.nodes)} nodes; outputs: {', '.join(map(str, kinds))}", markup=False, highlight=False)
    table = Table("route", "outcome", "outputs", "bounds", "ms by stage", box=box.SIMPLE_HEAD, pad_edge=False)
    wrong = []
    for name, outcome in trial.outcomes.items():
        found = differences.get(name)
        times = " ".join(f"{time.stage} {time.wall_s * 1000:.0f}" for time in outcome.times if time.stage != START)
        shapes = "" if found is None else "as typed" if found.bounds is not None else "WRONG"
        table.add_row(name, outcome.status, shapes, "" if found is None else found.text, times)
        if outcome.status not in ("completed", "not reached"):
            wrong.append(f"{name} ({outcome.library}): {outcome}")
        elif found is not None and not found.ok:
            wrong.append(f"{name}: {found.detail}")
    console.print(table)
    for text in wrong:
        console.print(text, markup=False, highlight=False)
