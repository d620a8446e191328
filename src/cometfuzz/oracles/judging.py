"""All oracles on one trial. Every trial is judged completely; an exception in an oracle is our bug and goes through."""

from collections.abc import Iterator

from cometfuzz.oracles.bench import Bench, Oracle
from cometfuzz.oracles.crash import crash
from cometfuzz.oracles.determinism import determinism
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.hang import hang
from cometfuzz.oracles.shape import shape
from cometfuzz.oracles.value import nonfinite, value

ORACLES: dict[str, Oracle] = {
    "crash": crash,
    "hang": hang,
    "shape": shape,
    "nonfinite": nonfinite,
    "value": value,
    "determinism": determinism,
}


def examine(bench: Bench) -> Iterator[Finding]:
    """What every oracle has to say."""
    for oracle in ORACLES.values():
        yield from oracle(bench)
