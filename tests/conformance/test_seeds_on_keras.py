"""The synthesised seeds run on the reference and on Keras with TensorFlow, and agree."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.validate import assemble
from cometfuzz.evaluation.rq3 import KerasOnTensorFlow
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.reference.run import run
from cometfuzz.routes.registry import ROUTES
from cometfuzz.seeds.published import PAPER, original, synthesised
from cometfuzz.synthesis.synthesise import synthesise

pytestmark = pytest.mark.library


@pytest.fixture(scope="module")
def executor(main_python: Path) -> Iterator[Executor]:
    with Executor([ROUTES["keras-tf"]]) as found:
        yield found


@pytest.mark.parametrize("seed", ["shipped", 7])
@pytest.mark.parametrize("name", PAPER)
def test_a_synthesised_seed_runs_everywhere(executor: Executor, name: str, seed: str | int) -> None:
    graph = synthesised(name) if isinstance(seed, str) else synthesise(original(name), seed).graph
    data = draw_data(Case(graph, 1))
    values = run(graph, data).values
    outcome = executor.run(Case(graph, 1)).outcomes["keras-tf"]
    assert outcome.status == "completed", str(outcome)
    for edge, tensor in zip(graph.outputs, outcome.outputs, strict=True):
        seen = np.frombuffer(tensor.data, dtype=tensor.dtype).reshape(tensor.shape)
        assert np.isfinite(values[edge]).all()
        np.testing.assert_allclose(seen, values[edge], rtol=1e-3, atol=1e-4)


def test_the_experiment_runs_cases_of_both_kinds_of_keras() -> None:
    modern, legacy = (
        synthesised("LeNet"),
        assemble(
            [Draft("x", INPUT, {"shape": (1, 4)}, ()), Draft("y", "ThresholdedReLU", {}, (Edge("x"),))], [Edge("y")]
        ),
    )
    with KerasOnTensorFlow() as executor:
        executions = [executor.execute(Case(graph, 1)) for graph in (modern, legacy)]
    assert all(execution.completed and execution.cpu_s > 0 for execution in executions)
