"""Drawn graphs: nothing overlaps, wires go down, and the same graph gives the same picture."""

from itertools import pairwise
from xml.etree import ElementTree

from reporting import inception, one_layer
from trials import chain

from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.reports.graph_drawing import LARGEST, call_text, draw_graph
from cometfuzz.reports.graph_layout import BEND_WIDTH, GAP, lay_out


def widths(graph: Graph) -> dict[str, float]:
    return {node.id: 100.0 + 10 * len(node.layer) for node in graph.nodes}


def test_nothing_overlaps_in_a_graph_of_40_nodes() -> None:
    graph = inception().graph
    assert len(graph.nodes) == 40
    wide = widths(graph)
    layout = lay_out(graph, wide)
    for row in layout.rows:
        for left, right in pairwise(row):
            apart = layout.x[right] - layout.x[left]
            assert apart >= (wide.get(left, BEND_WIDTH) + wide.get(right, BEND_WIDTH)) / 2 + GAP - 1e-6
    for row in layout.rows:
        for name in row:
            half = wide.get(name, BEND_WIDTH) / 2
            assert half - 1e-6 <= layout.x[name] <= layout.width - half + 1e-6


def test_wires_go_down_one_row_at_a_time() -> None:
    graph = inception().graph
    layout = lay_out(graph, widths(graph))
    depth = {name: place for place, row in enumerate(layout.rows) for name in row}
    assert len(layout.wires) == sum(len(node.inputs) for node in graph.nodes)
    for wire in layout.wires:
        assert [depth[name] for name in wire.path] == list(range(depth[wire.path[0]], depth[wire.path[-1]] + 1))
    assert any(len(wire.path) > 5 for wire in layout.wires)  # the link over all blocks


def test_crossings_that_can_be_avoided_are() -> None:
    """Two chains side by side, given in an order that crosses them."""
    shape = {"shape": (1, 4), "dtype": "float32"}
    drafts = [Draft("a", INPUT, shape, ()), Draft("b", INPUT, shape, ())]
    drafts += [Draft("c", "ReLU", {}, (Edge("b"),)), Draft("d", "ReLU", {}, (Edge("a"),))]
    graph = assemble(drafts, [Edge("c"), Edge("d")])
    layout = lay_out(graph, widths(graph))
    assert (layout.x["a"] < layout.x["b"]) == (layout.x["d"] < layout.x["c"])


def test_a_chain_is_straight() -> None:
    graph = chain((2, 3), *[("ReLU", {})] * 5).graph
    assert max(lay_out(graph, widths(graph)).x.values()) - min(lay_out(graph, widths(graph)).x.values()) < 1e-6


def test_the_picture_is_xml_without_style_and_says_what_is_marked() -> None:
    graph = inception().graph
    picture = draw_graph(graph, "<a & b>", ["dense"])
    root = ElementTree.fromstring(str(picture))
    assert root.get("aria-label") == "<a & b>"
    boxes = root.findall("g")
    assert len(boxes) == 40
    assert [box.findtext("text") for box in boxes if "marked" in (box.get("class") or "")] == ["Dense"]
    assert [box.get("class") for box in boxes if box.findtext("text") == "cast"] == ["node utility output"]
    assert not [element for element in root.iter() if "style" in element.attrib or element.tag in ("script", "style")]
    assert str(draw_graph(graph, "<a & b>", ["dense"])) == str(picture)


def test_what_cannot_be_read_is_not_drawn() -> None:
    graph = chain((2, 3), *[("ReLU", {})] * LARGEST).graph
    assert draw_graph(graph, "large") == ""


def test_calls_leave_out_what_is_simple() -> None:
    texts = [call_text(node) for node in one_layer("Conv2D", filters=3, padding="same").graph.nodes]
    assert texts[0] == "x = input float32[1,4,4,1]"
    assert texts[1] in ("n = Conv2D(filters=3, padding='same')(x)", "n = Conv2D(padding='same', filters=3)(x)")
