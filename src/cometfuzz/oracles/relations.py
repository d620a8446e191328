"""Relations: questions whose answers go together, whatever the right answer is.

The rows of a batch in another order, or one by one; channels, other places or operands in another order; the model
called once more, by `predict`, or as a graph. A relation is asked of one layer at a time, on the values that it has in
the model, in some of all cases. Whether it holds for a layer nobody declares: it does where the reference obeys it on
the very data. What is found comes with the small case that shows it, so that triage begins there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import Array, draw_data, to_tensor
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id, encode
from cometfuzz.ir.graph import Edge, Inner, Params
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.contradiction import Answers, contradiction, kinds_of
from cometfuzz.oracles.crash import DEATHS, STATIC
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.oracles.local import same_types
from cometfuzz.oracles.quantisation import FLOAT8, INT8
from cometfuzz.oracles.related import (
    last_row,
    other_last_axis,
    other_operands,
    other_rows,
    other_second_axis,
    resized,
    rows_of,
    same,
)
from cometfuzz.oracles.symptoms import RELATION
from cometfuzz.oracles.windows import weights_of, window
from cometfuzz.reference.run import narrow, run
from cometfuzz.routes import forms

SAMPLE, ALL = "sample", "all"
"""What a Bench may ask about beside the name of one relation: in some cases all that apply to one layer; all, of the
case as it is."""

ONE_IN = 7
"""How many cases there are for one of which relations are asked: so they take a twentieth of a campaign's CPU time."""

LARGEST = 4096
"""A layer with more elements among its inputs and outputs is not asked."""

MISMATCH = "ComputedTypeMismatch"
"""Raised by the forms that compare the type of a result with what Keras has said of it."""

ROWS = 3
"""How many rows a batch of one is given: an odd number, for what is computed two by two."""

SPECIALS = (np.nan, np.inf, -np.inf)
SPECIAL_ONE_IN = 2
"""How many layers there are for one that gets NaN and Inf among its inputs: what only rules keep silent about shows
there."""

EXACTLY = 1e-9
"""How far the reference may be from a relation that holds, relative to the largest number."""


@dataclass(frozen=True)
class Relation:
    """One relation.

    ask: the related case; None where there is none. index: which part or order of the first answer the second one must
    be, as NumPy has it; text: the same in a script. form: the form of a route that answers (`routes.forms`); else it is
    the route itself. behind: the form in which a model must be right, so that this one can be asked. fails: whether an
    exception is a contradiction too; if not, the crash oracle has a route for it. one_in: in how many samples it is
    asked once, if it is dear. slack: how far from the first answer the second may be for other reasons than rounding.
    """

    name: str
    ask: Callable[[Case], Case | None]
    index: Any = ...
    text: str = ""
    form: str = ""
    behind: str = ""
    fails: bool = False
    one_in: int = 1
    slack: Callable[[Case], Mapping[Edge, Array]] | None = None


def _any_batch(case: Case) -> Case | None:
    """The case itself, if its layer does not mix the batch: then it can be built for a batch of any size.

    Of the floats, only float32: `predict` casts all others to Keras' floatx. A stateful layer has a state for each row.
    """
    dtypes = {node.outputs[0].dtype for node in case.graph.inputs}
    stateful = any(_keeps_state(node.params) for node in case.graph.nodes)
    return case if dtypes <= {"float32", "int32", "bool"} and not stateful and holds(LAST_ROW, case) else None


def _keeps_state(params: Params) -> bool:
    inner = [value.params for value in params.values() if isinstance(value, Inner)]
    return bool(params.get("stateful")) or any(map(_keeps_state, inner))


OTHER_ROWS = Relation("batch in another order", other_rows, np.s_[::-1], "[::-1]")
OTHER_LAST_AXIS = Relation("last axis in another order", other_last_axis, np.s_[..., ::-1], "[..., ::-1]")
OTHER_SECOND_AXIS = Relation("second axis in another order", other_second_axis, np.s_[:, ::-1], "[:, ::-1]")
OTHER_OPERANDS = Relation("operands in another order", other_operands)
LAST_ROW = Relation("a row by itself", last_row, np.s_[-1:], "[-1:]")
AGAIN = Relation("the same call again", same, form=forms.AGAIN)
GRAPH = Relation("eager and as a graph", same, form=forms.GRAPH)
PREDICT = Relation("call and predict", _any_batch, form=forms.PREDICT, behind=forms.GRAPH, fails=True, one_in=3)
TYPES = Relation("symbolic and computed types", _any_batch, form=forms.TYPES, fails=True)
QUANTISED = Relation("as it is and quantised", INT8.applies, form=forms.INT8, fails=True, slack=INT8.slack)
NARROWED = Relation("as it is and in narrow floats", FLOAT8.applies, form=forms.FLOAT8, fails=True, slack=FLOAT8.slack)
UNCHECKED = Relation("symbolic and computed types, unlike the predicted ones", same, form=forms.UNCHECKED)

RELATIONS = {
    relation.name: relation
    for relation in (
        *(OTHER_ROWS, OTHER_LAST_AXIS, OTHER_SECOND_AXIS, OTHER_OPERANDS, LAST_ROW),
        *(AGAIN, GRAPH, PREDICT, TYPES, QUANTISED, NARROWED),
    )
}


