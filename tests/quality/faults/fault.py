"""A planted fault: one mistake that a library might make, in one stage of a route; and how one is written down."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from cometfuzz.ir.graph import Graph, Inner, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.activation import ACTIVATIONS, Rounding
from cometfuzz.reference.call import MEANINGS, Array, Call, Meaning
from cometfuzz.reference.run import narrow, wide

Twist = Callable[[Call, Meaning], list[Array]]
"""(the call, the layer's right meaning) -> what the fault makes of it."""

Refusal = Callable[[Graph, Node], None]
"""Raises where a stage breaks down over a node."""

Symbolic = Callable[[Node], tuple[TensorType, ...]]
"""The types that a library says a node will have."""

Formula = Callable[[Array, Callable[[Array], Array], Rounding], Array]
"""(x, the right activation, what rounds to the layer's dtype) -> what the fault makes of it."""

ANY = "any layer"
POINTS = {
    0: "a wrong value, shape, crash or hang",
    1: "a stage behind a front end with a known defect",
    2: "two libraries wrong in two ways at one node",
    3: "NaN or Inf, lost or made",
    4: "digits lost near zero",
    5: "a refusal is missing",
    6: "relations between calls",
    7: "uninitialised memory",
    8: "one library switch",
}
"""What it takes to find a fault. Those of 0 need nothing but a look at the values and at how stages end."""

SETTINGS = {
    "call": ("run", "predict"),
    "level": ("all", "none", "basic", "extended"),
    "threads": ("1", "2"),
    "PLANTED_ISA": ("avx512", "sse"),
    "PLANTED_ONEDNN": ("1", "0"),
}
"""The switches of the planted libraries and their values, the usual one first. Names in capitals are environment
variables, the others options of a step, but for `call`, which is the step's."""


@dataclass(frozen=True)
class Fault:
    """One mistake.

    point: of POINTS. stage: "build", "convert", "graph" (a live model compiled) or "run". A computed fault has a
    `twist`, one of activations a `formula`, wherever they are used; one that breaks a stage down has a `refusal`.
    dtype: another dtype of the output than asked for. symbolic: other types than asked for, before any is computed.
    unchecked: a rule of the layers that is not checked; `twist` says what comes of a call that breaks it.
    switched: the setting, out of SETTINGS, at which alone it shows. behind_front: its model comes from the front end
    that has known defects. deadly: it costs the worker its life, so it has one of its own.
    """

    name: str
    stage: str
    layers: tuple[str, ...] = ()
    twist: Twist | None = None
    refusal: Refusal | None = None
    activations: tuple[str, ...] = ()
    formula: Formula | None = None
    dtype: Mapping[str, str] | None = None
    symbolic: Symbolic | None = None
    unchecked: str = ""
    switched: tuple[str, str] | None = None
    behind_front: bool = False
    deadly: bool = False
    point: int = 0

    def touches(self, node: Node) -> bool:
        """Whether it may show at a node: its layer, a layer inside it, or its activation."""
        if self.unchecked:
            return False
        if node.layer in self.layers or ANY in self.layers:
            return True
        values = [item for value in node.params.values() for item in (value if isinstance(value, tuple) else (value,))]
        inner = [value for value in values if isinstance(value, Inner)]
        if any(each.layer in self.layers for each in inner):
            return True
        names = {value for value in values if isinstance(value, str)}
        names |= {value for each in inner for value in each.params.values() if isinstance(value, str)}
        return not names.isdisjoint(self.activations)

    @contextmanager
    def planted(self, dtype: str) -> Iterator[None]:
        """While it lasts, the reference of this process makes the mistake, in a layer that computes in this dtype."""
        before, activations = dict(MEANINGS), dict(ACTIVATIONS)
        for layer in self.layers if self.twist is not None else ():
            MEANINGS[layer] = _twisted(MEANINGS[layer], self.twist)
        for name in self.activations if self.formula is not None else ():
            ACTIVATIONS[name] = _replaced(ACTIVATIONS[name], self.formula, dtype)
        try:
            yield
        finally:
            MEANINGS.update(before)
            ACTIVATIONS.update(activations)


def _twisted(right: Meaning, twist: Twist) -> Meaning:
    return lambda call: twist(call, right)


def _replaced(
    right: Callable[[Array, Rounding], Array], formula: Formula, dtype: str
) -> Callable[[Array, Rounding], Array]:
    return lambda x, rounded: formula(x, lambda value: right(value, rounded), rounding_to(dtype))


def rounding_to(dtype: str) -> Rounding:
    """What a library does to each intermediate result."""
    return lambda value: wide(narrow(np.asarray(value), dtype))


FAULTS: dict[str, Fault] = {}
KNOWN: dict[str, Fault] = {}
"""Defects that the planted ledger holds, by the id of the entry; see `known`."""

FRONT, READER = "front", "known-reader"
"""The two libraries with known defects, by their routes: a front end, and a reader of converted models."""


def plant(name: str, stage: str, *layers: str, **more: object) -> Callable[[Twist], Twist]:
    """A fault that computes something else."""

    def register(twist: Twist) -> Twist:
        FAULTS[name] = Fault(name, stage, layers, twist=twist, **more)  # type: ignore[arg-type]
        return twist

    return register


def plant_formula(name: str, *activations: str, point: int) -> Callable[[Formula], Formula]:
    """A fault in how a runtime computes activations."""

    def register(formula: Formula) -> Formula:
        FAULTS[name] = Fault(name, "run", activations=activations, formula=formula, point=point)
        return formula

    return register


def plant_symbolic(name: str, *layers: str) -> Callable[[Symbolic], Symbolic]:
    """A fault in the types that a builder gives to symbolic tensors."""

    def register(symbolic: Symbolic) -> Symbolic:
        FAULTS[name] = Fault(name, "build", layers, symbolic=symbolic, point=6)
        return symbolic

    return register


def break_down(name: str, stage: str, *layers: str, **more: object) -> Callable[[Refusal], Refusal]:
    """A fault that raises."""

    def register(refusal: Refusal) -> Refusal:
        FAULTS[name] = Fault(name, stage, layers, refusal=refusal, **more)  # type: ignore[arg-type]
        return refusal

    return register


def known(name: str, stage: str, *layers: str) -> Callable[[Twist], Twist]:
    """A defect that the ledger holds: of the front end, in its builder or where it runs its own model, or of a reader.

    stage: "front build" (every file that is made of the model has it too), "front run", or "reader run".
    """

    def register(twist: Twist) -> Twist:
        KNOWN[name] = Fault(name, stage, layers, twist=twist)
        return twist

    return register


def outputs(call: Call, right: Meaning) -> list[Array]:
    """What is right."""
    result = right(call)
    return result if isinstance(result, list) else [result]


def setting(name: str, options: Mapping[str, str]) -> str:
    """What a switch is set to in this process."""
    return (os.environ if name.isupper() else options).get(name, SETTINGS[name][0])
