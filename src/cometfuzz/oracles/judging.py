"""All oracles on one trial. Every trial is judged completely; an oracle that fails over one does not stop the others.

Oracles are entry points of the group "cometfuzz.oracles": a package from outside adds one by declaring it.
"""

from collections.abc import Callable, Iterator

from cometfuzz import errors
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


def examine(bench: Bench, fell: Callable[[str], None] | None = None) -> Iterator[Finding]:
    """What every oracle has to say; of a call that breaks a rule, whose result nobody knows, only `refusal`.

    fell: who is told of an oracle that fails over what it sees, so that the others still judge it.
    """
    asked = {"refusal": refusal} if bench.trial.case.breaks else ORACLES
    for name, oracle in asked.items():
        try:
            yield from oracle(bench)
        except errors.MEANT:
            raise
        except errors.BORNE as error:
            if fell is None:
                raise
            fell(errors.mistake(error, f"oracle {name}"))


def expect_plugins() -> None:
    """InvalidPlugin if an installed layer, oracle or symptom cannot be used: said at once, not after the first case."""
    for name, reason in BROKEN.items():
        raise InvalidPlugin(f"{LAYER_GROUP}: expected {name!r} to be usable; received {reason}")
    for plugins in (ORACLES, SYMPTOMS):
        list(plugins.values())
