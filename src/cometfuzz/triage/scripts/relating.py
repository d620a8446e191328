"""A script's two questions whose answers must go together: the second is what is seen, the first what is expected."""

from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.data import draw_data
from cometfuzz.errors import NoScript
from cometfuzz.ir.case import Case
from cometfuzz.oracles.contradiction import Answers, kinds_of
from cometfuzz.oracles.relations import Relation
from cometfuzz.reference.bound import Expected
from cometfuzz.routes import Route, forms
from cometfuzz.triage.scripts.ends import pieces
from cometfuzz.triage.scripts.keras_program import keras_program
from cometfuzz.triage.scripts.pieces import ARRAYS, Program
from cometfuzz.triage.scripts.text import assign


def related_program(relation: Relation, case: Case, route: Route, variant: int) -> Program:
    """The program that asks both questions; its `source` is the first answer, as the second must be."""
    if relation.form:
        form = forms.form_of(route, relation.form)
        if form is None:
            raise NoScript(f"expected a route that has the form {relation.form!r}; received route={route.name!r}")
        return keras_program(case.graph, draw_data(case), form, variant, case.manner)
    other = relation.ask(case)
    if other is None:
        raise NoScript(f"expected a case to which a relation applies; received relation={relation.name!r}")
    first, second = (keras_program(each.graph, draw_data(each), route, variant, each.manner) for each in (case, other))
    single = len(case.graph.outputs) == 1
    values = first.engine.results.values.format(first.engine.call if single else "y")
    answer = values if single else f"[{values} for y in {first.engine.call}]"
    lines = (*pieces(first), *assign("first", answer), f"# {relation.name}", *second.data)
    rest = second.engine.pieces if pieces(second) != pieces(first) else ()  # the model may be the same
    engine = replace(second.engine, pieces=(("first", lines), *rest))
    expected = f"first{relation.text}" if single else f"[y{relation.text} for y in first]"
    return replace(second, data=first.data, engine=engine, source=(expected, ARRAYS), source_is="the first answer")


def allowed(relation: Relation, case: Case) -> list[Expected]:
    """How far the second answer may be from the first one."""
    answers, found = Answers(case), []
    farther = {} if relation.slack is None else relation.slack(case)
    for edge in case.graph.outputs:
        kind, value = case.graph.type_of(edge), answers.reference.values[edge][relation.index]
        bound = answers.bound(edge)[relation.index] + farther.get(edge, 0.0)
        tied = answers.uncertain[edge][relation.index]
        tied |= np.isinf(bound) & (kinds_of(value) == 0)  # the kind is evidence where the bound is none
        found.append(Expected(kind.dtype, value, bound if kind.is_float else None, tied=tied))
    return found
