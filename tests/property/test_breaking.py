"""Calls that break a rule: exactly the one that they declare, for nearly every rule there is."""

import pytest

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.breaking import TRIES, Target, draw_breaking, targets
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.spec import KERAS3, Ours
from cometfuzz.catalogue.validate import VALUE_OF, check
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.codec import encode


@pytest.fixture(scope="module", name="drawn")
def drawn_once() -> dict[Target, object]:
    return {target: draw_breaking(target, Draw(1, target.layer, target.rule)) for target in targets()}


def test_nearly_every_rule_can_be_broken_alone(drawn: dict[Target, object]) -> None:
    missing = [target for target, case in drawn.items() if case is None]
    assert len(missing) < len(drawn) / 10, f"none in {TRIES} draws: {missing}"


def test_each_breaks_its_rule_and_nothing_else_and_survives_its_file() -> None:
    for target in targets()[::3]:
        case = draw_breaking(target, Draw(2, target.layer, target.rule))
        if case is None:
            continue
        *_, node = case.graph.nodes
        graph, violations = check(case.graph.drafts, case.graph.outputs)
        assert graph is None
        assert [(each.node, each.rule) for each in violations] == [(node.id, target.rule)]
        assert (node.layer, node.is_broken, case.breaks) == (target.layer, True, target.rule)
        assert decode(encode(case), breaking=True) == case
        with pytest.raises(InvalidCase, match="expected a case that breaks no rule"):
            decode(encode(case))


def test_what_is_ours_is_never_broken_and_wrong_values_are_wrong() -> None:
    wanted = {(target.layer, target.rule) for target in targets()}
    for name, spec in LAYERS.items():
        for rule, holds in spec.rules.items():
            assert ((name, rule) in wanted) == (type(holds) is not Ours and KERAS3 in spec.libraries)
        for parameter, space in spec.params.items():
            assert all(space.problem(value) for value in space.wrong()), (name, parameter)
            assert ((name, f"{VALUE_OF}{parameter}") in wanted) == bool(space.wrong() and KERAS3 in spec.libraries)
