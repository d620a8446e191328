"""Bugs: clusters of confirmed findings with one signature. One fix = one bug."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import DataKind, Finding, Symptom, severity_of
from cometfuzz.oracles.symptoms import Severity, about


@dataclass(frozen=True)
class Signature:
    """The structured key of a bug.

    failure: exception type with its innermost library frame, or a message template, or a signal; empty for values.
    condition: what the reducer found to matter of parameters, dtype and rank, as "padding='same', float16".
    switch: the name of the library's switch without which it does not show, if there is one.
    """

    library: str
    stage: str
    symptom: Symptom
    layers: tuple[str, ...]
    failure: str = ""
    condition: str = ""
    switch: str = ""

    @property
    def key(self) -> str:
        parts = self.library, self.stage, self.symptom, " > ".join(self.layers), self.failure, self.condition
        return " | ".join((*parts, self.switch) if self.switch else parts)

    @property
    def id(self) -> str:
        """A short name for people: the first of the key's hash."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:10]


@dataclass(frozen=True)
class Blame:
    """Who is at fault: the earliest stage that all failing routes share and no agreeing route has.

    role: "converter tf2onnx", "runtime OpenVINO", "Keras, torch backend", "all libraries against the reference".
    confidence from 0 to 1; reasoning is one sentence.
    """

    library: str
    stage: str
    role: str
    reasoning: str
    confidence: float


@dataclass(frozen=True)
class Script:
    """A reproducer: its text, and what it did when it was run by itself in a clean process."""

    text: str
    environment: str
    shown: bool
    exit_code: int | None
    output: str


@dataclass(frozen=True)
class Bug:
    """One bug, reduced and explained.

    finding: on the minimal case. original, original_id: the case that it was found with. runs, shown: how often it was
    run again and how often it showed; less than always is flaky. utility: it needs one of our utility nodes, and is
    counted by itself. known: a link or note from the known issues. limit: it is no bug, because people say that the
    library does not promise it, or libraries do not agree about NaN. script is None if none could be made that shows
    it; such a bug is listed, not reported.
    """

    signature: Signature
    title: str
    data_kind: DataKind
    finding: Finding
    blame: Blame
    original: Case
    original_id: str
    minimal: Case
    minimal_id: str
    runs: int
    shown: int
    utility: bool = False
    known: str = ""
    limit: bool = False
    script: Script | None = None
    draft: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    triage_s: float = 0.0

    @property
    def id(self) -> str:
        return self.signature.id

    @property
    def severity(self) -> Severity:
        return severity_of(self.signature.symptom, self.data_kind)

    @property
    def flaky(self) -> bool:
        return self.shown < self.runs

    @property
    def reported(self) -> bool:
        """Whether it is shown as a bug: its script shows it, in a clean process."""
        return self.script is not None and self.script.shown

    @property
    def is_new(self) -> bool:
        """Whether it makes a campaign fail: not known, no utility, and shown by its script; by every run where no
        script can be written, as on a route of somebody else's."""
        shown = self.reported or (self.script is None and self.runs > 0 and not self.flaky)
        return shown and not self.known and not self.utility

    @property
    def is_urgent(self) -> bool:
        """Whether a campaign fails over it that is not asked to fail over what is of low severity whatever the data."""
        return about(self.finding.symptom).severity != "low"
