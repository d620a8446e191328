"""Bugs made by hand of drawn calls that fall under a declared rule: what triage would hand to the reproducer."""

from collections.abc import Iterator

from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ledger.matching import Rule
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.triage.bug import Blame, Bug, Signature
from cometfuzz.triage.declared import leads


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
        data_kind=finding.data_kind,
        finding=finding,
        blame=Blame(finding.library, finding.stage, role, "It is the only stage that fails.", 0.9),
        original=case,
        original_id=case_id(case),
        minimal=case,
        minimal_id=case_id(case),
        runs=3,
        shown=3,
    )


def first_bug(executor: Executor, rule: Rule, route: str, layer: str, tries: int = 12) -> Bug | None:
    """A bug of a layer that shows under a rule."""
    for case in leads(rule, route, layer, tries):
        for finding in findings(executor, case, route):
            if finding.defect == rule.id:
                return bug_of(case, finding)
    return None
