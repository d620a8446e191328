"""What a library has of the catalogue, asked in a child: a question is a small call, the answer how far it comes.

An adapter that builds models answers with its own code, so that what it spells otherwise for an older library counts as
offered. The stage in which a call fails says what is missing: the layer (`find`), a parameter (`take`), a value
(`make`), or nothing of these, and the call itself goes wrong (`call`).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

from cometfuzz.ir.case import PLAIN, Manner
from cometfuzz.ir.graph import Graph, Node, Params, is_operator
from cometfuzz.ir.plain import typed_from_plain
from cometfuzz.plugins import simplest_of
from cometfuzz.routes import Stage, Step, Work

FIND, TAKE, MAKE, CALL = "find", "take", "make", "call"


class Lacking(Exception):
    """A layer or an operator that the library does not have."""


class Builder(Protocol):
    """What is asked of an adapter that builds models."""

    def find(self, name: str) -> Any: ...

    def layer_of(self, graph: Graph, node: Node) -> Any: ...

    def try_out(self, work: Work, layers: dict[str, Any]) -> None: ...

    def forget(self, graph: Graph) -> None: ...


def offer_step(build: Step) -> Step:
    """The step that answers a question where another one builds models."""
    owner = build.stages[0].owner
    stages = tuple(Stage(name, owner) for name in (FIND, TAKE, MAKE, CALL))
    return replace(build, name="offer", call="offer", stages=stages, live=False)


@dataclass
class _Question:
    """A call to be made, as a step sees a case."""

    graph: Graph
    manner: Manner = PLAIN
    inputs: Sequence[Any] = ()
    weights: Mapping[str, Sequence[Any]] = Params()

    def enter(self, stage: str) -> None: ...

    def library(self) -> AbstractContextManager[None]:
        return nullcontext()


def answer(builder: Builder, work: Work, question: bytes) -> list[Any]:
    """Make the call of a question; an exception says that it is not offered, by the stage in which it is raised.

    A question is a graph whose last node is the call, the layer and the parameter that it is about (the layer may be
    within another one), and whether the call is made or the layer only.
    """
    asked = json.loads(question)
    graph = typed_from_plain(asked["graph"])
    node = graph.nodes[-1]
    layers: dict[str, Any] = {}
    work.enter(FIND)
    with work.library():
        builder.forget(graph)
        callee = builder.find(asked["layer"])
        if callee is None:
            raise Lacking(asked["layer"])
    named = not asked["parameter"] or accepts(callee, asked["parameter"])
    if not is_operator(node.layer):
        work.enter(MAKE if named else TAKE)
        with work.library():
            layers[node.id] = builder.layer_of(graph, node)
    if asked["called"]:
        work.enter(CALL if named or not is_operator(node.layer) else TAKE)
        with work.library():
            builder.try_out(_Question(graph), layers)
    return []


def accepts(callee: Any, parameter: str) -> bool:
    """Whether a class of layers or a function has a parameter by that name; a layer may take it when it is called."""
    call = getattr(callee, "call", None) if inspect.isclass(callee) else None
    return parameter in _parameters(callee) or (call is not None and parameter in _parameters(call))


@cache
def _parameters(callee: Any) -> frozenset[str]:
    """The names of parameters: of a class, also those that it hands on to the classes above it."""
    functions = [callee]
    if inspect.isclass(callee):
        functions = [vars(base)["__init__"] for base in callee.__mro__ if "__init__" in vars(base)]
    names: set[str] = set()
    for function in functions:
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):  # written in C
            break
        names.update(each.name for each in parameters)
        if not any(each.kind is each.VAR_KEYWORD for each in parameters):
            break
    return frozenset(names)


def without_idle(layer: str, callee: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without those that say nothing to an older library: it has no such parameter, and does what the value
    asks for anyway, since that is the default where there is one."""
    idle = simplest_of(layer)
    return {
        name: value
        for name, value in arguments.items()
        if accepts(callee, name) or name not in idle or not _same(value, idle[name])
    }


def _same(value: Any, plain: Any) -> bool:
    """Whether a value is one that JSON has told of."""
    if isinstance(plain, list):
        same_length = isinstance(value, (list, tuple)) and len(value) == len(plain)
        return same_length and all(map(_same, value, plain))
    return type(value) is type(plain) and bool(value == plain)
