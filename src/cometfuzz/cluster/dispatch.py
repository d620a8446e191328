"""The head's side of a cluster: which node gets what, and what becomes of it when a node goes.

We say for each question which node gets it, and no node has more than it has threads: so who was at work when a node
died is known for certain, and nobody else is blamed. Dask carries bytes, and says who is there. All of this happens in
one thread, which takes what it is told out of a queue.
"""

import asyncio
import contextlib
import logging
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from distributed import Client, Security
from distributed.scheduler import KilledWorker

import cometfuzz
from cometfuzz.cluster.access import Access
from cometfuzz.cluster.forms import Answer, Describe, Node, Question, Refused, Setup, pack, unpack
from cometfuzz.cluster.node import NodePlugin
from cometfuzz.cluster.node import answer as answer_there
from cometfuzz.errors import ClusterLost, CometfuzzError

DEATHS = 4
"""How many nodes may die of a question before it is believed that they do."""

_LOOK_S, _AGAIN_S, _CONNECT_S, _SILENT_S, _CLOSE_S = 0.5, 10.0, 15.0, 30.0, 5.0
"""How often nodes are looked for; when one that could not be used is asked again; how long a head waits for a scheduler
at first, for one that has fallen silent, and for its farewell."""


MOST_REFUSALS = 20
"""How often nodes may say that they cannot do it, though they could do other things meanwhile."""


class Deadly(CometfuzzError):
    """A question that has cost every node its life that was given it."""


@dataclass(eq=False)
class _Job:
    """A question on its way: where it is under way, how many nodes have died of it, which may have it."""

    content: bytes
    promise: "Future[Answer]"
    among: Collection[str] | None = None
    under_way: dict[str, Any] = field(default_factory=dict)
    began: float = 0.0
    deaths: int = 0
    refusals: int = 0


@dataclass
class _Seat:
    """A node as the head knows it: threads, what it says of itself once it has answered, the jobs that it has."""

    threads: int
    node: Node | None = None
    asked_at: float = 0.0
    asking: Any = None
    jobs: set[_Job] = field(default_factory=set)
    obstacle: str = "has not answered yet"

    @property
    def fit(self) -> bool:
        return not self.obstacle


