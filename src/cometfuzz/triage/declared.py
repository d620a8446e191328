"""Declared bugs as bugs: the ledger says what a library does wrong; here it is shown, reduced, and given a script.

A campaign passes over what is declared. This is the other way round: each declared bug is made to show in a model of
one layer, and triaged like a finding of a campaign.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cometfuzz.catalogue.data import NUMPY, to_tensor
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.catalogue.files import load
from cometfuzz.execution.conformance import find_rules, layers_of
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ledger.matching import Rule, rules
from cometfuzz.ledger.reading import CASE, shipped
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.judging import examine
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.triage import Triage

SEARCHED = 1500
"""How many draws of a layer are looked through for some that a rule covers."""

LAYERS_TRIED = 3
"""A rule of any layer, or of many, is looked for in the first so many of them in which it is found."""

USUAL_LAYERS = ("Dense", "Activation")

TRIES = {True: 12, False: 60}
"""How many covered draws of a layer are run for one that shows it, if the rule is exact, and if it is not."""


@dataclass(frozen=True)
class Proven:
    """What became of a declared bug: the route it was looked for on, the bug, and if there is none, why."""

    rule: Rule
    route: str
    bug: Bug | None
    reason: str = ""


def declared_bugs(routes: Sequence[str] = ()) -> list[Rule]:
    """The rules of bugs that a maintainer would mend, as far as one of the routes has them."""
    names = routes or tuple(ROUTES)
    return [
        rule
        for rule in rules()
        if rule.defect.kind == "bug"
        and (route := _route_of(rule, names)) is not None
        and usual_view().stands(rule.defect, route)
    ]


def prove(
    rule: Rule, triage: Triage, routes: Sequence[str], report: Callable[[str], None] = lambda layer: None
) -> Proven:
    """Make a declared bug show on one of the routes, and triage what shows."""
    name = _route_of(rule, routes)
    if name is None:
        return Proven(rule, "", None, "none of the routes has it")
    tried = 0
    for case in _candidates(rule, name, report):
        tried += 1
        trial = triage.executor.run(case, [name])
        for finding in examine(Bench(trial, triage.executor.run, view=triage.executor.view)):
            if finding.defect == rule.id and finding.claims:
                done = triage.triage(finding, case, routes)
                return Proven(rule, name, done.bug, done.reason)
    return Proven(rule, name, None, f"none of {tried} calls that it covers shows it")


def _candidates(rule: Rule, route: str, report: Callable[[str], None]) -> Iterator[Case]:
    """The case of the entry, which has shown it once, perhaps on another route; then drawn calls of its layers."""
    own = shipped() / rule.id / CASE
    if own.is_file():
        yield load(own, breaking=True)
    layers = 0
    for layer in _layers(rule, route):
        report(layer)
        cases = leads(rule, route, layer)
        yield from cases
        layers += bool(cases)
        if layers == LAYERS_TRIED:
            break


def leads(rule: Rule, route: str, layer: str, wanted: int = 0) -> list[Case]:
    """Calls of a layer that fall under a rule; under no other rule, where such calls are found.

    The smallest come first. If the rule is exact, large ones are left out; if not, size may be what it takes.
    """
    wanted = wanted or TRIES[rule.always]
    drawn = [draw_layer(layer, 7, index) for index in range(SEARCHED)]
    covered = [(each, found) for each in drawn if rule in (found := find_rules(route, each, usual_view()))]
    alone = [each for each, found in covered if found == [rule]]
    cases = [with_witness(rule, each).case for each in alone or [each for each, _ in covered]]
    return sorted(cases[: 4 * wanted if rule.always else wanted], key=_elements)[:wanted]


def with_witness(rule: Rule, drawn: LayerDraw) -> LayerDraw:
    """The draw with its first input made of the rule's witness, if it has one."""
    if not rule.witness:
        return drawn
    source = drawn.case.graph.nodes[0]
    kind = source.outputs[0]
    values = np.resize(np.array(rule.witness), kind.shape).astype(NUMPY[kind.dtype])
    return replace(drawn, case=replace(drawn.case, data={source.id: to_tensor(values)}))


def _route_of(rule: Rule, routes: Sequence[str]) -> str | None:
    """The first of the routes that a rule stands against, by its own name or that of one of its steps."""
    named = [name for name in routes if name in rule.routes]
    behind = [name for name in routes if {step.name for step in ROUTES[name].steps[1:]} & {*rule.routes}]
    return next(iter([*named, *behind]), None)


def _layers(rule: Rule, route: str) -> list[str]:
    """The layers to look at: as the rule names them; else plain ones first."""
    names = layers_of(ROUTES[route], rule.layers)
    return (
        sorted(names, key=rule.layers.index)
        if rule.layers
        else sorted(names, key=lambda name: name not in USUAL_LAYERS)
    )


def _elements(case: Case) -> int:
    return sum(kind.elements for node in case.graph.nodes for kind in node.outputs)
