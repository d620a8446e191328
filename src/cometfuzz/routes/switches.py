"""Switches: a route with a setting of its library changed is a route of its own, named ROUTE+SWITCH.

Nobody chooses one, unless by name: the policy runs a few cases on some of them beside the plain routes, and triage asks
for them. What the ledger knows of the plain route holds for it. What follows are the switches of libraries that several
routes lead to; others stand beside their route.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cometfuzz.routes import Route, Switch
from cometfuzz.routes.libraries import JAX, TENSORFLOW, TORCH

MARK = "+"

_TWO_THREADS = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
_OLD_CPU = "with the instructions of older CPUs only"
_FEWER_KERNELS = (
    *("only supports NHWC", "only supports the NHWC", "only supports NDHWC", "only supports the NDHWC"),
    "CPU implementations do not yet support",
)
"""How TensorFlow says that its own kernels know channels last only, or no dilation."""

_NO_PRIMITIVE = ("could not create a",)
"""How oneDNN says that it has nothing for a dtype. Who asks for it has looked at the CPU, not at the cap."""

TENSORFLOWS = (
    Switch("no-onednn", "without oneDNN", TENSORFLOW, {"TF_ENABLE_ONEDNN_OPTS": "0"}, lacks=_FEWER_KERNELS),
    Switch("old-cpu", _OLD_CPU, TENSORFLOW, {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"}, lacks=_NO_PRIMITIVE),
    Switch("two-threads", "on two threads", TENSORFLOW, {**_TWO_THREADS, "TF_NUM_INTRAOP_THREADS": "2"}),
)
"""Without oneDNN it has other kernels, which are the usual ones on CPUs without AVX-512. A lower cap than that is of no
use: TensorFlow looks at the CPU, asks oneDNN for bfloat16 all the same, and dies of it as on no older CPU."""

TORCHS = (
    Switch(
        "old-cpu",
        _OLD_CPU,
        TORCH,
        {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
        lacks=_NO_PRIMITIVE,
    ),
    Switch("two-threads", "on two threads", TORCH, _TWO_THREADS),
)

JAXS = (
    Switch("old-cpu", _OLD_CPU, JAX, {"XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2"}),
    Switch("plain-code", "with XLA's code not optimised", JAX, {"XLA_FLAGS": "--xla_backend_optimization_level=0"}),
)


def switched(route: Route, switch: Switch) -> Route:
    """A route with a switch set."""
    last = route.steps[-1]
    if switch.environ:
        environ = {**last.group.environ, **switch.environ}
        group = replace(last.group, name=f"{last.group.name}{MARK}{switch.name}", environ=environ, extra=True)
        steps = tuple(replace(step, group=group) if step.group == last.group else step for step in route.steps)
    else:
        options, reader = {**last.options, **switch.options}, switch.reader or last.reader
        steps = (*route.steps[:-1], replace(last, options=options, reader=reader, switch=switch.name))
    return replace(
        route,
        name=f"{route.name}{MARK}{switch.name}",
        path=f"{route.path}, {switch.says}",
        like=route.like or route.name,
        steps=steps,
        turn="",
        clear=False,
        known_as="",
        forms={},
        switches=(),
        switch=switch,
    )


def with_switches(routes: Iterable[Route]) -> list[Route]:
    """Some routes, and then each of them with each of its switches set."""
    plain = list(routes)
    return [*plain, *(switched(route, switch) for route in plain for switch in route.switches)]


def route_named(name: str, routes: Mapping[str, Route]) -> Route | None:
    """A route by its name, which may have a switch; None if there is none."""
    plain = routes.get(plain_name(name))
    return None if plain is None else next((each for each in with_switches([plain]) if each.name == name), None)


def plain_name(name: str) -> str:
    """The name of a route without that of its switch."""
    return name.partition(MARK)[0]


def shared_switch(names: Sequence[str]) -> str:
    """The switch that all of some routes have set, by its name; none if there is none."""
    found = {name.partition(MARK)[2] for name in names}
    return found.pop() if len(found) == 1 else ""
