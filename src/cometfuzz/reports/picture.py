"""The picture of a campaign: a tally drawn as lines of text that fill a terminal of any size.

Sections are lists of lines of one width; they stand below each other, on a wide terminal in two columns. When there is
no room, operators go first, then routes, then older findings.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.text import Text

from cometfuzz.coverage.layers import CRITERIA, SPACE_NAMES
from cometfuzz.oracles.finding import DATA_KINDS
from cometfuzz.oracles.symptoms import about
from cometfuzz.reports.summary import branch_text
from cometfuzz.reports.tally import PUBLISHED, Health, Sighting, Tally, share_of
from cometfuzz.reports.text import clean, duration, place

WIDE = 110
"""From this many columns on, coverage stands beside routes."""

NEW_S = 10
"""How long a new finding is shown in bold."""

NARROW_ROUTE, WIDE_ROUTE = 38, 56
"""From how many columns on a route can be shown, and its failures by kind."""

LABEL = 12
LONGEST_BAR = 40
SPEEDS = " ▁▂▃▄▅▆▇█"
Lines = list[Text]


class Cell(NamedTuple):
    """Text that fills a number of columns, cut or padded."""

    text: Text | str
    width: int
    style: str = ""
    right: bool = False


def row(*cells: Cell) -> Text:
    """Cells beside each other; one without width is left out."""
    line = Text(end="")
    for text, width, style, right in cells:
        if width < 1:
            continue
        part = text.copy() if isinstance(text, Text) else Text(text, style)
        part.truncate(width, overflow="ellipsis")
        missing = " " * (width - part.cell_len)
        line.append(missing if right else "").append_text(part).append("" if right else missing)
    return line


def bar(share: float, width: int, tick: float | None = None, style: str = "cyan") -> Text:
    """A bar of half-column steps; `tick` marks a share to beat, and a bar that is past it turns green."""
    halves = round(2 * width * min(max(share, 0.0), 1.0))
    filled = "━" * (halves // 2) + "╸" * (halves % 2)
    if tick is not None and share > tick:
        style = "green"
    line = Text.assemble((filled, style), ("─" * (width - len(filled)), "dim"))
    if tick is not None:
        at = min(int(width * tick), width - 1)
        line = Text.assemble(line[:at], ("┃", "bold green" if share > tick else "bold yellow"), line[at + 1 :])
    return line


def title(name: str, width: int, note: str = "") -> Text:
    """The head of a section: its name, a note, and a rule to the end."""
    line = Text.assemble(("── ", "dim"), (name, "bold cyan"), (f" {note}" if note else "", "dim"))
    line.truncate(width, overflow="ellipsis")
    return line.append((" " + "─" * width)[: width - line.cell_len], "dim")


def picture(tally: Tally, now_s: float, width: int, height: int) -> Lines:
    """At most `height` lines of `width` columns; `now_s` is the campaign's time, which runs on between events."""
    lines = [*_header(tally, now_s, width)]
    notices = [_notice(tally, width)] if tally.notices else []
    room = height - len(lines) - len(notices)
    body = _wide(tally, now_s, width, room) if width >= WIDE else _narrow(tally, now_s, width, room)
    return [row(Cell(line, width)) for line in (*lines, *body, *notices)][:height]


def _narrow(tally: Tally, now_s: float, width: int, room: int) -> Lines:
    upper = _coverage(tally, width)
    least = 6 if tally.latest else 3
    operators = _operators(tally, width, rows=2)
    if room - len(upper) - len(operators) - least >= 4:
        upper += operators
    rows = room - len(upper) - least - 1
    if rows > 0 and tally.routes:
        upper += _routes(tally, width, rows)
    return upper + _findings(tally, now_s, width, room - len(upper))


