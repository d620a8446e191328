"""The bench on which oracles examine a trial: the reference, computed once, and the routes again with intermediates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from cometfuzz.catalogue.data import Data, draw_data
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Graph, Node
from cometfuzz.ledger.matching import Rule, View
from cometfuzz.oracles.finding import Finding, Severity
from cometfuzz.oracles.local import Suspect, WrongNode, find_wrong_nodes, suspects
from cometfuzz.reference.nonfinite import GIVEN, SPECIAL, nonfinite_origins
from cometfuzz.reference.run import Run, run


class Rerun(Protocol):
    """Runs a case again on some routes, if asked with the output of every node."""

    def __call__(self, case: Case, routes: Sequence[str], intermediates: bool = False) -> Trial: ...


@dataclass(frozen=True)
class Bench:
    """A trial and what can be asked about it.

    again: the same trial a second time, where determinism is looked at. view: what is known of the libraries.
    """

    trial: Trial
    rerun: Rerun
    again: Trial | None = None
    view: View = field(default_factory=usual_view)

    @property
    def graph(self) -> Graph:
        return self.trial.case.graph

    @cached_property
    def data(self) -> Data:
        return draw_data(self.trial.case)

    @cached_property
    def reference(self) -> Run:
        return run(self.graph, self.data)

    @cached_property
    def completed(self) -> Mapping[str, Outcome]:
        return {name: outcome for name, outcome in self.trial.outcomes.items() if outcome.status == "completed"}

    @cached_property
    def suspects(self) -> Sequence[Suspect]:
        """Routes whose outputs have the right types but are further from the reference than a cheap gate allows."""
        return suspects(self.graph, self.completed, self.reference)

    @cached_property
    def wrong_nodes(self) -> Sequence[WrongNode]:
        """Where the suspects go wrong, judged on their own inputs of each node."""
        return find_wrong_nodes(self.trial.case, self.data, self.suspects, self.rerun) if self.suspects else ()

    def severity(self, node: Node | None = None) -> Severity:
        """What the data is like, at a node or in the whole graph."""
        nodes = [node] if node is not None else list(self.graph.nodes)
        above = self._above(node) if node is not None else {each.id for each in nodes}
        origins = nonfinite_origins(self.graph, self.reference)
        reasons = {reason for name, reason in origins.items() if name in above}
        special = any(self.graph.by_id[name].layer == "special" for name in above)
        if special or reasons & {GIVEN, SPECIAL}:
            return "special"
        if any(kind.elements == 0 for each in nodes for kind in (*self.graph.input_types(each), *each.outputs)):
            return "empty"
        return "overflow" if reasons else "ordinary"

    def _above(self, node: Node) -> set[str]:
        """A node and all that it stands on."""
        found: set[str] = set()
        waiting = [node.id]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting += [edge.node for edge in self.graph.by_id[at].inputs]
        return found

    def rules(self, route: str, node: Node | None = None) -> Iterator[Rule]:
        """What the ledger has against a node on a route, or against any node; of a utility, what names no layer."""
        for each in [node] if node is not None else self.graph.nodes:
            if each.layer != INPUT:
                spec = CATALOGUE[each.layer]
                yield from self.view.excuses(route, spec, spec.view(self.graph.input_types(each)), each.params)


Oracle = Callable[[Bench], Iterator[Finding]]
