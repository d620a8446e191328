"""The live page: in headless Chromium, and as a server that refuses whom it is not for and leaves nothing behind.
SCREENSHOTS=folder keeps the pictures."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import campaigning
import httpx
import pytest
import reporting
from devtools import Browser, Page, find_browser
from stand_in import FINDING, SETTINGS, campaign, fresh

from cometfuzz.campaign.events import CaseDone, Ended, Event, Started
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import Settled
from cometfuzz.reports.text import visible
from cometfuzz.serving.app import STREAMS

LIMIT_S = 30.0
SHOWN = reporting.bug("keras", "crash", ("Conv2D",))
CALM = (
    "document.querySelectorAll('.campaign[aria-busy=false]').length === document.querySelectorAll('.campaign').length"
)


class Served:
    """A server in a process of its own."""

    def __init__(self, *folders: Path, options: tuple[str, ...] = ()) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cometfuzz", "serve", *map(str, folders), "--json", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        text = ""
        assert self.process.stdout is not None
        while "}" not in text:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            text += line
        self.address = str(json.loads(text)["address"])
        parts = urlsplit(self.address)
        self.root, self.port = f"{parts.scheme}://{parts.netloc}/", int(parts.port or 0)
        self.token = parts.path.strip("/")

    def get(self, path: str = "", **more: object) -> httpx.Response:
        return httpx.get(self.address + path, timeout=LIMIT_S, **more)  # type: ignore[arg-type]

    def stream(self) -> socket.socket:
        """A connection that listens to events."""
        opened = socket.create_connection(("127.0.0.1", self.port), LIMIT_S)
        opened.sendall(f"GET /{self.token}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return opened

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code and what stands on stderr."""
        self.process.send_signal(number)
        _, error = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, error


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    assert program, "expected chromium on the path, or its path in CHROMIUM; received none: apt-get install chromium"
    with Browser(program, tmp_path_factory.mktemp("browser") / "profile") as started:
        yield started


@pytest.fixture(scope="module")
def monday(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that is over, with hostile texts wherever a library has a say."""
    return reporting.write_campaign(tmp_path_factory.mktemp("campaigns") / "monday", 120)


@pytest.fixture(scope="module")
def finished(monday: Path) -> Iterator[Served]:
    served = Served(monday)
    yield served
    assert served.end() == (143, ""), "nothing is logged, the token least of all"


class Running:
    """A campaign that goes on when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.create(folder, {**SETTINGS, "routes": ["keras-tf", "keras-torch"], "cases": 40})
        self._events = campaign(fresh())
        self.tell(Started({**SETTINGS, "machine": MACHINE, "jobs": 2, "cases": 40}, 0, {}))

    def tell(self, event: Event) -> None:
        self.store.handle(event)

    def cases(self, count: int, change: Callable[[CaseDone], CaseDone] = lambda event: event) -> None:
        for event in islice(self._events, count):
            self.tell(change(event))


MACHINE = {"cpu": "avx512", "model": "A processor", "features": ["amx"], "caps": {}}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path / "running")
    yield made
    made.store.close()


def text_of(page: Page, name: str, place: int = 0) -> str:
    return str(page.run(f"document.querySelector('#campaign-{place} [data-is={name}]').textContent"))


def with_finding(**more: object) -> Callable[[CaseDone], CaseDone]:
    def change(event: CaseDone) -> CaseDone:
        (part,) = event.parts
        return replace(event, parts=[replace(part, findings=[replace(FINDING, **more)])])  # type: ignore[arg-type]

    return change


def test_events_arrive_and_a_new_finding_appears_without_a_reload(browser: Browser, running: Running) -> None:
    running.cases(3)
    served = Served(running.store.folder)
    page = Page(browser)
    page.open(served.address)
    page.until("document.querySelectorAll('.latest li').length === 1")
    assert (text_of(page, "state"), text_of(page, "done"), text_of(page, "done-note")) == (
        "running",
        "3",
        "of 40 cases",
    )
    assert "avx512 (A processor); amx; 2 jobs" in text_of(page, "sessions")
    page.run("window.mark = document.querySelector('.latest li')")
    running.cases(2, with_finding(symptom="value", layer="Dense", detail="<b>off</b> by far"))
    page.until("document.querySelectorAll('.latest li').length === 2")
    assert text_of(page, "done") == "5"
    assert page.run("window.mark.isConnected && window.mark === document.querySelectorAll('.latest li')[1]")
    assert page.run("document.querySelector('.latest li').className") == "fresh"
    assert page.run("document.querySelector('.latest .detail').textContent") == "<b>off</b> by far"
    assert page.run("document.getElementById('announcements').textContent") == "New finding: value, keras Dense. "
    page.until("document.querySelectorAll('.curves figure').length >= 4")
    assert page.run("[...document.querySelectorAll('.curves .space ~ figure span')].map(each => each.textContent)")
    running.store.keep(SHOWN)
    running.store.settle(Settled((4, 0, 0), SHOWN.id, True, "", 1.0))
    page.until("document.querySelectorAll('.latest a, .buglist a').length === 2")
    running.tell(Ended("cases", 5, 3.0, {}, 1.0, 2.0))
    page.until("document.querySelector('[data-is=state]').textContent === 'all cases are done'")
    page.click(".latest a")
    page.until(f"document.title === {SHOWN.title!r} && document.readyState === 'complete'")
    assert page.complaints == []
    assert served.end(signal.SIGINT) == (130, "")


