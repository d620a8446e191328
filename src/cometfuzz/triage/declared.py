"""Declared bugs as bugs: a gap says what a library does wrong; here it is shown, reduced, and given a script.

A campaign passes over what is declared. This is the other way round: each declared bug is made to show in a model of
one layer, and triaged like a finding of a campaign.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cometfuzz.catalogue.data import NUMPY, to_tensor
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution.conformance import find_gaps, layers_of
from cometfuzz.ir.case import Case
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.judging import examine
from cometfuzz.routes.gaps import Gap, all_gaps
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.triage import Triage

SEARCHED = 1500
"""How many draws of a layer are looked through for some that a gap covers."""

LAYERS_TRIED = 3
"""A gap of any layer, or of many, is looked for in the first so many of them in which it is found."""

PLAIN = ("Dense", "Activation")

TRIES = {True: 12, False: 60}
"""How many covered draws of a layer are run for one that shows it, if the gap is exact, and if it is not."""


@dataclass(frozen=True)
class Proven:
    """What became of a declared bug: the route it was looked for on, the bug, and if there is none, why."""

    gap: Gap
    route: str
    bug: Bug | None
    reason: str = ""


def declared_bugs(routes: Sequence[str] = ()) -> list[Gap]:
    """The gaps that a maintainer would mend, as far as one of the routes has them."""
    return [gap for gap in all_gaps() if gap.kind == "bug" and _route_of(gap, routes or tuple(ROUTES)) is not None]


def prove(
    gap: Gap, triage: Triage, routes: Sequence[str], report: Callable[[str], None] = lambda layer: None
) -> Proven:
    """Make a declared bug show on one of the routes, and triage what shows."""
    name = _route_of(gap, routes)
    if name is None:
        return Proven(gap, "", None, "none of the routes has it")
    tried = layers = 0
    for layer in _layers(gap, name):
        report(layer)
        cases = leads(gap, name, layer)
        layers, tried = layers + bool(cases), tried + len(cases)
        for case in cases:
            trial = triage.executor.run(case, [name])
            for finding in examine(Bench(trial, triage.executor.run)):
                if finding.gap == gap.evidence and finding.claims:
                    done = triage.triage(finding, case, routes)
                    return Proven(gap, name, done.bug, done.reason)
        if layers == LAYERS_TRIED:
            break
    return Proven(gap, name, None, f"none of {tried} calls that it covers shows it")


def leads(gap: Gap, route: str, layer: str, wanted: int = 0) -> list[Case]:
    """Calls of a layer that fall under a gap; under no other gap, where such calls are found.

    The smallest come first. If the gap is exact, large ones are left out; if not, size may be what it takes.
    """
    wanted = wanted or TRIES[gap.always]
    drawn = [draw_layer(layer, 7, index) for index in range(SEARCHED)]
    covered = [(each, found) for each in drawn if gap in (found := find_gaps(route, each))]
    alone = [each for each, found in covered if found == [gap]]
    cases = [with_witness(gap, each).case for each in alone or [each for each, _ in covered]]
    return sorted(cases[: 4 * wanted if gap.always else wanted], key=_elements)[:wanted]


def with_witness(gap: Gap, drawn: LayerDraw) -> LayerDraw:
    """The draw with its first input made of the gap's witness, if it has one."""
    if not gap.witness:
        return drawn
    source = drawn.case.graph.nodes[0]
    kind = source.outputs[0]
    values = np.resize(np.array(gap.witness), kind.shape).astype(NUMPY[kind.dtype])
    return replace(drawn, case=replace(drawn.case, data={source.id: to_tensor(values)}))


def _route_of(gap: Gap, routes: Sequence[str]) -> str | None:
    """The first of the routes that a gap stands against, by its own name or that of one of its steps."""
    named = [name for name in routes if name in gap.routes]
    behind = [name for name in routes if {step.name for step in ROUTES[name].steps[1:]} & {*gap.routes}]
    return next(iter([*named, *behind]), None)


def _layers(gap: Gap, route: str) -> list[str]:
    """The layers to look at: as the gap names them; else plain ones first."""
    names = layers_of(ROUTES[route], gap.layers)
    return sorted(names, key=gap.layers.index) if gap.layers else sorted(names, key=lambda name: name not in PLAIN)


def _elements(case: Case) -> int:
    return sum(kind.elements for node in case.graph.nodes for kind in node.outputs)
