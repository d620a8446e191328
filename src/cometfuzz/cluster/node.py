"""A node: what a Dask worker has for a head, and the one function that a head calls there.

An executor with its supervised children runs beside the Dask worker; nothing of a target library is imported in it. The
plugin comes with the head, and goes with it; if the head was killed, the children end when nobody has asked for
anything for a while. That Dask pickles the name of `answer` is the one pickle of ours: it carries bytes only.
"""

import errno
import os
import platform
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from distributed import WorkerPlugin, get_worker

import cometfuzz
from cometfuzz.campaign.judging import Part, fingerprints, judge, judge_again
from cometfuzz.campaign.triaging import STAGE_S, worked_out
from cometfuzz.catalogue.files import decode
from cometfuzz.cluster.forms import (
    Answer,
    Compared,
    Describe,
    Judge,
    Look,
    Looked,
    Node,
    Question,
    Reduce,
    Refused,
    Setup,
    Tried,
    Verdict,
    pack,
    unpack,
)
from cometfuzz.errors import CometfuzzError, WorkerFailure
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.doctor import examine
from cometfuzz.execution.executor import Executor, Usage, python_of
from cometfuzz.execution.machine import this_machine
from cometfuzz.execution.offers import offers_of
from cometfuzz.execution.outcome import Trial
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import versions_of_all
from cometfuzz.ledger.reading import overlay
from cometfuzz.routes import Route
from cometfuzz.routes.switches import with_switches
from cometfuzz.triage.known import Known
from cometfuzz.triage.records import bug_as_plain
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.sought import Asked, reduced

ENOUGH_BYTES = 4 * 2**20
"""What must be free in the folder for temporary files before a node is given anything."""

_LOOK_S = 1.0


class NodePlugin(WorkerPlugin):  # type: ignore[misc]
    """Starts and ends what a head needs on a node. It travels as bytes, and is checked when it arrives."""

    def __init__(self, setup: bytes) -> None:
        self.toldbytes = setup
        self.desk: Desk | None = None
        self.obstacle = ""

    def setup(self, worker: Any) -> None:
        """Dask calls it when the head or the worker arrives. No child is started before the first question. What cannot
        be read, since the head has another version, is answered so: raised here, it would end the head for one node."""
        try:
            self.desk = Desk(unpack(self.toldbytes, Setup, "the head"), worker.address, worker.state.nthreads)
        except CometfuzzError as error:
            self.obstacle = str(error)

    def teardown(self, worker: Any) -> None:
        """Dask calls it when the head goes, or the worker."""
        if self.desk is not None:
            self.desk.close()


def answer(name: str, question: bytes) -> bytes:
    """Answer a question of the head whose plugin has this name: bytes in, bytes out."""
    plugin = get_worker().plugins.get(name)
    if plugin is None:
        return pack(Refused("the node does not know this head"))
    if plugin.desk is None:
        return pack(Refused(plugin.obstacle))
    asked = unpack(question, Question, "the head")
    return pack(plugin.desk.answer(asked))


