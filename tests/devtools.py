"""A small client of Chromium's DevTools protocol over a pipe, with the standard library only.

`--remote-debugging-pipe` reads commands from file descriptor 3 and writes answers and events to 4: JSON texts with a
NUL after each. https://chromedevtools.github.io/devtools-protocol/ has the commands.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
LIMIT_S = 60.0

LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]  # out of the way of 3 and 4
for place, end in zip((3, 4), ends):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Puts the pipe to 3 and 4, whatever numbers it has here, and becomes the browser."""


def find_browser() -> str | None:
    """Chromium's path; the variable CHROMIUM names another one."""
    wanted = os.environ.get("CHROMIUM")
    return shutil.which(wanted) if wanted else next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A headless browser with a profile of its own, and one page at a time."""

    def __init__(self, program: str, profile: Path) -> None:
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        flags = [
            *("--headless", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run"),
            *("--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync"),
            *("--disable-component-update", "--disable-extensions", "--hide-scrollbars"),
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
        ]
        self._log = open(profile.parent / "browser.log", "wb")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(commands), str(answers), program, *flags, "about:blank"],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, "HOME": str(profile.parent)},
        )
        os.close(commands)
        os.close(answers)
        self._buffer = b""
        self._last = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.call("Browser.close")
            self._process.wait(LIMIT_S)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._write)
            os.close(self._read)
            self._log.close()

    def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come before it are kept."""
        self._last += 1
        command = {"id": self._last, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._write, json.dumps(command).encode() + b"\0")
        while True:
            message = self._next(LIMIT_S)
            if message is None:
                raise AssertionError(f"expected an answer to {method} within {LIMIT_S:g} s; received none")
            if message.get("id") == self._last:
                assert "error" not in message, f"{method}: {message['error']}"
                return dict(message["result"])

    def listen(self, seconds: float) -> None:
        """Take events for some time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._next(left)

    def _next(self, limit_s: float) -> dict[str, Any] | None:
        """The next message, or None if there is none in time."""
        until = time.monotonic() + limit_s
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self._read, 1 << 16)
            assert chunk, "the browser has gone; browser.log says why"
            self._buffer += chunk
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "id" not in message:
            self.events.append(message)
        return message


class Page:
    """A tab: what a person can do with it, and what it has asked for and complained of."""

    def __init__(self, browser: Browser, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.call(method, self.session, **params)

    def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression holds."""
        end = time.monotonic() + LIMIT_S
        while not self.run(condition):
            assert time.monotonic() < end, f"expected {condition} within {LIMIT_S:g} s"
            self.browser.listen(0.05)

    def click(self, selector: str) -> None:
        """Click in the middle of an element, of its first line if it has several, as a person does."""
        place: Mapping[str, float] = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const b = e.getClientRects()[0]; return {x: b.x + b.width / 2, y: b.y + b.height / 2}; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def type(self, selector: str, text: str) -> None:
        self.click(selector)
        self.call("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """Take an option of a select."""
        self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)}; "
            "e.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )

    def screenshot(self, path: Path) -> None:
        """The whole page as a picture."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def _events(self, *methods: str) -> list[dict[str, Any]]:
        self.browser.listen(0.1)
        mine = [event for event in self.browser.events if event.get("sessionId") == self.session]
        return [dict(event["params"]) for event in mine if event["method"] in methods]

    @property
    def requests(self) -> list[str]:
        """All addresses that the page has asked for."""
        return [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """Errors, warnings and whatever else stands in the console."""
        return self._events("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
