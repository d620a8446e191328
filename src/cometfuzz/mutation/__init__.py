"""Mutations: each makes one valid Graph out of another, going for what is uncovered. One file each.

They are entry points of the group "cometfuzz.mutations": a package from outside adds one by declaring it.
"""

from cometfuzz.errors import UnknownName
from cometfuzz.mutation.base import Mutation
from cometfuzz.plugins import Plugins

GROUP = "cometfuzz.mutations"
PAPER = ("MDtype", "MDims", "MShape", "MParam", "IL", "ML", "CL", "SpecialI")
"""The eight operators of the paper. Strategies name them, so that one more that is installed shifts no number."""

MUTATIONS: Plugins[Mutation] = Plugins(GROUP)


def with_others(names: str) -> tuple[str, ...]:
    """The mutations that a list with commas, or `all`, adds to the paper's eight."""
    others = [name for name in MUTATIONS if name not in PAPER]
    wanted = others if names == "all" else list(dict.fromkeys(filter(None, names.split(","))))
    for name in wanted:
        if name not in others:
            known = ", ".join(others) or "there are none"
            raise UnknownName(f"expected `all` or installed mutations ({known}); received mutation={name!r}")
        MUTATIONS[name]  # a broken one is refused now, not in the middle of a campaign
    return tuple(wanted)


__all__ = ["MUTATIONS", "PAPER", "Mutation", "with_others"]
