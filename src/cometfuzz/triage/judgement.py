"""Judgements: what people say of a collected bug, in `judgement.toml`, the only file of a collection that they write.

why = "..."                  # why it is a bug, as the maintainer would see it; empty: nobody has judged it yet
standing = "counted"         # or why it is listed apart: unsupported, utility, unmaintained, limit
trigger = ["parameter"]      # what it takes: input, parameter, sequence, special value, default
same_fix = "another-slug"    # the bug that the same fix would mend; then it is not counted
library = "PyTorch"          # whose bug it is, if the blame is wrong about that
link = "https://..."         # the issue upstream
verified = 2026-01-31        # when its script last showed it; written by `cometfuzz verify --stamp`
"""

import datetime
import re
from typing import Literal

import msgspec

from cometfuzz.errors import InvalidCollection
from cometfuzz.places import Place
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.recording import read_text
from cometfuzz.triage.signature import condition_of, layers_of

Standing = Literal["counted", "unsupported", "utility", "unmaintained", "limit"]
"""How a collected bug counts. "utility": it needs one of our utility nodes. "unmaintained": nobody mends that library.
"limit": a documented limit."""

STANDINGS: tuple[Standing, ...] = ("counted", "unsupported", "utility", "unmaintained", "limit")

Trigger = Literal["input", "parameter", "sequence", "special value", "default"]
"""What triggers a bug, in the paper's words: dtype, rank, shape or number of inputs; a parameter that is not the
default; layers that follow each other; NaN, Inf or numbers near the end of the range; or a layer as it is."""

TRIGGERS: tuple[Trigger, ...] = ("input", "parameter", "sequence", "special value", "default")

JUDGEMENT = "judgement.toml"
UNMAINTAINED = ("mxnet", "keras-mxnet", "onnx2pytorch")

_OF_INPUT = ("dtype", "rank", "inputs")
_VERIFIED = re.compile(r"^verified[ \t]*=.*$", re.MULTILINE)


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of one bug; the module says what the fields mean."""

    why: str = ""
    standing: Standing = "counted"
    trigger: Trigger | tuple[Trigger, ...] = ()
    same_fix: str = ""
    library: str = ""
    link: str = ""
    verified: datetime.date | None = None

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """All that it takes, in one order."""
        given = (self.trigger,) if isinstance(self.trigger, str) else self.trigger
        return tuple(name for name in TRIGGERS if name in given)

    @property
    def counted(self) -> bool:
        return self.standing == "counted" and not self.same_fix


def first_judgement(bug: Bug) -> Judgement:
    """What can be told without people: where it stands, and what triggers it."""
    return Judgement(standing=_standing(bug), trigger=_triggers(bug))


def _standing(bug: Bug) -> Standing:
    if bug.blame.library in UNMAINTAINED:
        return "unmaintained"
    if bug.utility:
        return "utility"
    return "unsupported" if bug.signature.symptom in ("unsupported", "refused") else "counted"


def _triggers(bug: Bug) -> tuple[Trigger, ...]:
    graph = bug.minimal.graph
    names = {fact.name for fact in condition_of(graph, bug.severity)} - {"data"}
    taken: dict[Trigger, bool] = {
        "input": bug.severity == "empty" or any(name in _OF_INPUT for name in names),
        "parameter": any(name not in _OF_INPUT for name in names),
        "sequence": len(layers_of(graph)) > 1,
        "special value": bug.severity in ("special", "overflow"),
    }
    found = tuple(name for name in TRIGGERS if taken.get(name))
    return found or ("default",)


def read_judgement(place: Place) -> Judgement:
    """The judgement of the bug in a folder, or InvalidCollection that names the file."""
    try:
        return msgspec.toml.decode(read_text(place, JUDGEMENT), type=Judgement)
    except (msgspec.DecodeError, RecursionError) as error:
        where = place.path(JUDGEMENT)
        raise InvalidCollection(f"{where}: expected a judgement; received one in which: {error}") from None


def judgement_text(judgement: Judgement) -> str:
    """A judgement as a file for people to go on with."""
    triggers = ", ".join(f'"{name}"' for name in judgement.triggers)
    return f'why = ""\nstanding = "{judgement.standing}"\ntrigger = [{triggers}]\n'


def stamp(place: Place, day: datetime.date) -> None:
    """Write down when a bug was verified; the rest of the file stays as people wrote it."""
    text = read_text(place, JUDGEMENT)
    line = f"verified = {day.isoformat()}"
    stamped = _VERIFIED.sub(line, text) if _VERIFIED.search(text) else f"{text.rstrip()}\n{line}\n"
    place.write(JUDGEMENT, stamped.encode())
