"""Running the page's server, in a thread of its own, until it is told to end: then nothing of it is left."""

import ipaddress
import logging
import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cometfuzz.campaign.records import Records
from cometfuzz.errors import CometfuzzError, EnvironmentFailure
from cometfuzz.serving.app import ANY_ADDRESS, application
from cometfuzz.serving.watching import Watcher

CONNECTIONS = 64
"""Connections at the same time; whoever comes then is told to come again."""

END_S = 3.0
"""How long answers that are under way may take when it ends."""

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(folders: Sequence[Path], host: str, port: int, say: Callable[[str], None], over: threading.Event) -> None:
    """Serve the page of some campaigns until `over` is set; `say` is given its address."""
    for folder in folders:
        Records(folder).close()  # what cannot be read is said now
    uvicorn = _uvicorn()
    token = secrets.token_urlsafe(32)
    names = LOOPBACK_NAMES | {host.lower()} | (set() if is_loopback(host) else {ANY_ADDRESS})
    with _listening(host, port) as listening, Watcher(folders) as watcher:
        config = uvicorn.Config(
            application(watcher, token, frozenset(names)),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,  # an address has the token in it
            proxy_headers=False,
            server_header=False,
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=END_S,
        )
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        server = uvicorn.Server(config)

        def run() -> None:
            try:
                server.run(sockets=[listening])
            finally:
                over.set()

        thread = threading.Thread(target=run, name="page", daemon=True)
        thread.start()
        try:
            name = f"[{host}]" if ":" in host else host
            say(f"http://{name}:{listening.getsockname()[1]}/{token}/")
            over.wait()
        finally:
            watcher.stop()  # streams end by this
            server.should_exit = True
            thread.join()


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=CONNECTIONS)
    except OSError as error:
        raise CometfuzzError(
            f"expected an address and a port to listen at; received host={host} port={port}: {error.strerror or error}"
        ) from None


def _uvicorn() -> Any:
    """The server; an extra brings it, and what the application is made of."""
    try:
        import starlette.applications  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise EnvironmentFailure(
            "expected starlette and uvicorn, which the page needs: `make cluster` in a checkout, or "
            f"`pip install '.[cluster]'`; received no module {error.name}"
        ) from None
    return uvicorn
