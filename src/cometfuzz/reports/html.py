"""The report as a folder of pages that need no network: a summary, and a page for each bug.

Texts of libraries are text: templates escape everything, control and direction signs are shown as escapes, links are
made of http and https only, and a content security policy lets run nothing but our own script, by its hash.
"""

import base64
import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import cometfuzz
from cometfuzz.campaign.kernels import HEADINGS
from cometfuzz.errors import CometfuzzError, unwritten
from cometfuzz.ir.codec import encode
from cometfuzz.oracles.finding import DATA_KINDS
from cometfuzz.oracles.symptoms import SEVERITIES
from cometfuzz.places import Place
from cometfuzz.reports.difference import difference
from cometfuzz.reports.facts import STANDINGS, Facts, NotCounted, reasons, standing
from cometfuzz.reports.graph_drawing import call_text, draw_graph
from cometfuzz.reports.plots import coverage_charts
from cometfuzz.reports.tally import PUBLISHED, PUBLISHED_MODELS
from cometfuzz.reports.text import duration, is_link, visible
from cometfuzz.triage.bug import Bug

WEIGHED = {"severity": SEVERITIES, "data": DATA_KINDS}
"""Columns of the table of bugs that are sorted by weight, with their values from the first to the last."""

LISTED = 100
"""Kinds of findings that are listed for each reason why they are no bugs."""

LONGEST = 20_000
"""Signs of one value of evidence or settings that a page shows."""

GENERATOR = b'<meta name="generator" content="cometfuzz">'
INDEX = "index.html"
MAX_BYTES = 2**30
"""Of an older page that is replaced."""

_BUG_FILES = ("index.html", "script.py", "draft.md", "minimal.json", "original.json")
_BUG_ID = re.compile(r"[0-9a-f]{10}")

COMMANDS = (
    ("cometfuzz resume DIR", "go on where the campaign stopped"),
    ("cometfuzz bugs DIR", "this list in a terminal; --json for programs"),
    ("cometfuzz show DIR BUG", "one bug with its script"),
    ("cometfuzz replay DIR BUG", "a bug's minimal case on its routes again"),
    ("cometfuzz verify DIR", "all scripts again, on the installed versions: still there, or gone"),
)


def write_report(facts: Facts, folder: Place) -> Path:
    """Write the pages into a folder and return the first; an older report there is replaced, other files are not."""
    pages = Pages(facts)
    try:
        _expect_ours(folder)
        _remove_stale(folder / "bugs", {bug.id for bug in facts.bugs})
        for bug in facts.bugs:
            for name, text in pages.bug(bug).items():
                (folder / "bugs" / bug.id).write(name, text)
        folder.write(INDEX, pages.index())
    except OSError as error:
        where = error.filename or folder.path()
        raise CometfuzzError(f"{where}: expected a folder for a report; received {error.strerror}") from None
    return folder.path(INDEX)


def write_page(facts: Facts, folder: Place, template: str, **values: Any) -> Path:
    """Write one more page beside those of a report, of the template's name, and return it."""
    try:
        folder.write(template, Pages(facts).page(template, home=INDEX, **values))
    except OSError as error:
        raise unwritten(folder.path(template), error) from None
    return folder.path(template)


def _expect_ours(folder: Place) -> None:
    """Refuse a folder with something in it that is no report."""
    if folder.names() and not (folder.kind(INDEX) and GENERATOR in folder.read(INDEX, MAX_BYTES)[:4000]):
        raise CometfuzzError(
            f"{folder.path()}: expected a new folder, or one with an older report; received another one: name a new one"
        )


def _remove_stale(folder: Place, current: set[str]) -> None:
    """Remove what an older report wrote of bugs that are no more; anything else stays."""
    for bug_id in filter(_BUG_ID.fullmatch, folder.names()):
        for name in _BUG_FILES:
            (folder / bug_id).remove(name)
        if bug_id not in current and not (folder / bug_id).names():
            folder.remove_folder(bug_id)


