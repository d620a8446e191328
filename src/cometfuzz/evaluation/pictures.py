"""Curves of an experiment as PNG, and a page with them and the tables."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment

from cometfuzz.evaluation.published import NOT_COMPARABLE
from cometfuzz.evaluation.running import Moment, Run
from cometfuzz.evaluation.statistics import median, quartiles
from cometfuzz.evaluation.tables import CRITERIA, OBSERVED, STATISTICS, Result, comparison_grids, grid

AXES: tuple[tuple[str, str, Callable[[Moment], float]], ...] = (
    ("cases", "cases", lambda moment: moment.cases),
    ("cpu", "CPU seconds", lambda moment: moment.cpu_s),
)

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{ result.name }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
td, th { border-bottom: 1px solid #ccc; padding: .2rem .6rem; text-align: right }
td:first-child, th:first-child { text-align: left }
img { max-width: 100% }
</style>
<h1>{{ result.name }}</h1>
<p>{{ "Models were executed." if result.executed else "Nothing was executed: coverage counts what was generated." }}
Percent of the paper's space, medians over seeds {{ result.seeds | join(", ") }}; in brackets what was published.
{{ result.machine }}.</p>
{% if result.command %}<pre>{{ result.command }}</pre>{% endif %}
{% for title, columns, cells in tables %}
<h2>{{ title }}</h2>
<table><tr>{% for each in columns %}<th>{{ each }}{% endfor %}</tr>
{% for row in cells %}<tr>{% for each in row %}<td>{{ each }}{% endfor %}</tr>{% endfor %}</table>
{% endfor %}
<p>{{ statistics }}</p>
<h2>Curves</h2>
<p>Medians over the seeds, with bands from the lower to the upper quartile.</p>
{% for name in pictures %}<img src="{{ name }}" alt="{{ name }}">{% endfor %}
<h2>Not comparable</h2>
<ul>{% for text in not_comparable %}<li>{{ text }}</li>{% endfor %}</ul>
</html>
"""


def draw(runs: Sequence[Run], out: Path) -> list[str]:
    """Coverage over cases and over CPU seconds, a file each; their names."""
    from matplotlib.figure import Figure  # half a second that only pictures pay

    begun = [run for run in runs if run.moments]
    criteria = [*CRITERIA, *(name for name in OBSERVED if any(name in run.totals for run in begun))]
    names = []
    for short, label, along in AXES:
        figure = Figure(figsize=(5 * len(criteria), 4.2), layout="constrained")
        for axis, criterion in zip(figure.subplots(1, len(criteria), squeeze=False)[0], criteria, strict=True):
            for arm in dict.fromkeys(run.arm.name for run in begun):
                places, middle, low, high = band([run for run in begun if run.arm.name == arm], criterion, along)
                (line,) = axis.plot(places, middle, label=arm)
                axis.fill_between(places, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
            axis.set(title=criterion, xlabel=label, ylabel="% of all items")
            axis.set_ylim(bottom=0)
            axis.grid(alpha=0.3)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
        names.append(f"coverage-over-{short}.png")
        figure.savefig(out / names[-1], dpi=110)
    return names


def boxes(seconds: Mapping[str, Sequence[float]], title: str, file: Path) -> None:
    """A box plot of seconds, a box for each name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axis = figure.subplots()
    axis.boxplot(list(seconds.values()))
    axis.set_xticks(range(1, len(seconds) + 1), labels=list(seconds), rotation=25, ha="right")
    axis.set(title=title, ylabel="CPU seconds")
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    figure.savefig(file, dpi=110)


def band(
    runs: Sequence[Run], criterion: str, along: Callable[[Moment], float]
) -> tuple[list[float], list[float], list[float], list[float]]:
    """The median over runs and the quartiles, at each place that one of them has and all of them reach."""
    end = min(along(run.moments[-1]) for run in runs)
    places = sorted({along(moment) for run in runs for moment in run.moments if along(moment) <= end})
    middle, low, high = [], [], []
    for place in places:
        reached = [max((m for m in run.moments if along(m) <= place), key=along, default=None) for run in runs]
        values = [
            run.share(moment, criterion) if moment is not None and criterion in moment.covered else 0.0
            for run, moment in zip(runs, reached, strict=True)
        ]
        middle.append(median(values))
        lower, upper = quartiles(values)
        low.append(lower)
        high.append(upper)
    return places, middle, low, high


def page(result: Result, pictures: Sequence[str]) -> str:
    """The tables and pictures as HTML; every text is escaped."""
    tables = [(table.title, *grid(table)) for table in result.tables]
    tables += [(title, *each) for title, each in {**comparison_grids(result), **result.more}.items()]
    template = Environment(autoescape=True).from_string(PAGE)
    return template.render(
        result=result, tables=tables, pictures=pictures, statistics=STATISTICS, not_comparable=NOT_COMPARABLE
    )
