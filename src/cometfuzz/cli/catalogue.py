"""`cometfuzz space` and `cometfuzz layers`: what there is to cover, and the catalogue as a person reads it."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cometfuzz.catalogue import BROKEN, CATALOGUE, COUNTED, GROUP, LAYERS, OPERATORS, LayerSpec
from cometfuzz.catalogue.left_out import LEFT_OUT
from cometfuzz.catalogue.spaces import Space
from cometfuzz.cli.numbers import MOST_SIGMA, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import working
from cometfuzz.coverage.chains import CHAINS, chain_space
from cometfuzz.coverage.layers import CRITERIA, SIGMA, SPACES, full_space
from cometfuzz.coverage.pairs import pair_space
from cometfuzz.coverage.triples import triple_space
from cometfuzz.errors import UnknownName
from cometfuzz.reports.text import visible
from cometfuzz.search.reachable import reach

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def space(
    sigma: Annotated[
        int, typer.Option(min=1, callback=at_most(MOST_SIGMA), help="How many values of a numeric parameter count.")
    ] = SIGMA,
    layer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which pairs and triples of a layer cannot be, and why; takes a while."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count what can be covered: layer inputs, parameter values and layer sequences.

    "paper" is the space of the published percentages, to the unit; "full" is every layer of our catalogue, with real
    dtypes and only values that can show in a forward pass; "ops" is the same for functions of keras.ops. Pairs are any
    two values of a call, triples three of what acts together, sequences of three those of families. With --json, every
    item out of reach is listed with the reason; of pairs and triples with --layer, since each has to be searched for.

    Example: cometfuzz space --layer Conv2D
    """
    if layer is not None:
        _print_reach(_known(layer, LAYERS), as_json)
        return
    spaces = [make(sigma) for make in SPACES]
    combinations, chains = (pair_space(), triple_space()), chain_space().as_plain()
    if as_json:
        together = {found.name: {"total": found.total, "layers": found.by_layer()} for found in combinations}
        print_json({**{found.name: found.as_plain() for found in spaces}, **together, CHAINS: chains})
        return
    table = Table("space", "criterion", "items", "reachable", "out of reach because")
    for found in spaces:
        for criterion in CRITERIA:
            reasons = sorted({reason for item, reason in found.unreachable.items() if item.criterion == criterion})
            counts = str(found.total(criterion)), str(found.reachable(criterion))
            table.add_row(found.name, criterion, *counts, "; ".join(reasons))
        table.add_section()
    for combination in combinations:
        table.add_row("together", combination.name, str(combination.total), "", "--layer NAME says it of one layer")
    reasons = sorted({each["reason"] for each in chains["unreachable"]})
    table.add_row("together", CHAINS, str(chains["total"]), str(chains["reachable"]), "; ".join(reasons))
    console = Console()
    console.print(table)
    aside = full_space(sigma).aside
    console.print(
        f"Left aside in the full space, because no forward pass shows them: {aside['build']} values of initialisers, "
        f"regularisers and constraints, {aside['train']} values that act in training only."
    )


