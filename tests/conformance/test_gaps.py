"""A gap is exact: what it covers fails as declared. A gap that starts to pass fails here."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cometfuzz.catalogue.data import NUMPY, draw_data, to_tensor
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution.conformance import judge_draw, layers_of
from cometfuzz.execution.supervisor import Worker
from cometfuzz.routes import ROUTES
from cometfuzz.routes.gaps import Gap, all_gaps, gaps_against, gaps_of

pytestmark = pytest.mark.library

SEARCHED = 2500
"""How many draws of a layer are looked through for some that a gap covers."""

WANTED = {True: 2, False: 150}
"""How many covered draws are run: those of an exact gap must all fail, an inexact one must show in one of them."""


def covered(route: str) -> dict[int, list[tuple[int, LayerDraw]]]:
    """For each gap, draws that fall under it; under no other one, where such draws are found."""
    gaps = {id(gap): gap for gap in all_gaps() if route in gap.routes}
    alone: dict[int, list[tuple[int, LayerDraw]]] = defaultdict(list)
    shared: dict[int, list[tuple[int, LayerDraw]]] = defaultdict(list)
    for name in layers_of(ROUTES[route]):
        for index in range(SEARCHED):
            open_gaps = [gap for gap in gaps_of(route, name) if len(alone[id(gap)]) < WANTED[gap.always]]
            if not any(gap.layers for gap in open_gaps) and name not in ("Dense", "Activation"):
                break
            drawn = draw_layer(name, 7, index)
            found = list(gaps_against(route, drawn.spec, drawn.x, drawn.params))
            for gap in found:
                (alone if len(found) == 1 else shared)[id(gap)].append((index, drawn))
    return {key: (alone[key] or shared[key])[: WANTED[gap.always]] for key, gap in gaps.items()}


def with_witness(gap: Gap, drawn: LayerDraw) -> LayerDraw:
    """The draw with its first input made of the gap's witness, if it has one."""
    if not gap.witness:
        return drawn
    source = drawn.case.graph.nodes[0]
    kind = source.outputs[0]
    values = np.resize(np.array(gap.witness), kind.shape).astype(NUMPY[kind.dtype])
    return replace(drawn, case=replace(drawn.case, data={source.id: to_tensor(values)}))


def described(gap: Gap, shown: list[bool]) -> str:
    return f"{', '.join(gap.layers) or 'any layer'}: {gap.evidence}: shown by {sum(shown)} of {len(shown)} draws"


@pytest.mark.parametrize("route", ROUTES)
def test_gaps_still_show(route: str, main_python: Path) -> None:
    gaps = {id(gap): gap for gap in all_gaps()}
    wrong = []
    with Worker(ROUTES[route], main_python) as worker:
        for key, draws in covered(route).items():
            gap, shown = gaps[key], []
            for index, found in draws:
                drawn = with_witness(gap, found)
                outcome = worker.execute(drawn.case.graph, draw_data(drawn.case), 120)
                shown.append(gap in judge_draw(ROUTES[route], drawn, index, outcome).shown)
                if shown[-1] and not gap.always:
                    break
            if not gap.by_chance and not (shown and (all(shown) if gap.always else any(shown))):
                wrong.append(described(gap, shown))
    assert not wrong, "\n".join(wrong)
