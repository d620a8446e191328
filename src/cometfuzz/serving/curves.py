"""Coverage over time, route by route: counted anew from the cases, since the store keeps only the newest count."""

from collections.abc import Iterable

from cometfuzz.campaign.events import CaseDone
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import SIGMA, full_space
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.reports.tally import share_of

MOST = 80
"""Points of a curve: a small picture shows no more."""

Points = list[tuple[float, float]]


class Curve:
    """A share over time: points at equal steps, about as many as can be seen, and the newest."""

    def __init__(self) -> None:
        self._points: Points = []
        self._newest: Points = []
        self._step, self._added = 1, 0

    def add(self, elapsed_s: float, share: float) -> None:
        self._newest = [(round(elapsed_s, 1), round(share, 5))]
        if self._added % self._step == 0:
            self._points += self._newest
            if len(self._points) > 2 * MOST:
                self._points, self._step = self._points[::2], 2 * self._step
        self._added += 1

    @property
    def points(self) -> Points:
        return self._points + [point for point in self._newest if point != self._points[-1]]


class RouteCurves:
    """How much of the full space has executed on each route, of all that can be reached: what the screen calls cov."""

    def __init__(self, routes: Iterable[str], sigma: int = SIGMA) -> None:
        self._sigma = sigma
        self._coverages: dict[str, Coverage] = {}
        self._curves: dict[str, Curve] = {}
        self.done = 0
        """How many cases are counted."""
        for route in routes:
            self._begin(route)

    def take(self, event: CaseDone) -> None:
        """Count what a case, and its parts, cover on the routes that computed them."""
        grown: dict[str, None] = {}
        for part in event.parts:
            for result in part.results:
                if result.status == "completed" and not part.case.breaks and result.route != REFERENCE.name:
                    if result.route not in self._coverages:
                        self._begin(result.route)
                    if self._coverages[result.route].cover(part.case.graph):
                        grown[result.route] = None
        for route in grown:
            share = share_of({"full": self._coverages[route].summary()})
            self._curves[route].add(event.elapsed_s, share or 0.0)

    def points(self) -> dict[str, Points]:
        """The curve of each route that has run."""
        return {route: points for route, curve in self._curves.items() if (points := curve.points)}

    def _begin(self, route: str) -> None:
        self._coverages[route] = Coverage(full_space(self._sigma))
        self._curves[route] = Curve()