def layers(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="One layer or operator, as Keras spells it: Conv2D, ops.matmul."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the catalogue, or all that is known of one layer or operator.

    With --json, every public class of keras.layers is there: as a layer, as a cell (a part of a recurrent layer), or as
    left out, with the reason. "identity" marks layers that hand their input on in inference. Operators are functions of
    keras.ops that may be nodes of a model.

    Example: cometfuzz layers Conv2D
    """
    if name is None:
        if as_json:
            described = [_describe(spec) for spec in LAYERS.values()]
            operators = [_describe(spec) for spec in OPERATORS.values()]
            print_json({"layers": described, "cells": _cells(), "left_out": LEFT_OUT, "operators": operators})
        else:
            _print_all()
        return
    _known(name, COUNTED)
    if as_json:
        print_json(_describe(COUNTED[name]))
    else:
        _print_one(COUNTED[name])


def _known(name: str, specs: Mapping[str, LayerSpec]) -> str:
    """A name that some specs have."""
    if name not in specs:
        close = [known for known in specs if name.lower() in known.lower()]
        raise UnknownName(f"expected a layer such as {', '.join(close) or 'Conv2D'}; received layer={name!r}")
    return name


def _print_reach(layer: str, as_json: bool) -> None:
    """The pairs and triples of a layer, and why some of them cannot be."""
    with working(f"searching for calls of {layer}", quiet=as_json):
        found = reach(layer)
    if as_json:
        print_json({each.space.name: each.as_plain() for each in found})
        return
    table = Table("of", "together", "items", "reachable", "out of reach because")
    for each in found:
        reasons = Counter(each.unreachable.values()).most_common()
        said = "; ".join(f"{reason} ({count})" for reason, count in reasons)
        table.add_row(layer, each.space.name, str(each.total), str(each.reachable), said)
    Console().print(table)


def _print_all() -> None:
    console = Console()
    for family in dict.fromkeys(spec.family for spec in COUNTED.values()):
        specs = [spec for spec in COUNTED.values() if spec.family == family]
        if specs:
            table = Table("layer", "ranks", "dtypes", "parameters", "what it does", title=family, title_justify="left")
            for column in table.columns[:-1]:
                column.no_wrap = True
            table.columns[-1].overflow = "fold"
            for spec in specs:
                table.add_row(spec.name, _ranks(spec), _dtypes(spec), str(len(spec.params)), spec.doc)
            console.print(table)
    left_out = Table("left out", "because", title_justify="left")
    for name, reason in LEFT_OUT.items():
        left_out.add_row(name, reason)
    console.print(left_out)
    identities = sum(spec.identity for spec in LAYERS.values())
    console.print(
        f"{len(LAYERS)} layers, {identities} of which hand their input on in inference, and {len(_cells())} cells; "
        f"{len(LEFT_OUT)} classes are left out; {len(OPERATORS)} operators. `cometfuzz layers Conv2D` shows one."
    )
    for name, reason in BROKEN.items():
        console.print(f"{GROUP}, {name}: {visible(reason)}", style="yellow", markup=False)


def _cells() -> list[str]:
    return [name for name, spec in CATALOGUE.items() if spec.kind == "cell"]


def _print_one(spec: LayerSpec) -> None:
    console = Console()
    console.print(f"[bold]{spec.name}[/] ({spec.family}): {spec.doc}")
    most = "" if spec.arity[0] == spec.arity[1] else f" to {spec.arity[1]}"
    most += "" if spec.states is None else " (and initial states)"
    console.print(f"inputs: {spec.arity[0]}{most}, rank {_ranks(spec)}, dtype {_dtypes(spec)}")
    console.print(f"libraries: {', '.join(spec.libraries)}")
    table = Table("parameter", "values", "simplest", "shows in")
    for parameter, found in spec.params.items():
        table.add_row(parameter, found.describe(), _value(found), _effect(found))
    if spec.params:
        console.print(table)
    for rule in spec.rules:
        console.print(f"rule: {rule}")
    for parameter, reason in spec.excluded.items():
        console.print(f"left out: {parameter} ({reason})")


def _describe(spec: LayerSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "family": spec.family,
        "doc": spec.doc,
        "libraries": list(spec.libraries),
        "identity": spec.identity,
        "inputs": list(spec.arity),
        "ranks": list(spec.ranks),
        "output_ranks": list(spec.output_ranks),
        "dtypes": list(spec.dtypes),
        "parameters": {
            name: {
                "values": found.describe(),
                "simplest": json.loads(_value(found)),
                "effect": found.effect,
                "numeric": found.numeric,
            }
            for name, found in spec.params.items()
        },
        "rules": list(spec.rules),
        "excluded": dict(spec.excluded),
    }


def _value(found: Space) -> str:
    return json.dumps(found.simplest, default=lambda inner: inner.layer)


def _effect(found: Space) -> str:
    return {"forward": "forward pass", "build": "building only", "train": "training only"}[found.effect]


def _ranks(spec: LayerSpec) -> str:
    low, high = min(spec.ranks), max(spec.ranks)
    whole = spec.ranks == tuple(range(low, high + 1)) and high > low
    return f"{low}-{high}" if whole else ",".join(map(str, spec.ranks))


def _dtypes(spec: LayerSpec) -> str:
    floats = [dtype for dtype in spec.dtypes if "float" in dtype]
    others = [dtype for dtype in spec.dtypes if "float" not in dtype]
    return ", ".join((["floats"] if len(floats) == 4 else floats) + others)
