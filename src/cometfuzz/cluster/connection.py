"""The head's connection to Dask: who is there, bytes to a node and back. Nothing else of the head knows Dask.

What goes wrong in Dask has many names. Those that stand for a connection that is gone are listed once, in LOST; what
else may be raised is an error of ours, and is not hidden.
"""

import asyncio
import contextlib
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from distributed import Client, Security
from distributed.scheduler import KilledWorker

from cometfuzz.cluster.access import Access
from cometfuzz.cluster.forms import Answer, Setup, pack, unpack
from cometfuzz.cluster.node import NodePlugin
from cometfuzz.cluster.node import answer as answer_there
from cometfuzz.errors import ClusterLost, CometfuzzError

LOST = (OSError, RuntimeError, AttributeError, KeyError, CancelledError, asyncio.CancelledError)
"""What Dask raises when a connection is gone: closed or timed out (OSError), the client or its loop closed while
somebody asks (RuntimeError, or AttributeError, since the scheduler is None then), an answer that was there and is not
any more (KeyError), futures given up (the two others)."""

_CONNECT_S, _SILENT_S, _CLOSE_S, _FETCH_S = 15.0, 30.0, 5.0, 60.0
"""How long a head waits for a scheduler at first, for one that has fallen silent, for its farewell, and for an answer
that is there."""


class Killed(CometfuzzError):
    """A question of which Dask itself says that it has cost too many nodes their lives."""


class Connection:
    """A client of a scheduler, whose nodes have our plugin; ClusterLost if there is none."""

    def __init__(self, access: Access, setup: Setup) -> None:
        self.address = access.address
        self._name, self._number = f"cometfuzz-{secrets.token_hex(8)}", 0
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
        try:
            self._client.register_plugin(NodePlugin(pack(setup)), name=self._name)
        except (ImportError, *LOST) as error:  # the first: a node without cometfuzz, or with another one
            self._client.close(timeout=_CLOSE_S)
            raise ClusterLost(f"{access.address}: expected nodes with this cometfuzz; received {error}") from None

    def threads(self) -> Mapping[str, int]:
        """The nodes that are there, by address, with their threads; ClusterLost if nobody can say."""
        if self._client.status != "running":
            raise ClusterLost("the scheduler does not answer")
        with _lost_is_said():
            found: Mapping[str, int] = self._client.sync(self._client.scheduler.ncores, callback_timeout=_SILENT_S)
        return found

    def send(self, address: str, content: bytes, tell: Callable[[Any], None]) -> "Sent":
        """Have a node answer a question; `tell` is called in another thread with the answer, or with why there is
        none: Killed, CancelledError if it was given up or lost on the way, or what was raised there. What comes back
        can be cancelled."""
        self._number += 1
        where = {"workers": [address], "allow_other_workers": False}
        with _lost_is_said():
            key = f"{self._name}-{self._number}"
            future = self._client.submit(answer_there, self._name, content, key=key, pure=False, **where)
            future.add_done_callback(lambda done: _tell(done, address, tell))
        return Sent(future)

    def leave(self) -> None:
        """Nodes end what they had for us; what does not answer is left to itself."""
        farewell = threading.Thread(target=self._leave, daemon=True)
        farewell.start()
        farewell.join(2 * _CLOSE_S)

    def _leave(self) -> None:
        with contextlib.suppress(ValueError, *LOST):  # ValueError: a node that has never heard of us
            if self._client.status == "running":
                self._client.unregister_worker_plugin(self._name)
        with contextlib.suppress(*LOST):
            self._client.close(timeout=_CLOSE_S)


@dataclass(frozen=True)
class Sent:
    """A question that is under way."""

    future: Any

    def cancel(self) -> None:
        """Nobody waits for an answer any more."""
        with _lost_is_said():
            self.future.cancel()


@contextlib.contextmanager
def _lost_is_said() -> Iterator[None]:
    try:
        yield
    except LOST as error:
        raise ClusterLost(str(error) or type(error).__name__) from None


def _tell(future: Any, address: str, tell: Callable[[Any], None]) -> None:
    """Whatever happens, somebody waits to be told."""
    told: Any = CancelledError()
    try:
        told = _result_of(future, address)
    finally:
        tell(told)


def _result_of(future: Any, address: str) -> Any:
    """An answer, or why there is none; the result is fetched, read and then forgotten by the cluster."""
    try:
        if future.status == "error":  # a value: whatever was raised there
            error = future.exception(timeout=_FETCH_S)
            return Killed(str(error)) if isinstance(error, KilledWorker) else error
        if future.status != "finished":
            return CancelledError()
        content = future.result(timeout=_FETCH_S)
    except LOST:
        return CancelledError()
    finally:
        with contextlib.suppress(*LOST):
            future.release()
    try:
        return unpack(content, Answer, address)
    except CometfuzzError as error:
        return error
