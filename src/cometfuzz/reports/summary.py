"""The closing summary of a campaign: what was done and found, and what to type next."""

import shlex
from collections.abc import Iterator, Mapping

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from cometfuzz.campaign.events import Summary
from cometfuzz.oracles.finding import DATA_KINDS
from cometfuzz.oracles.symptoms import in_order
from cometfuzz.reports.tally import PUBLISHED, PUBLISHED_MODELS, Health, Sighting, Tally, share_of
from cometfuzz.reports.text import clean, duration, place, plural

LISTED = 10
"""New findings that the summary lists; the report has them all."""

REASONS = {
    "cases": "all cases are done",
    "minutes": "the time is over",
    "interrupted": "interrupted",
    "lost": "the cluster was lost",
    "quiet": "nothing new came for half an hour, and hardly anything is left by the estimate",
}


def coverage_table(coverage: Summary, beside_paper: bool = False) -> Table:
    """Covered items by space and criterion, if wanted beside what the paper's six hours cover."""
    table = Table("space", "criterion", "covered", "of all", "of the reachable")
    if beside_paper:
        table.add_column("paper, 6 h")
    for space, criteria in coverage.items():
        for criterion, counts in criteria.items():
            published = PUBLISHED.get(criterion) if beside_paper and space == "paper" else None
            beside = () if published is None else (f"{published:.1%}",)
            if "direct" in counts:
                table.add_row(space, criterion, *_shares(counts, "covered"))
                table.add_row("", "  direct edges only", *_shares(counts, "direct"), *beside)
            else:
                table.add_row(space, criterion, *_shares(counts, "covered"), *beside)
    return table


def _shares(counts: Mapping[str, int], name: str) -> tuple[str, str, str]:
    done = counts[name]
    return f"{done} of {counts['total']}", f"{done / counts['total']:.1%}", f"{done / counts['reachable']:.1%}"


def print_summary(console: Console, tally: Tally) -> None:
    """The same for every screen; lines are as long as they are, but for those that a terminal cuts with an ellipsis."""
    utf = console.encoding.startswith("utf")
    for part in _parts(tally, console.encoding):
        cut = isinstance(part, Text) and part.overflow == "ellipsis" and console.is_terminal and utf
        soft = isinstance(part, Text | str) and not cut
        console.print(part, markup=False, highlight=False, soft_wrap=soft)


def _parts(tally: Tally, encoding: str) -> Iterator[RenderableType]:
    yield _headline(tally)
    yield from _costs(tally)
    yield coverage_table(tally.coverage, beside_paper=True)
    yield "Covered is what executed on a library; the paper counts all models that it generated."
    if tally.branches:
        yield f"Branches: {branch_text(tally)}."
    yield ""
    yield from _findings(tally, encoding)
    yield from _health(tally, encoding)
    for notice in tally.notices:
        yield Text(f"notice: {clean(notice, encoding)}", style="yellow")
    yield from _next(tally, encoding)


def branch_text(tally: Tally) -> str:
    """Covered branches, of how many if that is known."""
    counts = tally.branches or {}
    covered, total = counts.get("covered", 0), counts.get("total")
    return f"{covered} of {total} ({covered / total:.1%})" if total else f"{covered}"


def _headline(tally: Tally) -> Text:
    reason = "" if tally.ended is None else REASONS.get(tally.ended.reason, tally.ended.reason)
    took = tally.elapsed_s - tally.began_s
    speed = f"{60 * tally.rate():.1f} models a minute; the paper: {PUBLISHED_MODELS / 360:.1f}"
    cases = f"{tally.cases} cases in {duration(took)} ({speed})"
    earlier = f", {tally.done} with those of earlier runs" if tally.done > tally.cases else ""
    return Text.assemble((f"Ended: {reason}. ", "bold"), f"{cases}{earlier}.")


def _costs(tally: Tally) -> Iterator[str]:
    if (ended := tally.ended) is not None and (total := ended.own_cpu_s + ended.library_cpu_s):
        ours = f"{ended.own_cpu_s:.0f} s ours ({ended.own_cpu_s / total:.0%})"
        yield f"CPU: {ended.library_cpu_s:.0f} s in the libraries, {ours}."


