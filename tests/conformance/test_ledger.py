"""A rule is exact: what it covers fails as declared. A rule that starts to pass fails here."""

from collections import defaultdict

import pytest

from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution.conformance import find_rules, judge_draw, layers_of
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import Limits
from cometfuzz.execution.versions import usual_view
from cometfuzz.ledger.matching import Rule, rules
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.declared import with_witness

pytestmark = pytest.mark.library

SEARCHED = 2500
"""How many draws of a layer are looked through for some that a rule covers."""

RARE = {"PReLU": [(11, 5)], "EinsumDense": [(1, 1688), (2, 1095)]}
"""Seeds and indices of draws that fall under a rule which those draws miss."""

WANTED = {True: 2, False: 150}
"""How many covered draws are run: those of an exact rule must all fail, an inexact one must show in one of them."""

WANTED_BEHIND = {True: 1, False: 0}
"""The same for routes behind another: a conversion takes seconds, so inexact known are left to larger runs."""


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
    """The known that do not show as declared."""
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


@pytest.mark.parametrize("route", ["keras-tf", "keras-torch", "keras-jax", "keras2-tf"])
def test_rules_still_show(route: str) -> None:
    wrong = unshown(route, WANTED)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("route", ["tf-graph", "tf-saved", "onnxruntime", "onnx2torch", "litert", "keras-mxnet"])
def test_exact_rules_behind_keras_still_show(route: str) -> None:
    wrong = unshown(route, WANTED_BEHIND)
    assert not wrong, "\n".join(wrong)
