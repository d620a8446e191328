"""Confirm: whether a finding shows again, and what counts as the same one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Trial
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph, Inner, Params
from cometfuzz.ledger.reading import same_fix
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding, Symptom, template
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.symptoms import RELATION, about
from cometfuzz.routes import Route
from cometfuzz.routes.switches import plain_name

TIMES = 3
"""How often a finding is run again before it is believed."""


@dataclass(frozen=True)
class Target:
    """What must still show in a smaller case: the signature as far as it is known before the reduction.

    layers: the layer in which it lies, and those that lie inside it, since a smaller case may do without the wrapper;
    empty if nobody knows. failing: the route that is run for it. agreeing: one that must not fail in the same way.
    defect: what explains it; a case that another one explains, or none, shows something else. voting: all routes of
    the finding, if it takes more than two of them to see it.
    """

    symptom: Symptom
    library: str
    stage: str
    failure: str
    layers: tuple[str, ...]
    failing: str
    agreeing: str | None
    defect: str = ""
    voting: tuple[str, ...] = ()

    @staticmethod
    def of(finding: Finding, graph: Graph, routes: Mapping[str, Route]) -> "Target":
        """What a finding in a graph claims."""
        failing = finding.camps[0].routes[0]
        agreeing = [name for camp in finding.camps[1:] for name in camp.routes if name in routes]
        return Target(
            symptom=finding.symptom,
            library=finding.library,
            stage=finding.stage,
            failure=template(finding.failure),
            layers=layers_at(graph, finding.node, finding.layer) if about(finding.symptom).placed else (),
            failing=failing,
            agreeing=_nearest(routes, failing, agreeing),
            defect=finding.defect,
            voting=tuple(name for camp in finding.camps for name in camp.routes if name in routes)
            if finding.data_kind == "invalid"
            else (),
        )

    @property
    def routes(self) -> tuple[str, ...]:
        return self.voting or ((self.failing,) if self.agreeing is None else (self.failing, self.agreeing))

    def matches(self, finding: Finding) -> bool:
        """Whether a finding in another case is the same, as far as one can tell."""
        claimed = (finding.symptom, finding.library, finding.stage, template(finding.failure))
        known = (self.symptom, self.library, self.stage, self.failure)
        if claimed != known or not same_fix(finding.defect, self.defect):
            return False
        if self.layers and finding.layer and finding.layer.split(" > ")[-1] not in self.layers:
            return False
        camp = finding.camps[0].routes
        return self.failing in camp and self.agreeing not in camp


def layers_at(graph: Graph, node: str, layer: str) -> tuple[str, ...]:
    """The layer of a node, those inside it, and Activation if it has one of its own."""
    if node not in graph.by_id:
        return (layer.split(" > ")[-1],) if layer else ()
    place = graph.by_id[node]
    return (place.layer, *_within(place.params))


def _within(params: Params) -> Iterator[str]:
    """The layers that parameters name."""
    if activations_of(params):
        yield "Activation"
    for value in params.values():
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Inner):
                yield inner.layer
                yield from _within(inner.params)


def activations_of(params: Params) -> list[str]:
    """The activations that a layer applies to what it computed, by name."""
    values = [params[name] for name in ("activation", "recurrent_activation") if name in params]
    return [value for value in values if isinstance(value, str) and value != "linear"]


def _nearest(routes: Mapping[str, Route], failing: str, agreeing: Sequence[str]) -> str | None:
    """Of the routes that agree, the failing one without its switch; else the one that shares most steps with it; then
    the shortest."""
    if not agreeing:
        return None
    own = routes[failing].keys

    def nearness(name: str) -> tuple[bool, int, int]:
        shared = sum(one == two for one, two in zip(own, routes[name].keys, strict=False))
        return name != plain_name(failing), -shared, len(routes[name].steps)

    return min(agreeing, key=nearness)


class Probe:
    """Asks whether a target shows in a case. Each question costs a run on two routes, and counts as a step.

    tries: how often it is run if it does not show at once; more than 1 only for what is flaky. contrast: whether the
    route that agrees must do right in every respect, not only do otherwise.
    """

    def __init__(self, executor: Executor, target: Target, tries: int = 1, contrast: bool = False) -> None:
        self.executor, self.target, self.tries, self.steps = executor, target, tries, 0
        self.contrast = contrast

    def find(self, case: Case) -> Finding | None:
        """The finding, if it shows."""
        for _ in range(self.tries):
            self.steps += 1
            every = self.findings(case, self.target.routes)
            found = next(filter(self.target.matches, every), None)
            if found is not None and not (self.contrast and self._blurred(every)):
                return found
        return None

    def _blurred(self, findings: Sequence[Finding]) -> bool:
        """Whether the route that should agree does something wrong as well."""
        return any(self.target.agreeing in finding.camps[0].routes for finding in findings)

    def findings(self, case: Case, routes: Sequence[str]) -> list[Finding]:
        """All that the oracles have to say of a case on some routes."""
        return self.judge(self.executor.run(case, routes))

    def judge(self, trial: Trial) -> list[Finding]:
        again, record = None, about(self.target.symptom)
        if record.twice:
            again = self.executor.run(trial.case, tuple(trial.outcomes))
        asked = self.target.failure if self.target.symptom == RELATION.name else ""
        memory = record.end == "memory"
        bench = Bench(trial, self.executor.run, again, self.executor.view, memory=memory, relations=asked)
        return list(examine(bench, lambda mistake: None))  # whoever found it has said so


@dataclass(frozen=True)
class Confirmed:
    """How often a finding was run again, how often it showed, and how it looked then."""

    runs: int
    shown: int
    finding: Finding | None


def confirm(probe: Probe, case: Case) -> Confirmed:
    """Run a case again, three times in one fresh worker: what an earlier case left behind has no part in it.

    Fresh is the worker in which it failed. Those that only led there, or that agree, go on: to start a library takes
    seconds, and a script is run from its beginning in a clean process anyway.
    """
    steps = probe.executor.routes[probe.target.failing].steps
    here = [step for step in steps if step.has(probe.target.stage, probe.target.library)]
    failed = (here or steps)[-1].group.name
    probe.executor.renew(failed)
    found = [probe.find(case) for _ in range(TIMES)]
    shown = [finding for finding in found if finding is not None]
    return Confirmed(TIMES, len(shown), shown[0] if shown else None)
