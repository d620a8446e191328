"""Calibration: how far clean runs stray, in units of the error bound, and how many pass the gate.

Cases without special values, clear of known defects, run on routes with the output of every node; each node is judged
on its own inputs, where it is not limited by its dtype's range: by the bound of the whole tensor, and by that of the
digits of each element. One layer of each case is held against itself, as relations do. What is beyond 1 is either a bug
or a bound that is too tight; the rest says how much room there is. What all oracles claim of these runs is counted too:
each claim is a bug or a false alarm.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import Data, draw_data, to_array
from cometfuzz.draw import Draw
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import INPUT, Edge
from cometfuzz.ir.types import FLOATS
from cometfuzz.ledger.matching import View
from cometfuzz.oracles.bench import Bench, Rerun
from cometfuzz.oracles.contradiction import Answers, distance
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.local import ACCURACY, same_types, suspects
from cometfuzz.oracles.relations import RELATIONS, SAMPLE, drawn_piece, holds
from cometfuzz.oracles.symptoms import RELATION, in_order
from cometfuzz.oracles.windows import window
from cometfuzz.reference.bound import expect, expect_digits, judge, largest_excess
from cometfuzz.reference.run import run

PERCENTILES = (50, 90, 99, 99.9)
NEW = ("accuracy", "special", "relation", "uninitialised")
"""Classes of claims that are listed even if there is none."""

Measures = dict[str, dict[str, Mapping[str, float]]]
"""By route and dtype."""


@dataclass
class Calibration:
    """Differences in units of the bound, by symptom, route and dtype, and what the gate does."""

    excesses: dict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: list[dict[str, str]] = field(default_factory=list)
    claims: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    suspected: int = 0

    def add(self, case: Case, routes: Sequence[str], rerun: Rerun, view: View) -> None:
        """Run one case and take its measure."""
        trial, data = rerun(case, routes, intermediates=True), draw_data(case)
        completed = {name: outcome for name, outcome in trial.outcomes.items() if outcome.status == "completed"}
        self.runs += len(completed)
        self.suspected += len(suspects(case.graph, completed, run(case.graph, data)))
        for name, outcome in completed.items():
            for symptom, layer, dtype, excess, detail in _node_excesses(case, data, outcome):
                self.excesses[symptom, name, dtype].append(excess)
                if detail:
                    wrong = {"symptom": symptom, "route": name, "layer": layer, "dtype": dtype, "detail": detail}
                    self.wrong.append(wrong)
        bench = Bench(trial, rerun, view=view, thorough=False, memory=True, relations=SAMPLE)
        for name, dtype, excess in _related_excesses(bench):
            self.excesses[RELATION.name, name, dtype].append(excess)
        self.claims.update(found.symptom for found in examine(bench) if found.counts)

    def as_plain(self) -> dict[str, Any]:
        """The form of `--json`."""
        by_symptom: dict[str, Measures] = {name: {} for name in ("value", ACCURACY, RELATION.name)}
        for (symptom, route, dtype), found in sorted(self.excesses.items()):
            values = np.array(found)
            measures = {f"p{share:g}": round(float(np.percentile(values, share)), 4) for share in PERCENTILES}
            largest = round(float(values.max()), 4)
            by_symptom[symptom].setdefault(route, {})[dtype] = {"nodes": len(found), **measures, "largest": largest}
        nodes = sum(len(found) for (symptom, *_), found in self.excesses.items() if symptom == "value")
        beyond = Counter(wrong["symptom"] for wrong in self.wrong)
        return {
            "nodes": nodes,
            "beyond": beyond["value"],
            "beyond_share": beyond["value"] / nodes if nodes else 0.0,
            "beyond_digits": beyond[ACCURACY],
            "runs": self.runs,
            "suspected": self.suspected,
            "routes": by_symptom["value"],
            "digits": by_symptom[ACCURACY],
            "relations": by_symptom[RELATION.name],
            "claims": {name: self.claims[name] for name in in_order({*NEW, *self.claims})},
            "wrong": self.wrong,
        }


def _related_excesses(bench: Bench) -> Iterator[tuple[str, str, float]]:
    """(route, dtype, excess) of one layer of the case, asked in each way that it allows."""
    piece = drawn_piece(bench, Draw(case_id(bench.trial.case), "calibration"))
    wanted = [each for each in RELATIONS.values() if piece is not None and not each.form and holds(each, piece)]
    if piece is None or not wanted:
        return
    answers, first = Answers(piece), bench.rerun(piece, list(bench.completed)).outcomes
    for relation in wanted:
        other = relation.ask(piece)
        for name, outcome in bench.rerun(other, list(bench.completed)).outcomes.items() if other else ():
            if outcome.status == first[name].status == "completed" and same_types(piece.graph, first[name]):
                for edge, one, two in zip(piece.graph.outputs, first[name].outputs, outcome.outputs, strict=True):
                    if one.dtype in FLOATS:
                        yield name, one.dtype, distance(answers, edge, relation.index, array_of(one), array_of(two))


def _node_excesses(case: Case, data: Data, outcome: Outcome) -> Iterator[tuple[str, str, str, float, str]]:
    """(symptom, layer, dtype, excess, what is wrong or nothing) of every float output of every node."""
    values = {edge: array_of(tensor) for edge, tensor in outcome.nodes.items()}
    values.update({Edge(name): array for name, array in data.inputs.items()})
    for node in case.graph.nodes:
        part = window(case.graph, [node], values) if node.layer != INPUT else None
        if part is None:
            continue
        weights = {each.id: data.weights[each.id] for each in part.graph.nodes if each.id in data.weights}
        given = Data({name: to_array(one) for name, one in part.data.items()}, weights)
        for symptom, expected in (("value", expect(part.graph, given)), (ACCURACY, expect_digits(part.graph, given))):
            for edge, one in expected.items():
                if one.bound is not None and not one.range_limited:
                    verdict = judge(one, values[edge])
                    excess = largest_excess(one, values[edge]) if verdict.ok else verdict.worst
                    yield symptom, node.layer, one.dtype, excess, "" if verdict.ok else verdict.detail
