"""How much of a run's CPU time is ours, whether routes share what they have in common, what observing costs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.spec import KERAS3, spec_of
from cometfuzz.coverage.branches import Branches
from cometfuzz.draw import Draw
from cometfuzz.execution.doctor import tiny_case
from cometfuzz.execution.executor import Executor, Usage
from cometfuzz.execution.observation import Observation
from cometfuzz.execution.scratch import scratch_folder
from cometfuzz.execution.versions import usual_view
from cometfuzz.execution.worker import START
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Edge, Graph
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.tf2onnx import STEPS as TF2ONNX


def drawn_models(count: int, layers: int, routes: Sequence[str]) -> Iterator[Case]:
    """Drawn models of exactly so many layers, against which the ledger has nothing on these routes or in Keras."""
    checked = [*dict.fromkeys([*routes, "keras-tf"])]
    for index in range(count):
        attempt = 0
        while True:
            graph = draw_graph(Draw("bench execute", index, attempt), layers + 2)
            if _fits(graph, layers) and not any(_has_defect(graph, route) for route in checked):
                yield Case(Graph(graph.nodes, _ends(graph)), index)
                break
            attempt += 1


def _fits(graph: Graph, layers: int) -> bool:
    """Whether it has so many layers, all of which Keras 3 has."""
    found = [spec_of(node.layer) for node in graph.nodes if node.layer != INPUT]
    return len(found) == layers and all(KERAS3 in spec.libraries for spec in found)


def _ends(graph: Graph) -> tuple[Edge, ...]:
    """What nobody reads, so that every layer runs."""
    used = {edge.node for node in graph.nodes for edge in node.inputs}
    return tuple(Edge(node.id) for node in graph.nodes if node.id not in used and node.layer != INPUT)


def _has_defect(graph: Graph, route: str) -> bool:
    for node in graph.nodes:
        if node.layer != INPUT:
            spec = spec_of(node.layer)
            x = spec.view(graph.input_types(node), node.params)
            if any(True for _ in usual_view().rules_against(route, spec, x, node.params)):
                return True
    return False


def measure(
    routes: Sequence[Route], models: int, layers: int, report: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Run drawn models on warm workers and add up CPU time: ours, in parent and workers, and the libraries'."""
    with Executor(routes) as executor:
        executor.run(tiny_case())
        executor.usage = Usage()
        completed = 0
        for case in drawn_models(models, layers, [route.name for route in routes]):
            trial = executor.run(case)
            completed += sum(outcome.status == "completed" for outcome in trial.outcomes.values())
            report()
        own_s, library_s = executor.usage.own_cpu_s, executor.usage.library_cpu_s
    return {
        "models": models,
        "layers": layers,
        "routes": [route.name for route in routes],
        "completed": completed,
        "models_per_cpu_s": round(models / (own_s + library_s), 3),
        "own_cpu_s": round(own_s, 3),
        "library_cpu_s": round(library_s, 3),
        "overhead": round(own_s / library_s, 4),
        "own_ms_per_route": round(own_s * 1000 / models / len(routes), 2),
    }


def measure_sharing(models: int, layers: int, report: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """CPU time of all readers of the file of tf2onnx together, against one of them plus the runtimes of the others."""
    readers = [route for route in ROUTES.values() if route.steps[:-1] == TF2ONNX and route.turn]
    names = [route.name for route in readers]
    one_s = together_s = runtimes_s = 0.0
    with Executor(readers) as executor:
        executor.run(tiny_case())
        for case in drawn_models(models, layers, names):
            executor.run(case, names[:1])  # what a library compiles for new shapes would count for the first only
            executor.usage = Usage()
            executor.run(case, names[:1])
            one_s += executor.usage.own_cpu_s + executor.usage.library_cpu_s
            executor.usage = Usage()
            trial = executor.run(case)
            together_s += executor.usage.own_cpu_s + executor.usage.library_cpu_s
            for route in readers[1:]:
                shared = {stage.name for step in route.steps[:-1] for stage in step.stages}
                runtimes_s += sum(t.cpu_s for t in trial.outcomes[route.name].times if t.stage not in shared)
            report()
    return {
        "models": models,
        "one_cpu_s": round(one_s, 3),
        "other_runtimes_cpu_s": round(runtimes_s, 3),
        "together_cpu_s": round(together_s, 3),
        "ratio": round(together_s / (one_s + runtimes_s), 3),
    }


def measure_branches(
    models: int, layers: int, rounds: int, report: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """What the observer of branches costs on keras-tf: start-up, and CPU time of warm workers with it and without.

    Both workers run every model once before the clock starts, then in turns. `slowdown` compares all runs,
    `slowdown_quickest` the quickest run of each model: a busy machine disturbs it less.
    """
    route, warm = ROUTES["keras-tf"], Branches()
    group = route.steps[0].group.name
    with scratch_folder("branches") as folder:
        starts = {"off": _start_s(route, {}), "first": _start_s(route, {group: Observation(Branches(), folder)})}
        starts["cached"] = _start_s(route, {group: Observation(Branches(), folder)})
    cases = list(drawn_models(models, layers, [route.name]))
    spent: dict[str, list[list[float]]] = {name: [[] for _ in cases] for name in ("off", "on")}
    same, late = True, 0
    with Executor([route]) as off, Executor([route], observers={group: Observation(warm)}) as on:
        for case in cases:
            off.run(case)
            on.run(case)
            report()
        for turn in range(rounds):
            for index, case in enumerate(cases):
                trials = {}
                for name, executor in [("off", off), ("on", on)][:: -1 if turn % 2 else 1]:
                    executor.usage = Usage()
                    trials[name] = executor.run(case)
                    spent[name][index].append(executor.usage.own_cpu_s + executor.usage.library_cpu_s)
                late += trials["on"].branches[group].branch_count
                same &= trials["on"].outcomes[route.name].outputs == trials["off"].outcomes[route.name].outputs
                report()
    every = {name: sum(map(sum, runs)) for name, runs in spent.items()}
    quickest = {name: sum(map(min, runs)) for name, runs in spent.items()}
    return {
        "models": models,
        "layers": layers,
        "rounds": rounds,
        "slowdown": round(every["on"] / every["off"], 4),
        "slowdown_quickest": round(quickest["on"] / quickest["off"], 4),
        "cpu_s": {name: round(cpu_s, 3) for name, cpu_s in every.items()},
        "startup_cpu_s": {name: round(cpu_s, 2) for name, (_, cpu_s) in starts.items()},
        "startup_s": {name: round(wall_s, 2) for name, (wall_s, _) in starts.items()},
        "same_outputs": same,
        "new_when_warm": late,
        "modules": len(warm.modules),
        "branches": {**warm.branch_share._asdict(), "percent": round(warm.branch_share.percent, 2)},
        "lines": {**warm.line_share._asdict(), "percent": round(warm.line_share.percent, 2)},
    }


def _start_s(route: Route, observers: Mapping[str, Observation]) -> tuple[float, float]:
    """Wall and CPU seconds until the libraries are there, in a worker of its own."""
    with Executor([route], observers=observers) as executor:
        outcome = executor.run(tiny_case()).outcomes[route.name]
    start = next(time for time in outcome.times if time.stage == START)
    return start.wall_s, start.cpu_s
