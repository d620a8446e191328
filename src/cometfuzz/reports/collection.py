"""A collection as tables: its index, README.md, those of docs/bugs.md, ours beside the paper's, and the support matrix.

In docs/bugs.md only what stands between a pair of markers is ours; the text around it is people's.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from cometfuzz.catalogue.manners import manner_words
from cometfuzz.errors import InvalidCollection
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import is_operator
from cometfuzz.ir.types import POLICY
from cometfuzz.ledger.defect import TRIGGERS
from cometfuzz.ledger.reading import read as read_entries
from cometfuzz.oracles.symptoms import about, in_order
from cometfuzz.places import Place
from cometfuzz.reports.markdown import inline
from cometfuzz.reports.published_bugs import DETECTED, TRIGGERED, Detected
from cometfuzz.reports.support_matrix import DOCUMENT as MATRIX
from cometfuzz.reports.support_matrix import support_matrix
from cometfuzz.reports.text import is_link, plural
from cometfuzz.triage.collection import Collected, Collection
from cometfuzz.triage.recording import MAX_BYTES, writing

INDEX = "README.md"
DOCUMENT = Path("docs", "bugs.md")
"""Beside the collection's folder."""

NOT_COUNTED = {
    "limit": "Limits: the library says that it does not do this, or does not promise it.",
    "choice": "Documented otherwise, on purpose.",
    "same fix": "The fix of another one would mend them too.",
}
"""What is not counted whatever people say of it, and why."""

_COLUMNS = ("bug", "library", "version", "stage", "layer", "symptom", "trigger", "blame", "verified")


def write_tables(collection: Collection) -> list[Path]:
    """Write the index of a collection, the tables of docs/bugs.md and the support matrix if those files are there; what
    was written."""
    texts = {(Place(collection.folder), INDEX): index_text(collection)}
    document = collection.folder.parent / DOCUMENT
    beside, name = Place(collection.folder.parent) / DOCUMENT.parent.name, DOCUMENT.name
    with writing(collection.folder):
        if beside.kind(name):
            text = beside.read(name, MAX_BYTES).decode("utf-8", "backslashreplace")
            texts[beside, name] = filled(text, collection, document)
        if beside.kind(MATRIX.name):
            texts[beside, MATRIX.name] = support_matrix(read_entries(collection.folder), collection.folder.name)
        for (place, name), text in texts.items():
            place.write(name, text.encode("utf-8", "backslashreplace"))
    return [place.path(name) for place, name in texts]


def index_text(collection: Collection) -> str:
    """README.md of a collection."""
    return "\n".join(_index(collection)) + "\n"


def _index(collection: Collection) -> Iterator[str]:
    name = collection.folder.name
    counted = [entry for entry in collection.entries if entry.defect.counted]
    libraries = {entry.library for entry in counted}
    yield from ("# Bugs", "")
    yield (
        f"{plural(len(counted), 'bug')} in {plural(len(libraries), 'library', 'libraries')}, and "
        f"{len(collection.entries) - len(counted)} that are not counted. Each folder has a script that needs only the"
        f" libraries and shows the bug, an issue draft, and the minimal case; `defect.toml` says why it is a bug."
        f" `make bugs` runs all scripts again."
    )
    yield from ("", f"`cometfuzz collect` writes this page; `cometfuzz bugs {name}` lists the same.", "")
    yield from _table(counted)
    rest = [entry for entry in collection.entries if not entry.defect.counted]
    reasons = [NOT_COUNTED.get(entry.status, entry.defect.because) for entry in rest]
    for reason in dict.fromkeys([*NOT_COUNTED.values(), *reasons]):
        entries = [entry for entry, own in zip(rest, reasons, strict=True) if own == reason]
        if entries:
            yield from ("", "## Not counted", "", prose(reason), "")
            yield from _table(entries)
    judged = [entry for entry in collection.entries if entry.defect.why.strip()]
    if judged:
        yield from ("", "## Why", "")
        yield from (f"- [{entry.slug}]({entry.slug}/): {prose(entry.defect.why)}" for entry in judged)


def prose(text: str) -> str:
    """What a person wrote, in one line; Markdown stays, HTML does not."""
    return " ".join(text.split()).replace("<", "&lt;")


def _table(entries: Sequence[Collected]) -> Iterator[str]:
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|" + " --- |" * len(_COLUMNS)
    for entry in entries:
        signature, defect = entry.bug.signature, entry.defect
        link = f" ([issue]({defect.link}))" if is_link(defect.link) else ""
        same = f" (as {defect.same_fix})" if defect.same_fix else ""
        cells = (
            f"[{entry.slug}]({entry.slug}/){link}{same}",
            *map(inline, (entry.library, entry.version, entry.bug.blame.stage, layers_text(signature.layers))),
            signature.symptom,
            " + ".join(defect.triggers),
            inline(entry.bug.blame.role),
            defect.verified.isoformat() if defect.verified else "",
        )
        yield f"| {' | '.join(cells)} |"


