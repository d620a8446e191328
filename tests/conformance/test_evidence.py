"""A rule is exact: what it covers fails as declared. A rule that starts to pass fails here."""

import os
from collections import defaultdict
from collections.abc import Mapping

import pytest

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.draw import Draw
from cometfuzz.execution.configuring import lacking, on_demand
from cometfuzz.execution.conformance import find_rules, judge_draw, layers_of
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import general_view, usual_view
from cometfuzz.ir.graph import is_operator
from cometfuzz.ir.types import POLICY
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.matching import Rule, rules
from cometfuzz.ledger.reading import defects, shipped
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.collection import Collection
from cometfuzz.triage.declared import with_witness
from cometfuzz.triage.refreshing import Measured, measure, questions

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
    known = {
        id(rule): rule
        for rule in rules()
        if names & {*rule.routes} and wanted[rule.always] and usual_view().stands(rule.defect, route)
        if not _is_drawn_elsewhere(rule)
    }
    alone: dict[int, list[tuple[int, LayerDraw]]] = defaultdict(list)
    shared: dict[int, list[tuple[int, LayerDraw]]] = defaultdict(list)
    for name in layers_of(ROUTES[route], list(LAYERS)):
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


def _is_drawn_elsewhere(rule: Rule) -> bool:
    """Whether a rule speaks of operators only, of which there are many, or of policies, which plain draws have not: the
    entries of these are shown by their cases and scripts."""
    operators = bool(rule.layers) and all(is_operator(layer) for layer in rule.layers)
    named = [applies for applies in rule.defect.applies if POLICY in applies.params and applies.note == rule.note]
    return operators or bool(named)


def described(rule: Rule, shown: list[bool]) -> str:
    return f"{', '.join(rule.layers) or 'any layer'}: {rule.text}: shown by {sum(shown)} of {len(shown)} draws"


def unshown(route: str, wanted: dict[bool, int]) -> list[str]:
    """The rules that do not show as their entries say."""
    known = {id(rule): rule for rule in rules()}
    wrong = []
    with Executor([ROUTES[route]], limits=WorkerLimits(stage_s=120), pause_after=0) as executor:
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


def asked() -> list[Route]:
    """The routes that evidence is looked for on: those of set-up, and with all evidence whatever is there."""
    out = lacking if ALL else on_demand
    return [route for route in ROUTES.values() if route.name != "reference" and not out(route)]


def looked_for(entries: Mapping[str, Defect]) -> dict[str, list[Measured]]:
    """What came of looking for entries with the pinned versions, on one route after the other until one shows it."""
    bugs = {entry.slug: entry.bug for entry in Collection.read(shipped()).entries}
    results: dict[str, list[Measured]] = {name: [] for name in entries}
    routes = asked()
    with Executor(routes, limits=WorkerLimits(stage_s=120), pause_after=0) as executor:
        for question in questions(entries, shipped(), routes, anew=True):
            name = question.defect.id
            if not any(each.shows for each in results[name]):
                results[name].append(measure(question, executor, bugs.get(name)))
    return results


def told(results: list[Measured]) -> list[str]:
    return [each.reason or ("shows" if each.shows else "does not show") for each in results]


def test_the_evidence_of_entries_still_shows() -> None:
    """With the pinned versions every entry that stands there on such a CPU shows on some route by its case, or by its
    script."""
    entries = {
        name: defect
        for name, defect in defects().items()
        if usual_view().stands_anywhere(defect) and not any(each.by_chance for each in defect.applies)
        if any(defect.spoken_of & route.names for route in asked())
    }
    names = Draw("evidence", 1).shuffled(sorted(entries))[: None if ALL else SAMPLED]
    results = looked_for({name: entries[name] for name in names})
    missing = {name: told(found) for name, found in results.items() if not any(each.shows for each in found)}
    assert missing == {}


def test_what_the_pinned_versions_have_mended_does_not_show() -> None:
    views = usual_view(), general_view()
    mended = {
        name: defect
        for name, defect in defects().items()
        if defect.fixed and not any(view.stands_anywhere(defect) for view in views)
    }
    assert mended
    for name, found in looked_for(mended).items():
        assert found, name
        assert {each.shows for each in found} == {False}, (name, told(found))
