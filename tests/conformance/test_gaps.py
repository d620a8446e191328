"""A gap is exact: what it covers fails as declared. A gap that starts to pass fails here."""

from collections import defaultdict
from pathlib import Path

import pytest

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution.conformance import find_gaps, judge_draw, layers_of
from cometfuzz.execution.supervisor import Worker
from cometfuzz.routes import ROUTES
from cometfuzz.routes.gaps import Gap, all_gaps, gaps_of

pytestmark = pytest.mark.library

SEARCHED = 1500
"""How many draws of a layer are looked through for some that a gap covers."""

WANTED = {True: 2, False: 8}
"""How many covered draws are run: those of an exact gap must all fail, an inexact one must show once."""


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
            found = find_gaps(route, drawn)
            for gap in found:
                (alone if len(found) == 1 else shared)[id(gap)].append((index, drawn))
    return {key: (alone[key] or shared[key])[: WANTED[gap.always]] for key, gap in gaps.items()}


def described(gap: Gap, shown: list[bool]) -> str:
    return f"{', '.join(gap.layers) or 'any layer'}: {gap.evidence}: shown by {sum(shown)} of {len(shown)} draws"


@pytest.mark.parametrize("route", ROUTES)
def test_gaps_still_show(route: str, main_python: Path) -> None:
    gaps = {id(gap): gap for gap in all_gaps()}
    wrong = []
    with Worker(ROUTES[route], main_python) as worker:
        for key, draws in covered(route).items():
            gap, shown = gaps[key], []
            for index, drawn in draws:
                outcome = worker.execute(drawn.case.graph, draw_data(drawn.case), 120)
                shown.append(gap in judge_draw(ROUTES[route], drawn, index, outcome).shown)
            if not (shown and (all(shown) if gap.always else any(shown))):
                wrong.append(described(gap, shown))
    assert not wrong, "\n".join(wrong)
