"""The one question that mutation, policy, oracles, triage and conformance ask: which defects explain this call?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from cometfuzz.catalogue.offer import Offer
from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec, spec_of
from cometfuzz.errors import InvalidLedger
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import POLICY
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.defect import Applies, Defect, Symptom
from cometfuzz.ledger.predicates import named
from cometfuzz.ledger.predicates.inputs import activations, all_of, dtypes, initialisers, weight_dtype
from cometfuzz.ledger.reading import defects, know_nothing, overlay
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES, base_of

Condition = Callable[[Any, Params], bool]
SHOWN = ("symptom", "raises", "always", "by_chance", "witness", "note")
"""What a rule has of its entry's words as it stands there."""


@dataclass(frozen=True)
class Rule:
    """One way in which a defect shows: where, under which condition on a layer call, and how.

    `layers` are names; none means any. `routes` are names of routes or of steps. `Applies` says what the rest means.
    inherited: it is about the front end of the route that is asked about, not about the route. vague: it names no layer
    and nothing of a call, only what is seen; it explains a failure, but is no reason to keep a model away.
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
    inherited: bool = False
    vague: bool = False

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
        """The same for what comes after the library, which may inherit it in another form."""
        return replace(self, symptom="any", always=False, inherited=True)

    @property
    def wrapped(self) -> "Rule":
        """The same where a wrong value may be hidden: a wrapper multiplies by zero, or drops the output; under a policy
        inputs may have fewer digits than a layer computes with."""
        return replace(self, always=False) if self.symptom in ("value", "result") else self


@cache
def rules() -> tuple[Rule, ...]:
    """What all entries say."""
    return rules_of_entries(defects())


def rules_of_entries(entries: Mapping[str, Defect]) -> tuple[Rule, ...]:
    """What these entries say."""
    return tuple(rule_of(defect, applies) for defect in entries.values() for applies in defect.applies)


def forget() -> None:
    """Read the ledger anew when it is next asked: it has learned something."""
    for cached in (rules, defects, overlay):
        cached.cache_clear()


@contextmanager
def without_ledger() -> Iterator[None]:
    """As if no defect were known, neither of ours nor of what this machine has learned."""
    know_nothing(True)
    forget()
    try:
        yield
    finally:
        know_nothing(False)
        forget()


def rule_of(defect: Defect, applies: Applies) -> Rule:
    """An entry's words as a rule; InvalidLedger if they name what there is not."""
    layers: dict[str, None] = {}
    for pattern in applies.layers:
        found = [name for name in CATALOGUE if fnmatchcase(name, pattern)]
        if not found:
            raise InvalidLedger(f"{defect.id}: expected layers of the catalogue; received layers={pattern!r}")
        layers |= dict.fromkeys(found)
    shows = {name: getattr(applies, name) for name in SHOWN}
    said = (applies.layers, applies.input_dtype, applies.weight_dtype, applies.any_dtype, applies.activations)
    vague = not any((*said, applies.initialisers, applies.params, applies.when)) and not applies.always
    return Rule(defect, applies.routes, tuple(layers), _condition(applies), **shows, vague=vague)


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
    if len(parts) == 1:
        return parts[0]

    def every(x: Any, p: Params) -> bool:
        for part in parts:  # noqa: SIM110  # asked a million times in an hour: a generator costs twice as much
            if not part(x, p):
                return False
        return True

    return every


def _equals(name: str, value: Any) -> Condition:
    allowed: Sequence[Any] = value if isinstance(value, list) else [value]
    return lambda x, p: name in p and p[name] in allowed


