"""`cometfuzz init`: a commented cometfuzz.toml to begin with."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cometfuzz.cli.output import writing
from cometfuzz.config import DEFAULT
from cometfuzz.errors import CometfuzzError
from cometfuzz.places import Place

TEMPLATES = Path(__file__).parents[1] / "templates" / "configuration"
REST = "rest"
"""The template of what is the same for everybody."""


class Purpose(StrEnum):
    """What somebody wants of cometfuzz."""

    library = "library"
    model = "model"
    ci = "ci"


NEXT = {
    Purpose.library: "cometfuzz doctor, then cometfuzz run --minutes 10",
    Purpose.model: "cometfuzz check MODEL",
    Purpose.ci: "cometfuzz run --minutes 10 --fail-on new, or the Action (docs/in-your-ci.md)",
}


def init(
    purpose: Annotated[
        Purpose, typer.Option("--for", help="Bugs in your library, does your model survive, or a guard in your CI.")
    ] = Purpose.library,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = DEFAULT,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a cometfuzz.toml with what may be said in it, all of it commented out: so it changes nothing yet.

    A line that begins with # and no blank is a setting; the others explain. Other commands read the file in the folder
    where they run, or with --config.

    Example: cometfuzz init --for ci
    """
    if os.path.lexists(out) and not force:
        raise CometfuzzError(f"{out}: expected a file that is not there yet; received one: --force writes over it")
    with writing(out):
        Place(out.parent).write(out.name, written_for(purpose).encode())
    console = Console(highlight=False)
    console.print(f"{out} is written; it changes nothing until you take a # away.", markup=False, soft_wrap=True)
    console.print(f"Next: {NEXT[purpose]}", markup=False, soft_wrap=True)


def written_for(purpose: Purpose) -> str:
    """The file for a purpose."""
    return "".join((TEMPLATES / f"{name}.toml").read_text(encoding="utf-8") for name in (purpose.value, REST))