def test_campaigns_stand_side_by_side(browser: Browser, running: Running, monday: Path) -> None:
    running.cases(2)
    served = Served(running.store.folder, monday)
    page = Page(browser, 1800)
    page.open(served.address)
    page.until(f"{CALM} && document.querySelectorAll('.curves figure').length > 4")
    assert [text_of(page, "name", place) for place in (0, 1)] == ["running", "monday"]
    assert [text_of(page, "done", place) for place in (0, 1)] == ["2", "120"]
    left, right = page.run("[...document.querySelectorAll('.campaign')].map(each => each.getBoundingClientRect().x)")
    assert left < right
    served.end()
    page.until("document.getElementById('connection').textContent === 'ended'")


def test_hostile_texts_stay_texts(browser: Browser, finished: Served) -> None:
    page = Page(browser)
    page.open(finished.address)
    page.until("document.querySelectorAll('.buglist li').length > 5")
    evil = reporting.hostile_bug()
    assert "<script>document.title='owned'</script>" in text_of(page, "latest")
    assert visible(evil.title)[:400] in page.run(
        "[...document.querySelectorAll('.buglist a')].map(each => each.textContent)"
    )
    assert page.run("document.title").endswith(": monday")
    assert page.run("document.querySelectorAll('img, iframe, b, script:not(body > script)').length") == 0
    assert page.run("[...document.links].every(link => link.protocol === 'http:' && link.host === location.host)")
    page.open(f"{finished.address}0/bugs/{evil.id}/index.html")
    assert page.run("document.title").startswith("</pre></script><script>")
    assert page.run("document.querySelectorAll('img, iframe, b, script:not(body > script)').length") == 0
    page.open(f"{finished.address}0/index.html")
    assert page.run("document.querySelectorAll('#bug-table tbody tr').length") == len(reporting.bugs())
    assert page.complaints == []
    assert all(address.startswith((finished.address, "data:image/svg")) for address in page.requests)


def test_a_script_that_is_not_ours_does_not_run(browser: Browser, finished: Served) -> None:
    """Even if escaping failed, the policy would hold."""
    page = Page(browser)
    page.open(finished.address)
    blocked = page.run(
        "new Promise(done => { document.addEventListener('securitypolicyviolation', at => done(at.violatedDirective)); "
        "const made = document.createElement('img'); made.src = 'http://127.0.0.1:9/'; document.body.append(made); })"
    )
    assert blocked == "img-src"
    assert page.run("(() => { try { document.body.innerHTML = '<i>'; } catch { return 'refused'; } })()") == "refused"
    clicked = page.run(
        "(() => { try { document.body.setAttribute('onclick', 'window.owned = 1'); } catch { return 'refused'; } })()"
    )
    assert clicked == "refused"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_fits_its_window(browser: Browser, finished: Served, width: int, dark: bool, tmp_path: Path) -> None:
    page = Page(browser, width, 800, dark)
    page.open(finished.address)
    page.until(f"{CALM} && document.querySelectorAll('.curves figure').length > 4")
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(folder / f"live-{width}-{'dark' if dark else 'light'}.png")
    assert page.run("document.documentElement.scrollWidth") <= width
    channels = page.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (max(channels) < 100) == dark
    assert page.complaints == []


def test_it_can_be_used_by_keyboard(browser: Browser, finished: Served) -> None:
    page = Page(browser)
    page.call("Page.bringToFront")
    page.open(finished.address)
    page.until(f"{CALM} && document.querySelectorAll('.buglist a').length > 5")
    seen: list[str] = []
    while "curves" not in seen and len(seen) < 40:
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        focus: Mapping[str, str] = page.run(
            "(() => { const at = document.activeElement; const style = getComputedStyle(at); "
            "return {name: at.dataset.is ?? at.className ?? '', text: at.textContent.slice(0, 20), "
            "outline: style.outlineStyle, width: style.outlineWidth}; })()"
        )
        assert (focus["outline"], focus["width"]) == ("solid", "2px"), focus
        seen.append(focus["name"] or focus["text"])
    assert seen[:3] == ["skip", "brand", "monday"]
    assert seen.index("latest") < seen.index("report") < seen.index("curves")


