"""Muffin: models are made anew, layer by layer, out of layers that are in few models so far; nothing is mutated.

What it compares besides results, losses and gradients, belongs to training and is not done here, as in the paper.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from cometfuzz.catalogue.data import NUMPY, expected_tensors, to_tensor
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation.dialect import Dialect
from cometfuzz.search.baselines.baseline import TRIES, Baseline
from cometfuzz.search.baselines.muffin_layers import LAYERS
from cometfuzz.search.baselines.muffin_structures import STRUCTURES, build
from cometfuzz.search.pool import Model
from cometfuzz.search.strategies import Feedback, Options

INSTANCES = 10
WEIGHTS, INPUTS = 10.0, 100.0
"""As published, weights are even in [-10, 10] and inputs in [0, 100]."""


class Muffin(Baseline):
    """One of the four structures for each case, by even chance; a layer is the less likely the more models that ran
    have had it."""

    structures: Sequence[str] = tuple(STRUCTURES)

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.unseen.clear()
        self.built: Counter[str] = Counter()

    def make(self, draw: Draw) -> Case:
        structure, dialect = draw.choice(self.structures), self.dialect_for(draw)
        batch = INSTANCES if self.published else draw.integer(1, 3)
        for _ in range(TRIES):
            model = self.attempt(structure, partial(self._built, structure, dialect, batch, draw))
            if model is not None:
                return self.launch_model(model, structure, draw)
        raise CometfuzzError(f"expected a model; received none in {TRIES} tries at case {self.index}")

    def _built(self, structure: str, dialect: Dialect, batch: int, draw: Draw) -> Model:
        limits = replace(self.limits, dialect=dialect)
        graph = build(structure, draw, limits, LAYERS, self._weigh, batch, self.published)
        return Model(graph, draw.integer(0, 2**32), _published_data(graph, draw) if self.published else {})

    def _weigh(self, layer: str) -> float:
        return 1 / (self.built[layer] + 1)

    def learn(self, case: Case, feedback: Feedback) -> None:
        super().learn(case, feedback)
        if feedback.executed:
            self.built.update({node.layer for node in case.graph.nodes})


class MuffinChain(Muffin):
    """Chains alone."""

    structures = ("chain",)


class MuffinMerging(Muffin):
    """Merged chains alone."""

    structures = ("merging",)


class MuffinDag(Muffin):
    """Graphs of layers alone."""

    structures = ("dag",)


class MuffinCells(Muffin):
    """Cells alone."""

    structures = ("cells",)


class MuffinPublished(MuffinChain):
    """The shipped configuration: chains on handwritten digits, with its own weights and inputs; layers of all Keras."""

    published, window = True, 1

    def original_seeds(self) -> Sequence[Graph]:
        return super().original_seeds()[:1]  # it has none, and never uses it

    def dialect_for(self, draw: Draw) -> Dialect:
        return self.dialects.legacy if draw.chance(0.5) else self.dialects.modern


def _published_data(graph: Graph, draw: Draw) -> dict[str, Tensor]:
    """Weights and inputs as the tool draws them; variances are positive."""
    tensors = {}
    for key, (dtype, shape) in expected_tensors(graph).items():
        values = draw.uniforms(shape)
        if dtype == "int32":
            values = values * (graph.by_id[key].outputs[0].high or 1) // 1
        elif "/" not in key:
            values = values * INPUTS
        else:
            values = values * WEIGHTS if key.endswith("variance") else (2 * values - 1) * WEIGHTS
        tensors[key] = to_tensor(values.astype(NUMPY[dtype]))
    return tensors
