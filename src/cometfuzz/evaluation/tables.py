"""What an experiment came to: at equal cases, at equal CPU time, ours against each other arm, and what was published.

The same rows are printed as text, and written as Markdown, JSON and CSV.
"""

import csv
import io
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import cometfuzz
from cometfuzz.evaluation.published import NOT_COMPARABLE
from cometfuzz.evaluation.running import INPUTS, Moment, Run
from cometfuzz.evaluation.statistics import Comparison, compare, median, quartiles

Grid = tuple[list[str], list[list[str]]]
"""The columns of a table, and its rows."""

Comparisons = Mapping[str, Mapping[str, Comparison]]
"""Ours against each other arm, by criterion."""

CRITERIA = ("inputs", "parameters", "sequences", "direct")
OBSERVED = ("branches", "lines")
COMPARED_WITH = {"sequences": "", "direct": "sequences"}
"""Which published number stands beside a criterion, where it is not that of its name: theirs are direct sequences."""


OTHERWISE = {
    "arm": "(published) is",
    "models": "of six hours",
    "CPU s each": "of an i9 with three GPUs",
    "inputs": "of built models",
    "parameters": "of any value shown, up to six",
    "direct": "of built models",
    "branches": "of Python and C++",
    "lines": "of Python and C++",
}
"""In what a published number is another one than ours, in a few words for the table itself."""

FINITE = ("cradle", "cradle-published")
"""Arms that have ten models and no more: at equal cases they stand as far as they came, and hold nobody back."""


@dataclass(frozen=True)
class Row:
    """One arm: medians over its runs. shares: percent, with the lower and the upper quartile; published: percent."""

    arm: str
    runs: int
    models: float
    executed: float
    attempts: float
    nodes: float
    cpu_s: float
    cpu_s_per_model: float
    shares: Mapping[str, tuple[float, float, float]]
    published: Mapping[str, float]


@dataclass(frozen=True)
class Table:
    """Arms at one point: after so many cases, or so many CPU seconds."""

    title: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Result:
    """All that is said of an experiment."""

    name: str
    executed: bool
    seeds: Sequence[int]
    tables: Sequence[Table]
    ours: str
    comparisons: Comparisons
    machine: str
    command: str
    by_cpu: Comparisons = field(default_factory=dict)
    """The same comparisons as `comparisons`, at equal CPU time instead of equal cases."""
    more: Mapping[str, Grid] = field(default_factory=dict)
    """Other tables of the experiment, by title."""

    def as_plain(self) -> dict[str, Any]:
        """The form of `--json`."""
        return {
            "experiment": self.name,
            "executed": self.executed,
            "seeds": list(self.seeds),
            "command": self.command,
            "machine": self.machine,
            "tables": [{"title": table.title, "rows": [asdict(row) for row in table.rows]} for table in self.tables],
            "comparisons": {"ours": self.ours, **_plain(self.comparisons)},
            "comparisons_at_equal_cpu": {"ours": self.ours, **_plain(self.by_cpu)},
            "more": {title: [columns, *cells] for title, (columns, cells) in self.more.items()},
            "not_comparable": list(NOT_COMPARABLE),
        }


def _plain(comparisons: Comparisons) -> dict[str, Any]:
    return {
        criterion: {
            arm: {**asdict(each), "size": each.size, "significant": each.is_significant} for arm, each in found.items()
        }
        for criterion, found in comparisons.items()
    }


More = Callable[[Sequence[Table], Comparisons], Mapping[str, Grid]]
"""Other tables of an experiment, out of its tables and what was compared at equal cases."""


def summarise(
    name: str,
    runs: Sequence[Run],
    ours: str,
    published: Mapping[str, Mapping[str, float]],
    command: str = "",
    more: More = lambda tables, comparisons: {},
) -> Result:
    """The tables of some runs that have begun; the arm `ours` is compared with the others."""
    by_arm: dict[str, list[Run]] = {}
    for run in runs:
        if run.moments:
            by_arm.setdefault(run.arm.name, []).append(run)
    begun = [run for found in by_arm.values() for run in found]
    cases = equal_cases([run for run in begun if run.arm.name not in FINITE])
    cpu_s = min((run.moments[-1].cpu_s for run in begun), default=0.0)
    at_cases = {arm: [(run, run.after_cases(cases)) for run in found] for arm, found in by_arm.items()}
    at_cpu = {arm: [(run, run.after_cpu(cpu_s)) for run in found] for arm, found in by_arm.items()}
    criteria = _criteria(begun)
    tables = [
        Table(f"after {cases} cases", [_row(arm, each, published) for arm, each in at_cases.items()]),
        Table(f"after {cpu_s:.1f} CPU seconds", [_row(arm, each, published) for arm, each in at_cpu.items()]),
    ]
    compared = _compared(ours, at_cases, criteria)
    return Result(
        name,
        any(run.executed for run in begun),
        sorted({run.seed for run in begun}),
        tables,
        ours,
        compared,
        machine(),
        command,
        _compared(ours, at_cpu, criteria),
        {"what the last tenth of the cases added, in points": growth_grid(begun), **more(tables, compared)},
    )


