"""Determinism: the same route gave other bits for the same case, run twice with its state reset between; or on two
machines that are alike."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cometfuzz.execution.outcome import Outcome
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding

BETWEEN_NODES = "between nodes"
"""What a finding is called that takes two machines to see it."""

_BY_LOAD = ("timeout", "memory", "oversized", "unavailable", "not reached")
"""Ends that depend on what else a machine does, or that another route reports."""


@dataclass(frozen=True)
class Fingerprint:
    """How a route ended on a machine: the status, the stage, and a digest of each output."""

    status: str
    stage: str
    digests: tuple[str, ...]


def fingerprint_of(outcome: Outcome) -> Fingerprint:
    digests = []
    for tensor in outcome.outputs if outcome.status == "completed" else ():
        header = f"{tensor.dtype}{list(tensor.shape)}".encode()
        digests.append(hashlib.sha256(header + tensor.data).hexdigest()[:32])
    return Fingerprint(outcome.status, outcome.stage, tuple(digests))


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


def between_nodes(bench: Bench, first: Mapping[str, Fingerprint], one: str, two: str) -> Iterator[Finding]:
    """The trial of node `two` beside how the same routes ended on node `one`, which has the same versions and CPU.

    What ended by its load, or ran on one of them only, says nothing.
    """
    for name, outcome in bench.trial.outcomes.items():
        before, here = first.get(name), fingerprint_of(outcome)
        if before is None or before == here or before.status in _BY_LOAD or here.status in _BY_LOAD:
            continue
        both = before.status == here.status == "completed" and len(before.digests) == len(here.digests)
        pairs = zip(bench.graph.outputs, before.digests, here.digests, strict=True) if both else ()
        differing = [edge for edge, then, now in pairs if then != now]
        node = bench.graph.by_id[differing[0].node] if differing else None
        what = (
            f"{len(differing)} of {len(here.digests)} outputs have other bits"
            if differing
            else f"{here.status} in {here.stage} instead of {before.status} in {before.stage}"
        )
        yield Finding(
            oracle="determinism",
            symptom="nondeterminism",
            data_kind=bench.data_kind(node),
            camps=(Camp((name,), f"{what} on a second node"),),
            stage=outcome.stage,
            library=outcome.library,
            detail=f"{what} on {two} than on {one}, with the same versions and CPU",
            node=node.id if node is not None else "",
            layer=node.layer if node is not None else "",
            defect=next((rule.id for rule in bench.rules(name) if rule.by_chance), ""),
            failure=BETWEEN_NODES,
            evidence={"nodes": [one, two]},
        )
