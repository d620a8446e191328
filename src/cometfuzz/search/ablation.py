"""Comet with one part of it switched off, or one of its mutations left out, to see what each is worth (RQ4)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from cometfuzz.coverage.gain import Gain
from cometfuzz.errors import UnknownName
from cometfuzz.ir.case import Case
from cometfuzz.mutation import PAPER
from cometfuzz.mutation.base import Guide
from cometfuzz.search.baselines.baseline import unfiltered
from cometfuzz.search.comet import Comet
from cometfuzz.search.metropolis import Metropolis
from cometfuzz.search.strategies import Feedback, Options

WITHOUT = "without "
BRANCH_REWARD = "no branch reward"


class _NothingFirst(Comet):
    """No uncovered values, layers and types first: all by chance."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.guide = Guide((), self.guide.avoided)


class _FrozenPool(Comet):
    """Seeds alone are mutated."""

    def is_worth_keeping(self, gains: Sequence[Gain], feedback: Feedback) -> bool:
        return False


class _NoBranchReward(Comet):
    """New branches neither score nor bring a graph into the pool."""

    def learn(self, case: Case, feedback: Feedback) -> None:
        super().learn(case, replace(feedback, new_branches=None))


def _one_layer(options: Options) -> Comet:
    return Comet(replace(options, limits=replace(options.limits, layers=1)))


def _even(options: Options) -> Comet:
    return Comet(replace(options, limits=replace(options.limits, even=True)))


def _no_gaps(options: Options) -> Comet:
    return Comet(replace(options, dialects=unfiltered(options.dialects)))


SWITCHES: Mapping[str, Callable[[Options], Comet]] = MappingProxyType(
    {
        "nothing first": _NothingFirst,
        "one layer": _one_layer,
        "even n": _even,
        BRANCH_REWARD: _NoBranchReward,
        "frozen pool": _FrozenPool,
        "no gaps": _no_gaps,
    }
)
"""What is switched off: uncovered things first; several layers for one mutation; more of them often than few; the
reward for new branches, which says nothing where nothing runs; a pool that grows; keeping clear of what is known."""


STAYS: Mapping[str, str] = MappingProxyType(
    {
        "no gaps": "it is there for bugs: what is behind a call that is known to fail is not tested",
        BRANCH_REWARD: "it goes for code and not for layers, and says nothing where nothing runs",
        **dict.fromkeys((WITHOUT + name for name in PAPER), "it is one of the eight that make this the paper's search"),
        f"{WITHOUT}SpecialI": "it is there for bugs with NaN and Inf: the paper's space has no values of data",
    }
)
"""Why a part stays that coverage of layers does not speak for."""


def ablated(switch: str, options: Options) -> Comet:
    """Comet with a switch of SWITCHES, or "without MUTATION"."""
    if switch in SWITCHES:
        return SWITCHES[switch](options)
    name = switch.removeprefix(WITHOUT)
    if not switch.startswith(WITHOUT) or name not in PAPER:
        known = ", ".join([*SWITCHES, *(WITHOUT + each for each in PAPER)])
        raise UnknownName(f"expected one of {known}; received switch={switch!r}")
    made = Comet(options)
    made.mutations = tuple(each for each in made.mutations if each != name)
    made.metropolis = Metropolis(made.mutations)
    return made
