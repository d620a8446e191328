"""A rule is exact: what it covers fails as declared. A rule that starts to pass fails here."""

import os
from collections import defaultdict

import pytest

from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.draw import Draw
from cometfuzz.execution.conformance import find_rules, judge_draw, layers_of
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import Limits
from cometfuzz.execution.versions import usual_view
from cometfuzz.ledger.matching import Rule, rules
from cometfuzz.ledger.reading import defects, shipped
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.collection import Collection
from cometfuzz.triage.declared import with_witness
from cometfuzz.triage.refreshing import measure, questions

pytestmark = pytest.mark.library

SEARCHED = 2500
"""How many draws of a layer are looked through for some that a rule covers."""

RARE = {"PReLU": [(11, 5)], "EinsumDense": [(1, 1688), (2, 1095)]}
"""Seeds and indices of draws that fall under a rule which those draws miss."""

WANTED = {True: 2, False: 150}
"""How many covered draws are run: those of an exact rule must all fail, an inexact one must show in one of them."""

WANTED_BEHIND = {True: 1, False: 0}
"""The same for routes behind another: a conversion takes seconds, so inexact rules are left to larger runs."""


def covered(route: str, wanted: dict[bool, int]) -> dict[int, list[tuple[int, LayerDraw]]]:
    """For each rule, draws that fall under it; under no other one, where such draws are found."""
    names = {route, *(step.name for step in ROUTES[route].steps[1:])}
    known = {id(rule): rule for rule in rules() if names & {*rule.routes} and wanted[rule.always]}
    alone: dict[int, list[tuple[int, LayerDraw]]] = defaultdict(list)
    shared: dict[int, list[tuple[int, LayerDraw]]] = defaultdict(list)
    for name in layers_of(ROUTES[route]):
        for seed, index in [*RARE.get(name, ()), *((7, index) for index in range(SEARCHED))]:
            open_rules = [
                rule for rule in usual_view().rules_of(route, name) if len(alone[id(rule)]) < wanted[rule.always]
            ]
            if not any(rule.layers for rule in open_rules) and name not in ("Dense", "Activation"):
                break
            drawn = draw_layer(name, seed, index)
            found = find_rules(route, drawn, usual_view())
            for rule in found:
                (alone if len(found) == 1 else shared)[id(rule)].append((index, drawn))
    return {key: (alone[key] or shared[key])[: wanted[rule.always]] for key, rule in known.items()}


def described(rule: Rule, shown: list[bool]) -> str:
    return f"{', '.join(rule.layers) or 'any layer'}: {rule.text}: shown by {sum(shown)} of {len(shown)} draws"


def unshown(route: str, wanted: dict[bool, int]) -> list[str]:
    """The rules that do not show as their entries say."""
    known = {id(rule): rule for rule in rules()}
    wrong = []
    with Executor([ROUTES[route]], limits=Limits(stage_s=120), pause_after=0) as executor:
        for key, draws in covered(route, wanted).items():
            rule, shown = known[key], []
            for index, found in draws:
                drawn = with_witness(rule, found)
                outcome = executor.run(drawn.case).outcomes[route]
                shown.append(rule in judge_draw(ROUTES[route], drawn, index, outcome).shown)
                if shown[-1] and not rule.always:
                    break
            if not rule.by_chance and not (shown and (all(shown) if rule.always else any(shown))):
                wrong.append(described(rule, shown))
    return wrong


ALL = os.environ.get("EVIDENCE") == "all"
"""Whether all evidence is run, as `make conformance` does, or a sample."""

SAMPLED = 45
FRONT = ["keras-tf", "keras-torch", "keras-jax", "keras2-tf"]
BEHIND = ["tf-graph", "tf-saved", "onnxruntime", "onnx2torch", "litert", "keras-mxnet"]


@pytest.mark.parametrize("route", FRONT if ALL else FRONT[1:2])
def test_rules_still_show(route: str) -> None:
    wrong = unshown(route, WANTED)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("route", BEHIND if ALL else BEHIND[2:3])
def test_exact_rules_behind_keras_still_show(route: str) -> None:
    wrong = unshown(route, WANTED_BEHIND)
    assert not wrong, "\n".join(wrong)


def test_the_evidence_of_entries_still_shows() -> None:
    """With the pinned versions every entry shows on some route by its case, or by its script."""
    entries = {name: defect for name, defect in defects().items() if not any(each.by_chance for each in defect.applies)}
    names = Draw("evidence", 1).shuffled(sorted(entries))[: None if ALL else SAMPLED]
    bugs = {entry.slug: entry.bug for entry in Collection.read(shipped()).entries}
    shown: dict[str, list[str]] = {name: [] for name in names}
    routes = [route for route in ROUTES.values() if route.name != "reference"]
    with Executor(routes, limits=Limits(stage_s=120), pause_after=0) as executor:
        for question in questions({name: entries[name] for name in names}, shipped(), routes, anew=True):
            name = question.defect.id
            if "" not in shown[name]:
                measured = measure(question, executor, bugs.get(name))
                shown[name].append("" if measured.shows else measured.reason or "does not show")
    assert {name: told for name, told in shown.items() if "" not in told} == {}