class Dispatch:
    """A connection to a cluster; a context manager. `ask` may be called from any thread.

    report: told what happens to nodes. wait_s: how long it waits for a node when there is none. patience_s: after that
    long a question is given to a second node too, if one is free; the first answer counts.
    """

    def __init__(
        self, access: Access, setup: Setup, report: Callable[[str], None], wait_s: float, patience_s: float
    ) -> None:
        self.report, self._wait_s, self._patience_s = report, wait_s, patience_s
        self._name = f"cometfuzz-{secrets.token_hex(8)}"
        self._told: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._waiting: deque[_Job] = deque()
        self._seats: dict[str, _Seat] = {}
        self._number, self._changed, self._over = 0, False, False
        self._lacking_since = time.monotonic()
        for name in list(logging.root.manager.loggerDict):  # what Dask logs of a lost connection, we say in a line
            if name.startswith(("distributed", "tornado", "asyncio")):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        security = None
        if access.ca is not None:
            files = {"tls_ca_file": access.ca, "tls_client_cert": access.cert, "tls_client_key": access.key}
            named = {name: str(path) for name, path in files.items()}
            security = Security(require_encryption=True, **named)
        try:
            self._client = Client(access.address, security=security, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterLost(f"{access.address}: expected a Dask scheduler; received {error}: is it up?") from None
        self._address = access.address
        try:
            self._client.register_plugin(NodePlugin(pack(setup)), name=self._name)
        except Exception as error:  # whatever the plugin raised on a node comes back as it is
            self._client.close(timeout=_CLOSE_S)
            raise ClusterLost(f"{access.address}: expected nodes with this cometfuzz; received {error}") from None
        self._thread = threading.Thread(target=self._work, name="cometfuzz-dispatch", daemon=True)
        self._thread.start()

    def __enter__(self) -> "Dispatch":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask(self, question: Question, among: Collection[str] | None = None) -> "Future[Answer]":
        """Have a question answered by a node, by one of some if they are named; no answer, but CancelledError, if there
        is none of them any more. A question that kills its nodes ends as Deadly, all of them as ClusterLost if the
        cluster does."""
        job = _Job(pack(question), Future(), among)
        self._told.put(("job", job))
        return job.promise

    def nodes(self) -> dict[str, Node]:
        """The nodes that have answered, by address."""
        return {address: seat.node for address, seat in list(self._seats.items()) if seat.node is not None}

    def obstacles(self) -> dict[str, str]:
        """Why nodes cannot be used, by address."""
        return {address: seat.obstacle for address, seat in list(self._seats.items()) if seat.obstacle}

    @property
    def able(self) -> list[str]:
        """The addresses of the nodes that are given something."""
        return [address for address, seat in list(self._seats.items()) if seat.fit]

    @property
    def threads(self) -> int:
        """How many questions are under way at once."""
        return sum(seat.threads for seat in list(self._seats.values()) if seat.fit)

    def news(self) -> dict[str, Node]:
        """The nodes, if there are others than when this was asked last."""
        changed, self._changed = self._changed, False
        return self.nodes() if changed else {}

    def alike(self, address: str) -> list[str]:
        """Other nodes of the same kind as one, those of other machines if there are such."""
        seats = {name: seat.node for name, seat in list(self._seats.items()) if seat.fit and seat.node is not None}
        one = seats.get(address)
        if one is None:
            return []
        same = [name for name, node in seats.items() if name != address and node.kind == one.kind]
        apart = [name for name in same if _host(name) != _host(address)]
        return apart or same

    def settle(self) -> None:
        """Wait until every node that is there has answered, and at least one can be used."""
        until = time.monotonic() + self._wait_s
        while time.monotonic() < until and self._thread.is_alive():
            seats = list(self._seats.values())
            if any(seat.fit for seat in seats) and all(seat.node is not None for seat in seats):
                return
            time.sleep(0.05)
        if not self.able:
            raise ClusterLost(self._lacking())

    def halt(self) -> None:
        """Give up all that is asked; a signal handler may call it."""
        self._told.put(("halt",))

    def close(self) -> None:
        """Leave: nodes end what they had for us. What does not answer is left to itself; its children end when idle."""
        self.halt()
        self._told.put(("end",))
        self._thread.join()
        farewell = threading.Thread(target=self._leave, daemon=True)
        farewell.start()
        farewell.join(2 * _CLOSE_S)

    def _leave(self) -> None:
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.unregister_worker_plugin(self._name)
        with contextlib.suppress(Exception):
            self._client.close(timeout=_CLOSE_S)

    def _work(self) -> None:
        looked = 0.0
        while True:
            with contextlib.suppress(queue.Empty):
                kind, *what = self._told.get(timeout=_LOOK_S)
                if kind == "end":
                    return
                getattr(self, f"_take_{kind}")(*what)
            if self._over:
                self._give_up(CancelledError())
                continue
            try:
                if time.monotonic() - looked > _LOOK_S:
                    self._look()
                    looked = time.monotonic()
                self._place()
            except Exception as error:  # Dask says in many ways that a connection is gone
                lost = ClusterLost(f"{self._address}: the cluster was lost: {error or type(error).__name__}")
                self._give_up(lost)
                self._refuse(lost)
                return

    def _give_up(self, error: BaseException) -> None:
        """End all that waits or is under way."""
        jobs = [*self._waiting, *(job for seat in self._seats.values() for job in seat.jobs)]
        self._waiting.clear()
        for job in jobs:
            _end(job, error)
            self._drop(job)

    def _refuse(self, lost: ClusterLost) -> None:
        """Whatever is asked from now on has the same answer."""
        while True:
            kind, *what = self._told.get()
            if kind == "end":
                return
            if kind == "job":
                _end(what[0], lost)

    def _take_job(self, job: _Job) -> None:
        self._waiting.append(job)

    def _take_halt(self) -> None:
        self._over = True

    def _take_done(self, job: _Job, address: str, result: Any) -> None:
        """What Dask says of a question that was given to a node."""
        if job.under_way.pop(address, None) is None or job.promise.done():
            return
        seat = self._seats.get(address)
        if seat is not None:
            seat.jobs.discard(job)
        if isinstance(result, Refused):
            job.refusals += 1
            if seat is not None:
                self._set_aside(address, seat, result.reason)
        if isinstance(result, Refused) and job.refusals >= MOST_REFUSALS:
            _end(job, ClusterLost(f"{address}: expected a node that can do it; received {result.reason}"))
            self._drop(job)
        elif isinstance(result, KilledWorker):
            job.deaths = DEATHS
            self._count_death(job)
        elif isinstance(result, Refused | CancelledError):
            self._again(job)
        elif isinstance(result, BaseException):
            _end(job, ClusterLost(f"{address}: expected an answer; received {type(result).__name__}: {result}"))
            self._drop(job)
        else:
            job.promise.set_result(result)
            self._drop(job)

    def _drop(self, job: _Job) -> None:
        """Forget where else it is under way."""
        for address, future in job.under_way.items():
            with contextlib.suppress(KeyError):
                self._seats[address].jobs.discard(job)
            future.cancel()
        job.under_way.clear()

    def _again(self, job: _Job) -> None:
        """It is the next one's turn, unless it is under way elsewhere."""
        if not job.under_way and not job.promise.done():
            self._waiting.appendleft(job)

    def _count_death(self, job: _Job) -> None:
        if job.deaths >= DEATHS:
            _end(job, Deadly(f"{DEATHS} nodes died while they were at it"))
            self._drop(job)
        else:
            self._again(job)

    def _take_node(self, address: str, result: Any) -> None:
        """What a node says of itself."""
        seat = self._seats.get(address)
        if seat is None:
            return
        seat.asking = None
        if not isinstance(result, Node):
            reason = result.reason if isinstance(result, Refused) else f"{type(result).__name__}: {result}"
            self._set_aside(address, seat, reason)
            return
        before, seat.node = seat.obstacle, result
        if result.version != cometfuzz.__version__:
            seat.obstacle = f"has cometfuzz {result.version}, not {cometfuzz.__version__}"
        else:
            seat.obstacle = "; ".join(result.lacks)
        if seat.obstacle != before:
            self._changed = True
            state = f"cannot be used: {seat.obstacle}" if seat.obstacle else f"takes part: {result.machine}"
            self.report(f"node {address} ({result.host}) {state}")

    def _set_aside(self, address: str, seat: _Seat, reason: str) -> None:
        if seat.obstacle != reason:
            self.report(f"node {address} is set aside: {reason}")
            self._changed = True
        seat.obstacle, seat.asked_at = reason, time.monotonic()

    def _look(self) -> None:
        """Who is there, and who has gone."""
        if self._client.status != "running":
            raise ClusterLost("the scheduler does not answer")
        there: Mapping[str, int] = self._client.sync(self._client.scheduler.ncores, callback_timeout=_SILENT_S)
        for address in [each for each in self._seats if each not in there]:
            self._gone(address)
        now = time.monotonic()
        for address, threads in there.items():
            seat = self._seats.setdefault(address, _Seat(threads))
            if not seat.fit and seat.asking is None and (not seat.asked_at or now - seat.asked_at > _AGAIN_S):
                seat.asked_at = now
                seat.asking = self._send(address, pack(Describe()), partial(_of_node, address))
        if any(seat.fit for seat in self._seats.values()):
            self._lacking_since = now
        elif self._waiting and now - self._lacking_since > self._wait_s:
            raise ClusterLost(self._lacking())

    def _gone(self, address: str) -> None:
        seat, self._changed = self._seats.pop(address), True
        self.report(f"node {address} is gone")
        for job in seat.jobs:
            future = job.under_way.pop(address, None)
            if future is not None:
                future.cancel()
                job.deaths += 1
                self._count_death(job)

    def _lacking(self) -> str:
        reasons = [f"{address}: {obstacle}" for address, obstacle in self.obstacles().items()]
        return f"expected a node that can be used within {self._wait_s:g} s; received {'; '.join(reasons) or 'none'}"

    def _place(self) -> None:
        """Give what waits to nodes that are free; what takes long, to a second one too."""
        kept: deque[_Job] = deque()
        while self._waiting:
            job = self._waiting.popleft()
            if job.promise.done():
                continue
            if job.among is not None and not any(self._fit(address) for address in job.among):
                _end(job, CancelledError())
            elif not self._give(job):
                kept.append(job)
        self._waiting = kept
        now = time.monotonic()
        slow = {job for seat in self._seats.values() for job in seat.jobs if now - job.began > self._patience_s}
        for job in slow:
            if len(job.under_way) == 1 and job.among is None:
                self._give(job)

    def _fit(self, address: str) -> bool:
        seat = self._seats.get(address)
        return seat is not None and seat.fit

    def _give(self, job: _Job) -> bool:
        """Give a question to the node with the most free threads; False if there is none."""
        among = [name for name in (job.among if job.among is not None else self._seats) if self._fit(name)]
        free = {name: self._seats[name].threads - len(self._seats[name].jobs) for name in among}
        able = [name for name in free if free[name] > 0 and name not in job.under_way]
        if not able:
            return False
        address = max(able, key=lambda name: free[name])
        self._seats[address].jobs.add(job)
        job.began = time.monotonic()
        job.under_way[address] = self._send(address, job.content, lambda result: ("done", job, address, result))
        return True

    def _send(self, address: str, content: bytes, told: Callable[[Any], tuple[Any, ...]]) -> Any:
        self._number += 1
        future = self._client.submit(
            answer_there,
            self._name,
            content,
            key=f"{self._name}-{self._number}",
            pure=False,
            workers=[address],
            allow_other_workers=False,
        )
        future.add_done_callback(lambda done: self._told.put(told(_result_of(done, address))))
        return future


def _result_of(future: Any, address: str) -> Any:
    """An answer, or why there is none; the result is fetched, read and then forgotten by the cluster."""
    try:
        content = future.result(timeout=60)
    except (Exception, asyncio.CancelledError) as error:  # whatever went wrong there or on the way
        return CancelledError() if future.cancelled() or isinstance(error, TimeoutError) else error
    finally:
        future.release()
    try:
        return unpack(content, Answer, address)
    except CometfuzzError as error:
        return error


def _of_node(address: str, result: Any) -> tuple[Any, ...]:
    return "node", address, result


def _end(job: _Job, error: BaseException) -> None:
    if not job.promise.done():
        job.promise.set_exception(error)


def _host(address: str) -> str:
    return address.rpartition(":")[0]
