"""Arms of an experiment: a strategy, perhaps with one of its parts switched off."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cometfuzz.coverage.layers import SIGMA
from cometfuzz.errors import UnknownName
from cometfuzz.mutation import PAPER
from cometfuzz.search.ablation import BRANCH_REWARD, SWITCHES, WITHOUT, ablated
from cometfuzz.search.baselines.baseline import LIFTED
from cometfuzz.search.strategies import Options, Strategy, make_strategy, strategies
from cometfuzz.seeds import published

RQ1 = "directed,comet,comet-r,muffin,lemon,cradle"
RQ4 = "comet,comet-o,comet-r,comet-r-published"
SIGMAS = tuple(range(5, 56, 5))
SYNTHESISED, ORIGINALS = "synthesised", "originals"


@dataclass(frozen=True)
class Arm:
    """What is compared. name: as tables have it, and as its folder is called. switch: of `search.ablation`. seeds: the
    ten published models as they are synthesised or, without limits of size, as they are."""

    name: str
    strategy: str
    switch: str = ""
    sigma: int = SIGMA
    seeds: str = SYNTHESISED

    def made(self, seed: int) -> Strategy:
        """The strategy, from its seeds; a baseline as published takes its own."""
        options = Options(seed, [published.synthesised(name) for name in published.names()], sigma=self.sigma)
        if self.seeds == ORIGINALS:
            originals = [published.original(name) for name in published.names()]
            options = replace(options, seeds=originals, limits=LIFTED)
        if self.switch:
            return ablated(self.switch, options)
        return make_strategy(self.strategy, options)


def chosen(text: str) -> list[Arm]:
    """Arms as an option names them, with commas between them."""
    return arms(text.split(","))


def arms(names: Sequence[str]) -> list[Arm]:
    """Arms by name: strategies, or comet with a switch as "comet, frozen pool"."""
    found = []
    for name in names:
        strategy, _, switch = name.partition(", ")
        if strategy not in strategies():
            raise UnknownName(f"expected one of {', '.join(sorted(strategies()))}; received arm={name!r}")
        found.append(Arm(name, strategy, switch))
    return found


def single_switches(executed: bool) -> list[Arm]:
    """Comet, and comet with one thing switched off; the reward for branches only matters where something runs."""
    switches = [name for name in SWITCHES if executed or name != BRANCH_REWARD]
    return arms(["comet", *(f"comet, {name}" for name in switches)])


def without_one() -> list[Arm]:
    """Comet, and comet without one of its mutations."""
    return arms(["comet", *(f"comet, {WITHOUT}{name}" for name in PAPER)])


def sigmas() -> list[Arm]:
    """Comet with other caps of numeric values."""
    return [Arm(f"sigma {sigma}", "comet", sigma=sigma) for sigma in SIGMAS]


def folder_of(arm: Arm) -> str:
    """The name of an arm's folder."""
    return arm.name.replace(", ", "-").replace(" ", "-")
