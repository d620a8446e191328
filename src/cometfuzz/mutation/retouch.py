"""The common way of mutations that change some layers in place: choose, change one by one, keep what worked."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.mutation.base import Inapplicable, ModelLimits, how_many
from cometfuzz.mutation.repair import SPARE, Editor, trim

Option = TypeVar("Option")
ROOM = 12
"""Nodes that a mutation may add: a graph that leaves less room is trimmed first."""


def retouch(
    graph: Graph,
    draw: Draw,
    limits: ModelLimits,
    options: Callable[[Node, Editor], Sequence[Option]],
    is_open: Callable[[Node, Option, Editor], bool],
    change: Callable[[Node, Option, Editor], None],
) -> Graph:
    """Change 1 to 10 layers, uncovered options first; Inapplicable if none could be changed."""
    graph = trim(graph, draw, replace(limits, nodes=max(2, limits.nodes - ROOM)))
    editor = Editor(graph, draw, limits)
    choices: list[tuple[bool, Node, list[Option]]] = []
    for node in draw.shuffled(editor.layers()):
        if node.inputs and (offered := list(options(node, editor))):
            wanted = [option for option in offered if is_open(node, option, editor)]
            choices.append((bool(wanted), node, wanted or offered))
    choices.sort(key=lambda choice: not choice[0])
    goal, done, reason = how_many(draw, len(choices), limits), 0, "no layer has another option"
    for _, node, offered in choices[: goal + SPARE]:
        if done < goal and node.id in editor.nodes:
            failed = editor.attempt(partial(change, editor.nodes[node.id], draw.choice(offered)))
            done, reason = done + (not failed), failed or reason
    if not done:
        raise Inapplicable(reason)
    return editor.finish()