def layers_text(layers: Sequence[str]) -> str:
    """Layers in order, repetitions counted: ReLU x 11."""
    runs: list[tuple[str, int]] = []
    for layer in layers:
        if runs and runs[-1][0] == layer:
            runs[-1] = (layer, runs[-1][1] + 1)
        else:
            runs.append((layer, 1))
    return " > ".join(layer if count == 1 else f"{layer} x {count}" for layer, count in runs)


def filled(text: str, collection: Collection, place: Path) -> str:
    """A document with its tables as they are now, everything else as it was."""
    for name, table in TABLES.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise InvalidCollection(f"{place}: expected {begin} and {end}, each once and in order; received others")
        inside = "\n".join(table(collection))
        text = f"{text[: text.index(begin)]}{begin}\n\n{inside}\n\n{text[text.index(end) :]}"
    return text


def by_symptom(collection: Collection) -> Iterator[str]:
    """Bugs by library and symptom; the paper's in the last columns."""
    counted = [entry for entry in collection.entries if entry.defect.counted]
    names = _libraries(collection, DETECTED)
    paper = "paper: crash | NaN | inconsistency | paper (confirmed)"
    symptoms = in_order(entry.bug.signature.symptom for entry in counted)
    kinds = list(dict.fromkeys(about(symptom).heading for symptom in symptoms))
    yield f"| library | {' | '.join(kinds)} | ours | not counted | {paper} |"
    yield "| --- |" + " ---: |" * (len(kinds) + 6)
    for name in names:
        own = [entry for entry in counted if entry.library == name]
        others = sum(entry.library == name for entry in collection.entries) - len(own)
        yield _symptoms(kinds, name, own, others, DETECTED.get(name))
    every = DETECTED.values()
    published = Detected(*(sum(getattr(each, part) for each in every) for part in Detected.__dataclass_fields__))
    yield _symptoms(kinds, "all", counted, len(collection.entries) - len(counted), published)


def _symptoms(kinds: Sequence[str], name: str, own: Sequence[Collected], others: int, paper: Detected | None) -> str:
    ours = [sum(about(entry.bug.signature.symptom).heading == kind for entry in own) for kind in kinds]
    cells = [str(count or "") for count in (*ours, len(own), others)]
    if paper is None:
        theirs = [""] * 4
    else:
        theirs = [*map(str, (paper.crash, paper.nan, paper.inconsistency)), f"{paper.total} ({paper.confirmed})"]
    return f"| {' | '.join([inline(name), *cells, *theirs])} |"


def by_trigger(collection: Collection) -> Iterator[str]:
    """Bugs by what triggers them, ours / the paper's confirmed ones; a bug may take several things."""
    counted = [entry for entry in collection.entries if entry.defect.counted]
    names = _libraries(collection, (library for library, _, _ in TRIGGERED))
    yield f"| library, ours / paper | {' | '.join(TRIGGERS)} | bugs |"
    yield "| --- |" + " ---: |" * (len(TRIGGERS) + 1)
    for name in (*names, "all"):
        ours = [entry.defect.triggers for entry in counted if name in (entry.library, "all")]
        theirs = [triggers for library, _, triggers in TRIGGERED if name in (library, "all")]
        cells = [f"{sum(t in each for each in ours)} / {sum(t in each for each in theirs)}" for t in TRIGGERS]
        yield f"| {inline(name)} | {' | '.join(cells)} | {len(ours)} / {len(theirs)} |"


def by_model(collection: Collection) -> Iterator[str]:
    """Bugs by what their minimal models have that the paper's do not; one may have several things."""
    found: dict[str, list[Collected]] = {}
    for entry in collection.entries:
        for word in beyond(entry.bug.minimal) if entry.defect.counted else ():
            found.setdefault(word, []).append(entry)
    yield "| what the model has | bugs | libraries |"
    yield "| --- | ---: | --- |"
    for word, entries in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        libraries = sorted({entry.library for entry in entries}, key=str.lower)
        yield f"| {inline(word)} | {len(entries)} | {', '.join(map(inline, libraries))} |"


def beyond(case: Case) -> list[str]:
    """What a model has that the paper's have not: operators, inputs that are no floats, mixed precision, manners."""
    nodes = case.graph.nodes
    words = {
        "operators": any(is_operator(node.layer) for node in nodes),
        "integer or boolean inputs": any(not node.outputs[0].is_float for node in case.graph.inputs),
        "mixed precision": any(POLICY in node.params for node in nodes),
    }
    return [*(word for word, has in words.items() if has), *manner_words(case.manner)]


TABLES: dict[str, Callable[[Collection], Iterator[str]]] = {
    "by symptom": by_symptom,
    "by trigger": by_trigger,
    "by model": by_model,
}
"""The tables of docs/bugs.md by the names in their markers."""


def _libraries(collection: Collection, published: Iterable[str]) -> list[str]:
    """The libraries of either side, by name, whatever its case."""
    own = [entry.library for entry in collection.entries]
    return sorted(dict.fromkeys([*own, *published]), key=str.lower)
