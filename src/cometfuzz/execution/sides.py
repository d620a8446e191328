"""Two sides of a comparison: routes in pairs, an old one and a new one, which get the same cases.

A side is an environment, in which every route is made anew that can live there, or a list of routes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from cometfuzz.config import PolicyConfig
from cometfuzz.errors import UnknownName
from cometfuzz.execution.environments import known_names
from cometfuzz.execution.versions import installed
from cometfuzz.ledger.matching import Rule, View
from cometfuzz.routes import Route
from cometfuzz.routes.registry import choose, moved
from cometfuzz.routes.switches import MARK, plain_name

Side = Literal["old", "new"]
AT = "@"
"""Between the name of a route and that of the environment in which it is made anew."""


@dataclass(frozen=True)
class Sides:
    """What people call the two sides, and the routes of each in pairs: (old, new)."""

    old: str
    new: str
    pairs: tuple[tuple[str, str], ...]

    @property
    def routes(self) -> tuple[str, ...]:
        """All routes, those of the new side first: what they share with others is reported there."""
        return tuple(dict.fromkeys([new for _, new in self.pairs] + [old for old, _ in self.pairs]))

    def side_of(self, route: str) -> Side | None:
        """The side of a route, with a switch or without; None if it is on neither."""
        for old, new in self.pairs:
            if route == old or plain_name(route) == old:
                return "old"
            if route == new or plain_name(route) == new:
                return "new"
        return None

    def twin(self, route: str) -> str | None:
        """The route of the other side that is beside one; None if there is none."""
        switch = route.removeprefix(plain_name(route))
        for old, new in self.pairs:
            for one, other in ((old, new), (new, old)):
                if route == one:
                    return other
                if plain_name(route) == one and MARK not in other:
                    return other + switch
        return None

    def name(self, side: Side) -> str:
        """What people call a side."""
        return self.old if side == "old" else self.new

    def both(self, routes: Iterable[str], known: Mapping[str, Route]) -> tuple[str, ...]:
        """Some routes, and those beside them that are known."""
        given = tuple(routes)
        beside = [twin for name in given if (twin := self.twin(name)) in known]
        return tuple(dict.fromkeys([*given, *(name for name in beside if name is not None)]))

    def policy(self, policy: PolicyConfig, routes: Mapping[str, Route]) -> PolicyConfig:
        """A policy that speaks of the new side's routes; the old side gets what they get.

        Where a side has no route that takes every case, all of its routes do.
        """

        def chosen(names: Sequence[str]) -> tuple[str, ...]:
            ours = [new for _, new in self.pairs]
            return tuple(dict.fromkeys(name for name in ours if (routes[name].like or name) in names or name in names))

        lists = {field: chosen(names) for field, names in policy.names.items()}
        if not lists["base"]:
            every = tuple(dict.fromkeys(new for _, new in self.pairs))
            lists = {**dict.fromkeys(lists, ()), "base": every}
        return msgspec.structs.replace(policy, **lists)


def sides_between(
    old: str, new: str, routes: Mapping[str, Route], default: Sequence[str], only: str = ""
) -> tuple[Sides, dict[str, Route]]:
    """The sides that two names stand for, and the routes with those that had to be made.

    Each is an environment, or a list of routes with commas, as long as the other. default: the routes that are made in
    two environments; only: some of them, with commas.
    """
    environments = known_names()
    if old in environments and new in environments:
        chosen = [route.name for route in choose(only, routes)] if only else default
        made = [(_in(routes[name], old), _in(routes[name], new)) for name in chosen if _alone(routes[name])]
        found = [(one, two) for one, two in made if one is not None and two is not None]
    else:
        lists = [choose(names, routes) for names in (old, new)]
        if len(lists[0]) != len(lists[1]):
            raise UnknownName(
                f"expected two environments ({', '.join(environments)}), or two lists of routes of one length; "
                f"received {len(lists[0])} and {len(lists[1])} routes: {old!r} and {new!r}"
            )
        found = list(zip(*lists, strict=True))
    pairs = tuple((one.name, two.name) for one, two in found)
    olds, news = ([pair[place] for pair in pairs] for place in (0, 1))
    if not pairs or not set(olds).isdisjoint(news) or len({*olds, *news}) < 2 * len(pairs):
        raise UnknownName(
            f"expected two sides that differ and have a route each, none of them twice; received {old!r} and {new!r}, "
            f"with routes={', '.join(f'{one} / {two}' for one, two in pairs) or 'none'}"
        )
    return Sides(old, new, pairs), {**routes, **{route.name: route for pair in found for route in pair}}


def _alone(route: Route) -> bool:
    """Whether a route is one of ours, not a copy, and lives in one environment."""
    return not route.like and len({step.group.environment for step in route.steps}) == 1


def _in(route: Route, environment: str) -> Route | None:
    """A route in an environment; None if that lacks a library of it."""
    if route.steps[0].group.environment == environment:
        return route
    packages = installed(environment)
    for stage in route.stages:
        if packages and not any(name in packages for name in stage.owner.packages):
            return None
    return moved(route, f"{route.name}{AT}{environment}", environment)


class CommonView(View):
    """The ledger as far as it stands on both sides: only that keeps models away. What is known of one side alone is a
    difference, which a comparison is out for. What a library lacks on one side is in no model."""

    def __init__(self, whole: View, sides: Sides) -> None:
        new = {name: route for name, route in whole.routes.items() if sides.side_of(name) == "new"}
        lacks = {name: [whole.offers.get(each) for each in (name, sides.twin(name) or "")] for name in new}
        offers = {name: next((offer for offer in found if offer is not None), None) for name, found in lacks.items()}
        told = {name: offer for name, offer in offers.items() if offer is not None}
        super().__init__(new, whole.versions, whole.known, whole.cpu, told)
        self._whole, self._sides = whole, sides
        self._common: dict[tuple[str, str, bool], tuple[Rule, ...]] = {}

    def rules_of(self, route: str, layer: str, base: bool = False) -> tuple[Rule, ...]:
        key = route, layer, base
        if key not in self._common:
            other = self._sides.twin(route) or ""
            beside = {id(rule) for rule in self._whole.rules_of(other, layer, base)}
            self._common[key] = tuple(rule for rule in super().rules_of(route, layer, base) if id(rule) in beside)
        return self._common[key]
