"""The executor: runs cases on routes, with persistent workers, and shares what routes have in common.

`submit(case)` gives a Future of a Trial. Each group of steps has up to `jobs` workers, started when first needed; one
case more than that is under way, so that one may be in this group while another is in that. Of the extra groups, which
differ from another one by a switch, one at a time has a worker. A case visits group after group; in each, all the steps
that are ready are one request. If the child dies in a step, that step has failed, what was reported before it stands,
and the rest is done again by a new child.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from cometfuzz.catalogue.data import Data, draw_data
from cometfuzz.catalogue.offer import Offer
from cometfuzz.coverage.branches import News
from cometfuzz.errors import CometfuzzError, InvalidRoute, WorkerFailure
from cometfuzz.execution import environments, interpreters
from cometfuzz.execution.observation import Observation
from cometfuzz.execution.outcome import Outcome, StepResult, Trial
from cometfuzz.execution.supervisor import Performed, Worker, WorkerLimits
from cometfuzz.execution.versions import view_of
from cometfuzz.ir.case import PLAIN, Case, Manner
from cometfuzz.ir.graph import INPUT, Edge, Graph
from cometfuzz.ir.plain import manner_to_plain, typed_to_plain
from cometfuzz.ledger.matching import View
from cometfuzz.protocol import Message, WireTensor
from cometfuzz.routes import Group, Route, Step
from cometfuzz.routes.forms import form_of

T = TypeVar("T")
Key = tuple[str, ...]
FATAL = ("signal", "exited", "timeout", "memory", "oversized", "protocol")
"""How a step ends that costs us the worker."""

START_TRIES = 2
"""How often a step may fail to start before it is paused."""


@dataclass
class Usage:
    """CPU seconds: our own code, in the parent and in the workers, and the libraries'."""

    own_cpu_s: float = 0.0
    library_cpu_s: float = 0.0
    start_cpu_s: float = 0.0
    """What of the libraries' time was for importing them; a child that died in its first case has not told it."""


def python_of(group: Group) -> Path:
    """The interpreter of a group's environment; WorkerFailure with the command that mends it if there is none."""
    try:
        environment = environments.find(group.environment)
    except CometfuzzError as error:
        raise WorkerFailure(str(error)) from None
    if not environment.ready:
        mend = f"run `{fix(group)}`" if environment.own is None else f"expected a Python at {environment.python}"
        raise WorkerFailure(f"environment {group.environment} is {environment.state}; {mend}")
    obstacles = environment.own and interpreters.examine_own(environment.own).obstacles
    if obstacles:
        mend = f"; run `{environment.python} -m pip install numpy`" if "numpy" in obstacles[0] else ""
        raise WorkerFailure(f"environment {group.environment}, {environment.python}: {obstacles[0]}{mend}")
    return environment.python


def expect_environments(routes: Sequence[Route]) -> None:
    """WorkerFailure if an environment that a route needs is not there: before anything is begun."""
    for group in {step.group.environment: step.group for route in routes for step in route.steps}.values():
        python_of(group)


def fix(group: Group) -> str:
    """The command that makes a group's environment, if it is one of those that we build."""
    return f"cometfuzz env create {group.environment}"


