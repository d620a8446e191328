"""`cometfuzz serve`: campaigns in a browser."""

import sys
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cometfuzz.cli.ends import ENDING
from cometfuzz.cli.output import print_json
from cometfuzz.serving.running import is_loopback, serve


def serve_(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="The folders of campaigns; they may run.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at; 0 takes one that is free.")] = 0,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen at. Beyond this machine nothing is encrypted: whoever can listen in has the "
            "address, and sees all that campaigns have found. An ssh tunnel is safer.",
        ),
    ] = "127.0.0.1",
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """Watch campaigns in a browser: coverage, routes, findings as they come, bugs with their scripts.

    Open the address that it prints. It has a secret in it, new each time: whoever has it can see the campaigns, and
    nobody can change anything. Several campaigns stand side by side, finished ones too. Ctrl-C ends it; the campaigns
    go on. Needs an extra: `make cluster` in a checkout, or pip install '.[cluster]'. docs/live-page.md says how to
    watch from another machine.

    Example: cometfuzz serve campaigns/monday campaigns/tuesday
    """
    over = threading.Event()
    if not is_loopback(host):
        print(
            f"cometfuzz: {host!r} is no address of this machine alone: the page can be reached from others, and "
            "nothing is encrypted",
            file=sys.stderr,
        )

    def say(address: str) -> None:
        if as_json:
            print_json({"address": address})
        else:
            Console().print(
                f"{address}\nOpen this address in a browser; Ctrl-C ends it.",
                soft_wrap=True,
                markup=False,
                highlight=False,
            )
        sys.stdout.flush()

    with ENDING.asking(over.set):
        serve(folders, host, port, say, over)
