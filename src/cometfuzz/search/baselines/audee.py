"""Audee, after its paper's description: a genetic search over parameters, weights and inputs of three models.

Its authors published no code. Selection, survival and the size of the population are ours.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cometfuzz.catalogue.data import expected_tensors
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.search.baselines.audee_operators import change_inputs, change_parameters, change_weights
from cometfuzz.search.baselines.audee_seeds import resnet20, vgg16
from cometfuzz.search.baselines.baseline import RERUN, TRIES, Baseline
from cometfuzz.search.baselines.lemon_operators import Manner
from cometfuzz.search.pool import SIZE, Model
from cometfuzz.search.strategies import SEED, Feedback, Options
from cometfuzz.seeds.small import lenet

MUTATIONS = {"Parameters": change_parameters, "Weights": change_weights, "Inputs": change_inputs}
CROSSOVER = "Crossover"
CROSSED = 0.2
"""How often two models make one, without a mutation."""

LARGEST_EXPONENT = 128
"""Of a float32."""


@dataclass
class Individual:
    """A model and how promising it is: inconsistent between libraries, or close to where NaN comes from."""

    model: Model
    fitness: float


class Audee(Baseline):
    """The fitter of two models has a child; it takes the place of the least fit one if it is fitter."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.population: list[Individual] = []
        self.waiting: list[Model] = []
        self.first = [
            Model(graph, Draw(self.seed, "first", at).integer(0, 2**32)) for at, graph in enumerate(self.unseen)
        ]
        self.unseen.clear()

    def make(self, draw: Draw) -> Case:
        if self.index <= len(self.first):
            return self._launch(self.first[self.index - 1], SEED, draw)
        manner = Manner(self.dialects.modern)
        for _ in range(TRIES):
            parent, other = self._choose(draw), self._choose(draw)
            operator = CROSSOVER if draw.chance(CROSSED) else draw.choice(tuple(MUTATIONS))
            if operator == CROSSOVER:
                child = self.attempt(operator, partial(crossed, parent, other, draw))
            else:
                child = self.attempt(operator, partial(MUTATIONS[operator], parent, draw, manner))
            if child is not None:
                return self._launch(child, operator, draw)
        return self._launch(self._choose(draw), RERUN, draw)

    def _launch(self, model: Model, operator: str, draw: Draw) -> Case:
        self.waiting.append(model)
        return self.launch_model(model, operator, draw)

    def _choose(self, draw: Draw) -> Model:
        if not self.population:
            return draw.choice(self.first)
        return max((draw.choice(self.population) for _ in range(2)), key=lambda each: each.fitness).model

    def learn(self, case: Case, feedback: Feedback) -> None:
        self.land(case, feedback)
        model = self.waiting.pop(0)
        if not feedback.executed or feedback.failed or feedback.nonfinite:
            return
        unknown = feedback.inconsistency is None
        born = Individual(model, Draw(self.seed, "fitness", self.landed).fraction() if unknown else fitness(feedback))
        worst = min(range(len(self.population)), key=lambda at: self.population[at].fitness, default=0)
        if len(self.population) < SIZE:
            self.population.append(born)
        elif born.fitness > self.population[worst].fitness:
            self.population[worst] = born

    def original_seeds(self) -> Sequence[Graph]:
        return [lenet(), resnet20(), vgg16()]


class AudeePublished(Audee):
    """From LeNet, ResNet-20 and a VGG-16 for small images, one model after the other."""

    published, window = True, 1


def fitness(feedback: Feedback) -> float:
    """The inconsistency, and how far on the way to an infinity the largest value is."""
    exponent = math.frexp(feedback.magnitude or 0.0)[1]
    return (feedback.inconsistency or 0.0) + min(max(exponent, 0), LARGEST_EXPONENT) / LARGEST_EXPONENT


def crossed(one: Model, two: Model, draw: Draw) -> Model:
    """The first model, with some of the second one's own weights and inputs where they suit it."""
    wanted: Mapping[str, tuple[str, tuple[int, ...]]] = expected_tensors(one.graph)
    taken = {
        key: tensor
        for key, tensor in two.data.items()
        if wanted.get(key) == (tensor.dtype, tensor.shape) and draw.chance(0.5)
    }
    return replace(one, data={**one.data, **taken})
