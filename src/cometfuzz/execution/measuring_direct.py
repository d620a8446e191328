"""How fast models get to a reader of ONNX by our own files: writer, checker and reader, and all of it end to end."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Trial
from cometfuzz.execution.sayable import objection
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.ir.types import FLOATS
from cometfuzz.routes import Route

STAGES = ("write", "check", "load", "run")
WARM = 10
"""Models before the clock starts: a campaign is longer than its beginning."""


def sayable_cases(route: Route, nodes: int) -> Iterator[Case]:
    """Drawn models of so many nodes, in float32, that a route can be given whole: one after another, without end."""
    for index in count():
        graph = _sayable(route, draw_graph(Draw("bench direct", index), 4 * nodes, largest=2000), nodes)
        if graph is not None:
            yield Case(graph, index)


def _sayable(route: Route, graph: Graph, nodes: int) -> Graph | None:
    """The first nodes of a graph that a route takes, in float32; None if there are too few."""
    kept: dict[str, Draft] = {}
    for node in graph.nodes:
        params = {**node.params, "dtype": "float32"} if node.params.get("dtype") in FLOATS else node.params
        draft = node.draft._replace(params=params)
        if not all(edge.node in kept for edge in node.inputs) or not _is_taken(route, [*kept.values(), draft]):
            continue
        kept[node.id] = draft
        if len(kept) == nodes:
            read = {edge.node for each in kept.values() for edge in each.inputs}
            ends = [Edge(name) for name, each in kept.items() if name not in read and each.layer != INPUT]
            return assemble(list(kept.values()), ends) if ends else None
    return None


def _is_taken(route: Route, drafts: Sequence[Draft]) -> bool:
    """Whether the last of some nodes may stand there, and be given to a route."""
    try:
        graph = assemble(drafts, [Edge(drafts[-1].id)])
    except InvalidCase:
        return False
    last = graph.nodes[-1]
    return not objection(route, CATALOGUE[last.layer], graph.input_types(last), last.params)


def measure_direct(
    route: Route,
    models: int,
    nodes: int,
    judge: Callable[[Trial, Executor], object],
    advance: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """CPU seconds of each stage in the children, of all that it takes to run a model, and of drawing and judging it
    besides, in parent and children together."""
    cases = sayable_cases(route, nodes)
    spent, completed, running_s = dict.fromkeys(STAGES, 0.0), 0, 0.0
    with Executor([route], pause_after=0) as executor:
        for _ in range(WARM):
            judge(executor.run(next(cases)), executor)
        began_s = _cpu_s(executor)
        for _ in range(models):
            with executor.counting():
                case = next(cases)
            before_s = _cpu_s(executor)
            trial = executor.run(case)
            running_s += _cpu_s(executor) - before_s
            with executor.counting():
                judge(trial, executor)
            outcome = trial.outcomes[route.name]
            completed += outcome.status == "completed"
            for time in outcome.times:
                if time.stage in spent:
                    spent[time.stage] += time.cpu_s
            advance()
        whole_s = _cpu_s(executor) - began_s
    return {
        "models": models,
        "nodes": nodes,
        "completed": completed,
        "models_per_cpu_s": round(models / sum(spent.values()), 1),
        "models_per_cpu_s_with_transport": round(models / running_s, 1),
        "models_per_cpu_s_end_to_end": round(models / whole_s, 1),
        "ms_per_model": {stage: round(1000 * seconds / models, 3) for stage, seconds in spent.items()},
    }


def _cpu_s(executor: Executor) -> float:
    return executor.usage.own_cpu_s + executor.usage.library_cpu_s
