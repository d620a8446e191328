"""Findings: what an oracle claims of a trial, with its evidence."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from cometfuzz.execution.outcome import readable
from cometfuzz.oracles.symptoms import SEVERITIES, Severity, about
from cometfuzz.routes.switches import shared_switch

Symptom = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]{0,39}\Z")]
"""How it shows: the name of a record of `symptoms`."""

DataKind = Literal["ordinary", "overflow", "empty", "special", "invalid"]
"""What the data is like: ordinary numbers, values near the end of a dtype's range, sizes of zero, NaN or Inf that was
put in, and calls that break a rule."""

DATA_KINDS: tuple[DataKind, ...] = ("ordinary", "overflow", "empty", "special", "invalid")


@dataclass(frozen=True)
class Camp:
    """Routes that did the same, and what that was."""

    routes: tuple[str, ...]
    what: str


@dataclass(frozen=True)
class Finding:
    """One oracle's claim on one trial.

    camps: the failing routes first, then the others. stage and library: where the first camp failed, as far as the
    trial tells; triage blames better. node and layer: the place in the graph, if it is known. defect: the id of
    the ledger's entry that explains it. detail: one line for people; evidence: plain JSON.
    """

    oracle: str
    symptom: Symptom
    data_kind: DataKind
    camps: tuple[Camp, ...]
    stage: str
    library: str
    detail: str
    node: str = ""
    layer: str = ""
    defect: str = ""
    failure: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A rough name of what it may be: findings with one key are likely one bug. Triage has the exact one."""
        switch = [self.switch] if self.switch else []
        return " | ".join((self.symptom, self.library, self.stage, self.layer, self.failure, *switch))

    @property
    def switch(self) -> str:
        """The switch without which no route fails so, if there is one."""
        return shared_switch(self.camps[0].routes)

    @property
    def severity(self) -> Severity:
        return severity_of(self.symptom, self.data_kind)

    @property
    def counts(self) -> bool:
        """Whether a report counts it: not what is declared, refused or said to be unsupported."""
        return not self.defect and self.claims

    @property
    def claims(self) -> bool:
        """Whether it says that a library does wrong, declared or not."""
        return about(self.symptom).claims

    def as_plain(self) -> dict[str, Any]:
        """The form in JSON; `Finding.from_plain` reads it."""
        return asdict(self)

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> "Finding":
        camps = tuple(Camp(tuple(camp["routes"]), camp["what"]) for camp in plain["camps"])
        return Finding(**{**plain, "camps": camps})


def severity_of(symptom: Symptom, data_kind: DataKind) -> Severity:
    """That of the symptom; one step lower if it takes data that few models ever see."""
    place = SEVERITIES.index(about(symptom).severity) + (data_kind != "ordinary")
    return SEVERITIES[min(place, len(SEVERITIES) - 1)]


def template(message: str) -> str:
    """An error message without what differs from case to case: numbers, names of nodes, quoted text, addresses."""
    line = " ".join(readable(message)[:4000].split())
    line = re.sub(r"0x[0-9a-fA-F]+", "#", line)
    line = re.sub(r"(['\"`]).*?\1", "'...'", line)
    line = re.sub(r"[({\[][^(){}\[\]]*\d[^(){}\[\]]*[)}\]]", "(...)", line)
    line = re.sub(r"\b\w*\d\w*\b", "#", line)
    return line[:160]