class View:
    """The ledger as it stands for some routes with their versions on a kind of CPU: what everybody asks.

    An entry that was never seen with the versions at hand, on such a CPU, excuses nothing, and keeps no model away.
    known: rules to go by instead of the ledger's. cpu: this machine's, if none is named. offers: what the libraries at
    the front of routes lack, where they were asked; what stands in the ledger is a defect, and no lack.
    """

    def __init__(
        self,
        routes: Mapping[str, Route],
        versions: Mapping[str, Mapping[str, str]],
        known: Sequence[Rule] | None = None,
        cpu: str = "",
        offers: Mapping[str, Offer] | None = None,
    ) -> None:
        self.routes, self.versions, self.known = routes, versions, known
        self.cpu = cpu or cpu_level()
        self.offers = offers or {}
        self._rules: dict[tuple[str, str, bool], tuple[Rule, ...]] = {}
        self._standing: dict[tuple[str, bool], Sequence[Rule]] = {}

    def stands(self, defect: Defect, route: str) -> bool:
        """Whether a defect was seen with the versions that a route has, and did not fail to show with just these."""
        versions = self.versions.get(route, {})
        return not self.mended(defect, route) and any(each.meets(versions, self.cpu) for each in defect.seen)

    def stands_anywhere(self, defect: Defect) -> bool:
        """Whether a defect stands on one of the routes that it speaks of."""
        return any(defect.spoken_of & route.names and self.stands(defect, name) for name, route in self.routes.items())

    def stands_among(self, defect: Defect, routes: Sequence[str]) -> bool:
        """Whether a defect can be what several routes show at once: it stands on one, and is mended on none of them."""
        return any(self.stands(defect, name) for name in routes) and not any(
            self.mended(defect, name) for name in routes
        )

    def mended(self, defect: Defect, route: str) -> bool:
        """Whether it was looked for with just the versions that a route has, and did not show."""
        versions = self.versions.get(route, {})
        return any(each.speaks_of(self.cpu) and each.versions.items() <= versions.items() for each in defect.fixed)

    def rules_of(self, route: str, layer: str, base: bool = False) -> tuple[Rule, ...]:
        """The rules that stand against a layer on a route: its own, and those of its steps, such as `tf2onnx`.

        base: instead those of the route that runs the same model without any detour, with the versions at hand.
        """
        key = route, layer, base
        if key not in self._rules:
            standing = self._standing_on(route, base)
            self._rules[key] = tuple(rule for rule in standing if not rule.layers or layer in rule.layers)
        return self._rules[key]

    def _standing_on(self, route: str, base: bool) -> Sequence[Rule]:
        """The rules that stand against anything on a route."""
        if (route, base) not in self._standing:
            names, known = self._names(route, base), rules() if self.known is None else self.known
            self._standing[route, base] = [
                rule for rule in known if not names.isdisjoint(rule.routes) and self.stands(rule.defect, route)
            ]
        return self._standing[route, base]

    def _names(self, route: str, base: bool) -> frozenset[str]:
        """What the ledger calls a route, or its base."""
        found = self.routes.get(route)
        if found is None or not base:
            return frozenset() if found is None else found.names
        shortest = base_of(found.like or found.name)
        return frozenset() if shortest is None else ROUTES[shortest].names

    def base_of(self, route: str) -> str | None:
        """The route of this view that has the same front end, in the same environment, and nothing behind it."""
        own = self.routes.get(route)
        if own is None or not own.steps[0].live:
            return None
        same = [other for other in self.routes.values() if other.keys[0] == own.keys[0]]
        shortest = min(same, key=lambda other: len(other.steps), default=own)
        return None if shortest is own or shortest is None else shortest.name

    def rules_against(self, route: str, spec: LayerSpec, x: Any, params: Params, base: bool = False) -> Iterator[Rule]:
        """The rules that a layer call meets on a route; for a wrapper, also those of the layers inside it."""
        if rules_here := self.rules_of(route, spec.name, base):
            mixed = POLICY in params
            for rule in rules_here:
                if rule.holds(x, params):
                    yield rule.wrapped if mixed else rule
        for inner, types in spec.inner(x, params):
            within, own = spec_of(inner.layer), inner.params
            if POLICY in params:  # a wrapper hands its policy on
                own = own.replace(**{POLICY: params[POLICY]})
            for rule in self.rules_against(route, within, within.view(types), own, base):
                yield rule.wrapped

    def excuses(self, route: str, spec: LayerSpec, x: Any, params: Params) -> Iterator[Rule]:
        """The same, and then what stands against the route's base, which what is behind it may inherit."""
        yield from self.rules_against(route, spec, x, params)
        yield from (rule.behind for rule in self.rules_against(route, spec, x, params, base=True))


class Supposing(View):
    """The ledger as if one entry alone had been seen, whatever the versions: what a refresh holds against them."""

    def __init__(self, routes: Mapping[str, Route], supposed: Defect) -> None:
        super().__init__(routes, {})
        self.supposed = supposed

    def stands(self, defect: Defect, route: str) -> bool:
        return defect.id == self.supposed.id