def _findings(tally: Tally, encoding: str) -> Iterator[RenderableType]:
    since = " since the resume" if tally.done > tally.cases else ""
    if not tally.found:
        yield Text(f"Nothing found{since}.", style="bold")
    else:
        new = plural(tally.distinct, "new finding")
        yield Text(f"{new}{since}, {tally.found} with repetitions:", style="bold")
        if outlook := tally.outlook(tally.elapsed_s):
            yield Text(f"{outlook} (Chao1, by kinds that were seen once or twice).", style="dim")
        table = _table("finding", "new", "in all")
        for symptom in in_order(tally.symptoms):
            count = tally.symptoms[symptom]
            table.add_row(symptom, str(count.distinct), str(count.total))
        yield table
        yield "By data: " + ", ".join(
            f"{name} {tally.data_kinds[name].distinct}" for name in DATA_KINDS if name in tally.data_kinds
        )
    if tally.libraries:
        counts = ", ".join(f"{name or 'none named'} {count}" for name, count in tally.libraries.most_common())
        yield Text(f"New by library, before triage: {clean(counts, encoding)}")
        yield from _new_ones(tally, encoding)
    if tally.not_counted:
        yield "Not counted: " + ", ".join(f"{name} {count}" for name, count in tally.not_counted.items())


def _new_ones(tally: Tally, encoding: str) -> Iterator[Text]:
    """The last new ones, ordinary data first."""
    ranked = sorted(tally.latest, key=lambda sighting: (DATA_KINDS.index(sighting.finding.data_kind), -sighting.index))
    for sighting in ranked[:LISTED]:
        yield Text(f"  {clean(sighting_text(sighting), encoding)}", no_wrap=True, overflow="ellipsis")
    if (more := tally.distinct - LISTED) > 0:
        yield Text(f"  and {more} more", style="dim")


def sighting_text(sighting: Sighting) -> str:
    """A new finding in one line: symptom, place, what the data is like if it is not ordinary, detail."""
    finding = sighting.finding
    data = "" if finding.data_kind == "ordinary" else f" ({finding.data_kind})"
    return f"{finding.symptom}, {place(finding)}{data}: {finding.detail}"


def _health(tally: Tally, encoding: str) -> Iterator[RenderableType]:
    if not tally.routes:
        return
    yield ""
    rows = {name: _numbers(health, tally.by_route.get(name, {})) for name, health in tally.routes.items()}
    kept = [head for head in next(iter(rows.values())) if any(row[head] != "0" for row in rows.values())]
    table = _table("route", *kept)
    for name, numbers in rows.items():
        table.add_row(Text(clean(name, encoding)), *(numbers[head] for head in kept))
    yield table
    if gone := [name for name, health in tally.routes.items() if not health.available]:
        yield Text(f"Unavailable at the end: {clean(', '.join(gone), encoding)}", style="yellow")


def _numbers(health: Health, covered: Summary) -> dict[str, str]:
    """What is told of a route, by the head of its column; a column of noughts is left out, so that names fit."""
    share = share_of(covered)
    return {
        "runs": str(health.runs),
        "completed": str(health.completed),
        **{kind: str(count) for kind, count in health.failed_by_kind.items()},
        "not\nreached": str(health.not_reached),
        "cover": "" if share is None else f"{share:.0%}",
        "ms": "" if health.median_ms is None else f"{health.median_ms:.0f}",
        "re-\nstarts": str(health.restarts),
    }


def _table(first: str, *rest: str) -> Table:
    """Names and numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, overflow="fold", min_width=17)
    for head in rest:
        table.add_column(head, justify="right", overflow="fold")
    return table


def _next(tally: Tally, encoding: str) -> Iterator[Text]:
    if not tally.settings.get("out"):
        return
    yield Text()
    out = str(tally.settings["out"])
    folder = shlex.quote(out if out.isprintable() and out.isascii() else clean(out, encoding))
    if tally.found:
        yield Text.assemble("Next: ", (f"cometfuzz triage {folder}", "bold cyan"), "   findings into bugs with scripts")
    lead = "      " if tally.found else "Next: "
    yield Text.assemble(lead, (f"cometfuzz report {folder}", "bold cyan"), "   what was found, as pages to read")
    yield Text.assemble("      ", (f"cometfuzz resume {folder}", "bold cyan"), "   go on where this stopped")
