"""Many runs of the synthesis, as the paper's table "Performance of Model Synthesis Algorithm" shows them."""

import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cometfuzz.catalogue.cost import weights_of
from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.ir.graph import Graph
from cometfuzz.seeds.counting import as_the_authors_count
from cometfuzz.seeds.published import PAPER, PAPER_TOGETHER, PAPER_TOTAL_MILLIONS, layer_count
from cometfuzz.synthesis.synthesise import BUDGET, Synthesis, synthesise

PAPER_SYNTHESISED = {
    "layers": (317.8, 3.9),
    "weights": (104_160.0, 46_440.0),
    "inputs": (123.75, 1.89),
    "parameters": (153.85, 1.53),
    "sequences": (45.25, 2.23),
}
"""Mean and spread of the paper's 20 runs over all ten models."""


@dataclass(frozen=True)
class Timed:
    """One synthesis and the CPU time it took."""

    synthesis: Synthesis
    cpu_s: float


def measure(
    originals: Mapping[str, Graph], seed: int, runs: int, done: Callable[[str], None], budget: int = BUDGET
) -> dict[str, list[Timed]]:
    """Synthesise every model `runs` times, with the seeds from `seed` on; `done` is told each time."""
    results: dict[str, list[Timed]] = {}
    for name, original in originals.items():
        results[name] = []
        for run in range(runs):
            began = time.process_time()
            synthesis = synthesise(original, seed + run, budget)
            results[name].append(Timed(synthesis, time.process_time() - began))
            done(name)
    return results


def summarise(originals: Mapping[str, Graph], results: Mapping[str, Sequence[Timed]]) -> dict[str, Any]:
    """The form of `cometfuzz synthesise --json`."""
    models = {name: _model(name, originals[name], timed) for name, timed in results.items()}
    runs = list(zip(*([item.synthesis.graph for item in timed] for timed in results.values()), strict=True))
    sizes = [_sizes(graphs) for graphs in runs]
    total = {
        "runs": len(runs),
        **{name: round(statistics.mean(size[name] for size in sizes), 2) for name in sizes[0]},
        "spread": {name: round(_spread([size[name] for size in sizes]), 2) for name in sizes[0]},
        "kept": {criterion: min(model["kept"][criterion] for model in models.values()) for criterion in CRITERIA},
        "original": _sizes([originals[name] for name in results]),
        "cpu_s_max": max(model["cpu_s"]["max"] for model in models.values()),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    if set(results) == set(PAPER):
        total["paper"] = {
            "original": {
                "layers": sum(row.layers for row in PAPER.values()),
                "weights_millions": PAPER_TOTAL_MILLIONS,
                **PAPER_TOGETHER,
            },
            "synthesised": {
                name: {"mean": mean, "spread": spread} for name, (mean, spread) in PAPER_SYNTHESISED.items()
            },
        }
    return {"models": models, "total": total}


def _sizes(graphs: Sequence[Graph]) -> dict[str, int]:
    return {
        "layers": sum(map(layer_count, graphs)),
        "weights": sum(map(weights_of, graphs)),
        **as_the_authors_count(*graphs),
    }


def _model(name: str, original: Graph, timed: Sequence[Timed]) -> dict[str, Any]:
    before = _sizes([original])
    after = [_sizes([item.synthesis.graph]) for item in timed]
    syntheses = [item.synthesis for item in timed]
    result: dict[str, Any] = {
        size: {
            "original": before[size],
            "mean": round(statistics.mean(found[size] for found in after), 2),
            "spread": round(_spread([found[size] for found in after]), 2),
            "max": max(found[size] for found in after),
        }
        for size in before
    }
    if name in PAPER:
        result["paper"] = {criterion: getattr(PAPER[name], criterion) for criterion in ("layers", *CRITERIA)}
    utilities = [len(found.graph.nodes) - layer_count(found.graph) - len(found.graph.inputs) for found in syntheses]
    result["utility_nodes"] = {"mean": statistics.mean(utilities), "max": max(utilities)}
    result["kept"] = {criterion: min(found.kept[criterion] for found in syntheses) for criterion in CRITERIA}
    result["missing"] = [list(fact) for fact in max(syntheses, key=lambda found: len(found.missing)).missing]
    seconds = [item.cpu_s for item in timed]
    result["cpu_s"] = {"mean": round(statistics.mean(seconds), 3), "max": round(max(seconds), 3)}
    return result


def _spread(values: Sequence[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0
