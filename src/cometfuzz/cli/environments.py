"""`cometfuzz env`: build and list the Python environments that libraries live in."""

from typing import Annotated, Any

import typer

from cometfuzz.cli.output import print_json
from cometfuzz.execution import environments
from cometfuzz.execution.environments import Environment

app = typer.Typer(
    no_args_is_help=True,
    help="Build and list the Python environments that libraries live in.",
    epilog="Example: cometfuzz env create --all",
)


@app.command(epilog="Example: cometfuzz env create main mxnet")
def create(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="As in `env list`.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Build every environment.")] = False,
) -> None:
    """Build environments that are not ready yet, several at once.

    An environment is made from environments/NAME.txt, checked, and cached outside the checkout.
    When its file changes, it is built again.
    """
    if bool(names) == every:
        known = ", ".join(environments.known_names())
        raise typer.BadParameter(f"expected either --all or names: {known}")
    environments.create_all(names or environments.known_names(), report=environments.Progress())


@app.command("list", epilog="Example: cometfuzz env list --json")
def show(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with package versions.")] = False,
) -> None:
    """Show each environment: its state, its size, how many packages it holds, and where it is.

    States: ready; building (by another process); broken (it will be built again); missing.
    """
    found = [_describe(environment) for environment in environments.known()]
    if as_json:
        print_json(found)
        return
    typer.echo(f"{'NAME':<10}{'STATE':<10}{'SIZE':>8}{'PACKAGES':>10}  PATH")
    for row in found:
        size = f"{row['size_bytes'] / 1e6:.0f} MB" if row["size_bytes"] else "-"
        count = len(row["packages"]) or "-"
        typer.echo(f"{row['name']:<10}{row['state']:<10}{size:>8}{count:>10}  {row['path']}")


def _describe(environment: Environment) -> dict[str, Any]:
    marker = environment.marker
    return {
        "name": environment.name,
        "state": environment.state,
        "path": str(environment.path),
        "built_at": marker.get("built_at"),
        "size_bytes": marker.get("size_bytes", 0),
        "packages": marker.get("packages", {}),
    }