def relations(bench: Bench) -> Iterator[Finding]:
    """One finding for each relation and library that contradict."""
    if not bench.relations or bench.trial.case.breaks:
        return
    if bench.relations == UNCHECKED.name or bench.relations in (SAMPLE, ALL):
        yield from _types_of_refused(bench)
    if bench.relations != SAMPLE:
        wanted = [each for name, each in RELATIONS.items() if bench.relations in (ALL, name)]
        yield from _contradictions(bench, bench.trial.case, wanted)
        return
    identity = case_id(bench.trial.case)
    draw = Draw(identity, "relations")
    if draw.chance(1 / ONE_IN) and bench.completed:
        # Each by a draw of its own: a new relation moves none of the others.
        wanted = [each for each in RELATIONS.values() if Draw(identity, each.name).chance(1 / each.one_in)]
        piece = drawn_piece(bench, draw)
        if piece is not None:
            yield from _contradictions(bench, piece, wanted)


def case_of(finding: Finding, case: Case) -> Case:
    """The small case that a finding brings along; else the one that it was found in."""
    text = finding.evidence.get("case")
    return decode(str(text).encode()) if text else case


def drawn_piece(bench: Bench, draw: Draw) -> Case | None:
    """One layer of the model as a case of its own, on the values that the reference has there."""
    graph = bench.graph
    values = {edge: narrow(value, graph.type_of(edge).dtype) for edge, value in bench.reference.values.items()}
    nodes = draw.shuffled([node for node in graph.nodes if CATALOGUE[node.layer].counted])
    ranks = {layer: rank for rank, layer in enumerate(draw.shuffled(sorted({node.layer for node in nodes})))}
    for node in sorted(nodes, key=lambda node: ranks[node.layer]):  # rare layers as often as common ones
        kinds = [*graph.input_types(node), *node.outputs]
        if not 0 < min(kind.elements for kind in kinds) <= max(kind.elements for kind in kinds) <= LARGEST:
            continue
        piece = window(graph, [node], values)
        if piece is not None:
            piece = _with_rows(replace(piece, data={**piece.data, **weights_of(piece.graph, bench.data)}))
            return _with_specials(piece, draw) if draw.chance(1 / SPECIAL_ONE_IN) else piece
    return None


def _with_rows(case: Case) -> Case:
    """The case with several rows, if it has one: most models have a batch of one, where rows have nothing to confuse.

    The others have the numbers of the first one in other places.
    """
    if rows_of(case) != 1:
        return case
    larger = resized(case, ROWS, lambda array: np.concatenate([np.roll(array, by) for by in range(ROWS)]))
    return larger if larger is not None and rows_of(larger) == ROWS else case


def _with_specials(case: Case, draw: Draw) -> Case:
    """NaN, Inf and -Inf at drawn places of one input."""
    inputs = [node.id for node in case.graph.inputs if node.outputs[0].dtype in FLOATS]
    if not inputs:
        return case
    name = draw.choice(inputs)
    array = draw_data(case).inputs[name].copy()
    for value in SPECIALS:
        array.reshape(-1)[draw.integer(0, array.size - 1)] = value
    return replace(case, data={**case.data, name: to_tensor(array)})


def holds(relation: Relation, case: Case) -> bool:
    """Whether the reference obeys a relation on a case."""
    other = relation.ask(case)
    return other is not None and _obeyed(relation, case, other)


def _obeyed(relation: Relation, case: Case, other: Case) -> bool:
    if relation.form:
        return True
    first, second = (run(each.graph, draw_data(each)).values for each in (case, other))
    axes = len(relation.index) if isinstance(relation.index, tuple) else int(relation.index is not ...)
    if any(len(case.graph.type_of(edge).shape) < axes for edge in case.graph.outputs):
        return False  # what has no such axis has no part of it
    return all(_alike(first[edge][relation.index], second[edge]) for edge in case.graph.outputs)


def _alike(want: Array, seen: Array) -> bool:
    if want.shape != seen.shape or not np.array_equal(kinds_of(want), kinds_of(seen)):
        return False
    numbers = kinds_of(want) == 0
    one, two = want[numbers].astype(np.float64), seen[numbers].astype(np.float64)
    return bool((np.abs(one - two) <= EXACTLY * np.max(np.abs(one), initial=0.0)).all())


def _contradictions(bench: Bench, case: Case, wanted: Sequence[Relation]) -> Iterator[Finding]:
    """Ask about a case in all ways that apply, on the routes that have completed."""
    asked = [(each, other) for each in wanted if (other := each.ask(case)) and _obeyed(each, case, other)]
    routes = list(bench.completed)
    if not asked or not routes:
        return
    needed = {form for each, _ in asked for form in (each.behind, each.form) if form}
    named = {(route, form): _form(bench, route, form) for route in routes for form in needed}
    first = bench.rerun(case, [*routes, *filter(None, named.values())]).outcomes
    answers = Answers(case)
    usual = [name for name in routes if first[name].status == "completed" and same_types(case.graph, first[name])]
    for relation, other in asked:
        if relation.form:
            right = [name for name in usual if not _wrong_before(answers, relation, first, name, named)]
            second = {name: first[form] for name in right if (form := named[name, relation.form])}
        else:
            second = dict(bench.rerun(other, usual).outcomes) if usual else {}
        told = {name: _told(answers, relation, first[name], outcome) for name, outcome in second.items()}
        yield from _findings(bench, case, relation, other, first, second, told)