def equal_cases(runs: Sequence[Run]) -> int:
    """After how many cases to read runs: as many as all have made, and were looked at after."""
    least = min((run.moments[-1].cases for run in runs), default=0)
    return min((run.after_cases(least).cases for run in runs), default=0)


def _compared(
    ours: str, found: Mapping[str, Sequence[tuple[Run, Moment]]], criteria: Sequence[str]
) -> dict[str, Mapping[str, Comparison]]:
    """Ours against each other arm by each criterion, where both were measured by it."""
    comparisons: dict[str, Mapping[str, Comparison]] = {}
    for criterion in criteria:
        values = {
            arm: [run.share(moment, criterion) for run, moment in each if criterion in moment.covered]
            for arm, each in found.items()
        }
        if values.get(ours):
            mine = values.pop(ours)
            comparisons[criterion] = compare(mine, {arm: theirs for arm, theirs in values.items() if theirs})
    return comparisons


def machine() -> str:
    """Where this was measured."""
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"cometfuzz {cometfuzz.__version__}, Python {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, load {load}"
    )


def _criteria(runs: Sequence[Run]) -> tuple[str, ...]:
    return (*CRITERIA, *(name for name in OBSERVED if any(name in run.totals for run in runs)))


def _row(arm: str, found: Sequence[tuple[Run, Moment]], published: Mapping[str, Mapping[str, float]]) -> Row:
    moments = [moment for _, moment in found]
    shares = {}
    for criterion in (*_criteria([run for run, _ in found]), *INPUTS):
        values = [run.share(moment, criterion) for run, moment in found if criterion in moment.covered]
        if values:
            shares[criterion] = (median(values), *quartiles(values))
    return Row(
        arm=arm,
        runs=len(moments),
        models=median([moment.cases for moment in moments]),
        executed=median([moment.executed for moment in moments]),
        attempts=median([moment.attempts for moment in moments]),
        nodes=median([moment.nodes / max(1, moment.cases) for moment in moments]),
        cpu_s=median([moment.cpu_s for moment in moments]),
        cpu_s_per_model=median([moment.cpu_s / max(1, moment.cases) for moment in moments]),
        shares=shares,
        published=published.get(arm, {}),
    )


def grid(table: Table, brief: bool = False) -> Grid:
    """The columns and cells of a table: percent, and in brackets what was published. brief: for a terminal."""
    observed = [name for name in OBSERVED if any(name in row.shares for row in table.rows)]
    criteria = [*CRITERIA, *observed, *(() if brief else INPUTS)]
    columns = ["arm", "n", "models", "executed", *(() if brief else ("attempts", "nodes")), "CPU s each", *criteria]
    cells = []
    for row in table.rows:
        values = [row.arm, str(row.runs), f"{row.models:g}", f"{row.executed:g}"]
        values += [] if brief else [f"{row.attempts:g}", f"{row.nodes:.1f}"]
        cells.append([*values, f"{row.cpu_s_per_model:.3f}", *(_cell(row, criterion) for criterion in criteria)])
    if not brief and any(row.published for row in table.rows):
        beside = {
            "arm": "(published) is",
            "models": "of six hours",
            "CPU s each": "of an i9 with three GPUs",
            **OTHERWISE,
        }
        cells.append([beside.get(column, "") for column in columns])
    return columns, cells


def _cell(row: Row, criterion: str) -> str:
    beside = row.published.get(COMPARED_WITH.get(criterion, criterion))
    known = f"{row.shares[criterion][0]:.1f}" if criterion in row.shares else ""
    return f"{known} ({beside:.1f})" if beside is not None else known


def growth_grid(runs: Sequence[Run]) -> Grid:
    """What the last tenth of its cases still brought each arm, in points: whether its curve is flat in the end."""
    begun = [run for run in runs if run.moments]
    criteria = _criteria(begun)
    cells = []
    for arm in dict.fromkeys(run.arm.name for run in begun):
        row = [arm]
        for criterion in criteria:
            grown = [_growth(run, criterion) for run in begun if run.arm.name == arm]
            known = [each for each in grown if each is not None]
            row.append(f"{median(known):.1f}" if known else "")
        cells.append(row)
    return ["arm", *criteria], cells


