"""A campaign's executor on a cluster: parts go to the nodes, what became of them comes back in any order.

A part that every node dies of is recorded as a death on all its routes, and not tried again. Of some parts a second
node of the same kind is asked, and what it finds otherwise is a finding of the part.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import msgspec

from cometfuzz.campaign.events import RouteResult
from cometfuzz.campaign.judging import Judged, Part
from cometfuzz.catalogue.offer import Offer
from cometfuzz.cluster.access import Access
from cometfuzz.cluster.dispatch import Deadly, Dispatch
from cometfuzz.cluster.forms import Answer, Compared, Describe, Judge, Look, Looked, Node, Reduce, Setup, Verdict
from cometfuzz.config import ClusterConfig, Config
from cometfuzz.errors import ClusterLost
from cometfuzz.execution.executor import Usage
from cometfuzz.execution.versions import view_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.ledger.matching import View
from cometfuzz.ledger.reading import overlay
from cometfuzz.oracles.finding import Finding
from cometfuzz.routes import Route
from cometfuzz.routes.switches import plain_name
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.records import bug_from_plain
from cometfuzz.triage.sought import Asked

NODE = "node"
"""The stage of a part that no node survives."""


@contextmanager
def connected(
    access: Access, config: Config, routes: Sequence[str], report: Callable[[str], None]
) -> Iterator[Dispatch]:
    """A cluster whose nodes know these routes, as long as it is needed; at least one of them can be used."""
    settings = config.cluster
    told = msgspec.structs.replace(config, cluster=ClusterConfig())  # where our keys are is nobody's business
    setup = Setup(told, tuple(routes), settings.idle_s)
    with Dispatch(access, setup, report, settings.wait_s, settings.patience_s) as dispatch:
        dispatch.settle()
        for text in _differences(dispatch.nodes()):
            report(text)
        yield dispatch


def _differences(nodes: Mapping[str, Node]) -> Iterator[str]:
    """What a user should know of nodes that are not alike."""
    if len({node.kind for node in nodes.values()}) > 1:
        yield (
            "the nodes have other CPUs or versions: what a case comes to depends on where it runs, so the same seed "
            "need not give the same cases"
        )
    for address, node in nodes.items():
        if node.ledger != overlay().digest:
            yield (
                f"node {address} has learned something else of the ledger than this machine: run `cometfuzz ledger "
                "refresh` on both, or copy what one has learned"
            )


class ClusterExecutor:
    """Runs and judges parts on a cluster. The view, by which cases are made, is that of this machine's environments."""

    def __init__(self, dispatch: Dispatch, routes: Sequence[Route], offers: Mapping[str, Offer]) -> None:
        self._dispatch, self._offers = dispatch, offers
        self.routes: Mapping[str, Route] = {route.name: route for route in routes}
        self.usage = Usage()

    @property
    def report(self) -> Callable[[str], None]:
        """Told what happens to nodes, and to cases that they die of."""
        return self._dispatch.report

    @report.setter
    def report(self, told: Callable[[str], None]) -> None:
        self._dispatch.report = told

    @cached_property
    def view(self) -> View:
        return view_of(self.routes, offers=self._offers)

    @property
    def nodes(self) -> dict[str, Any]:
        """The nodes in plain JSON, by address."""
        return {address: as_plain(node) for address, node in self._dispatch.nodes().items()}

    @property
    def news(self) -> Mapping[str, Mapping[str, Any]]:
        return {address: as_plain(node) for address, node in self._dispatch.news().items()}

    def halt(self) -> None:
        """Give up what runs, at once."""
        self._dispatch.halt()

    def submit(self, part: Part) -> Future[Judged]:
        """Send a part to a node, and if it is wanted, to a second one when the first has answered."""
        question = Judge(encode(part.case), part.routes, part.twice, part.memory, part.leading, part.base)
        promise: Future[Judged] = Future()
        self._dispatch.ask(question).add_done_callback(lambda done: self._take(part, question, done, promise))
        return promise

    def judged(self, part: Part, begun: Future[Judged]) -> Judged:
        try:
            return begun.result()
        except Deadly as error:
            self.report(f"{error}: a case is recorded as a death of its nodes, and not tried again")
            return self._died(part, str(error))

    def _take(self, part: Part, question: Judge, done: Future[Answer], promise: Future[Judged]) -> None:
        """The first node's answer."""
        try:
            answer = done.result()
            if not isinstance(answer, Verdict):
                raise ClusterLost(f"expected what became of a case; received {type(answer).__name__}")
        except (CancelledError, ClusterLost, Deadly) as error:
            promise.set_exception(error)
            return
        self.usage.own_cpu_s += answer.own_cpu_s
        self.usage.library_cpu_s += answer.library_cpu_s
        for text in answer.notices:
            self.report(f"node {answer.judged.node}: {text}")
        judged = answer.judged
        others = self._dispatch.alike(judged.node) if part.elsewhere else []
        if not others:
            promise.set_result(judged)
            return
        again = msgspec.structs.replace(
            question, twice=(), memory=False, first=judged.node, fingerprints=judged.fingerprints
        )
        second = self._dispatch.ask(again, others)
        second.add_done_callback(lambda told: promise.set_result(_with(judged, told)))

    def _died(self, part: Part, detail: str) -> Judged:
        results = [self._death(name, detail) for name in part.routes]
        return Judged(tuple(results), (), None, executed=False, nonfinite=False, new_branches=False)

    def _death(self, route: str, detail: str) -> RouteResult:
        library = self.routes[plain_name(route) if route not in self.routes else route].steps[0].stages[0].library
        return RouteResult(route, "signal", NODE, library, 0.0, 0.0, f"signal in {NODE}: {detail}", None, {}, None)