class Executor:
    """A pool of local workers; a context manager that leaves no process behind.

    A step that costs the worker its life `pause_after` times in a row is paused: its routes are "unavailable" from then
    on, and `report` is told once. 0 means never. `watch` is told which steps begin. In the groups that `observers`
    names, what is reached in the library's Python code is added up, and a Trial says what it was the first to reach;
    which of two was first depends on the clock if there are several jobs. offers: what libraries are known to lack.
    listens: outcomes have all that children printed, and not only the last of it where they failed.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        jobs: int = 1,
        limits: WorkerLimits | None = None,
        pause_after: int = 10,
        report: Callable[[str], None] = lambda text: None,
        find_python: Callable[[Group], Path] = python_of,
        observers: Mapping[str, Observation] | None = None,
        watch: Callable[[str], None] = lambda text: None,
        offers: Mapping[str, Offer] | None = None,
        listens: bool = False,
    ) -> None:
        self.routes = {route.name: route for route in routes}
        _check_names(routes)
        self.limits, self.pause_after, self.report = limits or WorkerLimits(), pause_after, report
        self.watch, self.offers = watch, offers or {}
        self.usage, self.closing = Usage(), False
        self.paused: dict[Key, str] = {}
        self._find_python, self._observers = find_python, observers or {}
        self._pools: dict[str, _Pool] = {}
        self._deaths: dict[Key, int] = {}
        self._guard, self._extra, self._thread = threading.Lock(), threading.Lock(), threading.local()
        self._jobs, self._listens = jobs, listens
        self._threads = ThreadPoolExecutor(jobs + 1, thread_name_prefix="case")

    @cached_property
    def view(self) -> View:
        """What is known of the libraries that the routes meet."""
        return view_of(self.routes, offers=self.offers)

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def halt(self) -> None:
        """Give up what runs, at once, and run nothing more: who waits for it gets a CancelledError. A signal handler
        may call it."""
        self.closing = True
        for worker in self.workers:
            worker.kill()

    def close(self) -> None:
        """Drop what waits, let what runs come to its end at once, and stop every worker."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.halt()
        self._threads.shutdown(wait=True)
        for worker in self.workers:
            worker.stop()

    def submit(self, case: Case, routes: Sequence[str] = ()) -> Future[Trial]:
        """Run a case on the named routes, or on all of them."""
        return self.begin(lambda: self.run(case, routes))

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Begin with something that runs cases, beside what else is under way."""

        def counted() -> T:
            with self.counting():
                return work()

        return self._threads.submit(counted)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """What this thread does meanwhile is our own CPU time, once, however often runs within count too."""
        if getattr(self._thread, "counts", False):
            yield
            return
        self._thread.counts, began = True, time.thread_time()
        try:
            yield
        finally:
            self._thread.counts = False
            with self._guard:
                self.usage.own_cpu_s += time.thread_time() - began

    def run(
        self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        """Run a case here and now; if asked, with memory that is filled with another byte than usually (`memory`)."""
        chosen = [self._route(name) for name in routes or self.routes]
        return self._run(case, chosen, intermediates, other_memory)

    def _route(self, name: str) -> Route:
        """One of our routes, or a form of one (`routes.forms`)."""
        if name in self.routes:
            return self.routes[name]
        plain, _, form = name.rpartition("/")
        route = form_of(self.routes[plain], form)
        if route is None:
            raise InvalidRoute(f"route {plain}: expected a form that it has; received form={form!r}")
        return route

    def run_apart(self, case: Case, route: Route) -> Outcome:
        """Run a case on a route that is not one of ours, on the workers that it shares with them."""
        _check_names([*self.routes.values(), route])
        return self._run(case, [route], intermediates=False).outcomes[route.name]

    def run_given(self, artefact: bytes, inputs: Graph, data: Data, routes: Sequence[Route]) -> dict[str, Outcome]:
        """Run a file that somebody gives on routes whose first step stands for it; `inputs` has what is fed."""
        execution = _Execution(self, inputs, data, routes)
        for route in routes:
            first = route.steps[0].stages[0]
            execution.results[route.keys[0]] = StepResult("completed", first.name, first.library, artefact=artefact)
        execution.run()
        return {route.name: execution.outcome(route) for route in routes}

    @property
    def workers(self) -> list[Worker]:
        """Every worker that was made so far."""
        return [worker for pool in list(self._pools.values()) for worker in pool.made]

    def _run(self, case: Case, routes: Sequence[Route], intermediates: bool, other_memory: bool = False) -> Trial:
        graph = with_all_outputs(case.graph) if intermediates else case.graph
        outcomes: dict[str, Outcome] = {}
        with self.counting():
            execution = _Execution(self, graph, draw_data(case), routes, case.manner, other_memory)
            execution.run()
            for route in routes:
                outcome = execution.outcome(route)
                outcomes[route.name] = select_outputs(outcome, case.graph, graph) if intermediates else outcome
        return Trial(case, outcomes, execution.branches)

    @contextmanager
    def worker(self, group: Group) -> Iterator[Worker]:
        """A free worker of a group; if it is an extra one, no other such group has a child meanwhile."""
        pool = self._pool(group)
        with self._extra if group.extra else nullcontext():
            for other in self.workers if group.extra else ():
                if other.group.extra and other.group.name != group.name:
                    other.stop()
            worker = pool.take()
            try:
                yield worker
            finally:
                pool.give_back(worker)

    def renew(self, group: str) -> None:
        """Let the workers of a group, by its name, begin anew when they are next used; none is disturbed at work."""
        if group in self._pools:
            self._pools[group].renew()

    def _pool(self, group: Group) -> "_Pool":
        with self._guard:
            if group.name not in self._pools:
                observer, python = self._observers.get(group.name), self._find_python(group)
                steps = [step for route in self.routes.values() for step in route.steps]
                modules = [step.module for step in steps if step.group.name == group.name]
                options = (group, python, modules, self.limits, observer, lambda: self.closing, self._listens)
                count = 1 if group.extra else self._jobs
                self._pools[group.name] = _Pool([Worker(*options) for _ in range(count)])
            return self._pools[group.name]

    def merge(self, group: str, report: Mapping[str, Any]) -> News:
        """Add what an observer reports to the group's branches."""
        with self._guard:
            return self._observers[group].branches.merge(report)

    def account(self, performed: Performed, results: Mapping[Key, StepResult]) -> None:
        """Add up CPU time, and pause what kills its worker again and again."""
        with self._guard:
            self.usage.own_cpu_s += performed.own_cpu_s
            self.usage.library_cpu_s += performed.library_cpu_s
            self.usage.start_cpu_s += performed.start_cpu_s
            for key, result in results.items():
                idle = result.status == "unavailable"
                self._deaths[key] = self._deaths.get(key, 0) + 1 if idle or result.status in FATAL else 0
                limit = START_TRIES if idle else self.pause_after
                if limit and self._deaths[key] >= limit and key not in self.paused:
                    self.paused[key] = f"paused, {result.status} {limit} times in a row: {result.detail}"
                    self.report(f"{' > '.join(key)}: {self.paused[key]}")


