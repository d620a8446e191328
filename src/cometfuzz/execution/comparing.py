"""How far the outputs of a trial are from the reference, in units of the error bound."""

from dataclasses import dataclass

import numpy as np

from cometfuzz.catalogue.data import NUMPY, Array, draw_data
from cometfuzz.execution.outcome import Trial
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.bound import expect, judge, largest_excess


@dataclass(frozen=True)
class Difference:
    """The largest difference over a route's outputs. Up to 1 bound, it may be rounding; None: shape or dtype differ."""

    bounds: float | None
    ok: bool
    detail: str = ""

    @property
    def text(self) -> str:
        if self.bounds is None:
            return ""
        return f"{self.bounds:.2g}" if self.ok else f"{self.bounds:.2g} WRONG"


def array_of(tensor: WireTensor) -> Array:
    """A tensor off the wire as an array in its real dtype, which may be one that no graph has: a library erred."""
    return np.frombuffer(tensor.data, dtype=NUMPY.get(tensor.dtype, tensor.dtype)).reshape(tensor.shape)


def compare(trial: Trial) -> dict[str, Difference]:
    """Every route that completed against the reference, which is computed here."""
    graph = trial.case.graph
    completed = {name: outcome for name, outcome in trial.outcomes.items() if outcome.status == "completed"}
    if not completed:
        return {}
    expected = expect(graph, draw_data(trial.case))
    differences = {}
    for name, outcome in completed.items():
        differences[name] = Difference(0.0, True)
        kinds = [(kind.dtype, kind.shape) for kind in map(graph.type_of, graph.outputs)]
        seen = [(tensor.dtype, tensor.shape) for tensor in outcome.outputs]
        if kinds != seen:
            differences[name] = Difference(None, False, f"expected {kinds}; received {seen}")
            continue
        for edge, tensor in zip(graph.outputs, outcome.outputs, strict=True):
            array = array_of(tensor)
            verdict, bounds = judge(expected[edge], array), largest_excess(expected[edge], array)
            if not verdict.ok or bounds > (differences[name].bounds or 0.0):
                worst = max(bounds, differences[name].bounds or 0.0)
                differences[name] = Difference(worst, verdict.ok and differences[name].ok, verdict.detail)
    return differences
