"""Shares of the CPU time: which dear routes are behind theirs.

Every case runs on the base routes, which are cheap; a dear one gets a case when it has had less than its share. So an
expensive route cannot starve the others, and none is forgotten. Seconds are nominal, what a step usually takes
(`Step.cpu_s`), and not the clock's: the same seed gives the same cases on any machine and with any number of jobs.
What several routes of a trial share is charged to them in equal parts.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from cometfuzz.config import PolicyConfig
from cometfuzz.routes import Route
from cometfuzz.routes.switches import plain_name


class Budget:
    """What each route has had, in nominal CPU seconds. routes: those of the campaign."""

    def __init__(self, policy: PolicyConfig, routes: Mapping[str, Route]) -> None:
        self.routes = routes
        self.shares = shares_of(policy, routes)
        self.spent = dict.fromkeys(routes, 0.0)

    def charge(self, names: Iterable[str]) -> None:
        """Count a trial on some routes; what ran with a switch set counts for the plain route."""
        taken = [self.routes[plain] for name in names if (plain := plain_name(name)) in self.routes]
        served = Counter(key for route in taken for key in route.keys)
        for route in taken:
            steps = zip(route.keys, route.steps, strict=True)
            self.spent[route.name] += sum(step.cpu_s / served[key] for key, step in steps)

    @property
    def behind(self) -> tuple[str, ...]:
        """The dear routes that have had less than their share."""
        total = sum(self.spent.values())
        return tuple(name for name, share in self.shares.items() if self.spent[name] < share * total)


def shares_of(policy: PolicyConfig, routes: Collection[str]) -> dict[str, float]:
    """The share of each dear route among some: what the configuration says, the others as much as each other."""
    dear = [name for name in (*policy.converters, *policy.sampled) if name in routes]
    own = {name: share for name, share in policy.shares.items() if name in dear}
    others = [name for name in dear if name not in own]
    rest = max(policy.dear - sum(own.values()), 0.0) / max(len(others), 1)
    return {name: own.get(name, min(rest, policy.most)) for name in dear}
