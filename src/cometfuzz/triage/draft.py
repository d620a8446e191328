"""Issue drafts: a defect as Markdown in the form that its library's tracker asks for.

A draft is made from the ledger's entry, which says what is wrong, whose it is and with which versions, and from the
record of the bug, which has the script and what it printed. What is not measured is not said. Text that comes from a
library stands in fences that it cannot close.
"""

import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cometfuzz.ledger.defect import ANY_CPU, Defect, Seen
from cometfuzz.oracles.symptoms import about
from cometfuzz.places import Place
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES, library_named
from cometfuzz.routes.trackers import Content, Tracker
from cometfuzz.triage.blame import AGAINST
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.collection import Collected, Collection
from cometfuzz.triage.entries import first_entry
from cometfuzz.triage.example import Example, core_of, read_example
from cometfuzz.triage.fuzzer_rules import rules_text
from cometfuzz.triage.recording import DRAFT, MAX_BYTES, writing
from cometfuzz.triage.scripts.onnx_program import CUT

DOCUMENT = Path("docs", "drafts.md")
"""Beside the collection's folder: drafts for people to look at."""
FOUND = "Found by a fuzzer of deep-learning libraries (cometfuzz) and reduced to what is shown here."
MAX_WAYS = 3


@dataclass(frozen=True)
class System:
    """What a draft says of the machine."""

    platform: str
    python: str


COLLECTED = System("Linux", "3.11")
"""Where the bugs of a collection are run again: a draft does not change with the machine that writes it."""


@dataclass(frozen=True)
class _Report:
    """All that a draft is made from."""

    defect: Defect
    bug: Bug
    example: Example | None
    system: System
    routes: Mapping[str, Route]


def draft(bug: Bug, routes: Mapping[str, Route] = ROUTES) -> str:
    """The issue of a bug that a campaign found: nobody has written an entry for it yet."""
    here = System(platform.platform(), platform.python_version())
    return _text(_Report(first_entry(bug), bug, core_of(bug), here, routes))


def draft_of(entry: Collected) -> str:
    """The issue of a collected bug, from its entry."""
    return _text(_Report(entry.defect, entry.bug, example_of(entry), COLLECTED, ROUTES))


def example_of(entry: Collected) -> Example | None:
    """The few lines that show a collected bug: a person's, or else the core of its script."""
    return read_example(entry.files) or core_of(entry.bug)


def tracker_of(defect: Defect) -> Tracker:
    """Where its issue belongs: to the library whose defect it is, whatever route showed it."""
    return library_named(defect.library).tracker


def write_drafts(collection: Collection) -> None:
    """Write the drafts of a collection anew, as their entries are now."""
    with writing(collection.folder):
        for entry in collection.entries:
            text = draft_of(entry)
            if text != entry.bug.draft:
                entry.files.write(DRAFT, text.encode("utf-8", "backslashreplace"))
        beside, name = Place(collection.folder.parent) / DOCUMENT.parent.name, DOCUMENT.name
        if beside.kind(name):
            text = with_drafts(beside.read(name, MAX_BYTES).decode("utf-8", "backslashreplace"), collection)
            beside.write(name, text.encode("utf-8", "backslashreplace"))


def with_drafts(text: str, collection: Collection) -> str:
    """A document with the drafts that it names as they are now, without the attachment; the rest as it was."""
    for entry in collection.entries:
        begin, end = f"<!-- begin draft {entry.slug} -->", f"<!-- end draft {entry.slug} -->"
        if begin in text and end in text.partition(begin)[2]:
            head, _, rest = text.partition(begin)
            shown = fenced(
                re.sub("<details>.*</details>", "(the script)", draft_of(entry), flags=re.DOTALL), "markdown"
            )
            text = f"{head}{begin}\n\n{shown}\n\n{end}{rest.partition(end)[2]}"
    return text


def _text(report: _Report) -> str:
    """Its title as the first heading, then the tracker's sections."""
    tracker = tracker_of(report.defect)
    parts = [f"# {tracker.prefix}{prose(report.defect.title)}"]
    if tracker.address:
        labels = f"; labels: {', '.join(tracker.labels)}" if tracker.labels else ""
        parts.append(f"<!-- for {tracker.address}{labels} -->")
    for heading, contents in tracker.sections:
        texts = [contents] if isinstance(contents, str) else [_content(report, each) for each in contents]
        filled = [text for text in texts if text]
        if filled:
            parts += [f"### {heading}", *filled]
    return "\n\n".join(parts) + "\n"


def _content(report: _Report, content: Content) -> str:
    example = report.example
    if content == "example":
        return fenced(example.text, "python") if example and example.text else ""
    if content == "python":
        return report.system.python
    if content == "rules":
        return rules_text(report.bug, example)
    return FOUND if content == "found" else _FILLED[content](report)


def _why(report: _Report) -> str:
    return prose(report.defect.why) or _problem(report.bug)


def _actual(report: _Report) -> str:
    example = report.example
    shown = example.actual if example is not None and example.actual else report.bug.finding.detail
    return f"Actual:\n\n{fenced(shown)}"


def _own_version(report: _Report) -> str:
    """Of the library alone, in all versions that it was seen with."""
    library = report.defect.library
    own = [each.versions[library] for each in report.defect.seen if library in each.versions]
    return ", ".join(dict.fromkeys(own)) or report.bug.versions.get(library, "")


def _system(report: _Report) -> str:
    cpus = ", ".join(dict.fromkeys(each.cpu for each in report.defect.seen if each.cpu != ANY_CPU))
    return f"- {report.system.platform}, CPU{f' ({cpus})' if cpus else ''}, Python {report.system.python}"