def _wrong_before(
    answers: Answers,
    relation: Relation,
    first: Mapping[str, Outcome],
    name: str,
    named: Mapping[tuple[str, str], str],
) -> bool:
    """Whether the form that a relation stands behind has another answer already, or none."""
    form = named.get((name, relation.behind))
    return bool(form) and _told(answers, GRAPH, first[name], first[str(form)]) != ""


def _form(bench: Bench, route: str, form: str) -> str:
    known = bench.view.routes.get(route)
    found = forms.form_of(known, form) if known is not None else None
    return "" if found is None else found.name


def _told(answers: Answers, relation: Relation, first: Outcome, second: Outcome) -> str | None:
    """How two outcomes contradict; None if nobody can tell, since the second is not there."""
    if second.status != "completed":
        return _failed(second) if relation.fails else None
    if len(first.outputs) != len(second.outputs):
        return f"expected {len(first.outputs)} outputs; received {len(second.outputs)}"
    farther = {} if relation.slack is None else relation.slack(answers.case)
    for edge, one, two in zip(answers.graph.outputs, first.outputs, second.outputs, strict=True):
        text = contradiction(answers, edge, relation.index, array_of(one), array_of(two), farther.get(edge, 0.0))
        if text:
            return text
    return ""


def _failed(outcome: Outcome) -> str | None:
    """What a form says that fails, though the route itself has completed."""
    failure = outcome.failure
    if failure is not None and (failure.says_unsupported or failure.disk_full):
        return None
    return str(outcome) if failure is not None or outcome.status in DEATHS else None


def _findings(
    bench: Bench,
    case: Case,
    relation: Relation,
    other: Case,
    first: Mapping[str, Outcome],
    second: Mapping[str, Outcome],
    told: Mapping[str, str | None],
) -> Iterator[Finding]:
    """One for each library: routes of one library fail for one reason. If the second question fails as a whole, it is
    the library of the stage that it failed in."""
    here = Bench(Trial(case, {name: first[name] for name in told}), bench.rerun, view=bench.view)
    agreeing = tuple(name for name, text in told.items() if text == "")
    node = here.graph.by_id[here.graph.outputs[0].node]
    libraries: dict[tuple[str, str], list[str]] = {}
    for name, text in told.items():
        if text:
            blamed = first[name] if second[name].status == "completed" else second[name]
            libraries.setdefault((blamed.stage, blamed.library), []).append(name)
    for (stage, library), names in libraries.items():
        text = told[names[0]] or ""
        known = [rule.id for name in names for rule in here.rules(name) if rule.symptom in ("value", "result", "any")]
        yield Finding(
            oracle="relations",
            symptom=RELATION.name,
            data_kind=here.data_kind(),
            camps=(Camp(tuple(names), text), *([Camp(agreeing, "agree with themselves")] if agreeing else [])),
            stage=stage,
            library=library,
            detail=f"{relation.name}: {text}",
            node=node.id,
            layer=node.layer,
            defect=known[0] if known else "",
            failure=relation.name,
            evidence={
                "raises": second[names[0]].status != "completed",
                "case": encode(case).decode(),
                "related": encode(other).decode() if not relation.form else relation.form,
                "against": "some routes" if agreeing else "itself",
            },
        )


def _types_of_refused(bench: Bench) -> Iterator[Finding]:
    """Where Keras' symbolic type is not the predicted one: what does it compute there?

    The shape oracle has reported the symbolic type. If the computed one is yet another than that, Keras contradicts
    itself.
    """
    refused = [name for name, each in bench.trial.outcomes.items() if each.failure and each.failure.type == STATIC]
    names = {name: form for name in refused if (form := _form(bench, name, UNCHECKED.form))}
    if not names:
        return
    case = bench.trial.case
    outcomes = bench.rerun(case, list(names.values()), intermediates=True).outcomes
    for name, form in names.items():
        failure = outcomes[form].failure
        if failure is not None and failure.type == MISMATCH:
            layer = failure.message.partition(":")[0]
            known = [rule.id for rule in bench.rules(name) if rule.symptom in ("shape", "result", "any")]
            yield Finding(
                oracle="relations",
                symptom=RELATION.name,
                data_kind=bench.data_kind(),
                camps=(Camp((name,), failure.message),),
                stage=bench.trial.outcomes[name].stage,
                library=bench.trial.outcomes[name].library,
                detail=f"{UNCHECKED.name}: {failure.message}",
                layer=layer if layer in CATALOGUE else "",
                defect=known[0] if known else "",
                failure=UNCHECKED.name,
                evidence={"raises": True, "related": UNCHECKED.form, "against": "itself"},
            )
