"""The machine as part of the environment: its CPU, and on which routes a library is told to use less of it."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cometfuzz.execution import environments
from cometfuzz.ledger.cpu import caps_of, this_cpu
from cometfuzz.routes import Group, Route
from cometfuzz.routes.switches import MARK


@dataclass(frozen=True)
class Machine:
    """What is recorded of one: the CPU's level, name and features, and the caps by route, where there are any."""

    cpu: str
    model: str
    features: tuple[str, ...]
    caps: Mapping[str, Mapping[str, str]]

    def __str__(self) -> str:
        """A line by which two are told apart; caps that a switch sets go without saying."""
        plain = [caps for route, caps in self.caps.items() if MARK not in route]
        set_so = dict.fromkeys(f"{name}={value}" for caps in plain for name, value in caps.items())
        name = f"{self.cpu} ({self.model})" if self.model else self.cpu
        return "; ".join(filter(None, (name, " ".join(self.features), ", ".join(set_so))))


def caps_in(group: Group) -> dict[str, str]:
    """The caps in force in the child of a group: the user's own, those of its switch and of its environment."""
    return caps_of({**os.environ, **group.environ, **environments.environ_of(group.environment)})


def this_machine(routes: Iterable[Route]) -> Machine:
    """This machine, with what is set on some routes."""
    caps = {route.name: {k: v for step in route.steps for k, v in caps_in(step.group).items()} for route in routes}
    cpu = this_cpu()
    return Machine(cpu.level, cpu.model, cpu.features, {name: found for name, found in caps.items() if found})
