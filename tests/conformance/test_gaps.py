"""A gap is exact: what it covers fails as declared. A gap that starts to pass fails here."""

from itertools import islice
from pathlib import Path

import pytest

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution.conformance import find_gaps, judge_draw, layers_of
from cometfuzz.execution.supervisor import Worker
from cometfuzz.routes import ROUTES
from cometfuzz.routes.gaps import Gap, all_gaps

pytestmark = pytest.mark.library

SEARCHED = 4000
SHOWN = 2
"""How many covered draws of an exact gap must all fail; an inexact one gets five times as many to show once."""


def covered(route: str, gap: Gap) -> list[tuple[int, LayerDraw]]:
    """Draws that fall under this gap and no other."""
    names = [name for name in layers_of(ROUTES[route]) if not gap.layers or name in gap.layers]
    names = names if gap.layers else [name for name in ("Dense", "Activation") if name in names]
    draws = ((index, draw_layer(name, 7, index)) for index in range(SEARCHED // max(len(names), 1)) for name in names)
    alone = ((index, drawn) for index, drawn in draws if find_gaps(route, drawn) == [gap])
    return list(islice(alone, SHOWN if gap.always else 5 * SHOWN))


@pytest.mark.parametrize("route", ROUTES)
def test_gaps_still_show(route: str, main_python: Path) -> None:
    wrong = []
    with Worker(ROUTES[route], main_python) as worker:
        for gap in all_gaps():
            if route not in gap.routes:
                continue
            draws = covered(route, gap)
            results = [
                judge_draw(ROUTES[route], drawn, index, worker.execute(drawn.case.graph, draw_data(drawn.case), 120))
                for index, drawn in draws
            ]
            shown = [bool(result.shown) for result in results]
            if not shown or (not all(shown) if gap.always else not any(shown)):
                wrong.append(f"{gap.layers or 'any layer'}: {gap.evidence}: shown {sum(shown)} of {len(shown)}")
    assert not wrong
