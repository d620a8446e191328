"""What a comparison came to, for the console, for programs and as a page beside those of the campaign's report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from cometfuzz.campaign.comparison import Difference, NotOffered, differences, not_offered, sightings, waiting
from cometfuzz.campaign.records import Records
from cometfuzz.execution.sides import Side, Sides
from cometfuzz.places import Place
from cometfuzz.reports.facts import gather
from cometfuzz.reports.html import write_page, write_report
from cometfuzz.reports.text import clean, plural
from cometfuzz.triage.contrast import KINDS, Kind

PAGE = "compare.html"
REPORT = "report"
COLOURS: Mapping[Kind, str] = {"regression": "bold red", "repair": "green", "change": "yellow", "not offered": "dim"}
MEANINGS: Mapping[Kind, str] = {
    "regression": "{old} does right, {new} does not",
    "repair": "{old} does wrong, {new} does right",
    "change": "both do wrong, each in its own way",
    "not offered": "a side does not know the layer, the parameter or the value",
}
LISTED = 10
"""How many of the things that a side lacks the console lists."""


@dataclass(frozen=True)
class Comparison:
    """A comparison as reports show it. waiting: kinds of findings that were not looked into yet."""

    sides: Sides
    versions: Mapping[Side, Mapping[str, str]]
    cases: int
    elapsed_s: float
    differences: Sequence[Difference]
    lacking: Sequence[NotOffered]
    waiting: int

    @property
    def proved(self) -> list[Difference]:
        """Those that a script shows on one side only."""
        return [each for each in self.differences if each.proved]

    def of(self, kind: Kind) -> list[Difference]:
        """Those of a kind."""
        return [each for each in self.differences if each.kind == kind]

    @property
    def counts(self) -> dict[Kind, int]:
        """How many are proved, by kind; of what is not offered, how many names."""
        found: dict[Kind, int] = {kind: sum(each.kind == kind for each in self.proved) for kind in KINDS}
        return {**found, "not offered": len(self.lacking)}

    @property
    def regressions(self) -> list[Difference]:
        """What makes a build fail."""
        return [each for each in self.proved if each.kind == "regression"]

    @property
    def headline(self) -> str:
        """The outcome in a few words."""
        counts = self.counts
        parts = [plural(counts[kind], kind) for kind in KINDS[:-1]]
        return f"{', '.join(parts)} between {self.sides.old} and {self.sides.new}"

    @property
    def differing(self) -> dict[str, tuple[str, str]]:
        """The libraries that differ: the old version and the new one."""
        old, new = self.versions["old"], self.versions["new"]
        names = sorted(name for name in {**old, **new} if old.get(name) != new.get(name))
        return {name: (old.get(name, "none"), new.get(name, "none")) for name in names}

    def meaning(self, kind: Kind) -> str:
        """What a kind says of these sides."""
        return MEANINGS[kind].format(old=self.sides.old, new=self.sides.new)

    def as_plain(self) -> dict[str, Any]:
        """The form in JSON."""
        return {
            "old": self.sides.old,
            "new": self.sides.new,
            "pairs": [list(pair) for pair in self.sides.pairs],
            "versions": {side: dict(versions) for side, versions in self.versions.items()},
            "cases": self.cases,
            "elapsed_s": round(self.elapsed_s, 1),
            "counts": self.counts,
            "differences": [each.as_plain() for each in self.differences],
            "not_offered": [vars(each) for each in self.lacking],
            "waiting": self.waiting,
        }


def comparison(records: Records, sides: Sides) -> Comparison:
    """Gather what the folder of a comparison says."""
    versions: dict[Side, dict[str, str]] = {"old": {}, "new": {}}
    for ran in records.outcomes():
        if (side := sides.side_of(ran.result.route)) is not None:
            versions[side].update(ran.result.versions)
    groups = sightings(records, sides)
    return Comparison(
        sides=sides,
        versions=versions,
        cases=records.done,
        elapsed_s=records.elapsed_s,
        differences=differences(records),
        lacking=not_offered(groups),
        waiting=len(waiting(records, groups)),
    )


def write_comparison(records: Records, found: Comparison) -> Path:
    """Write the pages of the campaign, and that of the comparison among them; return the latter."""
    facts, place = gather(records), Place(records.folder) / REPORT
    write_report(facts, place)
    return write_page(facts, place, PAGE, found=found, kinds=KINDS[:-1])


def rendered(found: Comparison) -> RenderableType:
    """The tables of a comparison for the console."""
    table = Table(
        "kind",
        Column("what", overflow="fold"),
        Column("library", overflow="fold"),
        "shown by",
        Column("in the ledger", overflow="fold"),
        "bug",
        title=found.headline,
    )
    for each in found.differences:
        kind = Text(each.kind, COLOURS[each.kind])
        shown = "a script" if each.proved and each.bug.script else "every run" if each.proved else "not proved"
        known = clean(each.bug.known.partition(": ")[0].removeprefix("bugs/"))
        table.add_row(kind, clean(each.bug.title), _library(each), shown, known, each.bug.id)
    parts: list[RenderableType] = [table] if found.differences else [Text(found.headline)]
    parts += [Text(line) for line in _closing(found)]
    return Group(*parts)


def _library(each: Difference) -> str:
    """Whose it is: the library that is blamed, if its version differs, else those whose versions do."""
    blamed, differing = each.bug.blame.library, each.versions
    return blamed if blamed in differing or not differing else ", ".join(differing)


def _closing(found: Comparison) -> Iterable[str]:
    if found.differing:
        texts = [f"{name} {old} -> {new}" for name, (old, new) in found.differing.items()]
        yield f"{found.sides.old} -> {found.sides.new}: {', '.join(texts)}"
    yield f"{plural(found.cases, 'case')} on {plural(len(found.sides.pairs), 'pair')} of routes"
    if found.lacking:
        yield f"Not offered: {plural(len(found.lacking), 'name')} that a side does not know"
        for each in found.lacking[:LISTED]:
            yield f"  {found.sides.name(each.side)}, {each.times} times: {clean(each.what)[:160]}"
    if found.waiting:
        yield f"{plural(found.waiting, 'kind')} of findings wait: the same command with --out and this folder goes on"
