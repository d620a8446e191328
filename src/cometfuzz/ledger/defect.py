"""A defect: one entry of the ledger, in `ID/defect.toml`. Everything in it is data; nothing of it is ever executed.

title = "keras.ops.add on TensorFlow adds an operand of shape (3, 1) along the wrong axis"
why = "The TensorFlow backend takes a one-column operand for a bias."   # the cause, in one or two sentences
library = "keras"            # whose it is; it decides the tracker
kind = "bug"                 # bug, limit (the library says so, or does not promise it) or choice (documented otherwise)
standing = "counted"         # counted, corner case (counted; rare data), or not counted
because = "..."              # why it is not counted, or what makes it a corner case
same_fix = "another-id"      # the defect that the same fix would mend; then it is not counted
trigger = ["parameter"]      # what it takes: input, parameter, sequence, special value, default
documentation = "https://..."  # the page that says what is right
upstream = [{ link = "https://...", state = "open" }]
routes = ["keras-tf"]        # where its case shows it, if nothing below says it
verified = 2026-01-31        # when its script last showed it; written by `cometfuzz verify --stamp`

[[seen]]                     # measured, never guessed: it excuses nothing where it was not seen
versions = { keras = "3.15.1", tensorflow = "2.21.0" }
cpu = "x86-64-v4"            # the kind of CPU it was seen on, or any if it was seen on several kinds: libraries choose
                             # kernels by it, so that elsewhere it excuses nothing, and not showing says nothing

[[fixed]]                    # versions in which it was looked for and did not show; one that is mended in all that
                             # we pin stays in the ledger, for those who have the older ones
versions = { keras = "3.16.0" }

[[absent]]                   # the same versions on another kind of CPU, where it was looked for and did not show
versions = { keras = "3.15.1", tensorflow = "2.21.0" }
cpu = "x86-64-v3"

[[applies]]                  # how a call is recognised: everything that is named must hold
routes = ["keras-tf"]        # names of routes, or of steps, which stand for every route that has them
layers = ["Add", "Conv?D"]   # patterns; none: any layer
input_dtype = ["float64"]    # of the first input; weight_dtype: of the weights; any_dtype: of one of them
activations = ["gelu"]       # it names one of these; initialisers: the same
params = { padding = "same", interpolation = ["bilinear", "bicubic"] }   # values, a list: one of them
when = ["sum_goes_astray", "not empty"]   # predicates by name
symptom = "value"            # how it shows
raises = "ValueError"        # the class, for the symptom "exception"
always = false               # the condition is necessary, not sufficient (a wrong value that is right by luck)
by_chance = true             # it depends on more than the case, such as uninitialised memory
witness = [0.0]              # values of the first input that make it show
note = "..."                 # what is seen here, if `why` does not say it

[[signature]]                # the second way to recognise it: by what triage makes of a finding
library = "keras"            # patterns as in file names: *, ?, [...]; a field that is not named may be anything
stage = "build"
symptom = "crash"
layers = "Conv*D"            # as in the signature: "Conv2D > ReLU"
failure = "TypeError*"
condition = "*padding='same'*"
"""

import datetime
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Kind = Literal["bug", "limit", "choice"]
Standing = Literal["counted", "corner case", "not counted"]
Symptom = Literal["exception", "death", "value", "shape", "result", "any"]
"""How it shows; "result" is a wrong shape, dtype or value, whichever the sizes make of it, "any" may also raise."""

Trigger = Literal["input", "parameter", "sequence", "special value", "default"]
"""What it takes, in the paper's words: dtype, rank, shape or number of inputs; a parameter that is not the default;
layers that follow each other; NaN, Inf or numbers near the end of the range; or a layer as it is."""

TRIGGERS: tuple[Trigger, ...] = ("input", "parameter", "sequence", "special value", "default")

State = Literal["open", "closed", "fixed", "unknown"]

Names = tuple[str, ...]
ANY_CPU = "any"


class Upstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An issue or a pull request of the library, and what became of it when somebody last looked."""

    link: str
    state: State = "unknown"


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Versions with which it was looked for; `cpu`: the kind of CPU that it was looked for on, or any."""

    versions: dict[str, str]
    cpu: str = ANY_CPU

    def meets(self, versions: Mapping[str, str], cpu: str) -> bool:
        """Whether it speaks of these versions, as far as both have a library, on this kind of CPU."""
        shared = self.versions.keys() & versions.keys()
        return self.speaks_of(cpu) and bool(shared) and all(self.versions[name] == versions[name] for name in shared)

    def speaks_of(self, cpu: str) -> bool:
        """Whether it says something of a kind of CPU."""
        return self.cpu in (ANY_CPU, cpu)


class Applies(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to recognise it at a layer call, and how it shows there."""

    routes: Names
    layers: Names = ()
    input_dtype: Names = ()
    weight_dtype: Names = ()
    any_dtype: Names = ()
    activations: Names = ()
    initialisers: Names = ()
    params: dict[str, Any] = {}
    when: Names = ()
    symptom: Symptom = "exception"
    raises: str = ""
    always: bool = True
    by_chance: bool = False
    witness: tuple[float, ...] = ()
    note: str = ""


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns on the signature that triage gives a bug."""

    library: str = "*"
    stage: str = "*"
    symptom: str = "*"
    layers: str = "*"
    failure: str = "*"
    condition: str = "*"


class Defect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of one defect; the module says what the fields mean. The id is the name of its folder."""

    title: str
    why: str
    library: str
    kind: Kind = "bug"
    standing: Standing = "counted"
    because: str = ""
    same_fix: str = ""
    trigger: tuple[Trigger, ...] = ()
    documentation: str = ""
    upstream: tuple[Upstream, ...] = ()
    seen: tuple[Seen, ...] = ()
    fixed: tuple[Seen, ...] = ()
    absent: tuple[Seen, ...] = ()
    applies: tuple[Applies, ...] = ()
    signature: tuple[Pattern, ...] = ()
    routes: Names = ()
    verified: datetime.date | None = None
    id: str = ""

    @property
    def counted(self) -> bool:
        """Whether it is a bug of its own that a maintainer would mend."""
        return self.kind == "bug" and self.standing != "not counted" and not self.same_fix

    @property
    def link(self) -> str:
        """The first issue upstream, if there is one."""
        return self.upstream[0].link if self.upstream else ""

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """All that it takes, in one order."""
        return tuple(name for name in TRIGGERS if name in self.trigger)

    @property
    def spoken_of(self) -> frozenset[str]:
        """The routes and steps that it speaks of."""
        return frozenset(name for applies in self.applies for name in applies.routes) or frozenset(self.routes)

    @property
    def root(self) -> str:
        """The id of the defect whose fix mends this one: its own, if no other."""
        return self.same_fix or self.id
