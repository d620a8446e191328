"""The command line: each group of commands is a module; this one joins them and maps errors to exit codes."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

import cometfuzz
from cometfuzz.cli import bench, catalogue, collector, environments, evaluate, ledger
from cometfuzz.cli.bisect import bisect
from cometfuzz.cli.calibrate import calibrate
from cometfuzz.cli.check import check
from cometfuzz.cli.collect import collect
from cometfuzz.cli.compare import compare
from cometfuzz.cli.conformance import conformance
from cometfuzz.cli.draft import draft_
from cometfuzz.cli.ends import exit_code_of
from cometfuzz.cli.export import export
from cometfuzz.cli.generate import generate
from cometfuzz.cli.helping import flowing
from cometfuzz.cli.importing import import_
from cometfuzz.cli.init import init
from cometfuzz.cli.kernels import kernels
from cometfuzz.cli.merge import merge_
from cometfuzz.cli.new import new
from cometfuzz.cli.profile import profile
from cometfuzz.cli.prove import prove_
from cometfuzz.cli.reduce import reduce
from cometfuzz.cli.report import bugs, report, show
from cometfuzz.cli.routes import doctor, execute
from cometfuzz.cli.run import resume, run
from cometfuzz.cli.seeds import seeds
from cometfuzz.cli.serve import serve_
from cometfuzz.cli.synthesise import synthesise
from cometfuzz.cli.triage import triage
from cometfuzz.cli.verify import replay, verify

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Test deep-learning libraries by generating neural-network models.",
    epilog="Example: cometfuzz run --minutes 10, then triage and report on the folder that it names",
)
# Each command with its place in `cometfuzz --help`: a panel for what somebody wants to do.
PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Begin": {"init": init, "doctor": doctor, "new": new},
    "Find bugs in libraries": {
        "run": run,
        "resume": resume,
        "triage": triage,
        "report": report,
        "bugs": bugs,
        "show": show,
        "serve": serve_,
        "compare": compare,
    },
    "Check a model of your own": {"check": check, "exec": execute, "import": import_, "reduce": reduce},
    "Work on a bug": {
        "replay": replay,
        "verify": verify,
        "bisect": bisect,
        "draft": draft_,
        "collect": collect,
        "prove": prove_,
    },
    "Look into a campaign": {"export": export, "merge": merge_, "profile": profile, "kernels": kernels},
    "Know what is tested": {
        "layers": catalogue.layers,
        "space": catalogue.space,
        "seeds": seeds,
        "synthesise": synthesise,
        "generate": generate,
        "conformance": conformance,
        "calibrate": calibrate,
    },
}
for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, help=flowing(command.__doc__ or ""), rich_help_panel=panel)(command)
app.add_typer(environments.app, name="env", rich_help_panel="Begin")
app.add_typer(ledger.app, name="ledger", rich_help_panel="Know what is tested")
app.add_typer(evaluate.app, name="evaluate", rich_help_panel="Know what is tested")
app.add_typer(bench.app, name="bench", rich_help_panel="Know what is tested")
for group in (environments.app, ledger.app, evaluate.app, bench.app):
    for registered in group.registered_commands:
        registered.help = flowing(registered.help or (registered.callback and registered.callback.__doc__) or "")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cometfuzz {cometfuzz.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line.

    Exit code 0: nothing new; 1: something was found; 2: an error in one line, such as a wrong option or a full disk;
    3: an environment or a worker that cannot be used, or a check that nothing could judge; 129, 130, 143: ended by
    SIGHUP, Ctrl-C, SIGTERM; 141: nobody reads what we print any more, as in `| head -1`.
    """
    collector.look_seldom()
    sys.exit(exit_code_of(lambda: app(prog_name="cometfuzz")))
