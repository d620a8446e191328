"""Which kernels a library chose: what it says of that where somebody asks, read as names.

Layers and parameters are the same whatever code computes them. Beneath, a library picks a kernel by sizes, dtypes and
CPU, or rewrites the graph. oneDNN says so where a variable is set, ONNX Runtime in its log, OpenVINO when asked for the
model that it runs. A route that tells is a copy of the plain one, since printing costs time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cometfuzz.routes import Route, Step

MARK = "telling"
OPENVINO = "openvino_kernel"
"""How a line begins that our adapter prints of what OpenVINO runs."""

IMPLEMENTATION, GEOMETRY, REWRITING = "implementation", "geometry", "rewriting"
"""Of what is told: a kernel by name and dtype, the same with the sizes that it had, a change to the graph."""

_ENVIRON = {"ONEDNN_VERBOSE": "1", "DNNL_VERBOSE": "1"}
"""The second one is its older name. Not set where a library tells by itself: OpenVINO 2026.2 computes convolutions out
of memory that nothing was written to, or refuses them, while its own oneDNN is verbose and malloc fills memory."""

_MODIFIED = re.compile(r"GraphTransformer (\w+) modified: 1\b")
_DTYPE = re.compile(r"\b(?:src|wei|dst)[a-z_0-9]*?[:_]([a-z]+\d+)")
_NUMBER = re.compile(r"\d+")
_EXACT = 3


class Told(NamedTuple):
    """One thing that a library said of itself; `name` says it among those of its kind."""

    library: str
    kind: str
    name: str


def telling(route: Route) -> Route:
    """The same route, which prints what its libraries choose, in processes of its own."""
    return replace(route, steps=tuple(_telling(step) for step in route.steps))


def _telling(step: Step) -> Step:
    group = step.group
    if step.tells:
        return replace(step, group=replace(group, name=f"{group.name}-{MARK}"), options={**step.options, "tell": MARK})
    environ = {**group.environ, **_ENVIRON}
    return replace(step, group=replace(group, name=f"{group.name}-{MARK}-onednn", environ=environ))


def read(text: str) -> set[Told]:
    """All that is told in what a child printed."""
    return {told for line in text.splitlines() for told in _told(line)}


def _told(line: str) -> Iterator[Told]:
    if line.startswith(("onednn_verbose,", "dnnl_verbose,")):
        yield from _of_onednn(line.rstrip().split(","))
    elif line.startswith(f"{OPENVINO},"):
        kind, implementation, dtype = [*line.rstrip().split(","), "", ""][1:4]
        yield Told("OpenVINO", IMPLEMENTATION, f"{kind} {implementation} {dtype}".strip())
    elif found := _MODIFIED.search(line):
        yield Told("ONNX Runtime", REWRITING, found[1])


def _of_onednn(fields: list[str]) -> Iterator[Told]:
    """...,exec,ENGINE,PRIMITIVE,IMPLEMENTATION,PROPAGATION,MEMORY,ATTRIBUTES,AUXILIARY,PROBLEM,TIME"""
    if "exec" not in fields or "graph" in fields[:4]:
        return
    rest = fields[fields.index("exec") + 2 :]
    if len(rest) < 6:
        return
    dtypes = "-".join(_DTYPE.findall(rest[3]))
    name = f"{rest[0]} {rest[1]} {dtypes}".strip()
    yield Told("oneDNN", IMPLEMENTATION, name)
    yield Told("oneDNN", GEOMETRY, f"{name} {_NUMBER.sub(_size, rest[-2])}")


def _size(found: re.Match[str]) -> str:
    """A size by its class, as kernels look at it: small ones as they are, others by powers of two, and whether blocks
    of 16 fit."""
    number = int(found[0])
    if number <= _EXACT:
        return found[0]
    return f"{1 << (number.bit_length() - 1)}{'b' if number % 16 == 0 else ''}+"
