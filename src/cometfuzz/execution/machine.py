"""The machine as part of the environment: its CPU, and on which routes a library is told to use less of it."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from cometfuzz.execution import environments
from cometfuzz.ledger.cpu import caps_of, this_cpu
from cometfuzz.routes import Group, Route


def caps_in(group: Group) -> dict[str, str]:
    """The caps in force in the child of a group: the user's own, those of its environment and of its switch."""
    return caps_of({**os.environ, **group.environ, **environments.environ_of(group.environment)})


def caps_on(route: Route) -> dict[str, str]:
    """The caps in force on a route."""
    return {name: value for step in route.steps for name, value in caps_in(step.group).items()}


def machine(routes: Iterable[Route]) -> dict[str, Any]:
    """What is recorded of this machine: the CPU's level, name and features, and the caps by route, if there are any."""
    cpu = this_cpu()
    caps = {route.name: caps for route in routes if (caps := caps_on(route))}
    return {"cpu": cpu.level, "model": cpu.model, "features": list(cpu.features), "caps": caps}


def described(recorded: Mapping[str, Any]) -> str:
    """A recorded machine in a line, so that two are told apart; caps that a switch sets go without saying."""
    features = " ".join(map(str, recorded.get("features", ())))
    caps = [part for route, set_so in _caps(recorded).items() if "+" not in route for part in set_so]
    name = f"{recorded.get('cpu', '')} ({recorded.get('model', '')})"
    return "; ".join(filter(None, (name, features, ", ".join(dict.fromkeys(caps)))))


def _caps(recorded: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        str(route): [f"{name}={value}" for name, value in caps.items()]
        for route, caps in recorded.get("caps", {}).items()
    }
