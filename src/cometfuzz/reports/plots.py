"""Line charts as SVG for a page: coverage over time. Like the drawn graphs, they take their colours from its style."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.reports.facts import Facts
from cometfuzz.reports.tally import PUBLISHED

WIDTH, HEIGHT = 500.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 134.0, 12.0, 34.0
LABEL_HEIGHT = 15.0

STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Line:
    """One curve: its points in minutes and per cent, the class of its colour, and a level to compare it with."""

    name: str
    kind: str
    points: Sequence[tuple[float, float]]
    level: float | None = None


@dataclass(frozen=True)
class Chart:
    """A picture, and what it shows in words."""

    title: str
    caption: str
    picture: Markup


def coverage_charts(facts: Facts) -> list[Chart]:
    """Coverage over time: each space, and branches if they were observed."""
    charts = []
    captions = {
        "paper": "The paper's space. Dashed: what its six hours cover.",
        "full": "The full space: every layer, dtype, rank and parameter value of the catalogue.",
        "ops": "The space of operators: functions of keras.ops as nodes of a model.",
    }
    for space, caption in captions.items():
        if lines := list(_space_lines(facts, space)):
            charts.append(Chart(f"{space} space", caption, draw(lines, f"Coverage of the {space} space over time")))
    observed = [point for point in facts.curve if point.branches and point.branches.get("total")]
    if observed:
        shares = [
            (point.elapsed_s / 60, 100 * point.branches["covered"] / point.branches["total"])
            for point in observed
            if point.branches
        ]
        last = observed[-1].branches or {}
        counts = f"{last['covered']} of {last['total']}"
        caption = f"{counts} branches in the libraries' code that makes and executes models."
        charts.append(Chart("branches", caption, draw([Line("branches", "a", shares)], "Branch coverage over time")))
    return charts


def _space_lines(facts: Facts, space: str) -> Iterator[Line]:
    for criterion, kind in zip(CRITERIA, "abc", strict=True):
        total = facts.coverage.get(space, {}).get(criterion, {}).get("total")
        points = [
            (point.elapsed_s / 60, 100 * point.covered[space][criterion] / total)
            for point in facts.curve
            if total and criterion in point.covered.get(space, {})
        ]
        if points:
            level = 100 * PUBLISHED[criterion] if space == "paper" else None
            yield Line(criterion, kind, points, level)


def draw(lines: Sequence[Line], label: str) -> Markup:
    """The picture of some lines that have at least one point each."""
    across = _axis(max(x for line in lines for x, _ in line.points))
    heights = [y for line in lines for _, y in line.points] + [line.level for line in lines if line.level is not None]
    up = _axis(min(100.0, max(*heights, 1.0)))
    far, high = across[-1], up[-1]

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + x / far * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / high * (HEIGHT - TOP - BOTTOM)

    parts = [
        Markup('<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {:.0f} {:.0f}">').format(
            label, WIDTH, HEIGHT
        )
    ]
    for tick in up:
        y = place(0, tick)[1]
        parts.append(_rule("grid", LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text("tick up", LEFT - 7, y + 4, f"{tick:g}%"))
    for tick in across:
        x = place(tick, 0)[0]
        parts.append(_text("tick across", x, HEIGHT - BOTTOM + 18, _minutes(tick, far)))
    for line in lines:
        if line.level is not None:
            (x, y), (end, _) = place(0, line.level), place(far, line.level)
            parts.append(_rule(f"level {line.kind}", x, y, end, y))
        path = "M" + " L".join("{:.1f} {:.1f}".format(*place(*point)) for point in line.points)
        parts.append(Markup('<path class="line {}" d="{}"></path>').format(line.kind, path))
        parts.append(
            Markup('<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="3.2"></circle>').format(
                line.kind, *place(*line.points[-1])
            )
        )
    parts += _labels(lines, [place(*line.points[-1])[1] for line in lines])
    return Markup("").join([*parts, Markup("</svg>")])


def _labels(lines: Sequence[Line], wanted: Sequence[float]) -> Iterator[Markup]:
    """The name and last value of each line beside its end; labels push each other down, and up from the bottom."""
    order = sorted(range(len(lines)), key=wanted.__getitem__)
    places: dict[int, float] = {}
    floor = -math.inf
    for index in order:
        places[index] = floor = max(wanted[index], floor + LABEL_HEIGHT)
    ceiling = HEIGHT - BOTTOM + LABEL_HEIGHT
    for index in reversed(order):
        places[index] = ceiling = min(places[index], ceiling - LABEL_HEIGHT)
    for index, line in enumerate(lines):
        text = f"{line.name} {line.points[-1][1]:.1f}%"
        yield _text(f"label {line.kind}", WIDTH - RIGHT + 9, places[index] + 4, text)


def _rule(kind: str, x: float, y: float, end_x: float, end_y: float) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"></line>').format(
        kind, x, y, end_x, end_y
    )


def _text(kind: str, x: float, y: float, text: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(kind, x, y, text)


def _axis(largest: float) -> list[float]:
    """Ticks from 0 to at least the largest value, four to six of them, at 1, 2 or 5 times a power of ten."""
    largest = max(largest, 1e-3)
    power = 10.0 ** math.floor(math.log10(largest / 4))
    step = next(power * factor for factor in STEPS if largest / (power * factor) <= 5)
    return [round(step * index, 6) for index in range(math.ceil(largest / step - 1e-9) + 1)]


def _minutes(tick: float, far: float) -> str:
    if far >= 180:
        return f"{tick / 60:.3g} h"
    return f"{tick:g} min" if far >= 3 else f"{60 * tick:.3g} s"
