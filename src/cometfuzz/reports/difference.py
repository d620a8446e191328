"""What was expected and what was seen of a bug, side by side, with the words that differ marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from cometfuzz.execution.outcome import readable
from cometfuzz.triage.bug import Bug

_LABEL = re.compile(r"^\s*(expected|seen|received|got)\b[^:=\n]{0,60}[:=]\s?", re.IGNORECASE)
_WORD = re.compile(r"\s+|[,()\[\]{}]|[^\s,()\[\]{}]+")
MOST_WORDS = 1500
"""Longer texts are shown without marks: nobody reads marks there, and finding them takes too long."""


@dataclass(frozen=True)
class Piece:
    """Some text that is on both sides, or on one only."""

    text: str
    differs: bool


@dataclass(frozen=True)
class Side:
    """Who did this, and what it was."""

    who: str
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Difference:
    """The two sides of a bug; `source` says where the texts are from."""

    source: str
    expected: Side
    seen: Side


def difference(bug: Bug) -> Difference:
    """From what the script printed, if it named both sides, else from the finding."""
    failing, others = bug.finding.camps[:1], bug.finding.camps[1:]
    who_failed = ", ".join(failing[0].routes) if failing else bug.signature.library
    who_agreed = ", ".join(route for camp in others for route in camp.routes) or "the reference"
    printed = labelled(readable(bug.script.output)) if bug.script is not None else {}
    if "expected" in printed and "seen" in printed:
        source, texts = "as the script prints it", (printed["expected"], printed["seen"])
    else:
        agreed = "; ".join(dict.fromkeys(camp.what for camp in others)) or "what the layer's documentation says"
        source, texts = "as the routes did it", (agreed, failing[0].what if failing else bug.finding.detail)
    expected, seen = compared(*texts)
    return Difference(source, Side(who_agreed, expected), Side(who_failed, seen))


def labelled(output: str) -> dict[str, str]:
    """The texts behind the first "expected:" and the first "seen:" of an output, each up to the next label or gap."""
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in output.splitlines():
        if found := _LABEL.match(line):
            name = "expected" if found[1].lower() == "expected" else "seen"
            current = None if name in texts else texts.setdefault(name, [])
            line = line[found.end() :]
        elif not line.strip() or not line[0].isspace():
            current = None
        if current is not None:
            current.append(line)
    return {name: "\n".join(lines).strip() for name, lines in texts.items()}


def compared(left: str, right: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces."""
    words = _WORD.findall(left), _WORD.findall(right)
    if max(map(len, words)) > MOST_WORDS:
        return [Piece(left, False)], [Piece(right, False)]
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for kind, left_from, left_to, right_from, right_to in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        for side, some in ((0, words[0][left_from:left_to]), (1, words[1][right_from:right_to])):
            if some:
                pieces[side].append(Piece("".join(some), kind != "equal"))
    return pieces
