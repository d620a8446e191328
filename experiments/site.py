"""The docs as pages to browse: gathers them in build/pages, laid out as the repository is, and lets mkdocs build them.

    .venv/bin/python experiments/site.py [--pages-only]

What the tool itself can tell is written here, at build time: options from `--help`, layers and operators from the
catalogue, the ledger and the gallery of bugs from their folder, explanations as sections of ARCHITECTURE.md. Nothing is
copied by hand, and no page loads anything from a network, which is looked for at the end.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from rich.progress import track
from typer.testing import CliRunner

from cometfuzz.catalogue import LAYERS, OPERATORS
from cometfuzz.cli import app
from cometfuzz.execution import environments
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.reading import read
from cometfuzz.places import Place
from cometfuzz.reports import markdown
from cometfuzz.reports.collection import prose
from cometfuzz.triage.example import read_example

ROOT = Path(__file__).parents[1]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"

FIRST = (
    "keras-tf-add-value",
    "openvino-logaddexp-value",
    "keras-tf-adaptivemaxpooling-death",
    "torch-lstm-use-bias-false-float16-death",
    "keras-torch-rmsnormalization-axis-1-rank3-value",
    "torch-convtranspose-log-sigmoid-value",
    "tensorflow-upsampling-bilinear-size-value",
    "keras-masking-timedistributed-layer-softmax-value",
    "keras-dense-sparsemax-units-value",
    "keras-tf-conv-same-strides-value",
)
"""The ten that impress most: plain numbers, few lines, and wrong without a word, or the death of the process."""

EXPLANATIONS = {
    "judging": ("How a value is judged", "How a route is held against itself", "What should be refused"),
    "coverage": ("What is covered where", "How the search stays honest"),
    "paper": ("Where we differ from the paper, and why",),
}
"""Pages made of sections of ARCHITECTURE.md."""

FOLDER_LINK = re.compile(r"(\]\((?:\.\./)*(?:bugs/)?[\w.-]+)/\)")
RECORD_LINK = re.compile(r"\]\(measurements/\)")
OUTSIDE = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=["']?(?:https?:)?//[^"'> ]+""")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages-only", action="store_true", help="gather the pages and build nothing")
    arguments = parser.parse_args()
    gather()
    if not arguments.pages_only:
        python = environments.create("docs").python
        command = [
            str(python),
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--config-file",
            "-",
        ]  # --quiet hides warnings from it
        environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # our pin stays what it is
        built = subprocess.run(
            command,
            cwd=ROOT,
            env=environ,
            input=configuration(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if built.returncode:
            sys.exit(built.stdout)
        if loads := list(loads_from_elsewhere(SITE)):
            sys.exit("expected pages that load nothing from elsewhere; received\n" + "\n".join(loads[:20]))
        print(SITE / "index.html")


def gather() -> None:
    """All pages, in build/pages."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES / "docs")
    for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests/README.md"):
        write(name, (ROOT / name).read_text(encoding="utf-8"))
    for path in (PAGES / "docs").rglob("*.md"):
        write(str(path.relative_to(PAGES)), path.read_text(encoding="utf-8"))
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name, titles in EXPLANATIONS.items():
        write(f"docs/explanation/{name}.md", "\n".join(section(architecture, title) for title in titles))
    entries = read(ROOT / "bugs")
    write("docs/reference/options.md", "\n".join(options()))
    write("docs/reference/catalogue.md", "\n".join(catalogue()))
    write("docs/reference/ledger.md", "\n".join(ledger(entries)))
    write("bugs/README.md", "\n".join(gallery(entries)))
    for entry in entries.values():
        write(f"bugs/{entry.id}/README.md", "\n".join(["---", "search: {exclude: true}", "---", *bug(entry, 1)]))


def configuration() -> str:
    """mkdocs.yml, with pages of docs/ that have no place in `nav` at its end, so that none is out of reach."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = (f"docs/{path.relative_to(ROOT / 'docs')}" for path in sorted((ROOT / "docs").rglob("*.md")))
    more = [f"      - {page}" for page in pages if page not in text]
    return "\n".join([text.rstrip(), "  - More:", *more, ""]) if more else text


def write(name: str, text: str) -> None:
    """A page, with links to folders as links to their pages."""
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FOLDER_LINK.sub(r"\1/README.md)", RECORD_LINK.sub("](measurements.md)", text)), encoding="utf-8")


def section(text: str, title: str) -> str:
    """A section of a page as a page of its own; a section is one of the second level."""
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        sys.exit(f"expected a section in ARCHITECTURE.md; received {title=}")
    return re.sub(r"^#(#+ )", r"\1", found[0], flags=re.MULTILINE)


def options() -> Iterator[str]:
    """What `--help` says of every command."""
    yield from ("# Options", "", "What `cometfuzz COMMAND --help` says.", "")
    runner = CliRunner()
    for names in track(list(_commands(typer.main.get_command(app), ())), "options", transient=True):
        said = runner.invoke(app, [*names, "--help"], env={"COLUMNS": "76", "TERM": "dumb"}, prog_name="cometfuzz")
        text = re.sub(r"\x1b\[[0-9;]*m", "", said.output).strip("\n")
        yield from (f"## {' '.join(names) or 'cometfuzz'}", "", "```text", text, "```", "")


def _commands(command: Any, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    inner = getattr(command, "commands", {})
    if not inner or not names:
        yield names
    for name, one in inner.items():
        yield from _commands(one, (*names, name))


def catalogue() -> Iterator[str]:
    """Every layer and operator; `cometfuzz layers NAME` has the rest."""
    yield from ("# Layers and operators", "", "`cometfuzz layers NAME` has parameters and rules of one.", "")
    for title, specs in (("Layers", LAYERS), ("Operators", OPERATORS)):
        yield from (f"## {title}", "", "| name | family | ranks | what it computes |", "| --- | --- | --- | --- |")
        for name, spec in specs.items():
            ranks = ", ".join(map(str, spec.ranks))
            yield f"| {inline(name)} | {spec.family} | {ranks} | {inline(' '.join(spec.doc.split()))} |"
        yield ""


def ledger(entries: dict[str, Defect]) -> Iterator[str]:
    """Every entry, by library."""
    yield from ("# The ledger", "", "What is known to be wrong or limited in the libraries: `cometfuzz ledger`.", "")
    for library in sorted({entry.library for entry in entries.values()}):
        yield from (f"## {library}", "", "| entry | kind | title | seen with |", "| --- | --- | --- | --- |")
        for entry in entries.values():
            if entry.library == library:
                seen = "; ".join(versions(entry))
                yield f"| [{entry.id}](../../bugs/{entry.id}/) | {entry.kind} | {inline(entry.title)} | {seen} |"
        yield ""


def inline(text: str) -> str:
    """A text as Markdown that shows it; mkdocs' Markdown knows fewer escapes than others."""
    return re.sub(r"\\([:=~,/@^&'\";?%$])", r"\1", markdown.inline(text))


def versions(entry: Defect) -> list[str]:
    """With which versions it was seen, each once."""
    seen = [", ".join(f"{name} {version}" for name, version in each.versions.items()) for each in entry.seen]
    return list(dict.fromkeys(seen))


def gallery(entries: dict[str, Defect]) -> Iterator[str]:
    """The bugs that impress most, then all that count."""
    counted = [entry for entry in entries.values() if entry.kind == "bug" and entry.counted]
    yield from (
        "# Bugs",
        "",
        "Ten to begin with: plain numbers, few lines. `cometfuzz draft ID` has the issue of each.",
        "",
    )
    for name in FIRST:
        yield from bug(entries[name], 2)
    yield from ("## All that count", "", "| bug | library | what |", "| --- | --- | --- |")
    for entry in counted:
        yield f"| [{entry.id}]({entry.id}/) | {entry.library} | {inline(entry.title)} |"


def bug(entry: Defect, level: int) -> Iterator[str]:
    """One entry: what is wrong, the few lines that show it, and what they print."""
    yield from (f"{'#' * level} {inline(entry.title)}", "", prose(entry.why) or "", "")
    example = read_example(Place(ROOT / "bugs" / entry.id))
    if example is not None:
        yield from ("```python", example.text.rstrip(), "```", "")
        printed = f"Actual:   {example.actual}\nExpected: {example.expected}".rstrip()
        yield from ("```text", printed, "```", "")
    facts = [f"`{entry.id}`", f"{entry.kind} in {entry.library}", *(f"seen with {each}" for each in versions(entry))]
    links = [f"[{each.state}]({each.link})" for each in entry.upstream]
    yield from ("; ".join([*facts, *links]), "")
    if not example and (ROOT / "bugs" / entry.id / "script.py").is_file():
        script = (ROOT / "bugs" / entry.id / "script.py").read_text(encoding="utf-8")
        yield from ("````python", script.rstrip(), "````", "")


def loads_from_elsewhere(folder: Path) -> Iterator[str]:
    """What pages would load from a network."""
    for path in folder.rglob("*.html"):
        for found in OUTSIDE.finditer(path.read_text(encoding="utf-8")):
            if 'rel="canonical"' not in found[0]:
                yield f"{path.relative_to(folder)}: {found[0]}"


if __name__ == "__main__":
    main()
