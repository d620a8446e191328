"""How fast models get to a reader of ONNX by our own files: writer, checker and reader, and all of it end to end."""

from collections.abc import Callable
from typing import Any

from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.draw import Draw
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.sayable import takes
from cometfuzz.ir.case import Case
from cometfuzz.routes import Route

STAGES = ("write", "check", "load", "run")
WARM = 10
"""Models before the clock starts: a campaign is longer than its beginning."""


def sayable_cases(route: Route, models: int, nodes: int) -> list[Case]:
    """Drawn models of so many nodes that a route can be given whole."""
    found: list[Case] = []
    index = 0
    while len(found) < models:
        graph = draw_graph(Draw("bench direct", index), nodes, largest=2000)
        if takes(route, graph):
            found.append(Case(graph, index))
        index += 1
    return found


def measure_direct(route: Route, models: int, nodes: int, advance: Callable[[], None]) -> dict[str, Any]:
    """CPU seconds of each stage in the children, and of everything in parent and children together."""
    cases = sayable_cases(route, WARM + models, nodes)
    spent = dict.fromkeys(STAGES, 0.0)
    with Executor([route], pause_after=0) as executor:
        for case in cases[:WARM]:
            executor.run(case)
        before, completed = executor.usage.own_cpu_s + executor.usage.library_cpu_s, 0
        for case in cases[WARM:]:
            outcome = executor.run(case).outcomes[route.name]
            completed += outcome.status == "completed"
            for time in outcome.times:
                if time.stage in spent:
                    spent[time.stage] += time.cpu_s
            advance()
        whole = executor.usage.own_cpu_s + executor.usage.library_cpu_s - before
    return {
        "models": models,
        "nodes": nodes,
        "completed": completed,
        "models_per_cpu_s": round(models / sum(spent.values()), 1),
        "models_per_cpu_s_with_transport": round(models / whole, 1),
        "ms_per_model": {stage: round(1000 * seconds / models, 3) for stage, seconds in spent.items()},
    }
