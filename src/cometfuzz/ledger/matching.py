"""The one question that mutation, policy, oracles, triage and conformance ask: which defects explain this call?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec, spec_of
from cometfuzz.errors import InvalidLedger
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.defect import Applies, Defect, Symptom
from cometfuzz.ledger.predicates import named
from cometfuzz.ledger.predicates.inputs import activations, all_of, dtypes, initialisers, weight_dtype
from cometfuzz.ledger.reading import defects
from cometfuzz.routes.registry import ROUTES

Condition = Callable[[Any, Params], bool]
SHOWN = ("symptom", "raises", "always", "by_chance", "witness", "note")
"""What a rule has of its entry's words as it stands there."""


@dataclass(frozen=True)
class Rule:
    """One way in which a defect shows: where, under which condition on a layer call, and how.

    `layers` are names; none means any. `routes` are names of routes or of steps. `Applies` says what the rest means.
    """

    defect: Defect
    routes: tuple[str, ...]
    layers: tuple[str, ...]
    holds: Condition = field(compare=False, repr=False)
    symptom: Symptom = "exception"
    raises: str = ""
    always: bool = True
    by_chance: bool = False
    witness: tuple[float, ...] = ()
    note: str = ""

    @property
    def id(self) -> str:
        """That of the defect."""
        return self.defect.id

    @property
    def text(self) -> str:
        """What is seen, in a line."""
        return self.note or self.defect.why

    @property
    def behind(self) -> "Rule":
        """The same for what comes after the library: it is not to blame, whatever it makes of it."""
        return replace(self, symptom="any", always=False)

    @property
    def wrapped(self) -> "Rule":
        """The same inside a wrapper, which may hide a wrong value: it multiplies by zero, or drops the output."""
        return replace(self, always=False) if self.symptom in ("value", "result") else self


@cache
def rules() -> tuple[Rule, ...]:
    """What all entries say."""
    return tuple(rule_of(defect, applies) for defect in defects().values() for applies in defect.applies)


def rule_of(defect: Defect, applies: Applies) -> Rule:
    """An entry's words as a rule; InvalidLedger if they name what there is not."""
    layers: dict[str, None] = {}
    for pattern in applies.layers:
        found = [name for name in CATALOGUE if fnmatchcase(name, pattern)]
        if not found:
            raise InvalidLedger(f"{defect.id}: expected layers of the catalogue; received layers={pattern!r}")
        layers |= dict.fromkeys(found)
    shows = {name: getattr(applies, name) for name in SHOWN}
    return Rule(defect, applies.routes, tuple(layers), _condition(applies), **shows)


def _condition(applies: Applies) -> Condition:
    """Everything that is named must hold, in this order: a predicate may rely on what stands before it."""
    parts: list[Condition] = []
    if applies.input_dtype:
        parts.append(lambda x, p: all_of(x)[0].dtype in applies.input_dtype)
    if applies.weight_dtype:
        parts.append(lambda x, p: weight_dtype(x, p) in applies.weight_dtype)
    if applies.any_dtype:
        parts.append(lambda x, p: not dtypes(x, p).isdisjoint(applies.any_dtype))
    if applies.activations:
        parts.append(lambda x, p: any(name in applies.activations for name in activations(p)))
    if applies.initialisers:
        parts.append(lambda x, p: any(name in applies.initialisers for name in initialisers(p)))
    parts += [_equals(name, value) for name, value in applies.params.items()]
    parts += [named(text) for text in applies.when]
    return lambda x, p: all(part(x, p) for part in parts)


def _equals(name: str, value: Any) -> Condition:
    allowed: Sequence[Any] = value if isinstance(value, list) else [value]
    return lambda x, p: name in p and p[name] in allowed


@cache
def rules_of(route: str, layer: str) -> tuple[Rule, ...]:
    """The rules that stand against a layer on a route: its own, and those of its steps, such as `tf2onnx`."""
    names = {route, *(step.name for step in ROUTES[route].steps[1:])} if route in ROUTES else {route}
    return tuple(rule for rule in rules() if names & {*rule.routes} and (not rule.layers or layer in rule.layers))


def rules_against(route: str, spec: LayerSpec, x: Any, params: Params) -> Iterator[Rule]:
    """The rules that a layer call meets on a route; for a wrapper, also those of the layers inside it."""
    yield from (rule for rule in rules_of(route, spec.name) if rule.holds(x, params))
    for inner, types in spec.inner(x, params):
        within = spec_of(inner.layer)
        for rule in rules_against(route, within, within.view(types), inner.params):
            yield rule.wrapped
