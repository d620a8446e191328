"""All oracles on one trial. Every trial is judged completely; an exception in an oracle is its bug, and goes through.

Oracles are entry points of the group "cometfuzz.oracles": a package from outside adds one by declaring it.
"""

from collections.abc import Iterator

from cometfuzz.catalogue import BROKEN
from cometfuzz.catalogue import GROUP as LAYER_GROUP
from cometfuzz.errors import InvalidPlugin
from cometfuzz.oracles.bench import Bench, Oracle
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.refusal import refusal
from cometfuzz.oracles.symptoms import SYMPTOMS
from cometfuzz.plugins import Plugins

GROUP = "cometfuzz.oracles"
ORACLES: Plugins[Oracle] = Plugins(GROUP)


def examine(bench: Bench) -> Iterator[Finding]:
    """What every oracle has to say; of a call that breaks a rule, whose result nobody knows, only `refusal`."""
    if bench.trial.case.breaks:
        yield from refusal(bench)
        return
    for oracle in ORACLES.values():
        yield from oracle(bench)


def expect_plugins() -> None:
    """InvalidPlugin if an installed layer, oracle or symptom cannot be used: said at once, not after the first case."""
    for name, reason in BROKEN.items():
        raise InvalidPlugin(f"{LAYER_GROUP}: expected {name!r} to be usable; received {reason}")
    for plugins in (ORACLES, SYMPTOMS):
        list(plugins.values())
