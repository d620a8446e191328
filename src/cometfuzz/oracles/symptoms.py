"""Symptoms: all that is to be known of a way in which a defect shows, in one record each.

Console, reports, triage and scripts read the record. A package from outside declares one as an entry point of the group
"cometfuzz.symptoms", under the symptom's name; what nobody declares (a campaign of another machine may have it) is
shown under its name alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cometfuzz.plugins import Plugins

GROUP = "cometfuzz.symptoms"
Severity = Literal["high", "medium", "low"]
"""How much a symptom matters to users: what is wrong in silence or takes the process along; what is plain to see; what
hurts hardly anybody."""

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")

End = Literal["exception", "death", "hang", "values", "types", "bits", "memory", "taken", "relation", ""]
"""How a script that shows it ends: an exception, no end of its own, other values or types than expected, other bits in
a second run or with other memory, a result where an exception is due, two answers that contradict each other. Nothing:
no script can be written."""

Held = Literal["bound", "digits", "formula"]


@dataclass(frozen=True)
class SymptomRecord:
    """One symptom.

    does: what the library does, after the name of a layer, as in a title. sentence: the same as a sentence in a draft.
    colour: on the console, as Rich names it. claims: whether it says that a library does wrong; if not, `excuse` says
    why. implies: what else may show where a bug of this kind is. column: under which heading tables of bugs count it.
    placed: whether an oracle sees the layer in which it lies, not only the output in which it comes to light.
    twice: whether it takes a second run to see it. severity: with ordinary data. searched: what people call it in the
    titles of issues. held: to what a script holds values, where that is more than the error bound: the digits of each
    element by itself, or NaN and Inf wherever the formula has them.
    """

    name: str
    does: str = ""
    sentence: str = ""
    colour: str = ""
    claims: bool = True
    excuse: str = ""
    implies: tuple[str, ...] = ()
    column: str = ""
    end: End = ""
    placed: bool = True
    twice: bool = False
    severity: Severity = "medium"
    searched: str = ""
    held: Held = "bound"

    @property
    def title(self) -> str:
        return self.does or f"shows {self.name}"

    @property
    def text(self) -> str:
        return self.sentence or f"It shows {self.name}."

    @property
    def heading(self) -> str:
        return self.column or self.name

    @property
    def raises(self) -> bool:
        """Whether it shows as an exception."""
        return self.end == "exception"

    @property
    def stops(self) -> bool:
        """Whether there is no result at all."""
        return self.end in ("exception", "death", "hang")


CRASH = SymptomRecord(
    "crash",
    "raises an exception",
    "It raises an exception on a valid model.",
    "red",
    column="crash",
    end="exception",
    searched="error",
)
DEATH = SymptomRecord(  # of a signal, for want of memory, or because it left
    "death",
    "kills the process",
    "The whole process dies, so nothing can be caught.",
    "bold red",
    end="death",
    severity="high",
    searched="crash",
)
UNSUPPORTED = SymptomRecord(
    "unsupported",
    "raises an exception",
    "It raises an exception on a valid model.",
    claims=False,
    excuse="the library says that it does not do this",
    severity="low",
    column="crash",
    end="exception",
)
REFUSED = SymptomRecord(
    "refused",
    "raises an exception",
    "It refuses a valid model.",
    claims=False,
    severity="low",
    excuse="Keras' own argument check, the same on every Keras route: a limit that our catalogue lacks",
    column="crash",
    end="exception",
    searched="invalid",
)
HANG = SymptomRecord(
    "hang",
    "hangs",
    "It does not come to an end, where others take a fraction of a second.",
    "bold yellow",
    end="hang",
    searched="hangs",
)
UNINITIALISED = SymptomRecord(
    "uninitialised",
    "reads uninitialised memory",
    "The result depends on what memory held before: something is read that nobody has written.",
    "bold magenta",
    implies=("value", "nonfinite", "nondeterminism"),  # what is read may be anything, and another thing next time
    column="value",
    end="memory",
    severity="high",
    searched="uninitialized memory",
)
NONFINITE = SymptomRecord(
    "nonfinite",
    "gives NaN or Inf in the wrong places",
    "The result has NaN or Inf where it should not, or the other way round.",
    "magenta",
    implies=("uninitialised", "relation"),
    column="NaN",
    severity="high",
    end="values",
    searched="nan",
)
SHAPE = SymptomRecord(
    "shape",
    "gives another shape",
    "The result has another shape than it should.",
    "blue",
    column="shape or dtype",
    end="types",
    placed=False,
    searched="wrong shape",
)
DTYPE = SymptomRecord(
    "dtype",
    "gives another dtype",
    "The result has another dtype than it should.",
    "blue",
    column="shape or dtype",
    end="types",
    placed=False,
    searched="wrong dtype",
)
VALUE = SymptomRecord(
    "value",
    "gives wrong values",
    "The result is wrong by more than rounding can explain, without any warning.",
    "yellow",
    implies=("nonfinite", "nondeterminism", "uninitialised", "relation"),  # may overflow, or differ from run to run
    end="values",
    severity="high",
    searched="wrong result",
)
SPECIAL = SymptomRecord(
    "special",
    "treats NaN or Inf otherwise than all other libraries",
    "NaN or Inf is lost, or made, where the formula and all other libraries agree.",
    "magenta",
    column="NaN",
    end="values",
    searched="nan",
    held="formula",
)
ACCURACY = SymptomRecord(
    "accuracy",
    "loses the digits of small results",
    "Elements have lost half of their digits or more, which another formula keeps.",
    "yellow",
    column="value",
    end="values",
    severity="low",
    searched="precision",
    held="digits",
)
NONDETERMINISM = SymptomRecord(
    "nondeterminism",
    "gives other bits in a second run",
    "The same model on the same data gives other bits from run to run.",
    "cyan",
    implies=("value", "nonfinite", "uninitialised"),
    column="value",
    end="bits",
    placed=False,
    twice=True,
    searched="nondeterministic",
)
RELATION = SymptomRecord(
    "relation",
    "contradicts itself",
    "Two answers that must agree do not, so at least one of them is wrong.",
    "yellow",
    column="value",
    end="relation",
    searched="inconsistent",
)
REFUSAL = SymptomRecord(
    "refusal",
    "takes what it should refuse",
    "It takes a call that is not valid, and says nothing.",
    "dim",
    column="refusal",
    end="taken",
    severity="low",
    searched="validation",
)

SYMPTOMS: Plugins[SymptomRecord] = Plugins(GROUP)


def about(symptom: str) -> SymptomRecord:
    """The record of a symptom."""
    return SYMPTOMS[symptom] if symptom in SYMPTOMS else SymptomRecord(symptom)


def in_order(symptoms: Iterable[str]) -> list[str]:
    """Names of symptoms in the order of the registry, then those that nobody declares."""
    given = list(dict.fromkeys(symptoms))
    return [name for name in SYMPTOMS if name in given] + sorted(name for name in given if name not in SYMPTOMS)
