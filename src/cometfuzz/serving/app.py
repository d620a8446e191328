"""The application: GET alone, below a secret token, for clients that mean this host and no other.

Whoever has the token may see the campaigns; nobody can change anything. What comes from libraries is text: the page's
script puts it there as such, reports escape it, and a content security policy lets run nothing but our own script.
"""

import asyncio
import hmac
import ipaddress
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from cometfuzz.campaign.records import Records
from cometfuzz.errors import CometfuzzError
from cometfuzz.reports.facts import gather
from cometfuzz.reports.html import Pages
from cometfuzz.reports.text import visible
from cometfuzz.serving.page import FRAMED_BY_NOBODY, live_page
from cometfuzz.serving.watching import Watched, Watcher

STREAMS = 16
"""Browsers that may watch at the same time."""

POLL_S, BEAT_S = 0.2, 15.0
"""How often a stream looks whether there is something new, and how often it says that it is still there."""

REPORT_S = 60.0
"""How long a report waits for another one to be made."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

TYPES = {"html": "text/html", "py": "text/plain", "md": "text/plain", "json": "application/json"}

GUARDS = {
    "cache-control": "no-store",
    "content-security-policy": f"default-src 'none'; {FRAMED_BY_NOBODY}",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer; a page has a policy of its own."""


def application(watcher: Watcher, token: str, names: frozenset[str]) -> "Guard":
    """The whole of it. names: what clients may call this host, besides the addresses that `Guard` knows."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    site = Site(watcher)
    routes = [
        Route("/", site.page, methods=["GET"]),
        Route("/events", site.events, methods=["GET"]),
        Route("/{place:int}/index.html", site.report, methods=["GET"]),
        Route("/{place:int}/bugs/{bug}/{file}", site.bug, methods=["GET"]),
    ]
    return Guard(Starlette(routes=routes), token, names)


class Guard:
    """Refuses whom the page is not for, before anything else looks at what is asked.

    The name that a client has used for this host must be one of ours: a page of somebody else, whose name was made to
    lead here, may then not read ours. An address in numbers is no name: it is taken if we listen beyond this machine.
    """

    def __init__(self, app: Any, token: str, names: frozenset[str]) -> None:
        self._app, self._token, self._names = app, token.encode("ascii"), names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        given, _, rest = scope["path"].removeprefix("/").partition("/")
        if not self._is_ours(scope["headers"]):
            await _refuse(send, 403, "this page does not go by the name that was asked for")
        elif not hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            await _refuse(send, 403, "a wrong token, or none: open the address that `cometfuzz serve` has printed")
        elif scope["method"] not in ("GET", "HEAD"):
            await _refuse(send, 405, "this page can be read and nothing else")
        else:
            inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode("utf-8", "replace")}
            await self._app(inner, receive, _guarded(send))

    def _is_ours(self, headers: Any) -> bool:
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1:
            return False
        name = host_of(hosts[0])
        if name in self._names:
            return True
        with suppress(ValueError):
            return ANY_ADDRESS in self._names and bool(ipaddress.ip_address(name))
        return False


ANY_ADDRESS = "*"
"""Among the names of a host: any address in numbers."""


def host_of(header: str) -> str:
    """The name in a Host header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower()


def _guarded(send: Send) -> Send:
    """Every answer with the headers that guard it, where it has none of that name."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", ())}
            more = [(name.encode(), value.encode()) for name, value in GUARDS.items() if name.encode() not in there]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, why: str) -> None:
    text = f"{why}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    await _guarded(send)({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


class Site:
    """What there is to see."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._live, self._live_policy = live_page([campaign.name for campaign in watcher.campaigns])
        self._streams = 0
        self._making = threading.Lock()
        """One report at a time: to gather a large campaign takes seconds of a processor that the campaign may need."""

    async def page(self, request: Any) -> Any:
        return _answer(self._live, "text/html", {"content-security-policy": self._live_policy})

    async def events(self, request: Any) -> Any:
        """All that the page shows, as it changes."""
        from starlette.responses import StreamingResponse

        if self._streams >= STREAMS:
            return _answer(f"{STREAMS} browsers watch already\n".encode(), "text/plain", status=503)
        return StreamingResponse(self._told(), headers={"content-type": "text/event-stream; charset=utf-8"})

    async def _told(self) -> AsyncIterator[bytes]:
        if self._streams >= STREAMS:
            return
        self._streams += 1
        try:
            yield b"retry: 2000\n\n"
            told = {campaign.place: (0, 0) for campaign in self._watcher.campaigns}
            silent_s = 0.0
            while not self._watcher.over:
                found = b"".join(_news(campaign, told) for campaign in self._watcher.campaigns)
                silent_s = 0.0 if found else silent_s + POLL_S
                if silent_s >= BEAT_S:  # else nobody would notice that a browser has gone
                    found, silent_s = b": still there\n\n", 0.0
                if found:
                    yield found
                await asyncio.sleep(POLL_S)
            yield b"event: over\ndata: {}\n\n"
        finally:
            self._streams -= 1

    def report(self, request: Any) -> Any:
        """The whole report as it is now, made for this answer."""
        if (campaign := self._campaign(request)) is None:
            return _missing()
        if not self._making.acquire(timeout=REPORT_S):
            return _answer(b"another report is being made: try again\n", "text/plain", status=503)
        try:
            with Records(campaign.folder) as records:
                pages = Pages(gather(records))
            return _answer(pages.index(), "text/html", _policy(pages))
        except CometfuzzError as error:
            return _answer(f"{visible(str(error))}\n".encode("utf-8", "replace"), "text/plain", status=500)
        finally:
            self._making.release()

    def bug(self, request: Any) -> Any:
        """A file of a bug's folder in the report."""
        campaign, name = self._campaign(request), request.path_params["file"]
        bug = None if campaign is None else campaign.bugs.get(request.path_params["bug"])
        if campaign is None or bug is None:
            return _missing()
        pages = Pages(campaign.bare_facts())
        files = pages.bug(bug)
        if name not in files:
            return _missing()
        kind = TYPES[name.rpartition(".")[2]]
        if kind == "text/html":
            return _answer(files[name], kind, _policy(pages))
        return _answer(files[name], kind, {"content-disposition": f'attachment; filename="{name}"'})

    def _campaign(self, request: Any) -> Watched | None:
        place = request.path_params["place"]
        return self._watcher.campaigns[place] if place < len(self._watcher.campaigns) else None


def _news(campaign: Watched, told: dict[int, tuple[int, int]]) -> bytes:
    """What one stream has not been told of a campaign."""
    shown, (numbers, curves) = campaign.shown, told[campaign.place]
    now = shown.numbers_version, shown.curves_version
    told[campaign.place] = now
    found = b""
    if now[0] != numbers:
        found += b"event: numbers\ndata: " + shown.numbers + b"\n\n"
    if now[1] != curves:
        found += b"event: curves\ndata: " + shown.curves + b"\n\n"
    return found


def _policy(pages: Pages) -> Mapping[str, str]:
    return {"content-security-policy": f"{pages.everywhere['policy']}; {FRAMED_BY_NOBODY}"}


def _answer(body: bytes, kind: str, headers: Mapping[str, str] | None = None, status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(body, status, {**(headers or {}), "content-type": f"{kind}; charset=utf-8"})


def _missing() -> Any:
    return _answer(b"there is no such page\n", "text/plain", status=404)