class Pages:
    """The pages of one report, made in memory. A bug's page says nothing of the campaign but its name."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        loader = environment().loader
        assert loader is not None
        style, script = (loader.get_source(environment(), name)[0] for name in ("report.css", "report.js"))
        self.everywhere = {
            "facts": facts,
            "version": cometfuzz.__version__,
            "style": Markup(style),
            "script": Markup(script),
            "policy": policy_of(style, script),
        }

    def index(self) -> bytes:
        return self.page(
            INDEX,
            home=INDEX,
            published=PUBLISHED,
            published_models=PUBLISHED_MODELS,
            matrix=_matrix(_counted(self.facts.bugs)),
            choices=_choices(self.facts.bugs),
            weights={name: {value: place for place, value in enumerate(values)} for name, values in WEIGHED.items()},
            charts=coverage_charts(self.facts),
            reasons=reasons(),
            listed=LISTED,
            headings=HEADINGS,
            command=rerun_command(self.facts),
            commands=COMMANDS,
        )

    def bug(self, bug: Bug) -> dict[str, bytes]:
        """The files of a bug's folder."""
        blamed = [node.id for node in bug.minimal.graph.nodes if node.layer in bug.signature.layers]
        page = self.page(
            "bug.html", home="../../index.html", bug=bug, difference=difference(bug), marked=[bug.finding.node, *blamed]
        )
        files = {"index.html": page, "minimal.json": encode(bug.minimal), "original.json": encode(bug.original)}
        if bug.script is not None:
            files["script.py"] = _bytes(bug.script.text)
        if bug.draft:
            files["draft.md"] = _bytes(bug.draft)
        return files

    def page(self, template: str, **values: Any) -> bytes:
        """What a template makes of some values."""
        return _bytes(environment().get_template(template).render(self.everywhere, **values))


def rerun_command(facts: Facts) -> str:
    """The command that makes the same cases again, as far as the settings say."""
    if between := facts.settings.get("between"):
        seed, cases = str(facts.settings.get("seed", 1)), str(facts.done)
        words = ["cometfuzz", "compare", *map(str, between), "--seed", seed, "--cases", cases]
        return shlex.join([*words, "--out", f"{facts.name}-again"])
    if isinstance(merged := facts.settings.get("merged"), list):
        folders = [str(each.get("folder")) for each in merged if isinstance(each, dict)]
        return shlex.join(["cometfuzz", "merge", *folders, "--out", f"{facts.name}-again"])
    words = ["cometfuzz", "run"]
    for name in ("strategy", "seed", "sigma", "jobs"):
        if facts.settings.get(name) is not None:
            words += [f"--{name}", str(facts.settings[name])]
    if facts.settings.get("branches") is False:
        words.append("--no-branches")
    words += ["--cases", str(facts.done)]
    if routes := facts.settings.get("routes"):
        words += ["--routes", ",".join(map(str, routes))]
    return shlex.join([*words, "--out", f"{facts.name}-again"])


def _counted(bugs: Iterable[Bug]) -> list[Bug]:
    return [bug for bug in bugs if bug.reported and not bug.limit]


def _matrix(bugs: Sequence[Bug]) -> Mapping[str, Any]:
    """How many bugs there are by library and symptom, the library with the most first."""
    counts = Counter((bug.signature.library, bug.signature.symptom) for bug in bugs)
    totals = Counter(bug.signature.library for bug in bugs)
    symptoms = Counter(bug.signature.symptom for bug in bugs)
    return {
        "libraries": sorted(totals, key=lambda name: (-totals[name], name)),
        "symptoms": sorted(symptoms, key=lambda name: (-symptoms[name], name)),
        "counts": counts,
        "totals": totals,
    }


def _choices(bugs: Sequence[Bug]) -> dict[str, list[str]]:
    """What the filters offer, by the name of the column."""
    data, severities = {bug.data_kind for bug in bugs}, {bug.severity for bug in bugs}
    standings = {standing(bug) for bug in bugs}
    return {
        "library": sorted({bug.signature.library for bug in bugs}),
        "stage": sorted({bug.signature.stage for bug in bugs}),
        "layer": sorted({layer for bug in bugs for layer in bug.signature.layers}),
        "symptom": sorted({bug.signature.symptom for bug in bugs}),
        "severity": [name for name in SEVERITIES if name in severities],
        "data": [name for name in DATA_KINDS if name in data],
        "status": [name for name in STANDINGS if name in standings],
    }


@cache
def environment() -> Environment:
    """What is the same for all reports: to compile the templates takes longer than to fill them."""
    environment = Environment(
        loader=PackageLoader("cometfuzz.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        by_reason=_by_reason,
        call=call_text,
        drawn=draw_graph,
        duration=duration,
        number=lambda value: f"{value:,}".replace(",", "\u202f"),
        plain=_plain,
        share=lambda value: f"{value:.1%}",
        standing=standing,
    )
    environment.tests["link"] = is_link
    return environment


def _by_reason(groups: Iterable[tuple[str, list[NotCounted]]]) -> list[tuple[str, list[NotCounted]]]:
    """In the order in which `reasons` names them."""
    order = list(reasons())
    return sorted(groups, key=lambda group: order.index(group[0]))


def _plain(value: Any) -> str:
    """A value of evidence or settings: text as it is, lists of text in lines, the rest as JSON; long ones are cut."""
    text = _whole(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text)} signs)"


def _whole(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def policy_of(style: str, script: str) -> str:
    """Nothing may be loaded or run but our own style and script, which stand in the page."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _bytes(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which has none, as its escape."""
    return text.encode("utf-8", "backslashreplace")
