"""The HTML report in a real browser: filter, sort, open a bug, copy its script; nothing hostile runs, nothing is asked
of a network. SCREENSHOTS=folder keeps the pictures."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from devtools import Browser, Page
from reporting import bug, hostile_bug

from cometfuzz.reports.facts import Facts
from cometfuzz.reports.text import visible

SHOWN = "[...document.querySelectorAll('#bug-table tbody tr')].filter(row => !row.hidden)"
VALUE_BUG = bug("onnxruntime", "value", ("Conv2D", "ReLU"))


@pytest.fixture
def index(browser: Browser, report: Path) -> Iterator[Page]:
    """The first page; afterwards it must not have complained, nor asked for anything but files of the report."""
    page = Page(browser)
    page.open((report / "index.html").as_uri())
    yield page
    assert page.complaints == []
    assert page.requests
    inside = [
        address for address in page.requests if address.startswith((report.as_uri() + "/", "data:image/svg+xml,"))
    ]
    assert page.requests == inside


def shown(page: Page, column: str = "title") -> list[str]:
    return list(page.run(f"{SHOWN}.map(row => row.dataset.{column})"))


def test_filters(index: Page, facts: Facts) -> None:
    assert shown(index) == [visible(each.title) for each in facts.bugs]
    index.choose("[data-filter=library]", "openvino")
    assert shown(index, "library") == ["openvino"] * 2
    index.choose("[data-filter=symptom]", "death")
    assert shown(index, "symptom") == ["death"]
    assert index.run("document.getElementById('shown').textContent") == f"1 of {len(facts.bugs)} bugs"
    assert index.run("location.hash") == "#library=openvino&symptom=death"
    index.choose("[data-filter=data]", "special")
    assert shown(index) == []
    assert index.run("document.getElementById('none').checkVisibility()")
    index.click("#clear")
    assert len(shown(index)) == len(facts.bugs)
    for column, value in (("status", "known"), ("layer", "ReLU"), ("stage", "convert")):
        index.choose(f"[data-filter={column}]", value)
        assert shown(index)
        assert all(value in each.split("\n") for each in shown(index, column))
        index.click("#clear")
    index.type("[data-filter=text]", "layernorm")
    assert shown(index, "library") == ["torch"]


def test_a_number_of_the_matrix_leads_to_its_bugs(index: Page) -> None:
    index.click(".matrix a[href='#library=openvino&symptom=crash']")
    index.until(f"{SHOWN}.length === 1")
    assert shown(index, "library") == ["openvino"]
    assert index.run("document.querySelector('[data-filter=symptom]').value") == "crash"


def test_sorting(index: Page, facts: Facts) -> None:
    first = shown(index, "rank")
    assert first == sorted(first, key=int)
    index.click("th[data-sort=library] button")
    names = shown(index, "library")
    assert names == index.run(f"{names!r}.toSorted((a, b) => a.localeCompare(b, 'en'))")
    assert index.run("document.querySelector('th[data-sort=library]').getAttribute('aria-sort')") == "ascending"
    index.click("th[data-sort=library] button")
    assert shown(index, "library") == names[::-1]
    index.click("th[data-sort=data] button")
    order = shown(index, "data")
    assert [name for place, name in enumerate(order) if name not in order[:place]] == [
        *("ordinary", "overflow", "empty", "special")
    ]
    assert len(order) == len(facts.bugs)


def test_a_bug_opens_and_its_script_is_copied(index: Page, browser: Browser) -> None:
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    index.click(f"a[href='bugs/{VALUE_BUG.id}/index.html']")
    index.until(f"document.title === {VALUE_BUG.title!r} && document.readyState === 'complete'")
    assert VALUE_BUG.script
    index.call("Page.bringToFront")
    index.click("button[data-copy=script]")
    index.until("document.querySelector('button[data-copy=script]').textContent !== 'Copy the script'")
    assert index.run("document.querySelector('button[data-copy=script]').textContent") == "Copied"
    assert index.run("navigator.clipboard.readText()") == VALUE_BUG.script.text
    assert index.run("document.querySelectorAll('svg.graph').length") == 2
    index.click("nav a[href='../../index.html#bugs']")
    index.until("document.getElementById('bug-table') !== null")


def test_hostile_texts_stay_texts(index: Page, report: Path) -> None:
    evil = hostile_bug()
    assert "owned" in index.run("document.body.innerText")
    assert index.run("document.title") == "monday: 5 new bugs in 4 libraries"
    index.choose("[data-filter=library]", evil.signature.library)
    assert shown(index, "library") == [evil.signature.library]
    index.open((report / "bugs" / evil.id / "index.html").as_uri())
    index.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert index.run("document.title").startswith("</pre></script><script>")
    assert index.run("document.querySelectorAll('img, script:not(body > script), b, iframe').length") == 0
    assert index.run("[...document.links].every(link => ['file:', 'https:'].includes(link.protocol))")
    assert "49" not in index.run("document.querySelector('h1').textContent")


def test_a_script_that_is_not_ours_does_not_run(browser: Browser, report: Path, tmp_path: Path) -> None:
    """Even if escaping failed, the policy would hold."""
    text = (report / "index.html").read_text()
    broken = text.replace("<footer", "<script>document.title='owned'</script><i onclick=\"x()\"></i><footer", 1)
    (tmp_path / "index.html").write_text(broken)
    page = Page(browser)
    page.open((tmp_path / "index.html").as_uri())
    assert page.run("document.title").startswith("monday")
    assert any("Content Security Policy" in str(complaint) for complaint in page.complaints)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["index", "bug", "hostile"])
def test_pages_fit_their_window(
    browser: Browser, report: Path, screenshots: Path, name: str, width: int, dark: bool
) -> None:
    places = {"bug": f"bugs/{VALUE_BUG.id}/", "hostile": f"bugs/{hostile_bug().id}/"}
    page = Page(browser, width, 900, dark)
    page.open((report / places.get(name, "") / "index.html").as_uri())
    page.screenshot(screenshots / f"{name}-{width}-{'dark' if dark else 'light'}.png")
    assert page.run("document.documentElement.scrollWidth") <= width
    channels = page.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (max(channels) < 100) == dark
    assert page.complaints == []
