"""What commands share that may run on a cluster: the options, and the connection. Dask is imported only if one asks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import working
from cometfuzz.config import Config
from cometfuzz.errors import WorkerFailure
from cometfuzz.reports.text import clean
from cometfuzz.routes import Route

if TYPE_CHECKING:
    from cometfuzz.cluster.dispatch import Dispatch

ClusterOption = Annotated[
    str,
    typer.Option(
        "--cluster",
        help="Run on the nodes of a Dask cluster: the scheduler's address or its file; else `cluster.address` "
        "in the configuration, if it has one; `none`: here, whatever that says (docs/cluster.md).",
        metavar="tls://HOST:PORT|FILE.json",
    ),
]
InsecureOption = Annotated[
    bool,
    typer.Option(
        "--insecure", help="Use a tcp:// address that is not of this machine: who reaches it may run any code."
    ),
]


def named(option: str, config: Config) -> str:
    """The cluster that a command is to use; empty if it is to run here."""
    return "" if option == "none" else option or config.cluster.address


@contextmanager
def on_cluster(
    name: str, insecure: bool, config: Config, routes: Sequence[str], report: Callable[[str], None]
) -> Iterator["Dispatch"]:
    """A connection to a cluster, whose nodes know these routes."""
    from cometfuzz.cluster.access import access_to

    access = access_to(name, config.cluster, insecure)
    try:
        from cometfuzz.cluster.executor import connected
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "distributed":
            raise
        raise WorkerFailure(
            "expected the packages of a cluster; received none: run `make cluster` in a checkout, or "
            "`pip install '.[cluster]'`"
        ) from None
    with connected(access, config, routes, report) as dispatch:
        yield dispatch


def say(quiet: bool) -> Callable[[str], None]:
    """How a command tells what happens to nodes before a campaign can."""
    console = Console(stderr=True)
    return lambda text: None if quiet else console.print(clean(text), markup=False, highlight=False)


def doctor_of(name: str, insecure: bool, config: Config, routes: Sequence[Route], as_json: bool) -> None:
    """Show every node with its CPU and its routes; exit with 1 if one of them cannot be used as it should."""
    wanted = [route.name for route in routes]
    with on_cluster(name, insecure, config, wanted, say(quiet=True)) as dispatch:
        from cometfuzz.cluster.executor import as_plain, describe

        nodes = {}
        with working("trying routes on every node", quiet=as_json):
            found = describe(dispatch)
        for address, node in found.items():
            tried = [{**vars_of(each), "name": each.route} for each in node.tried]
            nodes[address] = {**as_plain(node), "routes": tried}
        unfit = dispatch.obstacles()
    if as_json:
        print_json({"nodes": nodes, "obstacles": unfit})
    else:
        _print_nodes(nodes, unfit)
    if unfit or not all(route["available"] for node in nodes.values() for route in node["routes"]):
        raise typer.Exit(1)


def vars_of(tried: Any) -> dict[str, Any]:
    """A row of the doctor in plain JSON."""
    return {name: getattr(tried, name) for name in ("available", "reason", "fix", "versions")}


def _print_nodes(nodes: Mapping[str, Mapping[str, Any]], unfit: Mapping[str, str]) -> None:
    table = Table("node", "route", "", "versions", box=box.SIMPLE_HEAD, pad_edge=False)
    for address, node in nodes.items():
        for number, route in enumerate(node["routes"]):
            versions = ", ".join(f"{name} {version}" for name, version in route["versions"].items())
            mend = f"; run `{route['fix']}` there" if route["fix"] else ""
            state = "available" if route["available"] else "not available"
            text = versions if route["available"] else f"{route['reason']}{mend}"
            table.add_row(clean(address) if number == 0 else "", clean(route["name"]), state, clean(text))
    console = Console()
    console.print(table, markup=False)
    for address, node in nodes.items():
        machine = node["machine"]
        lines = f"{address} ({node['host']}): CPU {machine['cpu']} ({machine['model']}), Python {node['python']}"
        console.print(clean(lines), markup=False, highlight=False)
    for address, reason in unfit.items():
        console.print(clean(f"{address} cannot be used: {reason}"), markup=False, highlight=False)
