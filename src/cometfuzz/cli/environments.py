"""`cometfuzz env`: build, add and list the Python environments that libraries live in."""

from typing import Annotated, Any

import typer

from cometfuzz.cli.completing import complete_environment
from cometfuzz.cli.output import print_json
from cometfuzz.config import load as load_config
from cometfuzz.execution import environments
from cometfuzz.execution.configuring import declare
from cometfuzz.execution.environments import Environment
from cometfuzz.execution.setup_progress import Progress

app = typer.Typer(
    no_args_is_help=True,
    help="Build, add and list the Python environments that libraries live in.",
    epilog="Example: cometfuzz env create --all",
)


@app.command(epilog="Example: cometfuzz env create main mxnet")
def create(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="As in `env list`.", autocompletion=complete_environment),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Build every environment.")] = False,
) -> None:
    """Build environments that are not ready yet, several at once.

    An environment is made from environments/NAME.txt, checked, and cached outside the checkout.
    When its file changes, it is built again.
    """
    if bool(names) == every:
        known = ", ".join(environments.built_names())
        raise typer.BadParameter(f"expected either --all or names: {known}")
    environments.create_all(names or environments.built_names(), report=Progress())


@app.command(epilog="Example: cometfuzz env add nightly-gpu ~/nightly/bin/python --set CUDA_VISIBLE_DEVICES=0")
def add(
    name: Annotated[str, typer.Argument(help="What to call it: a name that no environment has yet.")],
    python: Annotated[str, typer.Argument(help="An interpreter: Python 3.9 or newer, with numpy.")],
    variables: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A variable for what runs in it; may be given again."),
    ] = None,
) -> None:
    """Make an interpreter of your own an environment: a venv with a nightly, a build from source, a conda environment.

    It is used as it is, and never built, changed or removed. Point routes at it in cometfuzz.toml
    ([routes.mine-tf] with base = "keras-tf" and environment = "NAME"), then `cometfuzz doctor` says what it lacks.
    In cometfuzz.toml itself, [environments.NAME] with python = "PATH" does the same for those who use that file.
    """
    pairs = [each.partition("=") for each in variables or ()]
    if wrong := [name for name, sign, _ in pairs if not sign]:
        raise typer.BadParameter(f"expected NAME=VALUE; received {wrong[0]!r}")
    added = environments.add(name, python, {name: value for name, _, value in pairs})
    typer.echo(f"{added.name}: {_python(added)} at {added.python}, {len(added.packages)} packages")


@app.command(epilog="Example: cometfuzz env remove nightly-gpu")
def remove(name: Annotated[str, typer.Argument(help="A name that `env add` was given.")]) -> None:
    """Forget an interpreter of your own; it stays where it is."""
    environments.remove(name)
    typer.echo(f"{name}: forgotten")


@app.command("list", epilog="Example: cometfuzz env list --json")
def show(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with package versions.")] = False,
) -> None:
    """Show each environment: its state, its size, how many packages it holds, its Python, and where it is.

    States: ready; building (by another process); broken (it will be built again); missing. Of interpreters of your own
    (`env add`, or [environments] in a cometfuzz.toml that is here) the interpreter is shown.
    """
    declare(load_config(None))
    found = [_describe(environment) for environment in environments.known()]
    if as_json:
        print_json(found)
        return
    width = max(10, *(len(row["name"]) + 2 for row in found))
    typer.echo(f"{'NAME':<{width}}{'STATE':<10}{'SIZE':>8}{'PACKAGES':>10}  {'PYTHON':<8}PATH")
    for row in found:
        size = f"{row['size_bytes'] / 1e6:.0f} MB" if row["size_bytes"] else "-"
        count, place = len(row["packages"]) or "-", row["interpreter"] if row["own"] else row["path"]
        version = row["python"] or "-"
        typer.echo(f"{row['name']:<{width}}{row['state']:<10}{size:>8}{count:>10}  {version:<8}{place}")


def _describe(environment: Environment) -> dict[str, Any]:
    marker = environment.marker
    return {
        "name": environment.name,
        "state": environment.state,
        "path": str(environment.path),
        "built_at": marker.get("built_at"),
        "size_bytes": marker.get("size_bytes", 0),
        "packages": dict(environment.packages),
        "python": ".".join(map(str, environment.python_version)),
        "own": environment.own is not None,
        "interpreter": str(environment.python),
        "environ": dict(environment.environ),
    }


def _python(environment: Environment) -> str:
    return f"Python {'.'.join(map(str, environment.python_version))}"