def test_who_is_refused(finished: Served) -> None:
    def status(path: str, method: str = "GET", **headers: str) -> int:
        return httpx.request(method, finished.root + path, headers=headers, timeout=LIMIT_S).status_code

    token = finished.token
    assert status(f"{token}/") == 200
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    for path in ("", "events", "0/index.html", f"{wrong}/", f"{wrong}/events", f"{token}x/", f"x/{token}/", "%00/"):
        assert status(path) == 403, path
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert status(f"{token}/", method) == 405
        assert status(f"{wrong}/", method) == 403
    for host in (
        "evil.example",
        "localhost.evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "[::2]",
        "10.0.0.1",
        "",
    ):
        assert status(f"{token}/", Host=host) in (400, 403), host
    for host in ("localhost", "127.0.0.1:9", "[::1]:80"):
        assert status(f"{token}/", Host=host) == 200
    for path in (
        "1/index.html",
        "-1/index.html",
        "0/bugs/none/index.html",
        "0/bugs/../../campaign.sqlite",
        "0/",
        "campaign.sqlite",
    ):
        assert status(f"{token}/{path}") == 404, path
    for path in (f"0/bugs/{SHOWN.id}/..%2f..%2fcampaign.sqlite", f"0/bugs/{reporting.bugs()[0].id}/..%2findex.html"):
        assert status(f"{token}/{path}") == 404, path


def test_every_answer_is_guarded(finished: Served) -> None:
    name = reporting.bugs()[0].id
    for path in ("", "events-", "0/index.html", f"0/bugs/{name}/index.html", f"0/bugs/{name}/script.py"):
        headers = finished.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
    script = finished.get(f"0/bugs/{name}/script.py")
    assert script.headers["content-type"].startswith("text/plain")
    assert script.headers["content-disposition"] == 'attachment; filename="script.py"'
    assert script.text == reporting.bugs()[0].script.text  # type: ignore[union-attr]


def test_so_many_browsers_watch_and_no_more(monday: Path) -> None:
    served = Served(monday)
    with ExitStack() as stack:
        streams = [stack.enter_context(served.stream()) for _ in range(STREAMS)]
        for stream in streams:
            assert b"200 OK" in stream.recv(100)
        assert served.get("events").status_code == 503
        assert served.get().status_code == 200
        streams[0].close()
        until = time.monotonic() + LIMIT_S
        while True:  # the place of one that has gone is free again
            with served.stream() as stream:
                if b"200 OK" in stream.recv(100):
                    break
            assert time.monotonic() < until
            time.sleep(0.2)
        assert served.end()[0] == 143


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_ends_with_streams_open_and_has_changed_nothing(monday: Path, number: int, code: int) -> None:
    def contents() -> dict[str, bytes]:
        files = (path for path in monday.rglob("*") if path.is_file() and not re.search("-(wal|shm)$", path.name))
        return {str(path): path.read_bytes() for path in files}

    before = contents()
    served = Served(monday)
    with served.stream() as stream:
        assert b"200 OK" in stream.recv(100)
        assert served.get("0/index.html").status_code == 200
        children = Path(f"/proc/{served.process.pid}/task").glob("*/children")
        assert not "".join(path.read_text() for path in children)
        assert served.end(number) == (code, "")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", served.port), 1)
    assert contents() == before


def test_it_listens_on_loopback_alone_unless_told(finished: Served, monday: Path) -> None:
    lines = Path("/proc/net/tcp").read_text().splitlines()
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert f"0100007F:{finished.port:04X}" in listening
    served = Served(monday, options=("--host", "0.0.0.0"))
    assert httpx.get(served.address.replace("0.0.0.0", "127.0.0.2"), timeout=LIMIT_S).status_code == 200
    assert served.get(headers={"Host": "evil.example"}).status_code == 403
    code, said = served.end()
    assert code == 143
    assert "nothing is encrypted" in said
    assert served.token not in said


def test_a_port_that_is_taken_is_one_line(finished: Served, monday: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "cometfuzz", "serve", str(monday), "--port", str(finished.port)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 2
    assert f"port={finished.port}" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_the_numbers_are_those_of_the_campaign(finished: Served) -> None:
    with httpx.stream("GET", f"{finished.address}events", timeout=LIMIT_S) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: ") and '"reading":null' in line:
                told = json.loads(line.removeprefix("data: "))
                break
    assert told["done"] == 120
    assert [route["name"] for route in told["routes"]] == list(campaigning.SETTINGS["routes"])  # type: ignore[call-overload]
