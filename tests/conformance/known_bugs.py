"""Bugs made by hand of drawn calls that fall under a declared gap: what triage would hand to the reproducer."""

from collections.abc import Iterator
from itertools import islice

from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution.conformance import find_gaps
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.routes.gaps import Gap
from cometfuzz.triage.bug import Blame, Bug, Signature

SEARCHED = 2500
"""How many draws of a layer are looked through for some that a gap covers."""


def covered(gap: Gap, route: str, layer: str, wanted: int) -> list[LayerDraw]:
    """The smallest of the first draws of a layer that fall under a gap and no other one."""
    drawn = (draw_layer(layer, 7, index) for index in range(SEARCHED))
    found = islice((each for each in drawn if find_gaps(route, each) == [gap]), 4 * wanted)
    return sorted(found, key=lambda each: _size(each.case))[:wanted]


def _size(case: Case) -> int:
    return sum(kind.elements for node in case.graph.nodes for kind in node.outputs)


def findings(executor: Executor, case: Case, route: str) -> Iterator[Finding]:
    """What the oracles say of a case on a route."""
    trial = executor.run(case, [route])
    yield from examine(Bench(trial, executor.run))


def bug_of(case: Case, finding: Finding) -> Bug:
    """A bug of one finding; who is to blame is what the trial says."""
    layers = tuple(node.layer for node in case.graph.nodes if not node.layer.islower())
    signature = Signature(finding.library, finding.stage, finding.symptom, layers, finding.failure)
    role = f"{finding.library} in {finding.stage}"
    return Bug(
        signature=signature,
        title=f"{' > '.join(layers)}: {finding.symptom} on {finding.camps[0].routes[0]}",
        severity=finding.severity,
        finding=finding,
        blame=Blame(finding.library, finding.stage, role, "It is the only stage that fails.", 0.9),
        original=case,
        original_id=case_id(case),
        minimal=case,
        minimal_id=case_id(case),
        runs=3,
        shown=3,
    )


def first_bug(executor: Executor, gap: Gap, route: str, layer: str, tries: int = 12) -> Bug | None:
    """A bug of a layer that shows under a gap."""
    for drawn in covered(gap, route, layer, tries):
        for finding in findings(executor, drawn.case, route):
            if finding.gap == gap.evidence:
                return bug_of(drawn.case, finding)
    return None