class _Pool:
    """The workers of one group: `take` waits for a free one."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self.made = workers
        self._old: set[Worker] = set()
        self._free: queue.LifoQueue[Worker] = queue.LifoQueue()
        for worker in reversed(workers):
            self._free.put(worker)

    def take(self) -> Worker:
        worker = self._free.get()
        if worker in self._old:
            self._old.discard(worker)
            worker.stop()
        return worker

    def renew(self) -> None:
        """From now on every worker is stopped before it is taken; nobody else may stop one that works."""
        self._old = set(self.made)

    def give_back(self, worker: Worker) -> None:
        self._free.put(worker)


@dataclass
class _Execution:
    """One case on its way through the groups."""

    executor: Executor
    graph: Graph
    data: Data
    routes: Sequence[Route]
    manner: Manner = PLAIN
    other_memory: bool = False
    results: dict[Key, StepResult] = field(default_factory=dict)
    branches: dict[str, News] = field(default_factory=dict)
    steps: dict[Key, Step] = field(default_factory=dict)

    def run(self) -> None:
        """Visit groups until every step is done or follows one that failed."""
        for route in self.routes:
            paused = [key for key in route.keys if key in self.executor.paused]
            if paused:
                step = route.steps[len(paused[0]) - 1]
                self.results[paused[0]] = _unavailable(step, self.executor.paused[paused[0]])
            else:
                self.steps.update(zip(route.keys, route.steps, strict=True))
        self.wire = wire_data(self.graph, self.data, self.manner)
        self.deadline = time.monotonic() + self.executor.limits.case_s
        while batch := self._next_batch():
            self._expect_open()
            self._visit(batch)
        self._expect_open()  # what was done last may have failed because its worker was killed

    def _expect_open(self) -> None:
        if self.executor.closing:
            raise CancelledError

    def _open(self, key: Key) -> bool:
        """Whether a step is still to be done and nothing before it failed."""
        if key in self.results:
            return False
        return all(self.results[before].status == "completed" for before in _before(key) if before in self.results)

    def _next_batch(self) -> list[Key]:
        """The open steps of one group that can be done now, each after those it needs in the same child."""
        batch: list[Key] = []
        for key, step in self.steps.items():
            if not self._open(key) or (batch and step.group.name != self.steps[batch[0]].group.name):
                continue
            needed = self._chain(key)
            if needed is not None:
                batch += [part for part in needed if part not in batch]
        return batch

    def _chain(self, key: Key) -> list[Key] | None:
        """The steps to do in one child to get to `key`: back to the graph or an artefact that we hold."""
        chain = [key]
        while len(chain[0]) > 1:
            before = chain[0][:-1]
            done = self.results.get(before)
            if done is not None and done.artefact is not None:
                break
            if self.steps[before].group.name != self.steps[key].group.name:
                return None
            chain.insert(0, before)
        return chain

    def _visit(self, batch: Sequence[Key]) -> None:
        steps = [self.steps[key] for key in batch]
        if time.monotonic() >= self.deadline:
            key = next(key for key in batch if key not in self.results)
            stage = self.steps[key].stages[0]
            detail = f"the case took {self.executor.limits.case_s:g} s"
            self.results[key] = StepResult("timeout", stage.name, stage.library, detail=detail)
            return
        self.executor.watch(", ".join(dict.fromkeys(step.name for step in steps)))
        try:
            with self.executor.worker(steps[0].group) as worker:
                performed = worker.perform(self._request(batch), steps, self.deadline)
        except WorkerFailure as error:
            found = {key: _unavailable(self.steps[key], str(error)) for key in batch}
            performed = Performed()
        else:
            found = {batch[index]: result for index, result in performed.results.items()}
        self.executor.account(performed, found)
        if performed.observed is not None:
            group = steps[0].group.name
            self.branches[group] = self.branches.get(group, News()) | self.executor.merge(group, performed.observed)
        for key, result in found.items():
            if result.status != "completed" or key not in self.results:
                self.results[key] = result

    def _request(self, batch: Sequence[Key]) -> Message:
        tensors, header = self.wire
        steps, tensors = [], list(tensors)
        for key in batch:
            step, before = self.steps[key], key[:-1]
            given = None
            if before and before not in batch:
                artefact = self.results[before].artefact
                assert artefact is not None
                given = len(tensors)
                tensors.append(WireTensor("bytes", (len(artefact),), artefact))
            readers = [other for other in self.steps if other[:-1] == key]
            steps.append(
                {
                    "module": step.module,
                    "call": step.call,
                    "options": dict(step.options),
                    "after": batch.index(before) if before in batch else None,
                    "given": given,
                    "wanted": any(self.steps[other].group.name != step.group.name for other in readers),
                }
            )
        return Message({**header, "steps": steps, "other_memory": self.other_memory}, tensors)

    def outcome(self, route: Route) -> Outcome:
        """What the route came to: its last result, or the first failure on its way."""
        parts = [self.results[key] for key in route.keys if key in self.results]
        served = [sum(key in other.keys for other in self.routes) for key in route.keys]
        last, end = parts[-1], self._end(route)
        shared = last.status not in ("completed", "unavailable") and any(
            self._end(other) == end for other in self.routes[: self.routes.index(route)]
        )
        versions: dict[str, str] = {}
        for part in parts:
            versions.update(part.versions)
        return Outcome(
            route=route.name,
            status="not reached" if shared else last.status,
            stage=last.stage,
            library=last.library,
            outputs=last.tensors,
            failure=last.failure,
            detail=last.detail,
            printed="".join(part.printed for part in parts),
            times=tuple(
                time._replace(shared_by=count)
                for part, count in zip(parts, served, strict=False)
                for time in part.times
            ),
            versions=versions,
            cause=last.status if shared else None,
        )

    def _end(self, route: Route) -> Key:
        """How far the route came. A step may have failed when it was done again, after its route was through."""
        return next(key for key in reversed(route.keys) if key in self.results)


def _check_names(routes: Sequence[Route]) -> None:
    """One name, one step: work is shared by name."""
    known: dict[Key, Step] = {}
    for route in routes:
        for key, step in zip(route.keys, route.steps, strict=True):
            if known.setdefault(key, step) != step:
                raise InvalidRoute(f"route {route.name}: expected another name; received step={step.name!r} again")


def _before(key: Key) -> list[Key]:
    return [key[:size] for size in range(1, len(key))]


def _unavailable(step: Step, detail: str) -> StepResult:
    return StepResult("unavailable", step.stages[0].name, step.stages[0].library, detail=detail)


def wire_data(graph: Graph, data: Data, manner: Manner = PLAIN) -> tuple[list[WireTensor], dict[str, Any]]:
    """A case's tensors and the header that names them: inputs first, then each node's weights in Keras' order."""
    inputs = [node.id for node in graph.inputs]
    arrays = [data.inputs[name] for name in inputs]
    weights = []
    for node, tensors in data.weights.items():
        weights.append([node, len(tensors)])
        arrays += tensors.values()
    header = {
        "graph": typed_to_plain(graph),
        "inputs": inputs,
        "weights": weights,
        "manner": manner_to_plain(manner),
    }
    return [WireTensor(array.dtype.name, array.shape, array.tobytes()) for array in arrays], header


def with_all_outputs(graph: Graph) -> Graph:
    """The graph with every node's outputs as the model's; the model is the same, but what is fused may be less."""
    edges = [Edge(node.id, index) for node in graph.nodes if node.layer != INPUT for index in range(len(node.outputs))]
    return Graph(graph.nodes, tuple(dict.fromkeys([*edges, *graph.outputs])))


def select_outputs(outcome: Outcome, graph: Graph, widened: Graph) -> Outcome:
    """The outcome of a graph with all outputs, read as that of the graph itself."""
    if outcome.status != "completed" or len(outcome.outputs) != len(widened.outputs):
        return outcome
    nodes = dict(zip(widened.outputs, outcome.outputs, strict=True))
    return replace(outcome, outputs=tuple(nodes[edge] for edge in graph.outputs), nodes=nodes)
