"""The bench on which oracles examine a trial: the reference, computed once, and the routes again with intermediates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from cometfuzz.catalogue.data import Array, Data, draw_data
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.utility import SPECIAL_NODES
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.ledger.matching import Rule, View
from cometfuzz.oracles.finding import DataKind, Finding
from cometfuzz.oracles.local import Suspect, WrongNode, find_wrong_nodes, suspects, values_within
from cometfuzz.oracles.windows import Windows
from cometfuzz.reference.nonfinite import GIVEN, SPECIAL, nonfinite_origins
from cometfuzz.reference.run import Run, run


class Rerun(Protocol):
    """Runs a case again on some routes; if asked, with the output of every node, or with memory that is filled with
    another byte than usually."""

    def __call__(
        self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
    ) -> Trial: ...


@dataclass(frozen=True)
class Bench:
    """A trial and what can be asked about it.

    again: the same trial a second time, where determinism is looked at. view: what is known of the libraries. thorough:
    whether an oracle may ask many routes that the trial does not have; a campaign has no time for that, triage has.
    memory: whether all routes are tried with other memory, not only those that look wrong.
    relations: which are asked about: the name of one, or what `relations.py` has names for; usually none.
    """

    trial: Trial
    rerun: Rerun
    again: Trial | None = None
    view: View = field(default_factory=usual_view)
    thorough: bool = True
    memory: bool = False
    relations: str = ""
    _others: dict[str, "Bench"] = field(default_factory=dict, compare=False, repr=False)

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
        fusing = {name for name, route in self.view.routes.items() if route.fuses}
        return suspects(self.graph, self.completed, self.reference, fusing)

    @cached_property
    def wrong_nodes(self) -> Sequence[WrongNode]:
        """Where the suspects go wrong, judged on their own inputs of each node."""
        return find_wrong_nodes(self.trial.case, self.windows, self.suspects, self._within, self.rerun)

    @cached_property
    def windows(self) -> Windows:
        """Parts of the graph on the values of some route."""
        return Windows(self.graph, self.data)

    @cached_property
    def _within(self) -> Mapping[str, Mapping[Edge, Array]]:
        return values_within(self.trial.case, self.data, self.suspects, self.rerun) if self.suspects else {}

    def values_of(self, route: str) -> Mapping[Edge, Array]:
        """The values of all edges on a route that is a suspect; none if it does not give them."""
        return self._within.get(route, {})

    @cached_property
    def unsteady(self) -> Mapping[str, Sequence[Edge]]:
        """The outputs of routes that have other bits in the second run, if there was one."""
        found = {}
        for name, second in self.again.outcomes.items() if self.again is not None else ():
            first = self.completed.get(name)
            if first is None or second.status != "completed" or len(first.outputs) != len(second.outputs):
                continue
            pairs = zip(self.graph.outputs, first.outputs, second.outputs, strict=True)
            if edges := [edge for edge, one, two in pairs if one.data != two.data]:
                found[name] = edges
        return found

    def beside(self, route: str) -> "Bench":
        """A bench with the same case on a route: this one if the trial has it, else of another run."""
        if route in self.trial.outcomes:
            return self
        if route not in self._others:
            self._others[route] = replace(self, trial=self.rerun(self.trial.case, [route]), again=None, _others={})
        return self._others[route]

    def data_kind(self, node: Node | None = None) -> DataKind:
        """What the data is like, at a node or in the whole graph."""
        nodes = [node] if node is not None else list(self.graph.nodes)
        above = self.above(node) if node is not None else {each.id for each in nodes}
        origins = nonfinite_origins(self.graph, self.reference)
        reasons = {reason for name, reason in origins.items() if name in above}
        special = any(self.graph.by_id[name].layer in SPECIAL_NODES for name in above)
        if special or reasons & {GIVEN, SPECIAL}:
            return "special"
        if any(kind.elements == 0 for each in nodes for kind in (*self.graph.input_types(each), *each.outputs)):
            return "empty"
        return "overflow" if reasons else "ordinary"

    def above(self, node: Node) -> set[str]:
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
                x = spec.view(self.graph.input_types(each), each.params)
                yield from self.view.excuses(route, spec, x, each.params)


Oracle = Callable[[Bench], Iterator[Finding]]
