"""The forms of Keras routes, with the real libraries: all run on one build, and agree on a model that has no fault."""

import pytest

from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.relations import ALL, relations
from cometfuzz.routes.registry import ROUTES

pytestmark = pytest.mark.library

CASE = Case(
    assemble(
        [
            Draft("x", "input", {"shape": (3, 6, 4)}, ()),
            Draft("n", "LSTM", {"units": 5, "return_state": True}, (Edge("x"),)),
        ],
        [Edge("n", 0), Edge("n", 2)],
    ),
    3,
)


@pytest.mark.parametrize(
    ("route", "forms"),
    [
        ("keras-tf", ("again", "graph", "predict", "types", "unchecked")),
        ("keras-torch", ("again", "predict", "types", "unchecked")),
    ],
)
def test_forms_of_a_keras_route_agree(route: str, forms: tuple[str, ...]) -> None:
    with Executor([ROUTES[route]]) as executor:
        trial = executor.run(CASE, [route, *(f"{route}/{form}" for form in forms)])
        assert {name: str(each) for name, each in trial.outcomes.items() if each.status != "completed"} == {}
        first = trial.outcomes[route].outputs
        for outcome in trial.outcomes.values():
            for one, two in zip(first, outcome.outputs, strict=True):
                assert (one.dtype, one.shape) == (two.dtype, two.shape)
                assert abs(array_of(one) - array_of(two)).max() < 1e-6
        assert len(executor.workers) <= executor._jobs, "expected no child of its own for a form"
        bench = Bench(executor.run(CASE), executor.run, view=executor.view, relations=ALL)
        assert list(relations(bench)) == []
