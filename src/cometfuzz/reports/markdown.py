"""The report as Markdown, for a chat or the summary of a CI job. Texts of libraries stay text there too."""

import re
from collections.abc import Iterator

from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.coverage.pairs import PAIRS
from cometfuzz.coverage.triples import TRIPLES
from cometfuzz.reports.facts import Facts, reasons, standing
from cometfuzz.reports.tally import PUBLISHED, PUBLISHED_MODELS
from cometfuzz.reports.text import duration, is_link, visible
from cometfuzz.triage.bug import Bug

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>!|~&$@:])")
LONGEST = 300
COLUMNS = ("bug", "library", "stage", "layers", "symptom", "severity", "data", "status")


def markdown_report(facts: Facts) -> str:
    """Summary, a table of bugs, and a paragraph with the script of each that is reported."""
    return "\n".join(_lines(facts)) + "\n"


def _lines(facts: Facts) -> Iterator[str]:
    yield f"# {facts.headline}"
    yield ""
    yield (
        f"Campaign {inline(facts.name)}: {facts.done} cases ({facts.executed} executed) in "
        f"{duration(facts.elapsed_s)}, {facts.models_per_minute:.1f} models a minute "
        f"(the paper: {PUBLISHED_MODELS / 360:.1f})."
    )
    yield ""
    yield from _coverage(facts)
    yield from _by_route(facts)
    if facts.bugs:
        yield from ("## Bugs", "", f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS))
        for bug in facts.bugs:
            yield _row(bug)
        yield ""
    for bug in facts.bugs:
        if bug.reported:
            yield from _bug(bug)
    yield from _not_counted(facts)
    if facts.versions or facts.machines:
        yield from ("## Versions", "")
        yield from (f"- CPU: {inline(each)}" for each in facts.machines)
        yield from (f"- {inline(name)} {inline(', '.join(found))}" for name, found in facts.versions.items())


def _coverage(facts: Facts) -> Iterator[str]:
    if not facts.coverage:
        return
    yield from ("| space | criterion | covered | of all | paper, 6 h |", "| --- | --- | ---: | ---: | ---: |")
    for space, criteria in facts.coverage.items():
        for criterion, counts in criteria.items():
            published = f"{PUBLISHED[criterion]:.1%}" if space == "paper" else ""
            share = f"{counts['covered'] / counts['total']:.1%}"
            yield f"| {space} | {criterion} | {counts['covered']} of {counts['total']} | {share} | {published} |"
    yield ""


def _by_route(facts: Facts) -> Iterator[str]:
    if not facts.by_route:
        return
    counted = [(space, criterion) for space in ("paper", "full") for criterion in CRITERIA]
    names = [f"{space}, {criterion}" for space, criterion in counted] + [PAIRS, TRIPLES]
    counted += [(name, name) for name in (PAIRS, TRIPLES)]
    yield f"| executed on | {' | '.join(names)} |"
    yield "| --- |" + " ---: |" * len(names)
    for route, spaces in facts.by_route.items():
        counts = [spaces.get(space, {}).get(criterion) for space, criterion in counted]
        shares = [f"{each['covered'] / each['reachable']:.1%}" if each else "" for each in counts]
        yield f"| {inline(route)} | {' | '.join(shares)} |"
    yield ""


def _row(bug: Bug) -> str:
    signature = bug.signature
    named = (bug.title, signature.library, signature.stage, " > ".join(signature.layers), signature.symptom)
    return "| " + " | ".join([*map(inline, named), bug.severity, bug.data_kind, standing(bug)]) + " |"


def _bug(bug: Bug) -> Iterator[str]:
    yield from (f"### {inline(bug.title)}", "")
    yield f"`{bug.id}`, {inline(bug.blame.role)} ({bug.blame.confidence:.0%} sure): {inline(bug.blame.reasoning)}"
    if bug.known:
        yield f"Known: {f'<{bug.known}>' if is_link(bug.known) else inline(bug.known)}"
    yield from ("", f"Seen: {inline(bug.finding.detail)}", "")
    if bug.script is not None:
        yield from (fenced(bug.script.text, "python"), "")


def _not_counted(facts: Facts) -> Iterator[str]:
    if not facts.not_counted:
        return
    yield from ("## Findings that are not bugs", "")
    for reason, why in reasons().items():
        groups = [group for group in facts.not_counted if group.reason == reason]
        if groups:
            yield f"- {reason}: {sum(group.count for group in groups)} findings of {len(groups)} kinds ({why})"
    yield ""
    if facts.met:
        yield from (
            "## Known limits and bugs that it met",
            "",
            "| times | library | kind | what |",
            "| ---: | --- | --- | --- |",
        )
        for defect, count in facts.met:
            link = defect.link or defect.documentation
            said = "upstream" if defect.link else "documentation"
            what = inline(defect.title) + (f" ([{said}]({link}))" if is_link(link) else "")
            yield f"| {count} | {inline(defect.library)} | {defect.kind} | {what} |"
        yield ""


def inline(text: str) -> str:
    """One line of text in which nothing is markup."""
    line = " ".join(visible(text).split())
    return _SPECIAL.sub(r"\\\1", line if len(line) <= LONGEST else f"{line[:LONGEST]}…")


def fenced(text: str, language: str = "") -> str:
    """A block of text that cannot end its own fence."""
    shown = visible(text).rstrip("\n")
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"