class Desk:
    """What a node does for one head. Its executors are made when they are first needed, and go when nobody asks."""

    def __init__(self, told: Setup, address: str, jobs: int) -> None:
        self.told, self.address, self.jobs = told, address, jobs
        self._guard, self._closed = threading.Lock(), threading.Event()
        self._executors: dict[str, Executor] = {}
        self._notices: list[str] = []
        self._busy, self._idle_since = 0, time.monotonic()
        threading.Thread(target=self._look, name="cometfuzz-idle", daemon=True).start()

    @cached_property
    def routes(self) -> dict[str, Route]:
        """The routes of the campaign, with the switches that the head knows too."""
        known = configured(self.told.config)
        if missing := [name for name in self.told.routes if name not in known]:
            raise CometfuzzError(f"expected routes that are installed here; received {', '.join(missing)}")
        return {route.name: route for route in with_switches(known[name] for name in self.told.routes)}

    def answer(self, question: Question) -> Answer:
        """Do what is asked; Refused if this node cannot, though another one may."""
        with self._guard:
            self._busy += 1
        try:
            match question:
                case Judge():
                    return self._judge(question)
                case Look():
                    return self._look_into(question)
                case Reduce():
                    return self._reduce(question)
                case Describe():
                    return self._describe(question.tried)
        except OSError as error:  # a full disk, say; what libraries do has outcomes
            return Refused(str(error))
        finally:
            with self._guard:
                self._busy -= 1
                self._idle_since = time.monotonic()

    def close(self) -> None:
        """End all children."""
        self._closed.set()
        self._end()

    def _end(self) -> None:
        with self._guard:
            ending, self._executors = list(self._executors.values()), {}
        for executor in ending:
            executor.close()

    def _look(self) -> None:
        while not self._closed.wait(_LOOK_S):
            with self._guard:
                idle = not self._busy and time.monotonic() - self._idle_since > self.told.idle_s
            if idle:
                self._end()

    def _executor(self, purpose: str) -> Executor:
        """Campaigns and `reduce` have other limits than triage, and only campaigns give a route up for a while."""
        with self._guard:
            if purpose not in self._executors:
                limits = WorkerLimits(STAGE_S) if purpose == "triage" else WorkerLimits.of(self.told.config.limits)
                self._executors[purpose] = Executor(
                    list(self.routes.values()),
                    jobs=self.jobs,
                    limits=limits,
                    pause_after=10 if purpose == "judge" else 0,
                    report=self._notices.append,
                    offers=offers_of(self.routes),
                )
            return self._executors[purpose]

    def _judge(self, question: Judge) -> Answer:
        case, executor = decode(question.case, breaking=True), self._executor("judge")
        part = Part(case, question.routes, question.twice, question.memory, question.leading, base=question.base)
        trial = executor.run(case, part.routes)
        if reason := _hindered(trial, executor.routes):
            return Refused(reason)
        if question.first:
            nodes = (question.fingerprints, question.first, self.address)
            return Compared(judge_again(trial, executor.run, executor.view, *nodes))
        began = time.thread_time()
        judged = judge(part, trial, executor.run, executor.view)
        with self._guard:
            usage, executor.usage = executor.usage, Usage()
            notices, self._notices[:] = tuple(self._notices), []
        own_s = usage.own_cpu_s + time.thread_time() - began
        judged = replace(judged, node=self.address, fingerprints=fingerprints(trial))
        return Verdict(judged, own_s, usage.library_cpu_s, notices)

    def _look_into(self, question: Look) -> Answer:
        case, executor = decode(question.case, breaking=True), self._executor("triage")
        bug = worked_out(executor, question.finding, case, question.routes)
        return Looked(None if bug is None else bug_as_plain(bug))

    def _reduce(self, question: Reduce) -> Answer:
        effort = Effort(question.steps, question.wall_s)
        case = decode(question.case, breaking=True)
        asked = Asked(case, question.routes, question.route, question.symptom, effort)
        try:
            bug, shown = reduced(self._executor("reduce"), asked, Known())
        except CometfuzzError as error:  # the route cannot run here; elsewhere it may
            return Refused(str(error))
        return Looked(None if bug is None else bug_as_plain(bug), shown=shown)

    def _describe(self, tried: bool) -> Node:
        lacks = _lacks(self.routes.values())
        free = shutil.disk_usage(tempfile.gettempdir()).free
        if free < ENOUGH_BYTES:
            lacks += (f"{tempfile.gettempdir()} is full: {free >> 10} KiB left",)
        plain = [route for route in self.routes.values() if route.switch is None]
        health = examine(plain) if tried else []
        return Node(
            host=socket.gethostname(),
            version=cometfuzz.__version__,
            python=platform.python_version(),
            machine=this_machine(self.routes.values()),
            versions=versions_of_all(plain),
            ledger=overlay().digest,
            lacks=lacks,
            tried=tuple(Tried(one.route.name, one.available, one.reason, one.fix, one.versions) for one in health),
        )


def _lacks(routes: Iterable[Route]) -> tuple[str, ...]:
    """Why routes cannot run here, a line for each environment."""
    found: dict[str, str] = {}
    for group in {step.group.environment: step.group for route in routes for step in route.steps}.values():
        try:
            python_of(group)
        except WorkerFailure as error:
            found[group.environment] = str(error)
    return tuple(found.values())


def _hindered(trial: Trial, routes: Mapping[str, Route]) -> str:
    """What of this machine, and of no library, has kept routes from doing their work; nothing if nothing has."""
    for outcome in trial.outcomes.values():
        if outcome.failure is not None and outcome.failure.disk_full:
            return outcome.failure.message
        if outcome.status == "unavailable" and os.strerror(errno.ENOSPC) in outcome.detail:
            return outcome.detail
    unavailable = [name for name, each in trial.outcomes.items() if each.status == "unavailable"]
    return "; ".join(_lacks(routes[name] for name in unavailable if name in routes))
