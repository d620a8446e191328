"""Triage without processes: an executor whose routes fail where a condition on the graph holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from trials import answer, completed, raised

from cometfuzz.execution.executor import Executor, select_outputs, with_all_outputs
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.ledger.matching import View
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.switches import plain_name, route_named

Condition = Callable[[Graph], bool]


@dataclass
class Acting:
    """An executor in name: routes compute right, but for those that raise where a condition holds.

    flaky: in which of its runs a failing route fails; all by default.
    """

    conditions: Mapping[str, Condition]
    names: Sequence[str] = ("keras-tf", "keras-torch")
    flaky: Callable[[int], bool] = lambda number: True
    pause_after: int = 0
    renewed: list[str] = field(default_factory=list)
    ran: int = 0
    tried: list[Case] = field(default_factory=list)

    @property
    def routes(self) -> Mapping[str, Route]:
        return {name: found for name in self.names if (found := route_named(name, ROUTES)) is not None}

    @property
    def view(self) -> View:
        return usual_view()

    def renew(self, group: str) -> None:
        self.renewed.append(group)

    def run(
        self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        self.ran += 1
        self.tried.append(case)
        return Trial(case, {name: self._outcome(case, name, intermediates) for name in routes or self.names})

    def _outcome(self, case: Case, name: str, intermediates: bool) -> Outcome:
        condition = self.conditions.get(name)
        if condition is not None and condition(case.graph) and self.flaky(self.ran):
            return raised(
                name, "RuntimeError", "no", stage=ROUTES[plain_name(name)].stages[-1].name, library="a library"
            )
        graph = with_all_outputs(case.graph) if intermediates else case.graph
        outcome = completed(name, answer(case, graph=graph))
        return select_outputs(outcome, case.graph, graph) if intermediates else outcome


def acting(**conditions: Condition) -> Executor:
    return cast(Executor, Acting({name.replace("_", "-"): condition for name, condition in conditions.items()}))


def crash_of(route: str, *others: str) -> Finding:
    """What the crash oracle says where a route of `acting` fails."""
    camps = (Camp((route,), "raises"), *([Camp(others, "completed")] if others else []))
    stage = ROUTES[route].stages[-1].name
    return Finding("crash", "crash", "ordinary", camps, stage, "a library", "no", failure="RuntimeError: no")
