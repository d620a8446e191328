"""All oracles on one trial. Every trial is judged completely; an exception in an oracle is its bug, and goes through.

Oracles are entry points of the group "cometfuzz.oracles": a package from outside adds one by declaring it.
"""

from collections.abc import Iterator

from cometfuzz.oracles.bench import Bench, Oracle
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.symptoms import SYMPTOMS
from cometfuzz.plugins import Plugins

GROUP = "cometfuzz.oracles"
ORACLES: Plugins[Oracle] = Plugins(GROUP)


def examine(bench: Bench) -> Iterator[Finding]:
    """What every oracle has to say."""
    for oracle in ORACLES.values():
        yield from oracle(bench)


def expect_oracles() -> None:
    """InvalidPlugin if an installed oracle or symptom cannot be loaded: said at once, not after the first case."""
    for plugins in (ORACLES, SYMPTOMS):
        list(plugins.values())
