"""Leads: findings of kinds that are new in a campaign, as what a strategy may look around.

Only what the seed decides makes one: a hang goes by the clock, other bits in a second run and what memory held before
are luck, and the same cases are promised whatever of it shows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from cometfuzz.campaign.events import Executed
from cometfuzz.catalogue.drawing import layer_case
from cometfuzz.catalogue.regimes import regime_of
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import PLAIN, Case
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.symptoms import about
from cometfuzz.routes.switches import plain_name
from cometfuzz.search.pairs import ODDITY_OF
from cometfuzz.search.placing import promised
from cometfuzz.search.strategies import Lead

BY_LUCK = ("hang", "bits", "memory")
"""How symptoms end that may show in one run and not in the next."""

FEW = 3
"""Of a model that fails and does not say where, all calls are taken if there are no more than these."""


class Leads:
    """Knows which kinds a campaign has seen.

    known: those of its earlier sessions. twins: for a route of the old side of a comparison the one beside it, which is
    what the policy speaks of.
    """

    def __init__(self, known: Sequence[str] = (), twins: Mapping[str, str] | None = None) -> None:
        self._seen, self._twins = set(known), dict(twins or {})

    def of(self, parts: Sequence[Executed]) -> tuple[Lead, ...]:
        """A lead for each kind that is new in what ran for a case; to be asked in order of index."""
        return tuple(self._of(parts))

    def _of(self, parts: Sequence[Executed]) -> Iterator[Lead]:
        for part in parts:
            for finding in part.findings:
                key = as_stored(finding.key)
                if not finding.counts or key in self._seen:
                    continue
                self._seen.add(key)
                if not part.case.breaks and about(finding.symptom).end not in BY_LUCK:
                    yield self._lead(finding, part.case)

    def _lead(self, finding: Finding, case: Case) -> Lead:
        nodes = named(finding, case.graph)
        failing = (plain_name(route) for route in finding.camps[0].routes)
        return Lead(
            # What takes a switch or another manner would not show in plain models on plain routes.
            calls=() if finding.switch or case.manner != PLAIN else calls_of(case.graph, nodes),
            routes=tuple(dict.fromkeys(self._twins.get(route, route) for route in failing)),
            stops=about(finding.symptom).stops,
            oddity=_oddity(finding, case, nodes),
        )


def as_stored(key: str) -> str:
    """A key as the store keeps it: half a surrogate pair has no UTF-8."""
    return key.encode("utf-8", "backslashreplace").decode("utf-8")


def named(finding: Finding, graph: Graph) -> list[Node]:
    """The node that a finding names; else those whose layers the message names, else all of a few."""
    if finding.node in graph.by_id:
        return [node] if CATALOGUE[(node := graph.by_id[finding.node]).layer].counted else []
    counted = [node for node in graph.nodes if CATALOGUE[node.layer].counted]
    words = set(re.findall(r"\w+", str(finding.evidence.get("message", ""))))
    found = [node for node in counted if node.layer in words] or counted
    return found if len(found) <= FEW else []


def calls_of(graph: Graph, nodes: Sequence[Node]) -> tuple[str, ...]:
    """The calls of some nodes, each as the text of a case of its own, the same ones once."""
    found: dict[str, None] = {}
    for node in nodes:
        types = tuple(map(promised, graph.input_types(node)))
        try:
            found[encode(layer_case(CATALOGUE[node.layer], types, node.params, 0)).decode()] = None
        except InvalidCase:  # it reads what no input can be
            continue
    return tuple(found)


def _oddity(finding: Finding, case: Case, nodes: Sequence[Node]) -> str:
    """How the data is odd that the nodes read, or that the case was given."""
    read = [edge.node for node in nodes for edge in node.inputs if edge.node in case.data]
    given = read or [node.id for node in case.graph.inputs if node.id in case.data]
    odd = (ODDITY_OF.get(regime_of(case.data[name]), "") for name in given)
    return next((name for name in odd if name), "special" if finding.data_kind == "special" else "")
