"""Determinism: the same route gave other bits for the same case, run twice with its state reset between."""

from collections.abc import Iterator

from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding


def determinism(bench: Bench) -> Iterator[Finding]:
    """Only where the trial was run again."""
    for name, differing in bench.unsteady.items():
        first, node = bench.completed[name], bench.graph.by_id[differing[0].node]
        others = tuple(other for other in (bench.again.outcomes if bench.again else ()) if other != name)
        yield Finding(
            oracle="determinism",
            symptom="nondeterminism",
            data_kind=bench.data_kind(node),
            camps=(Camp((name,), f"{len(differing)} outputs differ"), *([Camp(others, "twice")] if others else [])),
            stage=first.stage,
            library=first.library,
            detail=f"{len(differing)} of {len(first.outputs)} outputs have other bits in a second run",
            node=node.id,
            layer=node.layer,
            defect=next((rule.id for rule in bench.rules(name) if rule.by_chance), ""),
        )
