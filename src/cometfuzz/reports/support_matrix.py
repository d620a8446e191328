"""The support matrix: what the ledger says of every layer on every route, as Markdown. No library is run for it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution.conformance import find_rules, layers_of
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.execution.sayable import takes
from cometfuzz.execution.versions import versions_of_all
from cometfuzz.ledger.cpu import USUAL_CPU
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.matching import View, rules_of_entries
from cometfuzz.routes.registry import ROUTES

DOCUMENT = Path("docs", "support-matrix.md")
"""Beside the collection's folder."""
DRAWS = 10
SEED = 1

_HEAD = """# Support matrix

Every layer of the catalogue on every route: how many of {draws} drawn calls meet no entry of the ledger, with the
pinned versions. `all`: all of them are free of entries. `none`: each meets one; which, is said below. A blank: the
route's Keras does not have the layer, or it is not among what we write as ONNX (of fewer calls, the others are not
written). The calls differ in dtype, shape and parameters; many meet one by their dtype
alone (a converter without bfloat16). An entry may be a bug or a limit, of the route's own libraries or of the Keras
before them; some show only with some data.

`cometfuzz collect` writes this page from `bugs/`; `cometfuzz conformance --routes all` holds such calls against the
libraries.
"""


def support_matrix(entries: Mapping[str, Defect], folder: str) -> str:
    """The page for the entries in a folder of that name."""
    return "\n".join(_lines(entries, folder)) + "\n"


def _lines(entries: Mapping[str, Defect], folder: str) -> Iterator[str]:
    routes = {name: route for name, route in ROUTES.items() if name != REFERENCE.name}
    versions = versions_of_all(routes.values())
    view = View(routes, versions, rules_of_entries(entries), USUAL_CPU)
    drawn = {layer: [draw_layer(layer, SEED, index) for index in range(DRAWS)] for layer in sorted(LAYERS)}
    met = {
        (layer, name): [_met(view, name, each) for each in drawn[layer] if takes(route, each.case.graph)]
        for name, route in routes.items()
        for layer in layers_of(route, list(LAYERS))
    }
    yield _HEAD.format(draws=DRAWS)
    yield f"| layer | {' | '.join(routes)} |"
    yield "| --- |" + " --- |" * len(routes)
    for layer in drawn:
        cells = [_cell(met[layer, name]) if (layer, name) in met else "" for name in routes]
        yield f"| {layer} | {' | '.join(cells)} |"
    yield from ("", "## Where every call meets an entry", "")
    for name in routes:
        for layer in drawn:
            if all(met.get((layer, name)) or [()]):
                ids = dict.fromkeys(each for call in met[layer, name] for each in call)
                yield f"- {name}, {layer}: {', '.join(f'[{each}](../{folder}/{each}/)' for each in ids)}"


def _met(view: View, route: str, drawn: LayerDraw) -> tuple[str, ...]:
    """The ids of the entries that a call meets; those that may be met by any call say nothing of this one."""
    return tuple(dict.fromkeys(rule.id for rule in find_rules(route, drawn, view) if not rule.vague))


def _cell(calls: list[tuple[str, ...]]) -> str:
    free = sum(not ids for ids in calls)
    if not calls:
        return ""
    return "all" if free == len(calls) else "none" if free == 0 else f"{free}/{len(calls)}"
