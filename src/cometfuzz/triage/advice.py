"""Advice: whether what a route does to a user's model is a known defect, at which layer, and what can be done.

Nothing is run for it: declared rules, collected bugs and known issues are asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import Node
from cometfuzz.ledger.matching import Rule
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.routes import Route
from cometfuzz.triage.collection import Collected, covering
from cometfuzz.triage.known import Known, KnownIssue, known_as
from cometfuzz.triage.signature import rough_signature

SHOWN = 3
"""How many layers or routes a line names."""

LIMITS = {"timeout": "stage_s or case_s", "memory": "memory_bytes", "oversized": "output_bytes"}
"""Which limit of ours ended a route that ended so."""


@dataclass(frozen=True)
class Advice:
    """known: a declared limit or bug, or a collected or known one; empty: none. link: where to read on.

    places: the layers that it stands against, with the parameters that it takes. actions: what the user can do.
    """

    known: str = ""
    link: str = ""
    places: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adviser:
    """What is asked: the trial, all that is known, the routes, and those of them that agree."""

    bench: Bench
    known: Known
    routes: Sequence[Route]
    agreeing: Sequence[str]

    def advise(self, outcome: Outcome, finding: Finding | None) -> Advice:
        """What to say of a route that failed or disagrees."""
        rules = list(self._rules(finding)) if finding is not None else []
        # Of values that differ at the end of a large model nobody knows where they begin to.
        located = finding is not None and finding.oracle != "agreement"
        entry, issue = self._recognised(finding) if finding is not None and located else (None, None)
        known, link = _known(rules, entry, issue)
        places = tuple(dict.fromkeys(_place(node, odd) for _, node, odd in rules))
        if not places and finding is not None and finding.node in self.bench.graph.by_id:
            places = (_place(self.bench.graph.by_id[finding.node], ()),)
        actions = (
            *_limits(outcome),
            *_parameters(rules),
            *self._detours(outcome),
            *_news(outcome, finding, known, link),
        )
        return Advice(known, link, places, actions)

    def _recognised(self, finding: Finding) -> tuple[Collected | None, KnownIssue | None]:
        known = self.known.on(self.bench.view, finding.camps[0].routes)
        entry = covering(known.collected, finding, self.bench.graph, self.bench.trial.case.manner)
        return entry, known_as(known.issues, rough_signature(finding), early=True)

    def _rules(self, finding: Finding) -> Iterator[tuple[Rule, Node, tuple[str, ...]]]:
        """The rule that a finding names, with each node it covers and the parameters without which it would not."""
        for node in self.bench.graph.nodes if finding.defect else ():
            for rule in self._covering(finding, node):
                yield rule, node, tuple(self._odd(finding, node))
                break

    def _covering(self, finding: Finding, node: Node) -> Iterator[Rule]:
        for route in finding.camps[0].routes:
            yield from (rule for rule in self.bench.rules(route, node) if rule.id == finding.defect)

    def _odd(self, finding: Finding, node: Node) -> Iterator[str]:
        """The parameters of a node that, made plain one by one, take it out of the rule."""
        plain = CATALOGUE[node.layer].complete({})
        for name, value in node.params.items():
            if repr(value) == repr(plain.get(name)):
                continue
            changed = CATALOGUE[node.layer].complete({**node.params, name: plain.get(name)})
            other = Node(node.id, node.layer, changed, node.inputs, node.outputs)
            try:
                covered = any(True for _ in self._covering(finding, other))
            except InvalidCase:  # the parameters do not go together any more
                continue
            if not covered:
                yield f"{name}={value!r}"

    def _detours(self, outcome: Outcome) -> Iterator[str]:
        """Other ways that agree: to the same library first."""
        ends = {route.name: route.stages[-1].library for route in self.routes}
        same = [name for name in self.agreeing if ends.get(name) == ends.get(outcome.route)]
        converted = [route.name for route in self.routes if route.name in self.agreeing and len(route.steps) > 2]
        if same:
            yield f"reach {ends[outcome.route]} by another way that agrees: {', '.join(same[:SHOWN])}"
        elif converted:
            yield f"use another converter or runtime, which agrees: {', '.join(converted[:SHOWN])}"


def _known(
    rules: Sequence[tuple[Rule, Node, tuple[str, ...]]], entry: Collected | None, issue: KnownIssue | None
) -> tuple[str, str]:
    """What is known, the exact first, and the link."""
    link = next((link for link in (entry and entry.defect.link, issue and issue.link) if link), "")
    if rules:
        rule = rules[0][0]
        upstream = rule.defect.upstream[0].link if rule.defect.upstream else ""
        return f"{rule.defect.kind} {rule.id}: {rule.text}", upstream or link or (entry.place if entry else "")
    if entry is not None:
        return f"{'limit' if entry.limit else 'bug'} in {entry.place}: {entry.defect.why or entry.defect.title}", link
    return (f"known {'limit' if issue.limit else 'issue'}: {issue.note or issue.link}", link) if issue else ("", "")


def _place(node: Node, odd: Sequence[str]) -> str:
    return f"{node.id} ({', '.join((node.layer, *odd))})"


def _limits(outcome: Outcome) -> Iterator[str]:
    ended = outcome.cause or outcome.status
    if ended in LIMITS:
        yield f"raise {LIMITS[ended]} under [limits] in cometfuzz.toml, if the model needs more"


def _parameters(rules: Sequence[tuple[Rule, Node, tuple[str, ...]]]) -> Iterator[str]:
    odd = list(dict.fromkeys(f"{node.layer} without {text}" for _, node, texts in rules for text in texts))
    if odd:
        yield f"use {', or '.join(odd[:SHOWN])}, which is not known to fail"
    elif rules:
        layers = list(dict.fromkeys(node.layer for _, node, _ in rules))
        yield f"replace {', '.join(layers[:SHOWN])} by other layers that compute the same"


def _news(outcome: Outcome, finding: Finding | None, known: str, link: str) -> Iterator[str]:
    """A later release, or a report; a limit of ours is neither."""
    release = f"{outcome.library} {outcome.versions.get(outcome.library, '')}".strip()
    if link:
        yield f"read {link}, and try a release later than {release}"
    elif known or (finding is not None and not finding.claims):
        yield f"try a release later than {release}"
    elif (outcome.cause or outcome.status) not in LIMITS:
        yield (
            f"make a small model of it, to report it: `cometfuzz check MODEL --keep case.json`, then "
            f"`cometfuzz reduce case.json --route {outcome.route}`"
        )