def _problem(bug: Bug) -> str:
    """What is wrong in a sentence, as far as it can be told without people."""
    place = " > ".join(bug.signature.layers) or "The model"
    condition = f" with {_inline(bug.signature.condition)}" if bug.signature.condition else ""
    where = "" if AGAINST in bug.blame.role else f" ({prose(bug.blame.role)})"
    return f"{place}{condition} {about(bug.finding.symptom).title}{where}."


def _related(report: _Report) -> str:
    links = [f"{each.link} ({each.state})" for each in report.defect.upstream]
    sentences = [f"Related: {prose(', '.join(links))}."] if links else []
    if report.bug.known and not links:
        sentences.append(f"Known: {prose(report.bug.known)}")
    if report.bug.flaky:
        sentences.append(f"It shows in {report.bug.shown} of {report.bug.runs} runs.")
    return " ".join(sentences)


def _expected(report: _Report) -> str:
    example, defect = report.example, report.defect
    parts = ["Expected:", fenced(example.expected)] if example and example.expected else []
    if not parts:
        parts = [
            "Expected: an end within seconds."
            if about(report.bug.finding.symptom).end == "hang"
            else "Expected: a result."
        ]
    if defect.documentation:
        parts.append(f"Documentation: {prose(defect.documentation)}")
    if example is None or not example.by_hand:
        parts += [text for text in (_meant(report.bug), _others(report)) if text]
    return "\n\n".join(parts)


def _meant(bug: Bug) -> str:
    """Where the expected values of a script come from."""
    end = about(bug.finding.symptom).end
    if end in ("values", "types") and bug.script is not None and CUT in bug.script.text:
        return (
            "The script has a part of the converted model. What is expected of it comes from another runtime, which"
            " gives for the whole model what follows from the documented meaning of the layers."
        )
    if end == "relation":
        return "Whatever the right result is, these two must agree."
    if end == "values":
        return (
            "It follows from the documented meaning of the layers, computed in float64, or from the unconverted model."
        )
    return "It follows from the documented meaning of the layers." if end == "types" else ""


def _others(report: _Report) -> str:
    """Which other ways give what is expected, in words that do not need our own."""
    _, *agreeing = report.bug.finding.camps
    routes = report.routes
    names = [name for camp in agreeing for name in camp.routes if name in routes]
    return f"Others that give it: {_ways(names, routes)}." if names else ""


def _ways(names: Sequence[str], routes: Mapping[str, Route]) -> str:
    paths = [routes[name].path for name in names]
    more = [f"{len(paths) - MAX_WAYS} more"] if len(paths) > MAX_WAYS else []
    text = "; ".join([*paths[:MAX_WAYS], *more])
    for route in ROUTES.values():
        text = text.replace(route.name, route.known_as) if route.known_as else text
    return text


def _versions(report: _Report) -> str:
    """With which versions it was seen, release or nightly, and with which it was looked for and did not show."""
    first, *more = report.defect.seen or (Seen({}),)
    lines = [f"Shows with {_named({**first.versions, **_beside(report, first.versions)})}"]
    lines += [f"Shows with {_named(each.versions)}" for each in more]
    gone = [each.versions for each in report.defect.fixed if report.defect.library in each.versions]
    lines += [f"Does not show with {_named(versions)}" for versions in gone]
    return "\n".join(f"- {line}" for line in lines)


def _beside(report: _Report, known: Mapping[str, str]) -> dict[str, str]:
    """The versions of what else has a part in it: what an example imports, else what the script says, else the stages
    of the failing route."""
    bug, example = report.bug, report.example
    if example is not None and example.by_hand:
        imported = re.findall(r"^(?:import|from) (\w+)", example.text, re.MULTILINE)
        return {name: bug.versions[name] for name in bug.versions if name in imported and name not in known}
    ways = [report.routes[name] for name in bug.finding.camps[0].routes[:1] if name in report.routes]
    text = bug.script.text if bug.script else ""
    taking_part = {bug.blame.library, report.defect.library, *(stage.library for way in ways for stage in way.stages)}
    named = {name for name in bug.versions if f'"{name}"' in text}
    return {name: bug.versions[name] for name in bug.versions if name in (named or taking_part) - known.keys()}


def _named(versions: Mapping[str, str]) -> str:
    nightly = {name: " (nightly)" if "dev" in version else "" for name, version in versions.items()}
    return ", ".join(f"{name} {version}{nightly[name]}" for name, version in versions.items()) or "unknown versions"


def _attached(report: _Report) -> str:
    """The guarded script, folded."""
    script = report.bug.script
    if script is None or not script.text:
        return ""
    told = "A script that ends with exit code 1 if it shows, 0 if not, 2 if a library is missing"
    return f"<details><summary>{told}</summary>\n\n{fenced(script.text, 'python')}\n\n</details>"


_FILLED: dict[Content, Callable[[_Report], str]] = {
    "why": _why,
    "related": _related,
    "actual": _actual,
    "expected": _expected,
    "versions": _versions,
    "own version": _own_version,
    "system": _system,
    "script": _attached,
}
"""What fills the sections of a form."""


def prose(text: str) -> str:
    """What stands in the running line: no line breaks, no HTML; a heading cannot begin inside it."""
    return " ".join(text.split()).replace("<", "&lt;")


def _inline(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split()) + "`"


def fenced(text: str, language: str = "") -> str:
    """A fenced block with a fence longer than any in the text."""
    clean = re.sub(r"\x1b\[[0-9;]*m", "", text)
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{clean.rstrip()}\n{fence}"