def _wide(tally: Tally, now_s: float, width: int, room: int) -> Lines:
    left = width - max(WIDE_ROUTE, min(width // 2, 72)) - 2
    rows = max(room - 8, 6)
    first = _coverage(tally, left)
    first += _operators(tally, left, rows - len(first) - 1) if rows - len(first) > 1 else []
    second = _routes(tally, width - left - 2, rows - 1)
    blank = Text()
    upper = [
        row(Cell(first[at] if at < len(first) else blank, left + 2), Cell(second[at], width - left - 2))
        if at < len(second)
        else row(Cell(first[at], width))
        for at in range(max(len(first), len(second)))
    ]
    return upper + _findings(tally, now_s, width, room - len(upper))


def _header(tally: Tally, now_s: float, width: int) -> Lines:
    settings = tally.settings
    about = ", ".join(
        str(part)
        for part in (settings.get("strategy"), f"seed {settings['seed']}" if "seed" in settings else None)
        if part is not None
    )
    left_s = tally.left_s(now_s)
    clock = f"{duration(now_s)} gone" + (f", {duration(left_s)} left" if left_s is not None else "")
    name = Text.assemble(
        ("cometfuzz", "bold"), "  ", (clean(about), "dim"), "  ", (clean(str(settings.get("out", ""))), "dim")
    )
    first = row(Cell(name, width - len(clock) - 1), Cell(clock, len(clock) + 1, "bold", right=True))
    return [first, _speed(tally, now_s, width), _last(tally, width)]


def _speed(tally: Tally, now_s: float, width: int) -> Text:
    of = f" of {tally.settings['cases']}" if tally.settings.get("cases") else ""
    speeds = tally.speeds(now_s)
    top = max(*speeds, 1e-9)
    curve = "".join(SPEEDS[round(speed / top * (len(SPEEDS) - 1))] for speed in speeds)
    text = Text.assemble(
        (f"{tally.done}{of} cases", "bold"), f"  {tally.recent_rate(now_s):.1f}/s ", (curve, "cyan"),
        (f" {tally.rate():.1f}/s overall", "dim"), "  ",
    )  # fmt: skip
    progress = tally.progress(now_s)
    if progress is None or (rest := width - text.cell_len - 5) < 8:
        return row(Cell(text, width))
    return text.append_text(bar(progress, rest)).append(f" {progress:4.0%}")


def _last(tally: Tally, width: int) -> Text:
    last = tally.last
    if last is None:
        return row(Cell("starting: libraries are being imported, the first case may take a minute", width, "dim"))
    gained = ", ".join(f"+{count} {space}" for space, count in last.gained.items() if count) or "nothing new"
    runs = f"{last.completed} of {last.runs} runs completed"
    return row(Cell(clean(f"case {last.index}: {last.operator}, {last.nodes} nodes, {gained}; {runs}"), width, "dim"))


def _coverage(tally: Tally, width: int) -> Lines:
    each = (width - LABEL) // len(SPACE_NAMES)
    published = "┃ its 6 h" if each >= 22 else "┃ 6 h" if each >= 17 else "┃ 6h"
    heads = [Cell(title(space, each - 2, published if space == "paper" else ""), each) for space in SPACE_NAMES]
    lines = [row(Cell(title("coverage", LABEL), LABEL), *heads)]
    for criterion in CRITERIA:
        cells = [Cell(criterion, LABEL)]
        for space in SPACE_NAMES:
            counts = tally.coverage.get(space, {}).get(criterion, {})
            share = counts.get("covered", 0) / max(counts.get("total", 0), 1)
            tick = PUBLISHED[criterion] if space == "paper" else None
            style = "bold green" if tick is not None and share > tick else ""
            cells += [
                Cell(bar(share, each - 9, tick), each - 8),
                Cell(f"{share:.1%}", 6, style, right=True),
                Cell("", 2),
            ]
        lines.append(row(*cells))
    if tally.branches:
        counts = tally.branches
        known = counts.get("total", 0)
        drawn = bar(counts.get("covered", 0) / known, each - 9) if known else Text()
        room = each - 8 if known else 0
        text = f" {branch_text(tally)}"
        lines.append(row(Cell("branches", LABEL), Cell(drawn, room), Cell(text, width - LABEL - room)))
    return lines


def _operators(tally: Tally, width: int, rows: int) -> Lines:
    """How well each operator did, in the strategy's own order so that nothing jumps."""
    if not tally.operators or rows < 1:
        return []
    columns = max(1, -(-len(tally.operators) // rows))
    each = max(width // columns, 16)
    cells = [Cell(_operator(name, record, each - 2), each) for name, record in tally.operators.items()]
    grid = [row(*cells[start : start + columns]) for start in range(0, len(cells), columns)]
    return [title("operators", width, "fitness"), *grid[:rows]]


def _operator(name: str, record: Mapping[str, float], width: int) -> Text:
    """One operator; where there is room, with how often it was tried."""
    fitness = record.get("fitness", 0.0)
    label, tries = (LABEL, 12) if width >= 40 else (9, 0)
    length = min(width - label - 5 - tries, LONGEST_BAR)
    cells = [Cell(clean(name), label), Cell(f"{fitness:.2f} ", 5), Cell(bar(fitness, length), length)]
    return row(*cells, Cell(f"{record.get('attempts', 0):.0f} tries", tries, "dim", right=True))


def _routes(tally: Tally, width: int, rows: int) -> Lines:
    """As many routes as there is room for, in one column or two; how many more there are."""
    columns = 2 if len(tally.routes) > rows and width >= 2 * NARROW_ROUTE else 1
    each = width // columns
    gap = 2 if columns == 2 else 0
    heads = [Cell(_route_head("routes" if at == 0 else "", each - gap), each) for at in range(columns)]
    names = list(tally.routes)
    shown = names if len(names) <= rows * columns else names[: rows * columns - 1]
    covered = {name: share_of(tally.by_route.get(name, {})) for name in shown}
    cells = [Cell(_route(name, tally.routes[name], covered[name], each - gap), each) for name in shown]
    if rest := names[len(shown) :]:
        failed = sum(tally.routes[name].failed for name in rest)
        cells.append(Cell(f"and {len(rest)} more, failed {failed} times", each, "dim"))
    height = -(-len(cells) // columns)
    return [row(*heads), *(row(*cells[at::height]) for at in range(height))]


def _route_head(name: str, width: int) -> Text:
    heads = ("runs", *_failures(Health(), width), "cov", "ms", "↻")
    columns = [Cell(head, _column(head), "dim", right=True) for head in heads]
    rest = width - sum(cell.width for cell in columns)
    return row(Cell(title(name, rest) if name else Text("─" * rest, "dim"), rest), *columns)


def _column(head: str) -> int:
    return {"runs": 6, "cov": 5, "ms": 6, "↻": 4}.get(head, len(head) + 1)


def _failures(health: Health, width: int) -> dict[str, int]:
    """What the columns of failures count."""
    return health.failed_by_kind if width >= WIDE_ROUTE else {"fail": health.failed}


def _route(name: str, health: Health, covered: float | None, width: int) -> Text:
    """One route, with what it has covered of the full space; where there is room, with its failures by kind."""
    failures = _failures(health, width).items()
    columns = [Cell(str(count), _column(head), "red" if count else "dim", right=True) for head, count in failures]
    columns.append(Cell("" if covered is None else f"{covered:.0%}", _column("cov"), right=True))
    columns.append(Cell("" if health.median_ms is None else f"{health.median_ms:.0f}", _column("ms"), right=True))
    columns.append(Cell(str(health.restarts), _column("↻"), "yellow" if health.restarts else "dim", right=True))
    used = sum(cell.width for cell in columns)
    if not health.available:
        columns = [Cell("unavailable", used, "yellow", right=True)]
    runs = _column("runs")
    first = Cell(clean(name), width - used - runs, "" if health.runs else "dim")
    return row(first, Cell(str(health.runs), runs, "" if health.runs else "dim", right=True), *columns)


def _findings(tally: Tally, now_s: float, width: int, rows: int) -> Lines:
    note = f"{tally.distinct} new / {tally.found} in all" if tally.found else "none yet"
    others = ", ".join(f"{name} {count}" for name, count in tally.not_counted.items())
    note += f"; not counted: {others}" if others else ""
    lines = [title("findings", width, note)]
    counts = [
        (f"{name} {count.distinct}/{count.total}   ", about(name).colour) for name, count in tally.symptoms.items()
    ]
    if counts:
        lines.append(row(Cell(Text.assemble(*counts), width)))
    data = [f"{name} {tally.data_kinds[name].distinct}" for name in DATA_KINDS if name in tally.data_kinds]
    if data:
        lines.append(row(Cell(f"{tally.outlook(now_s)}; by data: {', '.join(data)}", width, "dim")))
    newest: Sequence[Sighting] = list(reversed(tally.latest))[: max(rows - len(lines), 0)]
    return lines[: max(rows, 0)] + [_sighting(sighting, now_s, width) for sighting in newest]


def _sighting(sighting: Sighting, now_s: float, width: int) -> Text:
    finding = sighting.finding
    new = "bold " if now_s - sighting.elapsed_s < NEW_S else ""
    data = "" if finding.data_kind == "ordinary" else f"({finding.data_kind}) "
    return row(
        Cell(duration(sighting.elapsed_s), 7, f"{new}dim" if not new else "bold", right=True),
        Cell("  ", 2),
        Cell(finding.symptom, 11, new + about(finding.symptom).colour),
        Cell(clean(place(finding)), 26, new.strip()),
        Cell(f" {clean(data + finding.detail)}", width - 46, new.strip()),
    )


def _notice(tally: Tally, width: int) -> Text:
    return row(Cell(f"! {clean(tally.notices[-1])}", width, "yellow"))
