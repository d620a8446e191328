"""A graph as an SVG picture for a page: its colours come from the page's style sheet, so that it is at home by day
and by night, and it has no style or script of its own."""

from collections.abc import Collection, Mapping
from itertools import pairwise

from markupsafe import Markup, escape

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.ir.graph import INPUT, Graph, Inner, Node, is_utility
from cometfuzz.reports.graph_layout import Layout, lay_out

LARGEST = 200
"""Nodes of the largest graph that is drawn; a person cannot read a larger one."""

BOX_HEIGHT = 44.0
ROW_HEIGHT = 74.0
MARGIN = 10.0
NAME_SIGN = 8.1
TYPE_SIGN = 6.7
"""The width of a sign in a node's first line and in its second."""


def draw_graph(graph: Graph, label: str, marked: Collection[str] = ()) -> Markup:
    """The picture of a graph; `marked` nodes stand out. Nothing for a graph that is too large."""
    if len(graph.nodes) > LARGEST:
        return Markup("")
    layout = lay_out(graph, {node.id: _width(node) for node in graph.nodes})
    y = {name: MARGIN + row * ROW_HEIGHT for row, names in enumerate(layout.rows) for name in names}
    width = layout.width + 2 * MARGIN
    height = len(layout.rows) * ROW_HEIGHT - (ROW_HEIGHT - BOX_HEIGHT) + 2 * MARGIN
    parts = [
        Markup(
            '<svg class="graph" role="img" aria-label="{}" width="{:.0f}" height="{:.0f}" viewBox="0 0 {:.0f} {:.0f}">'
        ).format(label, width, height, width, height)
    ]
    parts += _wires(graph, layout, y)
    outputs = {edge.node for edge in graph.outputs}
    parts += [
        _box(node, layout.x[node.id] + MARGIN, y[node.id], node.id in marked, node.id in outputs)
        for node in graph.nodes
    ]
    parts.append(Markup("</svg>"))
    return Markup("\n").join(parts)


def call_text(node: Node) -> str:
    """A layer call as people write it, with the parameters that are not at their simplest value."""
    if node.layer == INPUT:
        return f"{node.id} = input {node.outputs[0]}"
    arguments = ", ".join(edge.node if edge.output == 0 else f"{edge.node}[{edge.output}]" for edge in node.inputs)
    return f"{node.id} = {node.layer}({parameter_text(node.layer, node.params)})({arguments})"


def parameter_text(layer: str, params: Mapping[str, object]) -> str:
    """The parameters that are not at their simplest value."""
    spec = CATALOGUE.get(layer)
    shown = []
    for name, value in params.items():
        space = spec.params.get(name) if spec is not None else None
        if space is None or value != space.simplest:
            shown.append(f"{name}={_value_text(value)}")
    return ", ".join(shown)


def _value_text(value: object) -> str:
    return f"{value.layer}({parameter_text(value.layer, value.params)})" if isinstance(value, Inner) else repr(value)


def _type_text(node: Node) -> str:
    more = f" +{len(node.outputs) - 1}" if len(node.outputs) > 1 else ""
    return f"{node.outputs[0]}{more}" if node.outputs else ""


def _width(node: Node) -> float:
    return max(90.0, len(node.layer) * NAME_SIGN, len(_type_text(node)) * TYPE_SIGN) + 26


def _wires(graph: Graph, layout: Layout, y: Mapping[str, float]) -> list[Markup]:
    drawn = []
    for wire in layout.wires:
        path = ""
        for upper, lower in pairwise(wire.path):
            left, right = layout.x[upper] + MARGIN, layout.x[lower] + MARGIN
            top = y[upper] + BOX_HEIGHT
            bottom = y[lower]
            middle = (top + bottom) / 2
            path += f" M{left:.1f} {top:.1f}" if not path else ""
            path += f" C{left:.1f} {middle:.1f} {right:.1f} {middle:.1f} {right:.1f} {bottom:.1f}"
            path += f" V{bottom + BOX_HEIGHT:.1f}" if lower not in graph.by_id else ""
        kind = graph.type_of(wire.source)
        text = f"{wire.source.node} → {wire.target}: {kind}" + (
            f" (output {wire.source.output})" if wire.source.output else ""
        )
        drawn.append(Markup('<path class="wire" d="{}"><title>{}</title></path>').format(path.strip(), text))
    return drawn


def _box(node: Node, middle: float, top: float, marked: bool, output: bool) -> Markup:
    kinds = ["node"]
    kinds += ["input"] if node.layer == INPUT else ["utility"] if is_utility(node.layer) else []
    kinds += ["output"] if output else []
    kinds += ["marked"] if marked else []
    width = _width(node)
    return Markup(
        '<g class="{}"><title>{}</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.0f}" rx="9"></rect>'
        '<text class="name" x="{:.1f}" y="{:.1f}">{}</text><text class="type" x="{:.1f}" y="{:.1f}">{}</text></g>'
    ).format(
        *(" ".join(kinds), _tooltip(node), middle - width / 2, top, width, BOX_HEIGHT),
        *(middle, top + 19, escape(node.layer), middle, top + 35, _type_text(node)),
    )


def _tooltip(node: Node) -> str:
    outputs = ", ".join(map(str, node.outputs))
    return f"{call_text(node)} → {outputs}"