def _with(judged: Judged, told: Future[Answer]) -> Judged:
    """What became of a part, with what a second node has found; nothing if that one was lost meanwhile."""
    try:
        answer = told.result()
    except (CancelledError, ClusterLost, Deadly):
        return judged
    found = answer.findings if isinstance(answer, Compared) else ()
    return replace(judged, findings=(*judged.findings, *found))


def as_plain(node: Node) -> dict[str, Any]:
    """A node as events and reports have it."""
    plain: dict[str, Any] = msgspec.to_builtins(node)
    return {name: value for name, value in plain.items() if name not in ("type", "tried")}


def describe(dispatch: Dispatch) -> dict[str, Node]:
    """Every node that has answered, with how each route does on it."""
    asked = {address: dispatch.ask(Describe(tried=True), [address]) for address in dispatch.able}
    found = dispatch.nodes()
    for address, promise in asked.items():
        answer = promise.result()
        if isinstance(answer, Node):
            found[address] = answer
    return found


def reduce_there(dispatch: Dispatch, asked: Asked) -> tuple[Bug | None, tuple[str, ...]]:
    """What a node makes of a case that is to be reduced: its bug, or what it shows instead."""
    what = asked.routes, asked.route, asked.symptom, asked.effort.steps, asked.effort.wall_s
    answer = dispatch.ask(Reduce(encode(asked.case), *what)).result()
    if not isinstance(answer, Looked):
        raise ClusterLost(f"expected what became of a case; received {type(answer).__name__}")
    return None if answer.bug is None else bug_from_plain(answer.bug), answer.shown


def look_into(dispatch: Dispatch, finding: Finding, case: Case, routes: Sequence[str]) -> "Future[Bug | None]":
    """The bug of a finding, worked out on a node; None if nothing came of it there, or no node survived it."""
    promise: Future[Bug | None] = Future()

    def take(done: Future[Answer]) -> None:
        try:
            answer = done.result()
            promise.set_result(
                bug_from_plain(answer.bug) if isinstance(answer, Looked) and answer.bug is not None else None
            )
        except Deadly:
            promise.set_result(None)
        except (CancelledError, ClusterLost, ValueError) as error:
            promise.set_exception(error)

    dispatch.ask(Look(encode(case), finding, tuple(routes))).add_done_callback(take)
    return promise
