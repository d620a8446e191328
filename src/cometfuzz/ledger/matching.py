"""The one question that mutation, policy, oracles, triage and conformance ask: which defects explain this call?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from cometfuzz.ledger.reading import defects, overlay
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES, base_of

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


def forget() -> None:
    """Read the ledger anew when it is next asked: it has learned something."""
    for cached in (rules, defects, overlay):
        cached.cache_clear()


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


class View:
    """The ledger as it stands for some routes with the versions of their libraries: what everybody asks.

    An entry that was never seen with the versions at hand excuses nothing, and keeps no model away.
    """

    def __init__(self, routes: Mapping[str, Route], versions: Mapping[str, Mapping[str, str]]) -> None:
        self.routes, self.versions = routes, versions
        self._rules: dict[tuple[str, str, bool], tuple[Rule, ...]] = {}

    def stands(self, defect: Defect, route: str) -> bool:
        """Whether a defect was seen with the versions that a route has, and did not fail to show with just these."""
        versions = self.versions.get(route, {})
        if any(each.versions.items() <= versions.items() for each in defect.fixed):
            return False
        return any(meets(each.versions, versions) for each in defect.seen)

    def rules_of(self, route: str, layer: str, base: bool = False) -> tuple[Rule, ...]:
        """The rules that stand against a layer on a route: its own, and those of its steps, such as `tf2onnx`.

        base: instead those of the route that runs the same model without any detour, with the versions at hand.
        """
        key = route, layer, base
        if key not in self._rules:
            names = self._names(route, base)
            self._rules[key] = tuple(
                rule
                for rule in rules()
                if names & {*rule.routes}
                and (not rule.layers or layer in rule.layers)
                and self.stands(rule.defect, route)
            )
        return self._rules[key]

    def _names(self, route: str, base: bool) -> frozenset[str]:
        """What the ledger calls a route, or its base."""
        found = self.routes.get(route)
        if found is None or not base:
            return frozenset() if found is None else found.names
        shortest = base_of(found.like or found.name)
        return frozenset() if shortest is None else ROUTES[shortest].names

    def rules_against(self, route: str, spec: LayerSpec, x: Any, params: Params, base: bool = False) -> Iterator[Rule]:
        """The rules that a layer call meets on a route; for a wrapper, also those of the layers inside it."""
        yield from (rule for rule in self.rules_of(route, spec.name, base) if rule.holds(x, params))
        for inner, types in spec.inner(x, params):
            within = spec_of(inner.layer)
            for rule in self.rules_against(route, within, within.view(types), inner.params, base):
                yield rule.wrapped

    def excuses(self, route: str, spec: LayerSpec, x: Any, params: Params) -> Iterator[Rule]:
        """The same, and then what stands against the route's base: a model that its own library refuses or computes
        wrongly says nothing of those behind it."""
        yield from self.rules_against(route, spec, x, params)
        yield from (rule.behind for rule in self.rules_against(route, spec, x, params, base=True))


class Supposing(View):
    """The ledger as if one entry alone had been seen, whatever the versions: what a refresh holds against them."""

    def __init__(self, routes: Mapping[str, Route], supposed: Defect) -> None:
        super().__init__(routes, {})
        self.supposed = supposed

    def stands(self, defect: Defect, route: str) -> bool:
        return defect.id == self.supposed.id


def meets(seen: Mapping[str, str], versions: Mapping[str, str]) -> bool:
    """Whether versions agree with those that something was seen with, as far as both have a library."""
    shared = seen.keys() & versions.keys()
    return bool(shared) and all(seen[name] == versions[name] for name in shared)
