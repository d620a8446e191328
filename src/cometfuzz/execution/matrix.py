"""The support matrix: every layer on every route, as Markdown, from the JSON of `cometfuzz conformance`."""

from collections.abc import Mapping
from typing import Any

HEAD = """# Support matrix

Every catalogue layer on every route: of how many draws the route gave the right answer. `all`: of all of them. `none`:
of none, and why is said below. A blank: the route's Keras does not have the layer. Draws differ in dtype, shape and
parameters; many fail by their dtype alone (a converter without bfloat16). Made by

    {command}
"""


def support_matrix(report: Mapping[str, Any], command: str) -> str:
    """The page for a report."""
    routes = list(report["routes"])
    tallies = {route: report["routes"][route]["by_layer"] for route in routes}
    layers = list(dict.fromkeys(layer for route in routes for layer in tallies[route]))
    lines = [HEAD.format(command=command)]
    lines += [f"| layer | {' | '.join(routes)} |", "| --- |" + " --- |" * len(routes)]
    for layer in sorted(layers):
        lines.append(f"| {layer} | {' | '.join(_cell(tallies[route].get(layer)) for route in routes)} |")
    lines += ["", "## What never gave the right answer, and why", ""]
    for route in routes:
        never = {layer: tally for layer, tally in tallies[route].items() if not tally["value_ok"]}
        for layer, tally in sorted(never.items()):
            lines.append(f"- {route}, {layer}: {'; '.join(tally['reasons']) or 'undeclared'}")
    return "\n".join(lines) + "\n"


def _cell(tally: Mapping[str, Any] | None) -> str:
    if tally is None:
        return ""
    right, draws = tally["value_ok"], tally["draws"]
    return "all" if right == draws else "none" if right == 0 else f"{right}/{draws}"
