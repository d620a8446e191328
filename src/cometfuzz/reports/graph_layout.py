"""Where the nodes of a graph go in a drawing: rows by depth, few crossings, straight edges. Deterministic.

The usual way of drawing in layers: every edge that passes a row has a bend in it, rows are put in order by the middle
of their neighbours, then places are found that lie as near to the neighbours as the widths allow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cometfuzz.ir.graph import INPUT, Edge, Graph

GAP = 28.0
BEND_WIDTH = 10.0
BEND_WEIGHT = 4.0
"""How much more a bend wants to be straight than a node."""

ORDER_SWEEPS, PLACE_SWEEPS = 12, 60


@dataclass(frozen=True)
class Wire:
    """An edge from a node to a reader, with its bends from top to bottom."""

    source: Edge
    target: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """Rows of names from top to bottom, the middle of each name, and the wires. Names that are no node are bends."""

    rows: tuple[tuple[str, ...], ...]
    x: Mapping[str, float]
    wires: tuple[Wire, ...]
    width: float


def lay_out(graph: Graph, widths: Mapping[str, float]) -> Layout:
    """Find a place for every node; widths are those of the nodes' boxes."""
    depth = _depths(graph)
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in graph.nodes:
        rows[depth[node.id]].append(node.id)
    wires = []
    for node in graph.nodes:
        for slot, edge in enumerate(node.inputs):
            bends = [f"{node.id}/{slot}/{row}" for row in range(depth[edge.node] + 1, depth[node.id])]
            for row, bend in enumerate(bends, depth[edge.node] + 1):
                rows[row].append(bend)
            wires.append(Wire(edge, node.id, (edge.node, *bends, node.id)))
    above, below = _neighbours(wires)
    ordered = _order(rows, above, below)
    x = _places(ordered, above, below, widths)
    return _from_zero(ordered, x, tuple(wires), widths)


def _depths(graph: Graph) -> dict[str, int]:
    """The row of each node: below all that it reads; an input stands right above its first reader."""
    depth: dict[str, int] = {}
    for node in graph.nodes:
        depth[node.id] = max((depth[edge.node] + 1 for edge in node.inputs), default=0)
    first: dict[str, int] = {}
    for node in graph.nodes:
        for edge in node.inputs:
            first[edge.node] = min(first.get(edge.node, depth[node.id]), depth[node.id])
    for node in graph.nodes:
        if node.layer == INPUT and node.id in first:
            depth[node.id] = first[node.id] - 1
    return depth


def _neighbours(wires: Sequence[Wire]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for wire in wires:
        for upper, lower in pairwise(wire.path):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    return above, below


def _order(
    rows: Sequence[Sequence[str]], above: Mapping[str, list[str]], below: Mapping[str, list[str]]
) -> list[list[str]]:
    """The order of each row with the fewest crossings that some sweeps down and up come upon."""
    current = [list(row) for row in rows]
    best, fewest = current, _crossings(current, below)
    for sweep in range(ORDER_SWEEPS):
        current = [list(row) for row in current]
        down = sweep % 2 == 0
        for place in range(1, len(current)) if down else range(len(current) - 2, -1, -1):
            fixed = {name: index for index, name in enumerate(current[place - 1 if down else place + 1])}
            beside = above if down else below
            keys = {
                name: sum(fixed[other] for other in beside[name]) / len(beside[name]) if beside.get(name) else index
                for index, name in enumerate(current[place])
            }
            current[place].sort(key=keys.__getitem__)
        if (count := _crossings(current, below)) < fewest:
            best, fewest = current, count
    return best


def _crossings(rows: Sequence[Sequence[str]], below: Mapping[str, list[str]]) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        place = {name: index for index, name in enumerate(lower)}
        ends = [place[target] for name in upper for target in sorted(below.get(name, ()), key=place.__getitem__)]
        total += sum(left > right for index, left in enumerate(ends) for right in ends[index + 1 :])
    return total


def _places(
    rows: Sequence[Sequence[str]],
    above: Mapping[str, list[str]],
    below: Mapping[str, list[str]],
    widths: Mapping[str, float],
) -> dict[str, float]:
    x = {name: index * 100.0 for row in rows for index, name in enumerate(row)}
    for sweep in range(PLACE_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            near = [[*above.get(name, ()), *below.get(name, ())] for name in row]
            wanted = [
                sum(x[other] for other in others) / len(others) if others else x[name]
                for name, others in zip(row, near, strict=True)
            ]
            x.update(zip(row, _apart(row, wanted, widths), strict=True))
    return x


def _apart(row: Sequence[str], wanted: Sequence[float], widths: Mapping[str, float]) -> list[float]:
    """The places nearest to the wanted ones (least squares) that keep the order and the distances of a row.

    Without the distances that is a sequence that must not fall: neighbours that would are put together at their mean.
    """
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (widths.get(left, BEND_WIDTH) + widths.get(right, BEND_WIDTH)) / 2 + GAP)
    blocks: list[tuple[float, float, int]] = []  # the sum of weighted places, the weight, how many
    for name, place, offset in zip(row, wanted, offsets, strict=True):
        weight = 1.0 if name in widths else BEND_WEIGHT
        block = ((place - offset) * weight, weight, 1)
        while blocks and blocks[-1][0] / blocks[-1][1] > block[0] / block[1]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    means = [total / weight for total, weight, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _from_zero(
    rows: Sequence[Sequence[str]], x: Mapping[str, float], wires: tuple[Wire, ...], widths: Mapping[str, float]
) -> Layout:
    left = min(x[name] - widths.get(name, BEND_WIDTH) / 2 for name in x)
    right = max(x[name] + widths.get(name, BEND_WIDTH) / 2 for name in x)
    moved = {name: place - left for name, place in x.items()}
    return Layout(tuple(map(tuple, rows)), moved, wires, right - left)
