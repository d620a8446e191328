"""Gaps: declared limits and known bugs of the libraries, by family of layers.

A gap is exact: what it covers must fail as declared. A gap that starts to pass fails a test.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, Literal

from cometfuzz.catalogue.spec import LayerSpec, spec_of
from cometfuzz.ir.graph import Params
from cometfuzz.routes.registry import ROUTES

KERAS3_ROUTES = ("keras-tf", "keras-torch", "keras-jax")

FAMILIES = (
    *("promotion", "initialising", "dense", "activation", "convolution", "pooling", "recurrent", "conv_recurrent"),
    *("normalisation", "attention", "merging", "reshaping", "regularising", "preprocessing", "wrapping"),
    *("onnx", "images", "litert", "torch_onnx", "mxnet"),
)

Symptom = Literal["exception", "death", "value", "shape", "result", "any"]
"""How it shows; "result" is a wrong shape, dtype or value, whichever the sizes make of it, "any" may also raise."""


@dataclass(frozen=True)
class Gap:
    """What a library does not do, or does wrong.

    routes, layers: where; no layers means any. when: the condition on (x, p) as in a catalogue block. kind: "limit"
    for a declared or evident limit, "bug" for what the library's maintainers would mend. raises: the exception class
    for the symptom "exception". evidence: the message it fails with, or two lines that show it. `always` is False where
    the condition is necessary but not sufficient (a wrong value that is right by luck); then at least one draw that it
    covers must show it, if need be with its first input made of the values of `witness`. `by_chance` is True where it
    depends on more than the case, such as what lies in unset memory: no test can insist on it.
    """

    routes: tuple[str, ...]
    layers: tuple[str, ...]
    when: Callable[[Any, Any], bool]
    evidence: str
    raises: str = ""
    kind: Literal["limit", "bug"] = "limit"
    symptom: Symptom = "exception"
    always: bool = True
    witness: tuple[float, ...] = ()
    by_chance: bool = False


@cache
def all_gaps() -> tuple[Gap, ...]:
    """Every declared gap."""
    return tuple(gap for family in FAMILIES for gap in import_module(f"cometfuzz.routes.gaps.{family}").GAPS)


@cache
def gaps_of(route: str, layer: str) -> tuple[Gap, ...]:
    """The gaps that stand against a layer on a route: its own, and those of its steps, such as `tf2onnx`."""
    names = {route, *(step.name for step in ROUTES[route].steps[1:])} if route in ROUTES else {route}
    return tuple(gap for gap in all_gaps() if names & {*gap.routes} and (not gap.layers or layer in gap.layers))


def gaps_against(route: str, spec: LayerSpec, x: Any, params: Params) -> Iterator[Gap]:
    """The gaps that cover a layer call; for a wrapper, also those of the layers inside it."""
    yield from (gap for gap in gaps_of(route, spec.name) if gap.when(x, params))
    for inner, types in spec.inner(x, params):
        within = spec_of(inner.layer)
        for gap in gaps_against(route, within, within.view(types), inner.params):
            # the wrapper may hide a wrong value: it multiplies by zero, or drops the output
            yield replace(gap, always=False) if gap.symptom in ("value", "result") else gap
