"""Calibration: how far clean runs stray, in units of the error bound, and how many pass the gate.

Cases without special values, clear of known defects, run on routes with the output of every node; each node is judged
on its own inputs, where it is not limited by its dtype's range. What is beyond 1 is either a bug or a bound that is
too tight; the rest says how much room there is.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import Data, draw_data, to_array
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Edge
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.bench import Rerun
from cometfuzz.oracles.local import suspects, window
from cometfuzz.reference.bound import expect, judge, largest_excess
from cometfuzz.reference.run import run

PERCENTILES = (50, 90, 99, 99.9)


@dataclass
class Calibration:
    """Differences in units of the bound, by route and dtype, and what the gate does."""

    excesses: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: list[dict[str, str]] = field(default_factory=list)
    runs: int = 0
    suspected: int = 0

    def add(self, case: Case, routes: Sequence[str], rerun: Rerun) -> None:
        """Run one case and take its measure."""
        trial, data = rerun(case, routes, intermediates=True), draw_data(case)
        completed = {name: outcome for name, outcome in trial.outcomes.items() if outcome.status == "completed"}
        self.runs += len(completed)
        self.suspected += len(suspects(case.graph, completed, run(case.graph, data)))
        for name, outcome in completed.items():
            for layer, dtype, excess, detail in _node_excesses(case, data, outcome):
                self.excesses[name, dtype].append(excess)
                if detail:
                    self.wrong.append({"route": name, "layer": layer, "dtype": dtype, "detail": detail})

    def as_plain(self) -> dict[str, Any]:
        """The form of `--json`."""
        by_route: dict[str, dict[str, Mapping[str, float]]] = {}
        for (route, dtype), found in sorted(self.excesses.items()):
            values = np.array(found)
            measures = {f"p{share:g}": round(float(np.percentile(values, share)), 4) for share in PERCENTILES}
            largest = round(float(values.max()), 4)
            by_route.setdefault(route, {})[dtype] = {"nodes": len(found), **measures, "largest": largest}
        nodes = sum(map(len, self.excesses.values()))
        return {
            "nodes": nodes,
            "beyond": len(self.wrong),
            "beyond_share": len(self.wrong) / nodes if nodes else 0.0,
            "runs": self.runs,
            "suspected": self.suspected,
            "routes": by_route,
            "wrong": self.wrong,
        }


def _node_excesses(case: Case, data: Data, outcome: Outcome) -> Iterator[tuple[str, str, float, str]]:
    """(layer, dtype, excess, what is wrong or nothing) of every float output of every node."""
    values = {edge: array_of(tensor) for edge, tensor in outcome.nodes.items()}
    values.update({Edge(name): array for name, array in data.inputs.items()})
    for node in case.graph.nodes:
        part = window(case.graph, [node], values) if node.layer != INPUT else None
        if part is None:
            continue
        weights = {each.id: data.weights[each.id] for each in part.graph.nodes if each.id in data.weights}
        expected = expect(part.graph, Data({name: to_array(one) for name, one in part.data.items()}, weights))
        for edge in part.graph.outputs:
            dtype = case.graph.type_of(edge).dtype
            if dtype in FLOATS and expected[edge].bound is not None and not expected[edge].range_limited:
                verdict = judge(expected[edge], values[edge])
                excess = largest_excess(expected[edge], values[edge]) if verdict.ok else verdict.worst
                yield node.layer, dtype, excess, "" if verdict.ok else verdict.detail
