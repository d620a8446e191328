"""`cometfuzz new`: a package that adds a layer, route, oracle, mutation or strategy, to begin with."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from string import Template
from typing import Annotated

import typer
from rich.console import Console

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.cli.output import writing
from cometfuzz.errors import CometfuzzError
from cometfuzz.places import Place
from cometfuzz.plugins import found, is_ours

TEMPLATES = Path(__file__).parents[1] / "templates" / "plugin"


class Kind(StrEnum):
    """What a package may add."""

    layer = "layer"
    route = "route"
    oracle = "oracle"
    mutation = "mutation"
    strategy = "strategy"


@dataclass(frozen=True)
class Made:
    """What differs from kind to kind: what it is, how a name is spelt, its entry points, and what to try first."""

    what: str
    pattern: str
    spelt: str
    points: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]


LOWER = ("[a-z][a-z0-9]*(-[a-z0-9]+)*", "small letters and digits, with - between words, as in my-library")
UPPER = ("[A-Z][A-Za-z0-9]*", "a name as of a class, as in MyLayer")
MADE = {
    Kind.layer: Made(
        "The layer $name",
        *UPPER,
        (("layers", "$module"),),
        ("cometfuzz layers $name", "cometfuzz conformance --layers $name --draws 50"),
    ),
    Kind.route: Made(
        "The route $name",
        *LOWER,
        (("routes", "$module:ROUTE"),),
        ("cometfuzz doctor --routes $name", "cometfuzz run --routes keras-tf,$name --minutes 5"),
    ),
    Kind.oracle: Made(
        "The oracle $name",
        *LOWER,
        (("oracles", "$module:judge"), ("symptoms", "$module:SYMPTOM")),
        ("cometfuzz run --minutes 5",),
    ),
    Kind.mutation: Made(
        "The mutation $name",
        *UPPER,
        (("mutations", "$module:mutate"),),
        ("cometfuzz generate --mutations $name", "cometfuzz run --mutations $name --minutes 5"),
    ),
    Kind.strategy: Made(
        "The strategy $name",
        *LOWER,
        (("strategies", "$module:Strategy"),),
        ("cometfuzz generate --strategy $name", "cometfuzz run --strategy $name --minutes 5"),
    ),
}


def new(
    kind: Annotated[Kind, typer.Argument(help="What it adds.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called: my-library, or MyLayer for a class.")],
    out: Annotated[
        Path | None, typer.Option(help="The folder to make; by default cometfuzz-NAME.", metavar="DIR")
    ] = None,
) -> None:
    """Make a package that adds a layer, route, oracle, mutation or strategy of your own; it works as it is.

    It has a pyproject.toml with the entry points by which it is found, one module to change, and a README with the
    commands to try. docs/plugins.md says more of each kind.

    Example: cometfuzz new route my-library
    """
    made = MADE[kind]
    if not re.fullmatch(made.pattern, name):
        raise CometfuzzError(f"expected {made.spelt}; received name={name!r}")
    if any(name in (CATALOGUE if group == "layers" else _ours(group)) for group, _ in made.points):
        raise CometfuzzError(
            f"expected a name that cometfuzz does not use for a {kind} of its own; received name={name!r}"
        )
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    snake = "_".join(word.lower() for word in words)
    folder = out or Path(f"cometfuzz-{snake.replace('_', '-')}")
    place = Place(folder)
    with writing(folder):
        if place.names():
            raise CometfuzzError(f"{folder}: expected a folder that is not there yet, or an empty one; received files")
        module = f"cometfuzz_{snake}"
        values = {"name": name, "function": snake, "module": module, "project": module.replace("_", "-")}
        for target, content in _files(kind, values).items():
            *inner, last = Path(target).parts
            at = place
            for each in inner:
                at = at / each
            at.write(last, content.encode())
    console = Console(highlight=False)
    console.print(
        f"{folder} is made; what to change is {folder}/src/{module}/__init__.py.", soft_wrap=True, markup=False
    )
    for command in (f"pip install -e {folder}", *(_filled(each, values) for each in made.commands)):
        console.print(f"  {command}", soft_wrap=True, markup=False)


def _ours(group: str) -> list[str]:
    return [point.name for point in found(f"cometfuzz.{group}") if is_ours(point)]


def _files(kind: Kind, values: dict[str, str]) -> dict[str, str]:
    """The texts of a package, by the path of each in it."""
    made = MADE[kind]
    name, commands = values["name"], (_filled(each, values) for each in made.commands)
    tables = (
        f'[project.entry-points."cometfuzz.{group}"]\n{name} = "{_filled(to, values)}"' for group, to in made.points
    )
    all_values = {
        **values,
        "description": _filled(made.what, values),
        "entry_points": "\n\n".join(tables),
        "commands": "\n".join(f"    {command}" for command in commands),
    }
    targets = {
        "pyproject.toml": "pyproject",
        "README.md": "README",
        f"src/{values['module']}/__init__.py": kind.value,
    }
    return {
        target: _filled((TEMPLATES / f"{source}.txt").read_text(encoding="utf-8"), all_values)
        for target, source in targets.items()
    }


def _filled(template: str, values: dict[str, str]) -> str:
    return Template(template).substitute(values)