def _growth(run: Run, criterion: str) -> float | None:
    last = run.moments[-1]
    before = run.after_cases(9 * last.cases // 10)
    if criterion not in last.covered or criterion not in before.covered:
        return None
    return run.share(last, criterion) - run.share(before, criterion)


def worth_grid(ours: str, comparisons: Comparisons, stays: Mapping[str, str]) -> Grid:
    """What each part of the search is worth: in which criteria it is missed when it is off, in which it stands in the
    way, and why it stays where coverage alone would not say so."""
    parts = list(dict.fromkeys(arm for found in comparisons.values() for arm in found))
    rows = []
    for arm in parts:
        better: list[str] = []
        worse: list[str] = []
        for criterion, found in comparisons.items():
            each = found.get(arm)
            if each is not None and each.is_significant:
                (worse if each.ours > each.theirs else better).append(f"{criterion} {each.theirs - each.ours:+.1f}")
        off = arm.removeprefix(f"{ours}, ")
        tested = any(found[arm].p is not None for found in comparisons.values() if arm in found)
        silent = "nothing speaks for it" if tested else "not tested: too few seeds for so many"
        why = "" if worse else stays.get(off, silent)
        rows.append([off, ", ".join(worse), ", ".join(better), why or "it earns its place"])
    return ["off", "worse, in points", "better, in points", "why it stays"], rows


def comparison_grids(result: Result) -> dict[str, Grid]:
    """The comparisons of ours at equal cases and at equal CPU time, by title."""
    points = {
        table.title: found for table, found in zip(result.tables, (result.comparisons, result.by_cpu), strict=True)
    }
    return {
        f"{result.ours} against the others, {point}": comparison_grid(result, found)
        for point, found in points.items()
        if found
    }


def comparison_grid(result: Result, comparisons: Comparisons) -> Grid:
    """Ours against each other arm, by criterion."""
    columns = ["criterion", "against", result.ours, "theirs", "n", "A12", "effect", "p (Holm)"]
    cells = [
        [
            *(criterion, arm, f"{each.ours:.1f}", f"{each.theirs:.1f}", f"{each.runs[0]}, {each.runs[1]}"),
            *(f"{each.a12:.2f}", each.size, "" if each.p is None else f"{each.p:.4f}{'*' * each.is_significant}"),
        ]
        for criterion, found in comparisons.items()
        for arm, each in found.items()
    ]
    return columns, cells


def markdown(result: Result) -> str:
    """The tables as a page, with what they cannot be compared with."""
    parts = [f"# {result.name}", intro(result)]
    for table in result.tables:
        parts += [f"## {table.title[0].upper()}{table.title[1:]}", pipes(*grid(table))]
    for title, each in comparison_grids(result).items():
        parts += [f"## {title}", pipes(*each), STATISTICS]
    for title, each in result.more.items():
        parts += [f"## {title}", pipes(*each)]
    parts += ["## Not comparable", "\n".join(f"- {text}" for text in NOT_COMPARABLE)]
    return "\n\n".join(parts) + "\n"


STATISTICS = (
    "Exact two-sided test of Mann and Whitney, corrected by Holm within a criterion over at most six comparisons, or "
    "as many as a p can survive with so many seeds; A12: how often a run of ours is ahead, 0.56 small, 0.64 medium, "
    "0.71 large. A star: p is at most 0.05 after that."
)


def intro(result: Result) -> str:
    what = "Models were executed." if result.executed else "Nothing was executed: coverage counts what was generated."
    seeds = ", ".join(map(str, result.seeds))
    command = f" Made by `{result.command}`." if result.command else ""
    return (
        f"{what} Percent of the paper's space, medians over seeds {seeds}; in brackets what was published.{command} "
        f"{result.machine}."
    )


def pipes(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *cells]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def rows_csv(runs: Sequence[Run]) -> str:
    """Every moment of every run, a line each."""
    text = io.StringIO()
    names = [*CRITERIA, *INPUTS, *OBSERVED]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["arm", "seed", "cases", "executed", "attempts", "cpu_s", "library_cpu_s", "nodes", *names])
    for run in runs:
        for each in run.moments:
            known = [each.cases, each.executed, each.attempts, each.cpu_s, each.library_cpu_s, each.nodes]
            writer.writerow([run.arm.name, run.seed, *known, *(each.covered.get(name, "") for name in names)])
    return text.getvalue()
