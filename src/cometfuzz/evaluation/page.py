"""The page of all experiments: what each of them came to, out of the folders of their runs.

Whatever makes an experiment leaves a section beside its runs: its tables, the command that made them, where, and what
they cannot be compared with. The page is those sections, in the order of the paper's questions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from cometfuzz.errors import InvalidCampaign
from cometfuzz.evaluation.tables import Grid, pipes
from cometfuzz.places import Place
from cometfuzz.reports.text import clean

SECTION = "section-{}.json"
MAX_BYTES = 16 * 2**20

QUESTIONS: Mapping[str, str] = {
    "rq1": "RQ1: how much do models cover?",
    "rq2": "RQ2: which bugs are found?",
    "rq3": "RQ3: do synthesised seeds help?",
    "rq4": "RQ4: what are the mutations and their choice worth?",
    "rq4-switches": "RQ4: what is each other part of the search worth?",
    "rq4-mutations": "RQ4: what is each mutation worth?",
    "sigma": "How many values of a numeric parameter should count?",
    "uncovered": "Which branches were missed, and why?",
    "nnsmith": "Beside NNSmith, on readers of ONNX files",
    "era": "On the paper's own versions",
}
"""What is asked, in the order of the page; others follow under their own names."""


class Section(msgspec.Struct, frozen=True):
    """What one experiment came to. says: a line or two about how; tables: by title, columns and rows."""

    name: str
    command: str
    machine: str
    says: tuple[str, ...]
    tables: dict[str, tuple[list[str], list[list[str]]]]
    not_comparable: tuple[str, ...] = ()

    def save(self, folder: Path) -> None:
        Place(folder).write(SECTION.format(self.name), msgspec.json.encode(self))


def section(
    name: str,
    command: str,
    machine: str,
    tables: Mapping[str, Grid],
    says: Sequence[str] = (),
    not_comparable: Sequence[str] = (),
) -> Section:
    return Section(name, command, machine, tuple(says), dict(tables), tuple(not_comparable))


def sections(folder: Path) -> list[Section]:
    """Those in a folder and below it, in the order of the page; InvalidCampaign if there is none, or two of a name."""
    found: dict[str, Section] = {}
    for path in sorted(folder.rglob(SECTION.format("*"))):
        place = Place(path.parent)
        try:
            each = _harmless(msgspec.json.decode(place.read(path.name, MAX_BYTES), type=Section))
            if wrong := [title for title, (columns, rows) in each.tables.items() if _is_ragged(columns, rows)]:
                raise ValueError(f"a table whose rows are not of one length, {wrong[0]!r:.80}")
        except (ValueError, RecursionError) as error:
            raise InvalidCampaign(f"{path}: expected a section of the page; received {error}") from None
        if each.name in found:
            raise InvalidCampaign(f"{folder}: expected one {each.name}; received another one in {path.parent}")
        found[each.name] = each
    if not found:
        raise InvalidCampaign(f"{folder}: expected the runs of `cometfuzz evaluate`; received none with a section")
    return sorted(found.values(), key=lambda each: (_order(each.name), each.name))


def _harmless(found: Section) -> Section:
    """A section whose texts steer no terminal: it may be a stranger's."""
    tables = {
        clean(title): ([clean(column) for column in columns], [[clean(cell) for cell in row] for row in rows])
        for title, (columns, rows) in found.tables.items()
    }
    says, not_comparable = (tuple(map(clean, texts)) for texts in (found.says, found.not_comparable))
    return Section(clean(found.name), clean(found.command), clean(found.machine), says, tables, not_comparable)


def _is_ragged(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    return any(len(row) != len(columns) for row in rows)


def _order(name: str) -> int:
    return list(QUESTIONS).index(name) if name in QUESTIONS else len(QUESTIONS)


def page(found: Sequence[Section], command: str) -> str:
    """The page in Markdown."""
    parts = [
        "# Evaluation",
        "The paper's questions, asked here. This page is written by one command from the folders of the runs:",
        f"    {command}",
        "Each section names the command that made its numbers, and where. In brackets, or in a column of their own, "
        "are the numbers that the paper published; what they cannot be compared in is said in the table and below it. "
        "Shares are percentages of the paper's space.",
    ]
    for each in found:
        parts += [f"## {QUESTIONS.get(each.name, each.name)}", f"    {each.command}", f"{each.machine}."]
        parts += each.says
        for title, grid in each.tables.items():
            parts += [f"### {title[:1].upper()}{title[1:]}", pipes(*grid)]
        if each.not_comparable:
            parts += ["Not comparable:", "\n".join(f"- {text}" for text in each.not_comparable)]
    return "\n\n".join(parts) + "\n"
